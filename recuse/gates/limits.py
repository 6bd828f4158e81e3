"""A limit: the part of the number line where a judge's measure may lie. Bounds are inclusive."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from recuse.schema import Estimate, Outcome, RecuseError
from recuse.schema.number_text import figure
from recuse.schema.verdict_rows import LimitRow
from recuse.schema.vocabulary import NOT_MEASURED, UNDECIDED

LimitKind = Literal["within", "at_least", "at_most"]
LIMIT_KINDS: tuple[LimitKind, ...] = ("within", "at_least", "at_most")


@dataclass(frozen=True, slots=True)
class Limit:
    """`low <= value <= high`; one bound is infinite for the one-sided kinds."""

    kind: LimitKind
    low: float
    high: float
    percent: bool = field(default=False, compare=False)  # whether its values are shares, which people read in percent

    @classmethod
    def of(cls, mapping: Mapping[str, object]) -> Limit:
        """From the form a verdict carries: {"within": [a, b]}, {"at_least": x} or {"at_most": x}."""
        kind: LimitKind = next((kind for kind in LIMIT_KINDS if mapping.get(kind) is not None), "at_most")
        given: Any = mapping[kind]
        low, high = given if kind == "within" else (given, math.inf) if kind == "at_least" else (-math.inf, given)
        return cls(kind, float(low), float(high))

    def mapping(self) -> LimitRow:
        """As builtins, the form that `of` reads."""
        if self.kind == "within":
            return {"within": [self.low, self.high]}
        return {"at_least": self.low} if self.kind == "at_least" else {"at_most": self.high}

    def __str__(self) -> str:
        if self.kind == "within":
            return f"within [{self.show(self.low)}, {self.show(self.high)}]"
        return f"at least {self.show(self.low)}" if self.kind == "at_least" else f"at most {self.show(self.high)}"

    def times(self, span: float) -> Limit:
        """The same limit told in units of which the scale's range has `span`, without the dust of floating point."""
        return replace(self, low=float(f"{self.low * span:.12g}"), high=float(f"{self.high * span:.12g}"))

    def of_unit(self, unit: str) -> Limit:
        """The same limit, told in percent where values are shares."""
        return replace(self, percent=unit == "share")

    # -- what lies where

    def holds(self, value: float) -> bool:
        """Whether the value lies inside, ends included. False for NaN."""
        return self.low <= value <= self.high

    def encloses(self, low: float, high: float) -> bool:
        """The whole interval lies inside. False for an interval with a missing end."""
        return self.low <= low and high <= self.high

    def excludes(self, low: float, high: float) -> bool:
        """The whole interval lies outside, on one side. False for an interval with a missing end."""
        return not math.isnan(low) and not math.isnan(high) and (high < self.low or low > self.high)

    def reaches_beyond(self, other: Limit) -> bool:
        """Everything `other` holds and more."""
        return self.low <= other.low and other.high <= self.high and self != other

    def excess(self, value: float) -> float:
        """How far outside the value lies; negative inside, zero on the bound."""
        return max(self.low - value, value - self.high)

    def nearest(self, value: float) -> float:
        """The bound next to the value."""
        return self.low if abs(value - self.low) <= abs(value - self.high) else self.high

    # -- figures

    def show(self, value: float) -> str:
        """The value with three digits, or with as many more as it takes to see on which side of the bounds it lies; its
        sign too where both directions are possible."""
        ends, signed = (self.low, self.high), self.kind == "within" and self.low < 0
        if not self.percent or math.isnan(value):
            return figure(value, signed=signed, apart_from=ends)
        hundred, *bounds = (float(f"{100 * one:.12g}") for one in (value, *ends))
        return f"{figure(hundred, signed=signed, apart_from=tuple(bounds))} %"

    def show_interval(self, low: float, high: float) -> str:
        """ "0.52 to 0.90", its ends as `show` shows them."""
        return f"{self.show(low)} to {self.show(high)}"

    def distance(self, value: float, bound: float) -> str:
        """How far the two are apart as they are shown, so that the three figures of a sentence agree."""
        value, bound = (float(self.show(end).removesuffix(" %")) for end in (value, bound))
        amount = figure(float(f"{abs(value - bound):.12g}"))
        return f"{amount} points" if self.percent else amount


class GatesError(RecuseError):
    """A gate was asked for something it cannot decide; the message says what to change, and where."""


class AgainstLimit(NamedTuple):
    """What follows from the numbers alone, before any accepted failure."""

    outcome: Outcome
    estimate: Estimate  # with the interval that was decided on
    level: float  # the level that was asked for, after correction
    lost: bool = False  # it would pass, but for what the answers that were lost may have said

    @property
    def straddles(self) -> bool:
        """Undecided with an interval that reaches across a bound: not for lack of one, nor for lost answers."""
        return self.outcome == UNDECIDED and not self.lost and sure_at(self.estimate, self.level)


def decide_estimate(
    limit: Limit, estimate: Estimate, level: float = 0.95, *, by: Literal["interval", "point"] = "interval"
) -> AgainstLimit:
    """Not measured where the value is undefined. By "point": pass or fail by the value; the interval at `level` is
    shown all the same. By "interval": pass when the whole interval lies inside the limit, fail when it lies wholly
    outside, else undecided. A missing interval, or one known only at a lower level than asked for, never passes; one
    known only at a higher level is wider than needed and decides all the same.

    A pass is undecided where answers were lost that may have hidden a failure: where losses are not shown to be
    unrelated (detail `losses`, `recuse.metrics.estimates`), the interval must lie inside the limit `with_losses` too.
    """
    at_level = estimate.at(level)
    shown = at_level if has_interval(at_level) else estimate  # of too few resamples what is known is shown
    outcome: Outcome = UNDECIDED
    if not shown.defined:
        outcome = NOT_MEASURED
    elif by == "point":
        outcome = "pass" if limit.holds(shown.value) else "fail"
    elif sure_at(shown, level) and limit.encloses(shown.low, shown.high):
        outcome = "pass"
    elif sure_at(shown, level) and limit.excludes(shown.low, shown.high):
        outcome = "fail"
    lost = outcome == "pass" and not limit.encloses(*with_losses(shown, by))
    return AgainstLimit(UNDECIDED if lost else outcome, shown, level, lost)


def with_losses(estimate: Estimate, by: Literal["interval", "point"] = "interval") -> tuple[float, float]:
    """The interval (by point: the value) moved outwards as far as lost answers could have moved the value; infinite on
    a scale without ends. As it is where nothing was lost, or losses are shown to be unrelated."""
    low, high = (estimate.low, estimate.high) if by == "interval" else (estimate.value, estimate.value)
    losses = estimate.detail.get("losses")
    if not losses or losses["unrelated"]:
        return low, high
    least, greatest = losses["bounds"]
    return (
        -math.inf if least is None else low - max(0.0, estimate.value - least),
        math.inf if greatest is None else high + max(0.0, greatest - estimate.value),
    )


def sure_at(estimate: Estimate, level: float) -> bool:
    """There is an interval, and it is at least as wide as `level` asks for."""
    return has_interval(estimate) and estimate.level >= level - 1e-9


def has_interval(estimate: Estimate) -> bool:
    """Both ends are known (an infinite end is known)."""
    return not (math.isnan(estimate.low) or math.isnan(estimate.high))
