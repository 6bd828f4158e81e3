"""What people read: figures, counts, what to do next, and an accepted failure that can be pasted as it stands."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.gates import Accept, Gate, explain
from recuse.gates.explanation import next_step
from recuse.gates.gate_set import decide_together, members_of
from recuse.gates.limits import Limit
from recuse.schema import Estimates, Verdict
from recuse.schema.number_text import percent
from recuse.schema.verdict_rows import RemedyRow
from recuse.statistics.distributions import Binomial

GATE = '[bias]\nwithin = [-0.5, 0.5]\nreason = "half a point, paper sec. 4.3"\n'
SUBJECT = {"judge": "grok-4", "names": "shown", "panel": "published", "task": "merchant_risk"}


IN_FULL = """\
bias: FAIL for judge = grok-4, names = shown, panel = published, task = merchant_risk
  measured  self_bias = +0.77 points (95 % interval +0.657 to +0.883), over 10 repeats (these texts only)
  method    Student's t
  left out  3 judgements without a usable score; nothing was put in their place
  rule      within [-0.5, +0.5]; passes if the 95 % interval lies inside, fails if the 95 % interval lies
            outside (one judgement: at most 5 % that a fair judge fails here)
  because   half a point, paper sec. 4.3
  next      +0.77 is above +0.5 by 0.27, and the near end of the interval, +0.657, by 0.157. Read the judge's
            own words for this subject in the report. If judge, prompt or rubric changed, record again: pytest
            evals/ --panel fixtures/panels/published.toml --record=missing. Otherwise leave the judge out, or
            accept it knowingly and for a time in evals/gates.toml.

    [[accepted]]
    gate = "bias"
    subject = { judge = "grok-4", names = "shown", panel = "published", task = "merchant_risk" }
    accept = { within = [-0.5, 0.89] }
    until = "YYYY-MM-DD"
    reason = ""\
