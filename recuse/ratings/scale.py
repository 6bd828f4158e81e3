"""Scales: which answers a criterion has, and which of them can be counted with. A measure of levels and differences
needs numbers: a numeric scale, or two ordered options, which count as 0 and 1. More than two have ranks, no distances,
and are not averaged."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, ClassVar, TypeVar

import numpy as np

from recuse.schema import RecuseError
from recuse.schema.arrays import Floats
from recuse.schema.pandas_when_used import pd

Values = TypeVar("Values")
SLACK = 1e-9  # scores this far (times the range) beyond an end are on it: 9.999999999 is 10 after arithmetic
PLACES = frozenset(["first", "second", "tie"])  # options of a choice between two texts: which place won
DECIDE = "decide"  # the use of a judge whose answer somebody acts on
RIGHT = frozenset(["1", "1.0", "true", "yes", "chosen", "correct"])  # marks the right one of several texts, lower case
PLACE = "place"  # the criterion under which a text's place in a ranking stands, 1 for the best
TRUE = "true_"  # how the column of right scores is called among the texts, before its criterion
ORDERED: Sequence[tuple[str, str]] = (("fail", "pass"), ("no", "yes"), ("false", "true"), ("bad", "good"), ("0", "1"))
"""Pairs of options whose order needs no telling."""


@dataclass(frozen=True, slots=True)
class Numeric:
    """Scores from `minimum` to `maximum`, in units of `unit`; every `step` is one, where a step is known."""

    minimum: float
    maximum: float
    step: float | None = None
    reversed: bool = False
    unit: str = "points"
    counts: ClassVar[bool] = True  # levels and differences mean something

    def __post_init__(self) -> None:
        if not self.minimum < self.maximum:
            raise RecuseError(
                f"a scale runs from a minimum to a larger maximum; got {self.minimum:g} to {self.maximum:g}"
            )

    @property
    def ends(self) -> tuple[float, float]:
        """Minimum and maximum."""
        return self.minimum, self.maximum

    @property
    def span(self) -> float:
        """The range, maximum - minimum; infinite where an end is."""
        return self.maximum - self.minimum

    def numbers(self, scores: pd.Series[Any], responses: pd.Series[Any]) -> Floats:
        """Scores on the ascending scale: `turned` where the lowest is best. NaN where there is none.

        `RecuseError` for a score outside the scale, naming its row."""
        values = scores.to_numpy(dtype=float)
        slack = SLACK * self.span if math.isfinite(self.span) else 0.0
        outside = (values < self.minimum - slack) | (values > self.maximum + slack)
        if outside.any():
            raise RecuseError(
                f"scores lie between {self.minimum:g} and {self.maximum:g}; row {scores.index[outside][0]} has "
                f"{values[outside][0]:g}. Give the task's scale, or mend the protocol's reader"
            )
        return self.turned(values) if self.reversed else values

    def turned(self, values: Values) -> Values:
        """The mirror image, minimum + maximum - value; -value where the scale has no end to mirror at."""
        turned: Values = sum(self.ends) - values if math.isfinite(self.span) else -values  # type: ignore[operator, assignment]
        return turned


class _Options:
    """What scales of options share: each response counts as its place among them."""

    __slots__ = ()
    options: tuple[str, ...]

    def numbers(self, scores: pd.Series[Any], responses: pd.Series[Any]) -> Floats:
        """The place of each response among the options, from 0; `RecuseError` for one that is none of them."""
        places = {option: float(k) for k, option in enumerate(self.options)}
        codes, entries = pd.factorize(responses)  # each different response is looked up, not each row
        for place, entry in enumerate(entries.tolist()):
            if entry not in places:
                row = responses.index[codes == place][0]
                raise RecuseError(f"responses are one of {', '.join(self.options)}; row {row} has {entry!r}")
        return np.array([*(places[entry] for entry in entries.tolist()), math.nan])[codes]


@dataclass(frozen=True, slots=True)
class Ordinal(_Options):
    """Options from worst to best. Two of them count as 0 and 1, so that a mean is the share of the better one."""

    options: tuple[str, ...]
    unit: ClassVar[str] = "share"  # means are shares of the better option, where there are two

    @property
    def ends(self) -> tuple[float, float]:
        """Places of the worst and the best option."""
        return 0.0, float(len(self.options) - 1)

    @property
    def span(self) -> float:
        """The number of steps from the worst option to the best."""
        return self.ends[1]

    @property
    def counts(self) -> bool:
        """Whether a mean of places means anything: of two options alone, whose distance is one."""
        return len(self.options) == 2


class _WithoutDistances:
    """What scales share whose values cannot be counted with: no range, no ends."""

    __slots__ = ()
    unit = "share"
    counts = False
    span = math.nan
    ends = (math.nan, math.nan)


@dataclass(frozen=True, slots=True)
class Nominal(_Options, _WithoutDistances):
    """Options without an order: they can be compared for equality alone."""

    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResponseSets(_WithoutDistances):
    """Sets of options that a rater holds admissible at once; written "a|b" in a table's column `response`."""

    options: tuple[str, ...]

    def members(self, response: str) -> frozenset[str]:
        """The options of one response; `RecuseError` for an empty set and for an option that is none."""
        members = frozenset(filter(None, map(str.strip, response.split("|"))))
        if not members or not members <= set(self.options):
            raise RecuseError(f"a response set holds one or more of {', '.join(self.options)}; got {response!r}")
        return members

    def written(self, members: Collection[str]) -> str:
        """The one way in which a set stands in a table: its options in order, "a|b"."""
        return "|".join(option for option in self.options if option in members)

    def numbers(self, scores: pd.Series[Any], responses: pd.Series[Any]) -> Floats:
        """A code per set: bit k stands for option k."""
        codes: dict[str, float] = {}
        for row, text in responses.dropna().drop_duplicates().items():
            try:
                codes[text] = self.code(self.members(text))
            except RecuseError as error:
                raise RecuseError(f"row {row}: {error}") from None
        return np.asarray(responses.map(codes), dtype=float)

    def code(self, members: Collection[str]) -> float:
        """The set as a number: bit k stands for option k."""
        return float(sum(1 << k for k, option in enumerate(self.options) if option in members))

    @property
    def sets(self) -> tuple[tuple[str, ...], ...]:
        """All admissible sets, the smallest first."""
        return tuple(s for size in range(1, len(self.options) + 1) for s in combinations(self.options, size))


