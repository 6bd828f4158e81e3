"""An accepted failure is a strict xfail: for named judges, up to a bound and a date, not a day or a success longer."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.gates import AcceptedFault, Gate, Gates, GatesError, Verdicts, explain
from recuse.gates.baseline_file import stated, with_former
from recuse.schema import Estimates

GATE = '[bias]\nwithin = [-0.5, 0.5]\nreason = "r"\n'
BEYOND = """
[[accepted]]
gate = "bias"
subject = { panel = "published", judge = ["grok", "gemini"] }
accept = { within = [-0.5, 0.9] }
until = 2027-12-31
reason = "known, as published"
"""
OUTCOME = BEYOND.replace("{ within = [-0.5, 0.9] }", '{ outcome = ["not measured", "undecided"] }')
BOTH = BEYOND.replace("[-0.5, 0.9]", '[-0.5, 0.9], outcome = ["undecided"]')
GROK = {"judge": "grok", "panel": "published", "names": "shown"}


def told(verdict):
    return f"{verdict.remedy['finding']} {verdict.remedy['advice']}"


def test_accepted_is_accepted_and_carries_the_accepted_fault(load, estimate):
    verdict = load(GATE + BEYOND).decide("bias", estimate(0.77, 0.05), GROK)[0]
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
    verdict = load(GATE + BEYOND).decide("bias", estimate(0.48, 0.1), GROK)[0]
    assert (verdict.outcome, verdict.accepted_fault["otherwise"]) == ("accepted", "undecided")


@pytest.mark.parametrize("subject", [GROK | {"panel": "local"}, GROK | {"judge": "claude"}, {"judge": "grok"}, {}])
def test_others_are_not_covered(load, estimate, subject):
    verdict = load(GATE + BEYOND).decide("bias", estimate(0.77, 0.05), subject)[0]
    assert (verdict.outcome, verdict.accepted_fault) == ("fail", None)


def test_beyond_the_accepted_bound_fails_and_names_both(load, estimate):
    verdict = load(GATE + BEYOND).decide("bias", estimate(1.2, 0.05), GROK)[0]
    assert (verdict.outcome, verdict.accepted_fault["state"]) == ("fail", "exceeded")
    assert "asks for within [-0.5, +0.5], the accepted failure accepts within [-0.5, +0.9]" in told(verdict)
    assert "and +1.2 is above +0.5 by 0.7" in told(verdict)
    assert Verdicts([verdict]).accepted_reasons == []
    below = load(GATE + BEYOND).decide("bias", estimate(-0.8, 0.05), GROK)[0]
    assert below.outcome == "fail"


def test_a_judge_that_got_better_passes_and_its_accepted_fault_is_to_be_deleted(load, estimate):
    gates = load(GATE + BEYOND)
    better = gates.decide("bias", estimate(0.1, 0.05), GROK)[0]
    assert (better.outcome, better.accepted_fault, better.remedy) == ("pass", None, None)
    (sentence,) = gates.misfits([better.record()], ["published"])
    assert sentence == (
        "The accepted failure for bias (panel = published, judge = grok | gemini) in evals/gates.toml is no longer "
        "needed: all that it covers passes. Delete it, so that the gain is kept."
    )


def test_an_accepted_fault_that_anything_still_needs_is_kept(load, estimate):
    """One judge of two got better; and one that the fault does not cover says nothing of it."""
    gates = load(GATE + BEYOND)
    better, worse = (gates.decide("bias", estimate(v, 0.05), GROK | {"judge": j})[0].record()
                     for v, j in ((0.1, "grok"), (0.77, "gemini")))  # fmt: skip
    beyond = gates.decide("bias", estimate(1.2, 0.05), GROK | {"judge": "gemini"})[0].record()
    other = gates.decide("bias", estimate(0.1, 0.05), GROK | {"judge": "claude"})[0].record()
    assert gates.misfits([better, worse], ["published"]) == gates.misfits([better, beyond], ["published"]) == []
    assert ["covered nothing" in sentence for sentence in gates.misfits([other], ["published"])] == [True]


@pytest.mark.parametrize("doubt", [OUTCOME, BOTH])
def test_an_accepted_doubt_that_is_settled_is_a_plain_pass(load, estimate, doubt):
    """Recorded again, an interval near a bound may cross it or not: neither is a fault to be unlearnt."""
    verdict = load(GATE + doubt).decide("bias", estimate(0.1, 0.05), GROK)[0]
    assert (verdict.outcome, verdict.accepted_fault, verdict.remedy) == ("pass", None, None)
    assert load(GATE + doubt).decide("bias", estimate(0.77, 0.05), GROK)[0].outcome == "fail"
    assert load(GATE + doubt).misfits([verdict.record()], ["published"]) == []


def test_what_is_accepted_and_what_its_gate_allows_are_both_green(load, estimate):
    text = GATE.replace("reason", 'undecided = "allow"\nbecause = "few"\nuntil = 2027-12-31\nreason') + BEYOND
    within = load(text).decide("bias", estimate(0.48, 0.1), GROK)[0]
    assert (within.outcome, within.accepted_fault["otherwise"], bool(within)) == ("accepted", "undecided", True)
    beyond = load(text).decide("bias", estimate(0.95, 0.3), GROK)[0]
    assert (beyond.outcome, beyond.allowed, bool(beyond)) == ("undecided", True, True)


def test_it_holds_on_its_last_day_and_not_after(load, estimate):
    on_the_day = load(GATE + BEYOND, today=date(2027, 12, 31))
    assert on_the_day.decide("bias", estimate(0.77, 0.05), GROK)[0].outcome == "accepted"
    after = load(GATE + BEYOND, today=date(2028, 1, 1))
    verdict = after.decide("bias", estimate(0.77, 0.05), GROK)[0]
    assert (verdict.outcome, verdict.accepted_fault["state"], bool(verdict)) == ("fail", "expired", False)
    assert "expired: it held until 2027-12-31" in told(verdict)
    assert "give it a later date" in told(verdict)


@pytest.mark.parametrize("fault", [BEYOND, OUTCOME, BOTH])
@given(value=st.floats(-2, 2), se=st.floats(0.01, 0.5))
def test_one_whose_day_has_passed_excuses_no_more_than_it_did(tmp_path_factory, estimate, fault, value, se):
    path = tmp_path_factory.mktemp("evals") / "gates.toml"
    path.write_text(GATE + fault, encoding="utf-8")
    before, after = (Gates.load(path, date(year, 1, 1)) for year in (2026, 2028))
    states = [v.accepted_fault and v.accepted_fault["state"]
              for v in (g.decide("bias", estimate(value, se), GROK)[0] for g in (before, after))]  # fmt: skip
    assert tuple(states) in {(None, None), ("applied", "expired"), ("exceeded", "exceeded")}


@pytest.mark.parametrize(
    ("before", "state"),
    [
        ("", "void"),
        (BEYOND, "expired"),
        (BEYOND.replace("0.9", "0.6"), "void"),
        (BEYOND.replace("2027", "2029"), "expired"),
    ],
    ids=["nothing", "the same", "less", "until later"],
)
def test_one_that_comes_with_its_day_passed_never_held(load, estimate, before, state):
    after = load(GATE + BEYOND, today=date(2028, 1, 1))
    changed = with_former(after, stated(load(GATE + before, today=date(2028, 1, 1))))
    verdict = changed.decide("bias", estimate(0.77, 0.05), GROK)[0]
    assert (verdict.outcome, verdict.accepted_fault["state"]) == ("fail", state)
    assert verdict.formerly in (None, "fail", "accepted")


def test_its_end_is_told_thirty_days_before_and_from_then_on(load):
    def days(today):
        return [(end["until"], end["days"]) for end in load(GATE + BEYOND, today=today).ends()]

    assert days(date(2027, 11, 30)) == []
    assert days(date(2027, 12, 1)) == [("2027-12-31", 30)]
    assert days(date(2028, 1, 2)) == [("2027-12-31", -2)]


@pytest.mark.parametrize(("value", "se", "outcome"), [(0.48, 0.1, "undecided"), (float("nan"), 0.1, "not measured")])
def test_an_expired_accepted_fault_leaves_the_outcome_as_it_is(load, estimate, value, se, outcome):
    verdict = load(GATE + OUTCOME, today=date(2028, 1, 1)).decide("bias", estimate(value, se), GROK)[0]
    assert (verdict.outcome, bool(verdict)) == (outcome, False)


def test_what_cannot_be_measured_is_accepted_by_its_outcome_only(load, estimate, undefined):
    assert load(GATE + OUTCOME).decide("bias", undefined(), GROK)[0].outcome == "accepted"
    assert load(GATE + OUTCOME).decide("bias", estimate(0.48, 0.1), GROK)[0].outcome == "accepted"
    verdict = load(GATE + OUTCOME).decide("bias", estimate(0.77, 0.05), GROK)[0]
    assert verdict.outcome == "fail"
    assert "the accepted failure accepts outcome not measured or undecided" in told(verdict)
    limited = load(GATE + BEYOND).decide("bias", undefined(), GROK)[0]
    assert limited.outcome == "not measured"
    assert "could not be measured (all 10 replies were refusals)" in told(limited)


@pytest.mark.parametrize(
    ("value", "se", "outcome"),
    [(0.48, 0.1, "accepted"), (0.77, 0.05, "fail"), (0.95, 0.3, "undecided"), (float("nan"), 0.1, "not measured")],
    ids=["both hold", "within, not undecided", "undecided, not within", "neither"],
)
def test_a_bound_and_outcomes_must_both_hold(load, estimate, value, se, outcome):
    assert load(GATE + BOTH).decide("bias", estimate(value, se), GROK)[0].outcome == outcome


def test_both_are_named_when_one_does_not_hold(load, estimate):
    verdict = load(GATE + BOTH).decide("bias", estimate(0.95, 0.3), GROK)[0]
    accepts = "accepts within [-0.5, +0.9], with outcome undecided"
    assert f"the accepted failure {accepts}, and this is undecided at +0.95" in told(verdict)


def test_one_accepted_fault_never_hides_another_failure(load, estimate):
    """The family has one accepted member and one that fails by itself: the whole is red, on that one's account."""
    family = Estimates(("judge",), {("grok",): estimate(0.77, 0.05), ("claude",): estimate(0.9, 0.05)})
    verdicts = load(GATE + BEYOND).decide("bias", family, {"panel": "published"})
    assert [(v.subject["judge"], v.outcome) for v in verdicts] == [("grok", "accepted"), ("claude", "fail")]
    assert not verdicts
    assert verdicts.explain().startswith("bias: FAIL for panel = published, judge = claude\n")
    assert "judge = grok" not in verdicts.explain()
    assert verdicts.accepted_reasons == ["known, as published"]


