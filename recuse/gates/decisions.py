"""Estimate against limit: pass, fail, undecided or error, at the level the family asks for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

from recuse.gates.limits import Limit
from recuse.gates.rules import Gate
from recuse.schema import Estimate, Estimates, Outcome
from recuse.statistics.multiplicity import decision_levels

__all__ = ["FEASIBLE", "Decision", "decide", "factor_to_decide", "has_interval", "sure_at"]

FEASIBLE = 100.0
"""More than this many times the observations is no longer called feasible."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What follows from the numbers alone, before any accepted fault."""

    outcome: Outcome
    estimate: Estimate  # with the interval that was decided on
    level: float  # the level the gate asks for, after correction
    members: int | None = None  # how many were decided together; None without correction
    undefined: int = 0  # members of the family that could not be measured


def decide(gate: Gate, estimate: Estimate, family: Estimates | None = None) -> Decision:
    """Decide one estimate; `family` holds all estimates it is corrected with, itself included.

    - error: the value is undefined.
    - point gates: pass or fail by the value; the interval at the gate's level is shown all the same.
    - interval gates: pass when the whole interval lies inside the limit, fail when it lies wholly outside, else
      undecided. A missing interval, or one known only at a lower level than asked for, is undecided: it never
      passes. One known only at a higher level is wider than needed and decides all the same.

    Undefined members take no part in the correction: no decision is made on them, so none can be wrong.
    """
    level, members, undefined = gate.level, None, 0
    if family is not None and gate.corrected != "none" and gate.decide == "interval":
        defined = [member for member in family.values() if member.defined]
        members, undefined = len(defined), len(family) - len(defined)
        if estimate.defined:
            level = _level_of(estimate, defined, gate)
    shown = _at(estimate, level)
    return Decision(_outcome(gate, shown, level), shown, level, members, undefined)


def sure_at(estimate: Estimate, level: float) -> bool:
    """There is an interval, and it is at least as wide as `level` asks for."""
    return has_interval(estimate) and estimate.level >= level - 1e-9


def has_interval(estimate: Estimate) -> bool:
    """Both ends are known (an infinite end is known)."""
    return not (math.isnan(estimate.low) or math.isnan(estimate.high))


def factor_to_decide(limit: Limit, estimate: Estimate) -> float | None:
    """How many times the observations it takes to settle `limit`, if the value stays where it is.

    Shrinks the shown interval as `distribution.half_width_at` says its half-width would shrink, and searches the smallest factor
    at which it no longer straddles a bound. `inf` where more than FEASIBLE times would be needed (the value sits
    practically on the bound), None where the method cannot tell.
    """
    distribution = estimate.distribution
    now = distribution.half_width_at(1.0) if distribution is not None else None
    if distribution is None or now is None or not now > 0 or not has_interval(estimate):
        return None

    def settles(factor: float) -> bool:
        then = distribution.half_width_at(factor)
        share = math.nan if then is None else then / now
        return limit.settled_by(
            estimate.value - share * (estimate.value - estimate.low),
            estimate.value + share * (estimate.high - estimate.value),
        )

    if distribution.half_width_at(FEASIBLE) is None:
        return None
    if not settles(FEASIBLE):
        return math.inf
    few, enough = 1.0, FEASIBLE
    while enough - few > 1e-3 * few:
        middle = math.sqrt(few * enough)
        few, enough = (few, middle) if settles(middle) else (middle, enough)
    return enough


def _outcome(gate: Gate, estimate: Estimate, level: float) -> Outcome:
    if not estimate.defined:
        return "not measured"
    if gate.decide == "point":
        return "pass" if gate.bound.holds(estimate.value) else "fail"
    if not sure_at(estimate, level):
        return "undecided"
    if gate.bound.encloses(estimate.low, estimate.high):
        return "pass"
    return "fail" if gate.bound.excludes(estimate.low, estimate.high) else "undecided"


def _at(estimate: Estimate, level: float) -> Estimate:
    """At `level`; as it came where its distribution has no interval there (too few resamples), to show what is known."""
    shown = estimate.at(level)
    return shown if has_interval(shown) else estimate


def _level_of(estimate: Estimate, defined: list[Estimate], gate: Gate) -> float:
    place = next(i for i, member in enumerate(defined) if member is estimate)
    asked = [partial(_settled, gate.bound, member) for member in defined]
    return decision_levels(asked, gate.level, gate.corrected)[place]


def _settled(limit: Limit, estimate: Estimate, level: float) -> bool:
    shown = _at(estimate, level)
    return sure_at(shown, level) and limit.settled_by(shown.low, shown.high)
