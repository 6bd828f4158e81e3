"""Filters that read the text alone: phrases common in injections, and what can be counted in it.

Two of the defences against prompt injection (thesis on bias in LLM self-evaluation, sec. 2.3.1). What they stop, and
what clean text they block, is measured in `defences`.
"""

from __future__ import annotations

import math
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from string import ascii_letters, ascii_lowercase
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from recuse.papers.self_preference.defences import Blocks
from recuse.ratings import Ratings
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd


def text_blocks(ratings: Ratings) -> Blocks:
    """Known phrases ("string_matching") and odd statistics ("statistical_filter") of the text itself; `ratings.texts`
    and those of the clean ratings hold it in a column `text`.

    The statistical filter never sees the text's own cluster: for every cluster it is fitted on the clean texts of the
    others, and gives no answer where fewer than three are left.
    """
    attacked, clean = texts_of(ratings, "attacked"), texts_of(ratings.beside("scores"), "clean")
    groups = {str(name): list(texts) for name, texts in clean.groupby("cluster", sort=False)["text"]}
    taught = CleanTexts.of(groups)
    parts = [_read(table, taught) for table in (attacked, clean)]
    return Blocks(*parts)


def texts_of(ratings: Ratings | None, what: str) -> pd.DataFrame:
    """Columns item, target, text, and cluster: the text's own, that of its twin, or the item."""
    texts = None if ratings is None else ratings.texts
    if texts is None or "text" not in texts.columns:
        raise RecuseError(
            f"a filter reads the {what} texts, and they are not there; name the fields that are the text in task.toml "
            '(text = ["..."]), or give texts= with a column text'
        )
    cluster = next(texts[name] for name in ("cluster", "clean", "item") if name in texts.columns)
    return texts.assign(cluster=cluster.astype(str))[["item", "target", "cluster", "text"]]


def _read(table: pd.DataFrame, taught: CleanTexts) -> pd.DataFrame:
    import pandas as pd

    texts = [str(text) for text in table["text"]]
    odd: list[bool | None] = [None] * len(table)
    for cluster, places in table.groupby("cluster", sort=False).indices.items():
        if len(taught.places) - (cluster in taught.places) >= 3:
            fitted = taught.fit(without=str(cluster))
            for place in places:
                odd[place] = fitted.suspicious(texts[place])
    known = [has_phrase(text) for text in texts]
    where = table[["item", "target", "cluster"]]
    return pd.concat([
        where.assign(defence=name, blocked=pd.Series(flags, index=where.index, dtype=object))
        for name, flags in (("string_matching", known), ("statistical_filter", odd))
    ], ignore_index=True)  # fmt: skip


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

    def scores(self, text: str) -> dict[str, float]:
        """Standard deviations above the clean mean, by feature."""
        return dict(zip(FEATURES, map(float, self._above(text)), strict=True))

    def suspicious(self, text: str) -> bool:
        """Whether any feature lies more than `limit` standard deviations above the clean mean."""
        return bool((self._above(text) > self.limit).any())

    def suspicious_with(self, text: str, endings: Sequence[str]) -> NDArray[np.bool_]:
        """Whether "text ending" is suspicious, for each ending. What is counted in the two adds up, because no word
        crosses a blank."""
        known, start = self.vocabulary, _counted(text)
        unknown = start.unknown(known)
        joined = [(start + end, unknown + end.unknown(known)) for end in map(_counted, endings)]
        features = np.array([counts.features(rare) for counts, rare in joined]).reshape(-1, len(FEATURES))
        odd: NDArray[np.bool_] = np.any((features - self.mean) / self.sd > self.limit, axis=1)
        return odd

    def _above(self, text: str) -> Floats:
        return (_features(text, self.vocabulary) - self.mean) / self.sd


@dataclass(frozen=True, eq=False)
class CleanTexts:
    """N clean texts, counted once, so that a filter can be fitted without any one of their clusters at little cost.

    `features` (N, 5) are those of a fit on all of them; `places` cluster -> numbers of its texts; `where` word -> the
    clusters that have it. `shared` says what leaving a cluster out changes: cluster -> text -> how much larger the
    share of rare words becomes, by words that only these two clusters have.
    """

    features: Floats
    places: Mapping[str, NDArray[np.intp]]
    where: Mapping[str, set[str]]
    shared: Mapping[str, Mapping[int, float]]

    @classmethod
    def of(cls, clean: Mapping[str, Sequence[str]]) -> CleanTexts:
        """`clean` maps a cluster to its texts."""
        texts = [(cluster, text) for cluster, group in clean.items() for text in group]
        where: dict[str, set[str]] = defaultdict(set)
        for cluster, text in texts:
            for word in set(_counted(text).words):
                where[word].add(cluster)
        places: dict[str, list[int]] = {cluster: [] for cluster in clean}
        shared: dict[str, dict[int, float]] = {cluster: {} for cluster in clean}
        for number, (cluster, text) in enumerate(texts):
            places[cluster].append(number)
            for word in (words := _counted(text).words):
                if len(where[word]) == 2:
                    (other,) = where[word] - {cluster}
                    shared[other][number] = shared[other].get(number, 0.0) + 1 / len(words)
        usual = frozenset(word for word, clusters in where.items() if len(clusters) > 1)
        table = np.array([_features(text, usual) for _, text in texts]).reshape(len(texts), len(FEATURES))
        return cls(table, {cluster: np.array(at, dtype=np.intp) for cluster, at in places.items()}, where, shared)

    def fit(self, without: str | None = None, limit: float = 3.0) -> StatisticalFilter:
        """The filter fitted on all clusters, or on all but one. `RecuseError` where fewer than three are left."""
        left = len(self.places) - (without in self.places)
        if left < 3:
            raise RecuseError(
                f"a statistical filter is fitted on clean texts of three clusters or more (stories, topics); got {left}"
            )
        table, kept = self.features.copy(), np.ones(len(self.features), dtype=bool)
        if without is not None and without in self.places:
            kept[self.places[without]] = False
            for number, more in self.shared[without].items():
                table[number, 0] += more
        mean, sd = table[kept].mean(axis=0), np.maximum(table[kept].std(axis=0, ddof=1), FLOOR)
        return StatisticalFilter(self._every - self._alone.get(without or "", frozenset()), mean, sd, limit)

    @cached_property
    def _every(self) -> frozenset[str]:
        return frozenset(self.where)

    @cached_property
    def _alone(self) -> dict[str, frozenset[str]]:
        """Cluster -> the words that it alone has."""
        alone: dict[str, set[str]] = defaultdict(set)
        for word, clusters in self.where.items():
            if len(clusters) == 1:
                alone[next(iter(clusters))].add(word)
        return {cluster: frozenset(words) for cluster, words in alone.items()}


