"""What a written risk rationale keeps to, checked by its words: which dimensions it speaks to, figures, jargon, length.

Merchant-risk paper, sec. 2.1: five dimensions, three categories per level, no numbers, no trade jargon. Words find a
mention, however thin; they say nothing of whether it is right.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from recuse.schema import RecuseError

__all__ = ["RULES", "RationaleRules", "rules_of"]

RULES = ("written", "dimensions", "plain figures", "plain words", "length")
"""What each level's text is checked for, in order."""

NUMBER = re.compile(r"\d[\d.,]*%?|per ?cent\w*", re.IGNORECASE)


@dataclass(frozen=True)
class RationaleRules:
    """`dimensions`: dimension -> the beginnings of words that speak of it; `jargon`: beginnings of words to avoid;
    `longest`: most words of a rationale."""

    dimensions: Mapping[str, re.Pattern[str]]
    jargon: re.Pattern[str] | None
    longest: int

    def addressed(self, text: str) -> tuple[str, ...]:
        """The dimensions that a text speaks to."""
        return tuple(name for name, words in self.dimensions.items() if words.search(text))

    def breaches(self, text: str) -> dict[str, str]:
        """Rule -> what breaks it, in words; the empty text where it is kept."""
        words = len(text.split())
        missing = [name for name in self.dimensions if name not in self.addressed(text)]
        figures = NUMBER.findall(text)
        jargon = self.jargon.findall(text) if self.jargon else []
        return {
            "written": "" if re.search(r"\w{2}", text) else "there is no text",
            "dimensions": f"says nothing of {', '.join(missing)}" if missing else "",
            "plain figures": f"gives figures: {', '.join(dict.fromkeys(figures))}" if figures else "",
            "plain words": f"uses {', '.join(dict.fromkeys(map(str.lower, jargon)))}" if jargon else "",
            "length": f"has {words} words, {self.longest} are allowed" if words > self.longest else "",
        }


def rules_of(folder: Path, file: str = "rules.toml") -> RationaleRules | None:
    """The rules of a task folder; None where it has none. `RecuseError` for a file that cannot be read as rules."""
    path = (folder / file).resolve()
    return _rules(path, path.stat().st_mtime_ns) if path.is_file() else None


@lru_cache(maxsize=8)
def _rules(path: Path, changed: int) -> RationaleRules:
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        jargon = list(data.get("jargon", {}).get("words", ()))
        return RationaleRules(
            {str(name): _beginnings(words) for name, words in data["dimensions"].items()},
            _beginnings(jargon) if jargon else None,
            int(data["longest_words"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecuseError(
            f"{path}: not a file of rules ({type(error).__name__}: {error}); it has longest_words, [dimensions] with "
            "the beginnings of words for each, and [jargon] with words"
        ) from None


def _beginnings(words: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(rf"\b{re.escape(word)}" for word in words), re.IGNORECASE)
