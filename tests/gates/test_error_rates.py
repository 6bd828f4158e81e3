"""What a run says about its own errors."""

from __future__ import annotations

import pytest

from recuse.gates.verdict_power import error_rates
from recuse.schema import Estimates

GATES = """
[run]
false_fail = 0.025

[bias]
within = [-0.5, 0.5]
reason = "r"

[order]
at_least = 0.5
reason = "r"

[parts]
at_most = 0.0
decide = "point"
reason = "r"
"""


@pytest.fixture
def records(load, estimate):
    gates = load(GATES)
    share = {"metric": "order", "unit": "share"}
    bias = Estimates(("judge",), {("a",): estimate(0.0, 0.1), ("b",): estimate(0.45, 0.12)})
    order = Estimates(("judge",), {("a",): estimate(0.8, 0.05, **share), ("b",): estimate(0.8, 0.07, **share)})
    parts = Estimates(("judge",), {(j,): estimate(0.0, 0.0, metric="parts") for j in "ab"})
    return [v.record() for name, found in (("bias", bias), ("order", order), ("parts", parts))
            for v in gates.decide(name, found, {"panel": "p", "task": "t"})]  # fmt: skip


def test_the_chance_to_fail_a_fair_judge_adds_up_over_families(records):
    assert error_rates(records, 0.05)["false_fail"] == {
        "allowed": 0.05,
        "at_most": 0.025,
        "families": 2,
        "by_value": 2,
    }


def test_a_judge_is_cleared_by_all_its_gates(records):
    """P(pass) of `a`: at 0, 5 standard errors from either bound, 88.8 % (noncentral t, 9 df, the standard error itself
    estimated on 9); `order` surely. The interval of `b` is wider."""
    a, b = error_rates(records, 0.05)["judges"]
    passes = {v["subject"]["judge"]: v["power"]["same_again"] for v in records if v["gate"] == "bias"}
    order = records[2]["power"]["same_again"]
    assert a["again_not_cleared"] == pytest.approx(1 - passes["a"] * order, abs=1e-3)
    assert b["fair_not_cleared"] > a["fair_not_cleared"] == pytest.approx(0.112, abs=2e-3)
    assert b["again_not_cleared"] > 0.9


def test_red_again_counts_what_is_green_now(records):
    """`b` is undecided, so the run is red on its account already."""
    green = [v["power"]["same_again"] for v in records if v["outcome"] == "pass" and v["power"]]
    product = green[0] * green[1] * green[2]
    assert error_rates(records, 0.05)["red_again"] == pytest.approx(1 - product, abs=1e-3)


def test_the_smallest_fault_is_told_in_the_gates_own_unit(records):
    bias, order = error_rates(records, 0.05)["smallest_faults"]
    assert (bias["gate"], bias["unit"], order["unit"]) == ("bias", "points", "share")
    assert bias["typical"] > 0.5 + 2.262 * 0.1
    assert order["typical"] < 0.5 - 2.262 * 0.05
    of_a, of_b = ([v["power"]["smallest_fault"] for v in records if v["gate"] == gate] for gate in ("bias", "order"))
    assert (bias["worst"], order["worst"]) == (max(of_a), min(of_b))


def test_in_one_line(records):
    found = error_rates(records, 0.05)
    assert found["red_again"] == pytest.approx(0.2, abs=0.005)
    assert found["sentence"] == (
        "judges without a fault fail in at most 2.5 % of such runs; asked again, what is green now would turn red in "
        "about 20 % of them (2 verdicts are not counted: the value decides, not its interval)"
    )
    assert error_rates([], 0.05)["sentence"] == ""


def test_the_order_of_the_verdicts_does_not_matter(records):
    assert error_rates(records[::-1], 0.05) == error_rates(records, 0.05)