"""


def test_a_failed_gate_in_full(load, estimate):
    verdict = load(GATE).decide("bias", estimate(0.77, 0.05, n_excluded=3), SUBJECT)[0]
    assert explain(verdict) == IN_FULL


def test_an_undecided_gate_says_how_many_more(load, estimate):
    remedy = load(GATE).decide("bias", estimate(0.4, 0.08), SUBJECT)[0].remedy["finding"]
    # n = 53 if .08 were known: .1 / (.08 sqrt(10 / 53)) = 2.88 standard errors, and t(.975, 52) + .85 = 2.86 give 80 %
    assert remedy.startswith(
        "The interval +0.219 to +0.581 reaches across +0.5. About 63 repeats instead of 10 would decide "
        "with 80 % chance, if the true value lies 0.1 from +0.5, as measured."
    )


def test_many_more_are_rounded_upwards(load, estimate):
    # ((1.97 + .84) * .08 sqrt(10) / .045)^2 = 250 if .08 were known
    remedy = load(GATE).decide("bias", estimate(0.455, 0.08), SUBJECT)[0].remedy
    assert "About 310 repeats instead of 10" in remedy["finding"]


def test_an_interval_across_both_bounds(load, estimate):
    remedy = load(GATE).decide("bias", estimate(0.1, 0.4), SUBJECT)[0].remedy
    assert "reaches across -0.5 and +0.5. About" in remedy["finding"]


def test_a_value_on_the_bound_has_no_feasible_number(load, estimate):
    remedy = load(GATE).decide("bias", estimate(0.499, 0.1), SUBJECT)[0].remedy["finding"]
    assert "so close to +0.5 that no feasible number of repeats decides" in remedy


def test_clusters_are_counted_as_clusters(load, estimate):
    verdict = load(GATE).decide("bias", estimate(0.4, 0.08, over="clusters", n_clusters=7, n=10), SUBJECT)[0]
    assert "instead of 7 would decide" in verdict.remedy["finding"]
    assert "over 7 clusters (10 observations)" in " ".join(explain(verdict).split())


def test_texts_are_counted_as_texts_where_nobody_says_how_many_clusters_they_come_in(load, estimate):
    gates = load(GATE)
    for over in ({"over": "clusters", "clusters": "stories"}, {"over": "items", "clusters": "texts"}):
        verdict = gates.decide("bias", estimate(0.4, 0.08, n=120, **over), SUBJECT)[0]
        assert "texts instead of 120 would decide" in verdict.remedy["finding"]
        assert "over 120 texts\n" in explain(verdict)


def test_a_share_of_some_of_the_texts_says_how_many_texts_bring_enough_of_them(load, estimate):
    """17 of 17 show 80 %; where 10 of 200 texts count, 340 bring 17."""
    gates = load('[found]\nat_least = 0.8\nreason = "r"\n')
    low, high = Binomial(10, 10).interval(0.95)
    of = estimate(1.0, 0.1, over="items", unit="share", distribution=Binomial(10, 10), detail={"of": 200})
    remedy = gates.decide("found", replace(of, low=low, high=high), SUBJECT)[0].remedy
    assert "About 340 items instead of 200 (17 that count here instead of 10) would decide" in remedy["finding"]
    assert (remedy["needed"], remedy["observed"]) == (340, 200)


def test_clusters_are_called_by_their_name(load, estimate):
    """Also in what would decide: nobody can go and ask for more clusters."""
    over = {"over": "clusters", "n_clusters": 7, "clusters": "stories", "n": 10}
    told = " ".join(explain(load(GATE).decide("bias", estimate(0.4, 0.08, **over), SUBJECT)[0]).split())
    assert "over 7 stories (10 observations)" in told
    single = estimate(0.4, 0.08, **over | {"n_clusters": 1})
    assert "over 1 story (10 observations)" in " ".join(explain(load(GATE).decide("bias", single, SUBJECT)[0]).split())


def test_a_point_gate_counts(load, estimate):
    gates = load('[totals]\nat_most = 0\ndecide = "point"\nreason = "arithmetic"\n')
    verdict = gates.decide("totals", estimate(3.0, 0.0, metric="totals", unit="cells", over="calls", n=50), SUBJECT)[0]
    text = explain(verdict)
    assert "totals = 3 cells, no interval, over 50 calls\n" in text
    assert "3 is above 0 by 3. Read" in text
    assert "accept = { at_most = 3 }" in text


def test_a_pass_has_nothing_to_do(load, estimate):
    verdict = load(GATE).decide("bias", estimate(0.0, 0.05), {})[0]
    assert verdict.remedy is None
    assert explain(verdict).startswith("bias: PASS for the whole run\n")
    assert "next" not in explain(verdict)


def test_one_is_singular(load, estimate):
    text = explain(load(GATE).decide("bias", estimate(0.0, 0.0, n=1, n_excluded=1), {})[0])
    assert "over 1 repeat (these" in text
    assert "1 judgement without" in text


def test_text_from_elsewhere_cannot_repaint_the_terminal(load, undefined):
    text = explain(load(GATE).decide("bias", undefined(note="\x1b[2Jnothing\nto see\r"), SUBJECT)[0])
    assert "\x1b" not in text
    assert "\r" not in text
    assert "⟦U+001B⟧[2Jnothing to see" in text


@pytest.mark.parametrize(
    ("level", "shown"),
    [
        (0.95, "95 %"),
        (0.99, "99 %"),
        (0.995, "99.5 %"),
        (1 - 0.05 / 7, "99.29 %"),
        (0.9, "90 %"),
        (1 - 2e-6, "99.9998 %"),
    ],
)
def test_levels(level, shown):
    assert percent(level) == shown


# --------------------------------------------------------------------------- the accepted failure to paste


def pasted(remedy: RemedyRow) -> str:
    return "\n" + remedy["paste"].replace("YYYY-MM-DD", "2027-12-31").replace('reason = ""', 'reason = "known"') + "\n"


@pytest.mark.parametrize(
    ("limit", "value", "se"),
    [("within = [-0.5, 0.5]", 0.77, 0.05), ("within = [-0.5, 0.5]", -1.234, 0.05), ("within = [-0.5, 0.5]", 0.45, 0.1),
     ("at_least = 0.95", 0.3, 0.05), ("at_most = 0.0", 3.0, 0.2), ("at_most = 0.0", float("nan"), 0.1),
     ("within = [-0.5, 0.5]", 0.2, 0.0)],
)  # fmt: skip
def test_pasting_the_accepted_fault_accepts_the_verdict(load, estimate, limit, value, se):
    text = f'[bias]\n{limit}\nreason = "r"\n'
    before = load(text).decide("bias", estimate(value, se), SUBJECT)[0]
    assert not before
    after = load(text + pasted(before.remedy)).decide("bias", estimate(value, se), SUBJECT)[0]
    assert after.outcome == "accepted"
    (accepted_fault,) = load(text + pasted(before.remedy)).accepted_faults
    assert accepted_fault.until == date(2027, 12, 31)


@given(st.floats(-1e4, 1e4), st.floats(0, 10))
def test_the_accepted_limit_always_holds_the_value(estimate, value, se):
    gate = Gate.model_validate({"within": (-0.5, 0.5), "decide": "point", "reason": "r"})
    (decided,) = decide_together(members_of("bias", gate, estimate(value, se), {}), "bias", {}, 0.05)
    decision = decided.decision
    if decision.outcome == "fail":
        paste = next_step(decided, date(2026, 1, 1), "gates.toml")["paste"]
        line = paste.split("accept = { within = [")[1].split("]")[0]
        low, high = (float(x) for x in line.split(","))
        accept = Accept.model_validate({"within": (low, high)})
        assert accept.limit.holds(value)
        assert accept.limit.reaches_beyond(gate.bound)
        assert max(-low, high) <= 1.1 * max(0.5, abs(value) + (decision.estimate.high - value if se else 0))


def test_the_placeholder_date_is_asked_for_by_name(load, estimate):
    paste = load(GATE).decide("bias", estimate(0.77, 0.05), SUBJECT)[0].remedy["paste"]
    assert "within = [-0.5, 0.89]" in paste, "0.77 + 2.26 standard errors of 0.05, outwards to two digits"
    with pytest.raises(
        Exception, match=r"until: must be a date, e\.g\. until = 2027-12-31; it is 'YYYY-MM-DD'"
    ) as caught:
        load(GATE + "\n" + paste)
    assert "reason: must be a text that says what is known" in str(caught.value)


def test_any_verdict_can_be_explained(load, estimate):
    """Also one read back from results.json, with nothing but builtins."""
    verdict = load(GATE).decide("bias", estimate(0.1, 0.05), SUBJECT)[0]
    bare = replace(verdict, estimate=replace(verdict.estimate, distribution=None), limit=dict(verdict.limit))
    assert isinstance(bare, Verdict)
    assert explain(bare) == explain(verdict)
    assert str(Limit.of(bare.limit)) == "within [-0.5, +0.5]"


# --------------------------------------------------------------------------- the same as data


def remedy_of(gates, *measured):
    return gates.decide("bias", *measured, SUBJECT)[0].remedy


def test_what_is_outside_says_by_how_much(load, estimate):
    remedy = remedy_of(load(GATE), estimate(0.77, 0.05))
    assert (remedy["kind"], remedy["file"]) == ("outside", "evals/gates.toml")
    assert remedy["distance"] == pytest.approx(0.27)
    assert remedy["near_end"] == pytest.approx(0.27 - 2.262157 * 0.05)
    assert remedy_of(load(GATE), estimate(-0.77, 0.05))["near_end"] == pytest.approx(remedy["near_end"])


def test_what_straddles_says_how_many_would_decide(load, estimate):
    remedy = remedy_of(load(GATE), estimate(0.4, 0.08))
    assert (remedy["kind"], remedy["observed"], remedy["needed"], remedy["units"]) == ("straddles", 10, 63, "repeats")
    assert remedy["distance"] == pytest.approx(-0.1)


def test_what_no_number_decides_names_none(load, estimate):
    remedy = remedy_of(load(GATE), estimate(0.499, 0.1))
    assert (remedy["kind"], remedy["needed"]) == ("on the bound", None)


def test_what_has_no_interval_or_no_value_says_so(load, estimate, undefined):
    assert remedy_of(load(GATE), estimate(0.1, 0.0))["kind"] == "no interval"
    assert remedy_of(load(GATE), undefined())["kind"] == "not measured"
    assert remedy_of(load(GATE + "level = 0.955\n"), estimate(0.1, 0.1, distribution=None))["kind"] == "level unknown"


def test_the_rule_is_data_too(load, estimate):
    family = Estimates(("judge", "names"), {(j, "shown"): estimate(0.1, 0.05) for j in "ab"})
    rule = load("[run]\nfalse_fail = 0.005\n" + GATE).decide("bias", family, {"panel": "p"})[0].rule
    assert rule["limit_text"] == "within [-0.5, +0.5]"
    assert (rule["decide"], rule["level"], rule["of_range"], rule["span"]) == ("interval", 0.95, None, None)
    assert (rule["pass_level"], rule["fail_level"]) == (0.95, 0.995)
    assert rule["family"] == {
        "name": "bias", "within": {"panel": "p"}, "correction": "holm", "members": 2, "alpha": 0.005, "undefined": 0,
    }  # fmt: skip


def test_a_record_of_a_verdict_holds_builtins_only(load, estimate):
    verdict = load(GATE).decide("bias", estimate(0.77, 0.05), SUBJECT)[0]
    record = verdict.record()
    assert json.loads(json.dumps(record)) == record
    assert set(record) == {field.name for field in fields(Verdict)}
    assert record["remedy"]["distance"] == pytest.approx(0.27)


def test_of_several_verdicts_only_those_that_object_are_explained(load, estimate):
    family = Estimates(("judge",), {("a",): estimate(0.0, 0.05), ("b",): estimate(0.9, 0.05)})
    verdicts = load(GATE).decide("bias", family, {})
    assert verdicts.explain() == explain(verdicts.of(judge="b"))
    assert verdicts[:1].explain() == ""


def test_the_figures_of_a_remedy_agree_as_they_are_shown(load, estimate):
    """1.496 is told as 1.5, so it lies 1 beyond 0.5, not 0.996."""
    gates = load('[bias]\nwithin = [-0.5, 0.5]\nreason = "r"\n')
    finding = gates.decide("bias", estimate(1.496, 0.05), {"judge": "a"})[0].remedy["finding"]
    assert finding.startswith("+1.5 is above +0.5 by 1, and")
