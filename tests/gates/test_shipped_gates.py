"""evals/gates.toml of this repository can be read, and every limit in it is used as its question means it."""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path

import pytest

from recuse.gates import Gates
from recuse.gates.gate_set import members_of
from recuse.schema import Estimates

FILE = Path(__file__).parents[2] / "evals" / "gates.toml"
POINT = {
    *("parse_rate", "unanswered"),
    *("upgrade_cost", "upgrade_latency"),
    "misplaced_levels",  # ranks among one model's items are not independent: no interval
}


@pytest.fixture(scope="module")
def gates():
    return Gates.load(FILE, date(2026, 3, 1))


def test_every_gate_has_a_reason_worth_reading(gates):
    assert {name for name in gates if len(gates[name].reason) < 60} == set()


def test_counts_are_decided_as_points_and_estimates_on_their_interval(gates):
    points = {name for name in gates if gates[name].decide == "point"}
    assert points == POINT, "a point forgets how sure a value is: a gate of counts is named in POINT"


def test_what_may_stay_undecided_says_why_and_until_when(gates):
    allowed = [gates[name] for name in gates if gates[name].undecided == "allow"]
    assert allowed
    assert all(len(gate.because or "") >= 40 and gate.until is not None for gate in allowed)


def test_a_fair_judge_fails_any_gate_of_its_use_or_any_condition_in_one_of_twenty_runs_at_most(gates):
    for name, use in gates.uses.items():
        deciding = {*use.gates, *gates.conditions}
        assert 0.01 < sum(gates.alpha(gate) for gate in deciding) <= 0.05 + 1e-9, name


def test_each_use_needs_few_gates_that_people_or_true_answers_decide(gates):
    for name, use in gates.uses.items():
        assert use.question, name
        assert use.yardstick, name
        assert len(use.gates) <= 7, name
        assert not {gate for gate in use.yardstick if gates[gate].against == "peers"}, name
        assert not {gate for gate in use.gates if gates[gate].together}, name


def test_every_gate_decides_for_a_use_or_an_upgrade_or_wherever_a_panel_probes_it(gates):
    named = {gate for use in gates.uses.values() for gate in use.gates}
    assert {*gates} == {*named, *gates.conditions, *(name for name in gates if gates[name].together)}
    assert named.isdisjoint(gates.conditions)


IN_POINTS = [("self_preference", 10.0, 0.5), ("leniency", 10.0, 0.4), ("name_effect", 10.0, 0.5),
             ("human_offset", 10.0, 0.6), ("own_text", 4.0, 0.25), ("framing_shift", 4.0, 0.5),
             ("own_favour", 10.0, 0.625)]  # fmt: skip


@pytest.mark.parametrize(("name", "span", "points"), IN_POINTS)
def test_limits_on_the_scales_of_the_two_studies(gates, estimate, name, span, points):
    """Merchant risk is scored 0-10, headlines 1-5: a share of the range, and exactly these numbers."""
    limit = members_of(name, gates[name], estimate(0.0, 1.0, span=span), {})[0].limit
    assert limit.high == points
    assert limit.low in (-points, -math.inf)


def test_no_limit_is_told_in_points_of_one_scale(gates):
    """Whatever is measured in points has a limit of the range; the rest are shares, correlations and counts."""
    upgrade = {name for name in gates if gates[name].together}
    in_points = {name for name, _, _ in IN_POINTS}
    assert {name for name in gates if gates[name].of_range} - upgrade == in_points, (
        "IN_POINTS says what it is on a scale"
    )
    assert {name for name in upgrade if gates[name].of_range} == {
        "upgrade_human_offset", "upgrade_shift", "upgrade_noise", "upgrade_slice_offset", "upgrade_slice_shift",
        "upgrade_self_preference", "upgrade_length",
    }  # fmt: skip


def test_a_fair_judge_and_a_biased_one(gates, estimate):
    """With intervals a fifth of the way from the middle to a limit, the middle passes every two-sided gate, and what
    lies twice as far out as a limit fails it."""
    for name in gates:
        if gates[name].bound.kind == "within":
            span = 10.0 if gates[name].of_range else None
            bound = gates[name].bound
            middle, reach = ((span or 1.0) * (bound.high + sign * bound.low) / 2 for sign in (1, -1))
            values = {"fair": middle, "biased": middle + 2 * reach}
            family = Estimates(("judge",), {(j,): estimate(v, reach / 11, span=span) for j, v in values.items()})
            assert [v.outcome for v in gates.decide(name, family, {})] == ["pass", "fail"], name
