"""An accepted fault is a strict xfail: for named judges, up to a bound and a date, and not a day or a success longer."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.gates import Gate, Gates, AcceptedFault, explain

GATE = '[bias]\nwithin = [-0.5, 0.5]\nreason = "r"\n'
BEYOND = """
[[accepted]]
gate = "bias"
subject = { panel = "published", judge = ["grok", "gemini"] }
accept = { within = [-0.5, 0.9] }
until = 2027-12-31
reason = "known, as published"
"""
OUTCOME = BEYOND.replace("{ within = [-0.5, 0.9] }", '{ outcome = ["error", "undecided"] }')
GROK = {"judge": "grok", "panel": "published", "condition": "attributed"}


def test_accepted_is_accepted_and_carries_the_accepted_fault(load, estimate):
    verdict = load(GATE + BEYOND).decide("bias", estimate(0.77, 0.05), GROK)
    assert (verdict.outcome, bool(verdict)) == ("accepted", True)
    assert verdict.accepted_fault == {
        "accept": {"within": [-0.5, 0.9]},
        "until": "2027-12-31",
        "reason": "known, as published",
        "state": "applied",
        "otherwise": "fail",
    }
    assert "known, as published" in explain(verdict)


def test_an_undecided_value_within_the_accepted_bound_is_accepted(load, estimate):
    verdict = load(GATE + BEYOND).decide("bias", estimate(0.48, 0.1), GROK)
    assert (verdict.outcome, verdict.accepted_fault["otherwise"]) == ("accepted", "undecided")


@pytest.mark.parametrize("subject", [GROK | {"panel": "local"}, GROK | {"judge": "claude"}, {"judge": "grok"}, {}])
def test_others_are_not_covered(load, estimate, subject):
    verdict = load(GATE + BEYOND).decide("bias", estimate(0.77, 0.05), subject)
    assert (verdict.outcome, verdict.accepted_fault) == ("fail", None)


def test_beyond_the_accepted_bound_fails_and_names_both(load, estimate):
    verdict = load(GATE + BEYOND).decide("bias", estimate(1.2, 0.05), GROK)
    assert (verdict.outcome, verdict.accepted_fault["state"]) == ("fail", "exceeded")
    assert "asks for within [-0.5, +0.5], the accepted fault accepts within [-0.5, +0.9], and +1.2 is above +0.5 by 0.7" in (
        verdict.remedy
    )
    below = load(GATE + BEYOND).decide("bias", estimate(-0.8, 0.05), GROK)
    assert below.outcome == "fail"


def test_a_judge_that_got_better_turns_the_accepted_fault_red(load, estimate):
    verdict = load(GATE + BEYOND).decide("bias", estimate(0.1, 0.05), GROK)
    assert (verdict.outcome, verdict.accepted_fault["state"], bool(verdict)) == ("fail", "no longer needed", False)
    assert "no longer needed" in verdict.remedy
    assert "Delete the accepted fault (panel = published, judge = grok | gemini) from evals/gates.toml" in verdict.remedy


def test_an_allowed_undecided_needs_no_accepted_fault(load, estimate):
    text = GATE.replace("reason", 'undecided = "allow"\nreason') + BEYOND
    verdict = load(text).decide("bias", estimate(0.48, 0.1), GROK)
    assert (verdict.outcome, verdict.allowed, bool(verdict)) == ("fail", False, False)
    assert "which the gate allows by itself" in verdict.remedy


def test_it_holds_on_its_last_day_and_not_after(load, estimate):
    on_the_day = load(GATE + BEYOND, today=date(2027, 12, 31))
    assert on_the_day.decide("bias", estimate(0.77, 0.05), GROK).outcome == "accepted"
    assert on_the_day.expired_accepted_faults() == []
    after = load(GATE + BEYOND, today=date(2028, 1, 1))
    verdict = after.decide("bias", estimate(0.77, 0.05), GROK)
    assert (verdict.outcome, verdict.accepted_fault["state"], bool(verdict)) == ("fail", "expired", False)
    for text in (verdict.remedy, *after.expired_accepted_faults()):
        assert "expired: it held until 2027-12-31" in text
        assert "give it a later date" in text


@pytest.mark.parametrize(("value", "se", "outcome"), [(0.48, 0.1, "undecided"), (float("nan"), 0.1, "error")])
def test_an_expired_accepted_fault_leaves_the_outcome_as_it_is(load, estimate, value, se, outcome):
    verdict = load(GATE + OUTCOME, today=date(2028, 1, 1)).decide("bias", estimate(value, se), GROK)
    assert (verdict.outcome, bool(verdict)) == (outcome, False)


def test_what_cannot_be_measured_is_accepted_by_its_outcome_only(load, estimate, undefined):
    assert load(GATE + OUTCOME).decide("bias", undefined(), GROK).outcome == "accepted"
    assert load(GATE + OUTCOME).decide("bias", estimate(0.48, 0.1), GROK).outcome == "accepted"
    verdict = load(GATE + OUTCOME).decide("bias", estimate(0.77, 0.05), GROK)
    assert verdict.outcome == "fail"
    assert "the accepted fault accepts outcome error or outcome undecided" in verdict.remedy
    limited = load(GATE + BEYOND).decide("bias", undefined(), GROK)
    assert limited.outcome == "error"
    assert "could not be measured (all 10 replies were refusals)" in limited.remedy


def test_a_bound_and_an_outcome_may_be_accepted_together(load, estimate, undefined):
    gates = load(GATE + BEYOND.replace("[-0.5, 0.9]", '[-0.5, 0.9], outcome = ["error"]'))
    assert gates.decide("bias", estimate(0.77, 0.05), GROK).outcome == "accepted"
    assert gates.decide("bias", undefined(), GROK).outcome == "accepted"
    assert gates.decide("bias", estimate(1.2, 0.05), GROK).outcome == "fail"


# --------------------------------------------------------------------------- unused


def test_a_accepted_fault_that_met_nothing_is_reported_with_what_there_was(load):
    gates = load(GATE + BEYOND)
    (sentence,) = gates.unused_accepted_faults([("bias", {"panel": "published", "judge": "grok-4"}), ("other", GROK)])
    assert "bias (panel = published, judge = grok | gemini) in evals/gates.toml covered nothing" in sentence
    assert "its verdicts had panel: published; judge: grok-4" in sentence
    assert gates.unused_accepted_faults([("bias", GROK)]) == []
    assert "gave no verdict at all" in gates.unused_accepted_faults([])[0]


def test_a_accepted_fault_for_what_was_not_run_is_passed_over(load):
    gates = load(GATE + BEYOND)
    assert gates.unused_accepted_faults([], ran={"panel": ["local"]}) == []
    assert len(gates.unused_accepted_faults([], ran={"panel": ["local", "published"]})) == 1
    assert len(gates.unused_accepted_faults([], ran={"task": ["merchant_risk"]})) == 1


def test_a_gate_nobody_asked_is_reported(load):
    gates = load(GATE + GATE.replace("[bias]", "[other]"))
    assert gates.unused_gates([("bias", {})]) == [
        "The gate other in evals/gates.toml decided nothing in this run: no eval asked for it. Use it or delete it."
    ]


# --------------------------------------------------------------------------- whatever the numbers

accepts = st.sampled_from([{"within": (-0.5, 0.9)}, {"outcome": ("error",)}, {"outcome": ("undecided",)}])
days = st.dates(date(2025, 1, 1), date(2027, 1, 1))


@given(st.floats(-2, 2), st.floats(0.01, 1), accepts, days, days)
def test_a_accepted_fault_never_makes_green_what_it_does_not_accept(estimate, value, se, accept, until, today):
    gate = Gate.model_validate({"within": (-0.5, 0.5), "reason": "r"})
    accepted_fault = AcceptedFault.model_validate(
        {"gate": "bias", "subject": {"judge": "a"}, "accept": accept, "until": until, "reason": "known"}
    )
    path = Path("evals/gates.toml")
    bare, accepted = (
        Gates(path, {"bias": gate}, accepted_faults, today).decide("bias", estimate(value, se), {"judge": "a"})
        for accepted_faults in ((), (accepted_fault,))
    )
    accepted = -0.5 <= value <= 0.9 if "within" in accept else bare.outcome in accept["outcome"]
    assert bool(accepted) == (not bare and accepted and today <= until)
    assert (accepted.outcome == "accepted") == bool(accepted)
