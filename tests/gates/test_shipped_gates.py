"""evals/gates.toml of this repository can be read, and every limit in it is used as its question means it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from recuse.gates import Gates
from recuse.schema import Estimates

FILE = Path(__file__).parents[2] / "evals" / "gates.toml"
POINT = {"parse_rate", "human_order", "reported_total", "self_reported_final", "self_reported_sd"}


@pytest.fixture(scope="module")
def gates():
    return Gates.load(FILE, date(2026, 3, 1))


def test_every_gate_has_a_reason_worth_reading(gates):
    assert {name for name in gates if len(gates[name].reason) < 60} == set()


def test_counts_are_decided_as_points_and_estimates_on_their_interval(gates):
    assert {name for name in gates if gates[name].decide == "point"} == POINT


def test_measures_of_many_subjects_are_corrected_as_a_family(gates):
    both_directions = {name for name in gates if gates[name].bound.kind == "within"}
    assert {name for name in both_directions if gates[name].corrected != "holm"} == set()


def test_a_fair_judge_and_a_biased_one(gates, estimate):
    """With intervals a fifth of the limit wide, 0 passes every two-sided gate and twice the limit fails it."""
    for name in gates:
        if gates[name].bound.kind == "within":
            limit = gates[name].bound.high
            members = {("fair",): estimate(0.0, limit / 11), ("biased",): estimate(2 * limit, limit / 11)}
            family = Estimates(("judge",), members)
            outcomes = [gates.decide(name, family, {"judge": judge}).outcome for judge in ("fair", "biased")]
            assert outcomes == ["pass", "fail"], name
