"""Every outcome of a gate, and what must hold whatever the numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.gates import explain
from recuse.gates.limits import Limit, decide_estimate

ALLOW = 'undecided = "allow"\nbecause = "few texts"\nuntil = 2026-03-01\n'
WITHIN = '[bias]\nwithin = [-0.5, 0.5]\nreason = "r"\n'
POINT = '[bias]\nwithin = [-0.5, 0.5]\ndecide = "point"\nreason = "r"\n'

# half-width of a 95 % interval of ten runs is 2.262 standard errors
CASES = [
    (0.1, 0.1, "pass"),
    (0.9, 0.1, "fail"),
    (-0.9, 0.1, "fail"),
    (0.4, 0.1, "undecided"),
    (0.6, 0.1, "undecided"),
]


@pytest.mark.parametrize(("value", "se", "outcome"), CASES)
def test_the_whole_interval_decides(load, estimate, value, se, outcome):
    verdict = load(WITHIN).decide("bias", estimate(value, se), {"judge": "a"})[0]
    assert verdict.outcome == outcome
    assert bool(verdict) == (outcome == "pass")
    assert verdict.limit == {"within": [-0.5, 0.5]}
    assert verdict.rule["sentence"].startswith(
        "within [-0.5, +0.5]; passes if the 95 % interval lies inside, fails if the 95 % interval lies outside"
    )


@pytest.mark.parametrize(
    ("limit", "value", "outcome"),
    [("at_least = 0.5", 0.8, "pass"), ("at_least = 0.5", 0.2, "fail"), ("at_least = 0.5", 0.55, "undecided"),
     ("at_most = 0.5", 0.8, "fail"), ("at_most = 0.5", 0.2, "pass"), ("at_most = 0.5", 0.55, "undecided")],
)  # fmt: skip
def test_one_sided_limits(load, estimate, limit, value, outcome):
    verdict = load(f'[g]\n{limit}\nreason = "r"\n').decide("g", estimate(value, 0.1), {})[0]
    assert verdict.outcome == outcome


def test_a_point_gate_decides_on_the_value_and_shows_the_interval(load, estimate):
    verdict = load(POINT + "level = 0.9\n").decide("bias", estimate(0.45, 0.1), {})[0]
    assert verdict.outcome == "pass"
    assert verdict.estimate.level == 0.9
    assert verdict.estimate.high > 0.5
    assert verdict.rule["sentence"] == "within [-0.5, +0.5]; the value itself decides"
    assert load(POINT).decide("bias", estimate(0.55, 0.1), {})[0].outcome == "fail"
    assert load(POINT).decide("bias", estimate(0.5, 0.0), {})[0].outcome == "pass"


@pytest.mark.parametrize("text", [WITHIN, POINT])
def test_undefined_is_not_measured_and_says_why(load, undefined, text):
    verdict = load(text).decide("bias", undefined(), {"judge": "a"})[0]
    assert verdict.outcome == "not measured"
    assert not verdict
    assert "all 10 replies were refusals" in explain(verdict)


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_an_infinite_value_is_not_a_measurement(load, estimate, value):
    assert load(POINT).decide("bias", estimate(value, 0.0), {})[0].outcome == "not measured"


def test_no_interval_never_passes_even_where_undecided_is_allowed(load, estimate):
    lone = estimate(0.0, 0.0, n=10, note="no run differs from another")
    verdict = load(WITHIN + ALLOW).decide("bias", lone, {})[0]
    assert verdict.outcome == "undecided"
    assert not verdict.allowed
    assert not verdict
    assert "no interval to decide on (no run differs from another)" in verdict.remedy["finding"]


def test_allowed_undecided_keeps_the_run_green_and_is_still_called_so(load, estimate):
    verdict = load(WITHIN + ALLOW).decide("bias", estimate(0.4, 0.1), {})[0]
    assert (verdict.outcome, verdict.allowed, bool(verdict)) == ("undecided", True, True)
    assert not load(WITHIN + ALLOW).decide("bias", estimate(0.9, 0.1), {})[0]


def test_undecided_is_allowed_until_its_day_and_red_after_it(load, estimate):
    """The gate of the review that could be outwaited for ever: rho = 0 stayed green in 99 % of runs."""
    on_the_day = load(WITHIN + ALLOW)
    assert on_the_day.decide("bias", estimate(0.4, 0.1), {})[0].allowed
    assert [end["days"] for end in on_the_day.ends()] == [0]
    after = load(WITHIN + ALLOW, today=date(2026, 3, 2))
    verdict = after.decide("bias", estimate(0.4, 0.1), {})[0]
    assert (verdict.outcome, verdict.allowed, bool(verdict)) == ("undecided", False, False)
    assert verdict.remedy["kind"] == "allowance expired"
    assert verdict.remedy["finding"].startswith(
        "Undecided was allowed here until 2026-03-01 (few texts); since then it c"
    )
    assert after.ends() == [{"gate": "bias", "about": "undecided allowed", "until": "2026-03-01", "days": -1}]


def test_an_interval_without_its_sampling_is_used_where_it_is_wide_enough(load, estimate):
    fixed = estimate(0.1, 0.1, distribution=None)
    assert load(WITHIN).decide("bias", fixed, {})[0].outcome == "pass"
    assert load(WITHIN + "level = 0.9\n").decide("bias", fixed, {})[0].outcome == "pass"
    assert load(WITHIN + "level = 0.9\n").decide("bias", fixed, {})[0].rule["level"] == 0.95
    narrow = load(WITHIN + "level = 0.99\n").decide("bias", fixed, {})[0]
    assert narrow.outcome == "undecided"
    assert "known only at 95 %, and 99 % is asked for" in narrow.remedy["finding"]


@dataclass(frozen=True)
class FewDraws:
    """A bootstrap with too few resamples for high levels."""

    def interval(self, level):
        return (-0.1, 0.1) if level <= 0.95 else (math.nan, math.nan)

    def p_value(self, limit, side):
        return 0.5

    def half_width_at(self, factor):
        return 0.1 / math.sqrt(factor)


def test_too_few_resamples_for_the_level_are_undecided_and_show_what_is_known(load, estimate):
    verdict = load(WITHIN + "level = 0.999\n").decide("bias", estimate(0.0, 0.05, distribution=FewDraws()), {})[0]
    assert verdict.outcome == "undecided"
    assert verdict.estimate.level == 0.95
    assert "known only at 95 %, and 99.9 % is asked for" in verdict.remedy["finding"]


# --------------------------------------------------------------------------- whatever the numbers

LIMITS = [{"within": (-0.5, 0.5)}, {"at_least": 0.2}, {"at_most": 0.2}]
values, errors = st.floats(-2, 2), st.floats(1e-3, 1)
rules = st.sampled_from(LIMITS)


@given(rules, values, errors, st.floats(0.1, 1))
def test_a_sharper_interval_never_turns_a_decision_around(estimate, limit, value, se, factor):
    before = decide_estimate(Limit.of(limit), estimate(value, se)).outcome
    after = decide_estimate(Limit.of(limit), estimate(value, se * factor)).outcome
    assert before in (after, "undecided")


@given(rules, values, errors, st.floats(0.5, 0.999), st.floats(0.5, 0.999))
def test_a_higher_level_never_decides_more(estimate, limit, value, se, one, other):
    low, high = sorted((one, other))
    sure = decide_estimate(Limit.of(limit), estimate(value, se), high).outcome
    assert sure in (decide_estimate(Limit.of(limit), estimate(value, se), low).outcome, "undecided")


@given(rules, values, errors)
def test_a_decided_interval_agrees_with_the_point(estimate, limit, value, se):
    whole = decide_estimate(Limit.of(limit), estimate(value, se)).outcome
    assert whole in (decide_estimate(Limit.of(limit), estimate(value, se), by="point").outcome, "undecided")


@given(values, errors)
def test_mirrored_numbers_get_mirrored_decisions(estimate, value, se):
    up, down = Limit.of({"at_least": 0.2}), Limit.of({"at_most": -0.2})
    assert decide_estimate(up, estimate(value, se)).outcome == decide_estimate(down, estimate(-value, se)).outcome
