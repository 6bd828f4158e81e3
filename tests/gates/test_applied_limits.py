"""Limits told as shares of the scale's range, and limits that differ by task."""

from __future__ import annotations

import pytest

from recuse.gates import Gate, GatesError, explain
from recuse.gates.gate_set import members_of
from recuse.schema import Estimates

RANGE = '[bias]\nwithin = [-0.05, 0.05]\nof_range = true\nreason = "a twentieth of any scale"\n'
ELSEWHERE = RANGE + '\n[[bias.on]]\ntask = "duels"\nwithin = [-0.1, 0.1]\nreason = "shares, not points"\n'


@pytest.mark.parametrize(("span", "limit"), [(10.0, 0.5), (4.0, 0.2), (100.0, 5.0), (1.0, 0.05)])
def test_a_share_of_the_range_is_told_in_the_scales_own_units(load, estimate, span, limit):
    verdict = load(RANGE).decide("bias", estimate(0.0, 1e-4, span=span), {})[0]
    assert verdict.limit == {"within": [-limit, limit]}
    assert verdict.rule["sentence"] == (
        f"within [-{limit:g}, +{limit:g}] points, 5 % of the scale's range of {span:g}; "
        "passes if the 95 % interval lies inside, fails if the 95 % interval lies outside "
        "(one judgement: at most 5 % that a fair judge fails here)"
    )
    assert (verdict.rule["of_range"], verdict.rule["span"]) == ({"within": [-0.05, 0.05]}, span)


def test_the_same_value_passes_on_one_scale_and_fails_on_another(load, estimate):
    outcomes = [load(RANGE).decide("bias", estimate(0.4, 0.01, span=span), {})[0].outcome for span in (10.0, 4.0)]
    assert outcomes == ["pass", "fail"]


def test_what_to_do_is_told_in_the_scales_own_units(load, estimate):
    verdict = load(RANGE).decide("bias", estimate(0.77, 0.05, span=10.0), {"judge": "a"})[0]
    assert verdict.remedy["finding"].startswith("+0.77 is above +0.5 by 0.27")
    assert "accept = { within = [-0.5, 0.89] }" in verdict.remedy["paste"]
    assert "within [-0.5, +0.5] points, 5 % of the scale's range of 10" in explain(verdict)


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        ("within = [-0.02, 0.05]", "within [-0.2, +0.5] points, -2 to 5 % of"),
        ("at_most = 0.05", "at most 0.5 points, 5 % of"),
        ("at_least = 0.625", "at least 6.25 points, 62.5 % of"),
    ],
)
def test_one_sided_and_lopsided_limits(load, estimate, limit, told):
    text = f'[bias]\n{limit}\nof_range = true\nreason = "r"\n'
    assert told in load(text).decide("bias", estimate(0.0, 0.01, span=10.0), {})[0].rule["sentence"]


@pytest.mark.parametrize("span", [None, float("inf")])
def test_a_measure_that_knows_no_scale_or_one_without_ends_is_refused(load, estimate, span):
    """A twentieth of a scale without ends held every bias, and results.json could not be read."""
    with pytest.raises(
        GatesError, match=r"its limit is a share of the scale's range .*Give the scale two ends, its Est"
    ):
        load(RANGE).decide("bias", estimate(0.0, 0.01, span=span), {})


def test_an_undefined_estimate_needs_no_scale(load, undefined):
    verdict = load(RANGE).decide("bias", undefined(), {})[0]
    assert (verdict.outcome, verdict.limit) == ("not measured", {"within": [-0.05, 0.05]})
    assert verdict.rule["sentence"].startswith("within [-0.05, +0.05] of the scale's range;")


def test_a_task_with_a_limit_of_its_own(load, estimate):
    gates = load(ELSEWHERE)
    here = gates.decide("bias", estimate(0.3, 0.01, span=10.0), {"task": "essays"})[0]
    assert (here.outcome, here.reason, here.limit) == ("pass", "a twentieth of any scale", {"within": [-0.5, 0.5]})
    there = gates.decide("bias", estimate(0.3, 0.01), {"task": "duels"})[0]
    assert (there.outcome, there.reason, there.limit) == ("fail", "shares, not points", {"within": [-0.1, 0.1]})


def test_the_narrowest_limit_applies(estimate):
    def on(**where):
        return {**where, "at_most": float(len(where)), "reason": "r"}

    gate = Gate.model_validate(
        {"at_most": 0.0, "reason": "r", "on": [on(task="t"), on(task="t", panel="p"), on(task="u", panel="p")]}
    )

    def applies(**subject):
        return members_of("g", gate, estimate(0.0, 1.0), subject)[0].limit.high

    assert applies(task="x", panel="p") == 0.0
    assert applies(task="t", panel="q") == 1.0
    assert applies(task="t", panel="p") == 2.0


def test_members_of_one_family_may_have_different_limits(load, estimate):
    """By protocol, of which each member has its own: one family of two, decided at 0.5 and at 0.1."""
    text = RANGE.replace("of_range = true", "of_range = false").replace("0.05", "0.5")
    text += '\n[[bias.on]]\nprotocol = "pairwise"\nwithin = [-0.1, 0.1]\nreason = "r"\n'
    both = {("rubric",): estimate(0.3, 0.01), ("pairwise",): estimate(0.3, 0.01)}
    verdicts = load(text).decide("bias", Estimates(("protocol",), both), {})
    assert [(v.outcome, v.rule["family"]["members"]) for v in verdicts] == [("pass", 2), ("fail", 2)]
