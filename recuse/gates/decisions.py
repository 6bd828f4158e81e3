"""One estimate against one limit: pass, fail, undecided or not measured, at a given level."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from recuse.gates.limits import Limit
from recuse.schema import Estimate, Outcome

__all__ = ["Decision", "decide", "has_interval", "sure_at", "with_losses"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What follows from the numbers alone, before any accepted fault."""

    outcome: Outcome
    estimate: Estimate  # with the interval that was decided on
    level: float  # the level that was asked for, after correction
    lost: bool = False  # it would pass, but for what the answers that were lost may have said

    @property
    def straddles(self) -> bool:
        """Undecided with an interval that reaches across a bound: not for lack of one, nor for lost answers."""
        return self.outcome == "undecided" and not self.lost and sure_at(self.estimate, self.level)

    @property
    def level_shown(self) -> float:
        """The level of the interval decided on: wider than was asked for, where only that is known."""
        return max(self.level, self.estimate.level if sure_at(self.estimate, self.level) else 0.0)


def decide(
    limit: Limit, estimate: Estimate, level: float = 0.95, *, by: Literal["interval", "point"] = "interval"
) -> Decision:
    """Decide one estimate.

    - not measured: the value is undefined.
    - by = "point": pass or fail by the value; the interval at `level` is shown all the same.
    - by = "interval": pass when the whole interval lies inside the limit, fail when it lies wholly outside, else
      undecided. A missing interval, or one known only at a lower level than asked for, is undecided: it never
      passes. One known only at a higher level is wider than needed and decides all the same.

    A pass is undecided where answers were lost that may have hidden a failure: where the losses of the two sides that
    the estimate compares are not shown to be alike (detail `losses`, `recuse.metrics.losses`), the interval must lie
    inside the limit also when its ends are moved as far as the lost answers could have moved the value.
    """
    shown = _at(estimate, level)
    outcome = _outcome(limit, shown, level, by)
    lost = outcome == "pass" and not limit.encloses(*with_losses(shown, by))
    return Decision("undecided" if lost else outcome, shown, level, lost)


def with_losses(estimate: Estimate, by: Literal["interval", "point"] = "interval") -> tuple[float, float]:
    """The interval (the value, by point) moved outwards as far as lost answers could have moved the value; infinite on
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


def _outcome(limit: Limit, estimate: Estimate, level: float, by: str) -> Outcome:
    if not estimate.defined:
        return "not measured"
    if by == "point":
        return "pass" if limit.holds(estimate.value) else "fail"
    if not sure_at(estimate, level):
        return "undecided"
    if limit.encloses(estimate.low, estimate.high):
        return "pass"
    return "fail" if limit.excludes(estimate.low, estimate.high) else "undecided"


def _at(estimate: Estimate, level: float) -> Estimate:
    """At `level`; as it came where its distribution has no interval there (too few resamples): what is known."""
    shown = estimate.at(level)
    return shown if has_interval(shown) else estimate
