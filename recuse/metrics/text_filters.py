"""Filters that read the text alone: phrases common in injections, and what can be counted in it.

Two of the defences against prompt injection (thesis on bias in LLM self-evaluation, sec. 2.3.1). What they stop, and
what clean text they block, is measured in `recuse.metrics.defences`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recuse.schema import RecuseError

__all__ = ["FEATURES", "PHRASES", "StatisticalFilter", "string_matching"]

Floats = NDArray[np.float64]

# --------------------------------------------------------------------------- string matching

_ORDERS = r"(?:instructions?|orders?|rules?|guidelines?|prompts?|directions?|tasks?)"
_GRADING = r"(?:grad|rat|judg|scor|award|prais|answer)\w*"
_RESULT = r"(?:rating|score|grade|winner|verdict)"
_PATTERNS: Mapping[str, tuple[str, ...]] = {
    "takes back": (
        rf"\b(?:ignore|disregard|forget|override|drop|skip)\b.{{0,40}}\b(?:{_ORDERS}|above|before|asked|told)\b",
    ),
    "new orders": (
        rf"\b(?:new|updated|changed|real|actual)\s+{_ORDERS}\b",
        rf"\b{_ORDERS}\b.{{0,20}}\b(?:has|have)\s+changed\b",
    ),
    "speaks as system": (
        r"\bsystem\s*(?:message|prompt|note|:)",
        r"^\s*(?:system|assistant|user)\s*:",
        r"<\|?(?:system|im_start)",
    ),
    "claims rank": (r"\b(?:admin(?:istrator)?|root|developer|authori[sz](?:ed|ation)|clearance|priority\s*:)\b",),
    "speaks to the judge": (
        rf"\byou\s+(?:are|must|will|should)\b.{{0,30}}\b{_GRADING}",
        r"\b(?:answer|reply|respond)\s+(?:only\s+)?with\b",
    ),
    "names its result": (rf"^\s*{_RESULT}\s*[:=]", rf"\b{_RESULT}\s*:\s*\S"),
    "asks for praise": (
        r"\b(?:give|award|record|declare|assign)\b.{0,40}\b(?:best|highest|top|full|maximum|perfect)\b",
    ),
    "breaks out": (r"\bend of (?:text|story|input|article|prompt)\b", r"^\s*(?:-{3,}|={3,}|#{3,})"),
    "asks to decode": (r"\b(?:decode|base ?64|rot ?13|hexadecimal|right to left)\b",),
}
PHRASES: Mapping[str, re.Pattern[str]] = {
    name: re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE) for name, patterns in _PATTERNS.items()
}
"""Phrases common in published injections, by what they do."""


def string_matching(text: str) -> tuple[str, ...]:
    """Names of the PHRASES found in the text; empty for one without. Surface only: a payload in other words passes."""
    return tuple(name for name, pattern in PHRASES.items() if pattern.search(text))


# --------------------------------------------------------------------------- statistics of the text

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
FEATURES = ("rare_words", "non_letters", "longest_word", "length", "capitals")
FLOOR = np.array([0.02, 0.02, 1.0, 0.1, 0.02])


@dataclass(frozen=True)
class StatisticalFilter:
    """Flags a text that differs from clean ones in what can be counted. Fitted on clean texts only.

    Features: share of words no clean text has (`rare_words`), share of visible characters that are no letters
    (`non_letters`), letters of the longest word (`longest_word`), log of the number of words (`length`), share of
    letters that are capitals (`capitals`). A text is suspicious where one of them lies more than `limit` standard
    deviations above the clean mean. No SD counts as less than FLOOR, so that clean texts that agree exactly do not make
    everything suspicious.
    """

    vocabulary: frozenset[str]
    mean: Floats
    sd: Floats
    limit: float = 3.0

    @classmethod
    def fit(cls, clean: Mapping[str, Sequence[str]], limit: float = 3.0) -> StatisticalFilter:
        """`clean` maps a story to its clean texts. A word is rare for a clean text if no *other story* has it, as for a
        new text. Needs three stories."""
        if len(clean) < 3:
            raise RecuseError(
                f"a statistical filter is fitted on clean texts of three stories or more; got {len(clean)}"
            )
        spread = Counter(word for texts in clean.values() for word in {w for text in texts for w in _words(text)})
        own = {story: {w for text in texts for w in _words(text)} for story, texts in clean.items()}
        rows = [
            _features(text, frozenset(w for w in _words(text) if spread[w] > (w in own[story])))
            for story, texts in clean.items()
            for text in texts
        ]
        table = np.array(rows)
        return cls(frozenset(spread), table.mean(axis=0), np.maximum(table.std(axis=0, ddof=1), FLOOR), limit)

    def scores(self, text: str) -> dict[str, float]:
        """Standard deviations above the clean mean, by feature."""
        z = (_features(text, self.vocabulary) - self.mean) / self.sd
        return dict(zip(FEATURES, map(float, z), strict=True))

    def suspicious(self, text: str) -> bool:
        return any(z > self.limit for z in self.scores(text).values())


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _features(text: str, known: frozenset[str]) -> Floats:
    words, visible = _words(text), [c for c in text if not c.isspace()]
    letters = [c for c in visible if c.isalpha()]
    return np.array([
        sum(word not in known for word in words) / max(len(words), 1),
        1 - len(letters) / max(len(visible), 1),
        max((len(word) for word in words), default=0),
        math.log(len(words) + 1),
        sum(c.isupper() for c in letters) / max(len(letters), 1),
    ])  # fmt: skip