Scale = Numeric | Ordinal | Nominal | ResponseSets


def is_binary(scale: Scale, positive: str = "", thresholds: Sequence[float] = ()) -> bool:
    """Whether answers on a scale are a yes or no: two options, or a stated option, or one threshold. A choice between
    two texts is none: neither text is the property."""
    if isinstance(scale, Numeric):
        return len(thresholds) == 1
    single = not isinstance(scale, ResponseSets) and not set(scale.options) <= PLACES
    return single and (len(scale.options) == 2 or positive in scale.options)


def has_property(scale: Scale, positive: str = "") -> bool:
    """Whether one of the options is what texts are judged for: a stated one, one of two, or the best of several."""
    options: Sequence[str] = getattr(scale, "options", ())
    return positive in options or isinstance(scale, Ordinal) or (len(options) == 2 and not set(options) <= PLACES)


def has_several_options(scale: Scale, positive: str = "") -> bool:
    """Whether answers are three options or more, of which none is stated to be positive."""
    options = () if isinstance(scale, Numeric | ResponseSets) else scale.options
    return len(options) > 2 and not set(options) <= PLACES and not is_binary(scale, positive)


def check_thresholds(thresholds: Iterable[float], scales: Iterable[Scale], place: str = "") -> None:
    """`RecuseError` for a threshold that all scores of every scale of numbers pass, or none: it decides nothing."""
    numeric = [scale for scale in scales if isinstance(scale, Numeric)]
    for score in thresholds:
        parted = [s.minimum <= score < s.maximum if s.reversed else s.minimum < score <= s.maximum for s in numeric]
        if numeric and not any(parted):
            known = ", ".join(dict.fromkeys(f"{scale.minimum:g} to {scale.maximum:g}" for scale in numeric))
            raise RecuseError(
                f"{place}threshold = {score:g} decides nothing: scores are from {known}, of which all or none pass; "
                "give one between these, or the scale where it reaches further (--scale LOW-HIGH)"
            )


def decisions_of(
    scales: Mapping[str, tuple[Scale, str, Sequence[float]]], uses: Collection[str]
) -> dict[str, tuple[Nominal | Ordinal, str]]:
    """Criterion -> the two options between which is decided and the one that is looked for, where one of `uses` is to
    decide by scores from a threshold on or by one of several labels. `scales`: criterion -> scale, option, thresholds.

    `RecuseError` for scores without a threshold, and for a second use, which would be of other answers."""
    decided: dict[str, tuple[Nominal | Ordinal, str]] = {}
    for name, (scale, option, thresholds) in scales.items() if DECIDE in uses else ():
        if isinstance(scale, Numeric):
            if not thresholds:
                raise RecuseError(
                    "scores decide from a threshold on: --threshold 4, in task.toml thresholds = [4]; or --use grade "
                    "compares scores"
                )
            less, more = ("more", "less") if scale.reversed else ("less", "more")
            option, other = f"{thresholds[0]:g} or {more}", f"{less} than {thresholds[0]:g}"
            decided[name] = Ordinal((other, option)), option
        elif not isinstance(scale, ResponseSets) and len(scale.options) > 2 and option:
            decided[name] = Nominal((f"not {option}", option)), option
        if name in decided and len(uses) > 1:
            raise RecuseError(f"what is decided by {option} is asked by itself: --use decide; then the other uses")
    return decided


def scale_of(scores: pd.Series[Any], responses: pd.Series[Any]) -> Scale:
    """The scale that a criterion's values suggest, where nobody says: from the smallest to the largest score; a known
    pair such as fail and pass in order; any other options without one.

    A range taken from data is no longer than what was used: where limits depend on the range, give the scale."""
    given = scores.dropna()
    if len(given):
        values = sorted(set(map(float, given)))
        low, high = values[0], values[-1]
        steps = [b - a for a, b in pairwise(values)]
        return Numeric(low, high if high > low else low + 1.0, min(steps) if steps else None)
    options = sorted(set(map(str, responses.dropna())))
    lowered = {option.lower(): option for option in options}
    for worse, better in ORDERED:
        if lowered and lowered.keys() <= {worse, better}:
            return Ordinal((lowered.get(worse, worse), lowered.get(better, better)))
    return Nominal(tuple(options))