def test_a_bound_that_reaches_no_further_than_a_limit_of_the_range_is_refused_once_the_scale_is_known(load, estimate):
    gates = load(GATE.replace("[-0.5, 0.5]", "[-0.1, 0.1]\nof_range = true") + BEYOND)
    assert gates.decide("bias", estimate(0.77, 0.01, span=5.0), GROK)[0].outcome == "accepted"
    with pytest.raises(GatesError, match=r"does not reach beyond .* \[-1, \+1\] .*so nothing needs it: delete it"):
        gates.decide("bias", estimate(0.77, 0.01, span=10.0), GROK)


# --------------------------------------------------------------------------- unused


def met(gate, subject):
    """A verdict that something accepted."""
    return {"gate": gate, "subject": subject, "accepted_fault": {"state": "applied"}}


def test_an_accepted_fault_that_met_nothing_is_reported_with_what_there_was(load):
    gates = load(GATE + BEYOND)
    verdicts = [met("bias", {"panel": "published", "judge": "grok-4"}), met("other", GROK)]
    (sentence,) = gates.misfits(verdicts, ["published"])
    assert "bias (panel = published, judge = grok | gemini) in evals/gates.toml covered nothing" in sentence
    assert "its verdicts had panel: published; judge: grok-4" in sentence
    assert gates.misfits([met("bias", GROK)], ["published"]) == []
    assert "gave no verdict at all" in gates.misfits([], ["published"])[0]


