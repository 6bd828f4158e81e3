"""How good a scripted judge finds a text: the author's quality, what this text is worth beside its author's others, the
judge's own view of it, and how it was asked."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recuse.schema import RecuseError

__all__ = ["Texts", "read_texts"]


@dataclass(frozen=True)
class Texts:
    """True quality of every author on the task's scale, and three spreads in points: `text_sd` of an author's texts,
    shared by all judges; `view_sd` of judges over the same text; `asking_sd` of one judge and text over ways of
    asking."""

    quality: Mapping[str, float]
    text_sd: float
    view_sd: float
    asking_sd: float

    def seen_by(self, judge: str, story: str, author: str, asked: str = "") -> float:
        """What `judge` thinks of the text of `author` on `story`: the same whenever it is `asked` in the same way."""
        if author not in self.quality:
            raise RecuseError(f"no quality for author {author}; known: {', '.join(self.quality)}")
        worth = self.quality[author] + self.text_sd * _drawn("text", story, author)
        view = self.view_sd * _drawn("view", judge, story, author)
        return worth + view + self.asking_sd * _drawn("asking", judge, story, author, asked)


def read_texts(path: Path) -> Texts:
    """[quality] (author -> points) and [spread] (text, view, asking) of a settings file."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return Texts(data["quality"], *(float(data["spread"][name]) for name in ("text", "view", "asking")))


def _drawn(*parts: str) -> float:
    """A standard normal draw that depends on `parts` and on nothing else."""
    seed = int.from_bytes(hashlib.blake2b("\0".join(parts).encode(), digest_size=8).digest())
    return float(np.random.default_rng(seed).normal())
