"""Estimates and verdicts: what counts as defined, as one of a family, and as green."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pytest

from recuse.schema import OUTCOMES, Estimate, Estimates, RecuseError, Verdict
from recuse.schema.plain_values import builtins
from recuse.schema.verdict_rows import AcceptedRow, LimitRow


class SamplingDistribution:
    """Normal with SD 1: enough to see which level was asked for."""

    def interval(self, level: float) -> tuple[float, float]:
        return -level, level

    def p_value(self, limit: float, side: Literal["above", "below"]) -> float:
        return 0.5

    def half_width_at(self, factor: float) -> float | None:
        return None


def estimate(value: float = 0.3, **more: Any) -> Estimate:
    return Estimate(metric="self_bias", value=value, n=10, method="by hand", **more)


def verdict(outcome: Any, allowed: bool = False) -> Verdict:
    return Verdict(
        gate="g", subject={}, outcome=outcome, estimate=estimate(), rule={}, limit={}, reason="", allowed=allowed
    )


@pytest.mark.parametrize("row", [LimitRow, AcceptedRow])
def test_a_limit_speaks_of_outcomes_only_where_it_may_hold_some(row: type) -> None:
    assert ("outcome" in str(row.__doc__)) is ("outcome" in row.__annotations__)


@pytest.mark.parametrize(("value", "defined"), [(0.0, True), (math.nan, False), (math.inf, False)])
def test_an_estimate_is_defined_where_its_value_is_a_number(value: float, defined: bool) -> None:
    assert estimate(value).defined is defined


def test_another_level_changes_the_interval_and_nothing_else() -> None:
    found = estimate(distribution=SamplingDistribution())
    wider = found.at(0.99)
    assert (wider.low, wider.high, wider.level) == (-0.99, 0.99, 0.99)
    assert (wider.value, wider.n, wider.method) == (found.value, found.n, found.method)


def test_without_a_law_an_estimate_stays_at_its_level() -> None:
    found = estimate(low=0.1, high=0.5)
    assert found.at(0.99) is found


def test_a_family_finds_its_members_by_name_whatever_else_the_subject_says() -> None:
    one = estimate()
    family = Estimates(("judge", "names"), {("ann", "shown"): one})
    assert family.of(names="shown", judge="ann", panel="mini") is one
    assert family["ann", "shown"] is one
    assert (len(family), list(family)) == (1, [("ann", "shown")])


def test_an_unknown_member_is_told_with_those_there_are() -> None:
    family = Estimates(("judge",), {("ann",): estimate(), ("bob",): estimate()})
    with pytest.raises(RecuseError, match=r"no estimate for judge=eve; measured by \(judge\): ann; bob"):
        family.of(judge="eve")
    with pytest.raises(RecuseError, match="no estimate for panel=mini"):
        family.of(panel="mini")


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_verdict_is_green_only_when_passed_or_accepted(outcome: str) -> None:
    assert bool(verdict(outcome)) is (outcome in ("pass", "accepted"))


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_what_is_allowed_keeps_a_run_green_and_its_outcome(outcome: str) -> None:
    """As where the gate is none of the panel's own use: whom it clears is the decision's matter."""
    found = verdict(outcome, allowed=True)
    assert (bool(found), found.outcome) == (True, outcome)


def test_arrays_become_lists_and_what_is_no_number_nothing():
    value = {"a": np.arange(2), "b": np.float64("nan"), "c": (np.int64(3), math.inf), "d": np.array([1.0, math.nan])}
    assert builtins(value) == {"a": [0, 1], "b": None, "c": [3, None], "d": [1.0, None]}