def test_an_accepted_fault_for_what_was_not_run_is_passed_over(load):
    gates = load(GATE + BEYOND)
    assert gates.misfits([], ["local"], answered=False) == []
    assert len(gates.misfits([], ["local", "published"], answered=False)) == 1


def test_a_gate_nobody_asked_is_reported(load):
    gates = load(GATE + GATE.replace("[bias]", "[other]"))
    assert gates.misfits([met("bias", {})], [], answered=False) == []
    assert gates.misfits([met("bias", {})], []) == [
        "The gate other in evals/gates.toml decided nothing in this run: no eval asked for it. Use it or delete it."
    ]


# --------------------------------------------------------------------------- whatever the numbers

accepts = st.sampled_from(
    [
        {"within": (-0.5, 0.9)},
        {"outcome": ("not measured",)},
        {"outcome": ("undecided",)},
        {"within": (-0.5, 0.9), "outcome": ("undecided",)},
    ]
)
days = st.dates(date(2025, 1, 1), date(2027, 1, 1))


@given(st.floats(-2, 2), st.floats(0.01, 1), accepts, days, days)
def test_an_accepted_fault_never_makes_green_what_it_does_not_accept(estimate, value, se, accept, until, today):
    gate = Gate.model_validate({"within": (-0.5, 0.5), "reason": "r"})
    known = AcceptedFault.model_validate(
        {"gate": "bias", "subject": {"judge": "a"}, "accept": accept, "until": until, "reason": "known"}
    )
    path = Path("evals/gates.toml")
    bare, after = (
        Gates(path, {"bias": gate}, accepted_faults, today).decide("bias", estimate(value, se), {"judge": "a"})[0]
        for accepted_faults in ((), (known,))
    )
    within = "within" not in accept or -0.5 <= value <= 0.9
    holds = within and bare.outcome in accept.get("outcome", (bare.outcome,))
    if bare:  # what passes needs no acceptance, and none turns it red
        assert (after.outcome, after.accepted_fault) == ("pass", None)
    else:
        assert bool(after) == (holds and today <= until)
        assert (after.outcome == "accepted") == bool(after)
