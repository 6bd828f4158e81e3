"""What to do about a verdict, and what its gate could have shown, are worked out for who reads them."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from recuse.gates import gate_set as deciding

GATE = '[bias]\nwithin = [-0.5, 0.5]\nreason = "half a point"\n'
SUBJECT = {"judge": "grok-4"}


class Asked(Exception):
    """Somebody wanted it worked out."""


@pytest.fixture
def nobody_works(monkeypatch):
    def asked(*_, **__):
        raise Asked

    monkeypatch.setattr(deciding.remedies, "next_step", asked)
    monkeypatch.setattr(deciding, "power_of", asked)


@pytest.mark.parametrize(("value", "outcome"), [(0.1, "pass"), (0.45, "undecided"), (0.9, "fail")])
def test_an_outcome_alone_costs_no_forecast(load, estimate, nobody_works, value, outcome):
    verdict = load(GATE).decide("bias", estimate(value, 0.08), SUBJECT)[0]
    assert (verdict.outcome, bool(verdict)) == (outcome, outcome == "pass")
    for name in ("remedy", "power"):
        with pytest.raises(Asked):
            getattr(verdict, name)


def test_it_is_worked_out_once(load, estimate):
    verdict = load(GATE).decide("bias", estimate(0.45, 0.08), SUBJECT)[0]
    assert verdict.remedy is verdict.remedy
    assert verdict.power is verdict.power


def test_who_is_handed_a_verdict_need_not_work_it_out(load, estimate, monkeypatch):
    verdict = load(GATE).decide("bias", estimate(0.45, 0.08), SUBJECT)[0]
    handed_over = pickle.dumps(verdict)
    record = verdict.record()
    monkeypatch.setattr(deciding.remedies, "next_step", None)
    monkeypatch.setattr(deciding, "power_of", None)
    assert pickle.loads(handed_over).record() == record
    assert record["remedy"]["needed"] > 10
    assert 0 < record["power"]["same_again"] < 0.8


def test_a_verdict_without_it_is_a_verdict(load, estimate, nobody_works):
    verdict = load(GATE).decide("bias", estimate(0.45, 0.08), SUBJECT)[0]
    bare = replace(verdict, remedy=None, power=None).record()
    assert (bare["outcome"], bare["remedy"], bare["power"]) == ("undecided", None, None)