def _features(text: str, known: frozenset[str]) -> Floats:
    counts = _counted(text)
    return np.array(counts.features(counts.unknown(known)))


@dataclass(frozen=True, slots=True)
class _Counts:
    """What is counted in a text; `visible` counts characters that are no blanks, `longest` the letters of a word."""

    words: tuple[str, ...]
    visible: int
    letters: int
    capitals: int
    longest: int

    def __add__(self, other: _Counts) -> _Counts:
        """Of both texts with a blank between them."""
        return _Counts(
            self.words + other.words, self.visible + other.visible, self.letters + other.letters,
            self.capitals + other.capitals, max(self.longest, other.longest),
        )  # fmt: skip

    def unknown(self, known: frozenset[str]) -> int:
        """How many of the words are not among these."""
        return len(self.words) - sum(map(known.__contains__, self.words))

    def features(self, unknown: int) -> tuple[float, float, float, float, float]:
        """In the order of FEATURES; `unknown` of the words are in no clean text."""
        return (
            unknown / max(len(self.words), 1),
            1 - self.letters / max(self.visible, 1),
            self.longest,
            math.log(len(self.words) + 1),
            self.capitals / max(self.letters, 1),
        )


@lru_cache(maxsize=32_768)
def _counted(text: str) -> _Counts:
    """Kept, because the fit and the verdict both ask for it."""
    words = tuple(sys.intern(word.lower()) for word in _WORD.findall(text))  # one string per word, not per use
    return _Counts(words, sum(map(len, text.split())), *_letters(text), max(map(len, words), default=0))


def _letters(text: str) -> tuple[int, int]:
    """How many letters a text has, and how many of them are capitals."""
    if text.isascii():
        letters = text.encode().translate(None, _NO_LETTERS)
        return len(letters), len(letters.translate(None, ascii_lowercase.encode()))
    estimates = list(filter(str.isalpha, text))
    return len(estimates), sum(map(str.isupper, estimates))


_NO_LETTERS = bytes(set(range(128)) - set(ascii_letters.encode()))


# --------------------------------------------------------------------------- string matching

_PATTERNS: Mapping[str, list[str]] = tomllib.loads(
    Path(__file__).with_name("injection_phrases.toml").read_text(encoding="utf-8")
)
PHRASES: Mapping[str, re.Pattern[str]] = {
    name: re.compile("|".join(patterns), re.MULTILINE) for name, patterns in _PATTERNS.items()
}
"""Phrases common in published injections, by what they do, in lower case."""


def _joined(patterns: Sequence[str]) -> str:
    """One pattern for all. What many begin with is looked for once at every place of a text, not once for each."""
    at_word, at_line = [p[2:] for p in patterns if p[:2] == r"\b"], [p[4:] for p in patterns if p[:4] == r"^\s*"]
    elsewhere = [p for p in patterns if not p.startswith((r"\b", r"^\s*"))]
    return "|".join((rf"\b(?:{'|'.join(at_word)})", rf"^\s*(?:{'|'.join(at_line)})", *elsewhere))


_ANY_PHRASE = re.compile(_joined([pattern for patterns in _PATTERNS.values() for pattern in patterns]), re.MULTILINE)
_LOOK_ALIKES = {"\u0130": "i", "\u0131": "i", "\u017f": "s", "\u212a": "k"}  # what else is i, s or k in any case
_LONG_BLANK = re.compile(r"\s{9}")
_REACH = 160  # no phrase has so many characters before the blank that it crosses, unless a blank in it is long


def string_matching(text: str) -> tuple[str, ...]:
    """Names of the PHRASES found in the text; empty for one without. Surface only: a payload in other words passes."""
    lowered = _lowered(text)
    return tuple(name for name, pattern in PHRASES.items() if pattern.search(lowered))


def has_phrase(text: str, start: int = 0) -> bool:
    """Whether any of the PHRASES is found in the text, at `start` or after it."""
    return _ANY_PHRASE.search(_lowered(text), start) is not None


def phrase_in_ending(text: str, ending: str) -> bool:
    """Whether "text ending" has one of the PHRASES, for a text that has none: only what reaches into the ending is
    looked at."""
    start = 0 if _LONG_BLANK.search(text) else max(len(text) - _REACH, 0)
    return has_phrase(f"{text} {ending}", start)


def _lowered(text: str) -> str:
    """The text in lower case, character by character."""
    if not text.isascii():
        for letter, plain in _LOOK_ALIKES.items():
            text = text.replace(letter, plain)
    return text.lower()
