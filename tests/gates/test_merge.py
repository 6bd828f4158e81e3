"""Merge, do not merge or decide: the word, its sentence of at most 15 words, and who is cleared because of what."""

from __future__ import annotations

import copy
import importlib
import itertools
import pkgutil

import pytest

import recuse.metrics
from recuse.gates import decide_merge
from recuse.gates.merge import MOST_WORDS
from recuse.metrics.measure import MEASURES

ABOUT = {
    "self_bias": {"above": "promotes itself|promote themselves", "below": "holds itself down", "rank": 10},
    "run_sd": {"above": "is unsteady|are unsteady", "below": "", "rank": 20},
}
PLACE = {"panel": "five", "task": "tickets", "protocol": "rubric"}


def verdict(judge, outcome="pass", *, gate="self_bias", value=0.1, half=0.05, allowed=False, fault=None):
    return {
        "gate": gate, "subject": {**PLACE, "judge": judge}, "outcome": outcome, "allowed": allowed, "blocks": True,
        "limit": {"within": [-0.5, 0.5]}, "label": "own work" if gate == "self_bias" else "",
        "estimate": {"metric": gate, "value": value, "low": value - half, "high": value + half},
        "accepted_fault": fault,
    }  # fmt: skip


def results(*verdicts, **more):
    from recuse.gates import recommendations

    judges = list(dict.fromkeys(v["subject"]["judge"] for v in verdicts))
    return {
        "verdicts": list(verdicts), "upgrades": [], "unmeasured": [], "objections": [], "measurements": [],
        "measures": ABOUT, "baseline": None, "recommendations": recommendations(verdicts),
        "panels": [{"name": "five", "judges": [{"name": name} for name in judges]}],
    } | more  # fmt: skip


def baseline(*objections, **more):
    found = ("named", "outcomes", "limits", "removed", "sources", "moved", "appeared", "vanished")
    return {"objections": list(objections), **{name: [] for name in found}} | more


WIDENED = {
    "gate": "self_bias", "key": "limit", "change": "widened", "before": "within [-0.5, +0.5]",
    "after": "within [-1, +1]",
    "otherwise": [{"subject": {"judge": "grok"}, "outcome": "fail", "now": "pass"}],
}  # fmt: skip
UPGRADE = {"incumbent": "eve", "candidate": "cat", "clause": "gives higher scores", "more": None, "units": "items"}


def said(*verdicts, **more):
    decision = decide_merge(results(*verdicts, **more))
    assert decision["sentence"].lower().startswith(f"{decision['word']}: ")
    assert decision["sentence"].endswith(decision["clause"])
    assert len(decision["sentence"].split()) <= MOST_WORDS
    return decision["sentence"]


def test_who_is_cleared_is_named():
    assert said(verdict("gpt"), verdict("grok")) == "Merge: no gate objects. All 2 judges are cleared."
    known = verdict("grok", "accepted", value=0.7, fault={"otherwise": "fail", "state": "applied"})
    assert said(verdict("gpt"), known) == "Merge: no gate objects. Cleared: gpt, of 2 judges."
    assert said(known) == "Merge: no gate objects. The judge is not cleared, and that is accepted."


def test_nothing_changed_is_said_only_where_a_baseline_says_so():
    assert said(verdict("gpt"), baseline=baseline()).startswith("Merge: nothing changed. ")
    moved = baseline(moved=[{"what": "self_bias", "subject": {}}])
    assert said(verdict("gpt"), baseline=moved).startswith("Merge: no gate objects. ")


def test_what_fails_is_told_in_the_words_of_its_measure():
    red = [verdict(name, "fail", value=0.8) for name in ("grok", "gemini")]
    assert said(red[0]) == "Do not merge: grok promotes itself."
    assert said(*red) == "Do not merge: grok and gemini promote themselves."
    unsteady = verdict("gpt", "fail", gate="run_sd", value=0.9)
    assert said(unsteady, *red).startswith("Do not merge: grok and gemini promote themselves; 1 more verdict is red.")
    assert said(verdict("gpt", "fail", value=-0.8)) == "Do not merge: gpt holds itself down."


def test_what_was_not_measured_does_not_pass():
    assert said(verdict("gpt", "not measured", value=float("nan"))) == "Do not merge: gpt could not be measured."
    unmeasured = [{"test": f"t{n}", "why": "no key"} for n in range(48)]
    assert said(verdict("gpt"), unmeasured=unmeasured) == "Do not merge: 48 tests could not be finished."
    assert said(verdict("gpt"), objections=["expired"]) == "Do not merge: 1 fault of the run itself."


def test_a_widened_limit_asks_a_person_although_every_judge_passes():
    sentence = "baseline.json: self_bias limit widened"
    found = baseline(sentence, limits=[WIDENED])
    decision = "Decide: limit of own work widened; without that grok fails."
    assert said(verdict("grok"), baseline=found) == decision
    strict = said(verdict("grok"), baseline=found, objections=[sentence])
    assert strict == decision, "with --baseline it turns the run red, and it is still no fault of the run itself"


def test_of_several_changes_the_one_that_hides_a_failure_is_told():
    harmless = {**WIDENED, "gate": "run_sd", "otherwise": []}
    found = baseline("a", "b", limits=[harmless, WIDENED])
    assert said(verdict("grok"), baseline=found) == (
        "Decide: limit of own work widened, 1 more change; without that grok fails."
    )


def test_a_failure_is_worse_than_a_changed_limit():
    assert said(verdict("grok", "fail", value=0.8), baseline=baseline("a", limits=[WIDENED])).startswith("Do not merge")


def test_a_change_beyond_tolerance_and_what_is_gone_ask_a_person():
    named = {"what": "self_bias", "subject": {"judge": "grok"}, "beyond": "more than the gate's tolerance of 0.2"}
    assert said(verdict("grok"), baseline=baseline("a", named=[named])) == (
        "Decide: own work of grok changed beyond its limit or tolerance."
    )
    assert said(verdict("grok"), baseline=baseline("the test x is gone")) == (
        "Decide: 1 test, judge or verdict of the baseline gone."
    )


def test_undecided_without_leave_asks_and_with_leave_does_not():
    open_one = verdict("grok", "undecided", value=0.45, half=0.2)
    assert said(open_one) == "Decide: grok stays undecided (own work); too little data."
    assert said({**open_one, "allowed": True}).startswith("Merge: ")
    unneeded = verdict("grok", "fail", fault={"otherwise": "pass", "state": "no longer needed"})
    assert said(unneeded) == "Decide: an accepted fault of grok is no longer needed; delete it."


@pytest.mark.parametrize(
    ("word", "outcome", "sentence"),
    [
        ("worse", "fail", "Do not merge: cat gives higher scores; keep eve."),
        ("not comparable", "not measured", "Do not merge: cat cannot be compared with eve."),
        ("undecided", "undecided", "Decide: whether cat may replace eve is undecided; about 40 items more would decide."),  # noqa: E501
        ("equivalent", "pass", "Merge: cat may replace eve; no difference larger than you allow."),
        ("better", "pass", "Merge: cat may replace eve; it agrees with people better."),
    ],
)  # fmt: skip
def test_an_upgrades_headline_is_the_upgrades(word, outcome, sentence):
    upgrade = {**UPGRADE, "verdict": word, "outcome": outcome, "more": 40}
    assert said(verdict("eve"), upgrades=[upgrade]) == sentence


def test_nothing_asked():
    assert said() == "Decide: nothing was measured; no question was asked."
    assert said(measurements=[{}] * 3) == "Decide: nothing was gated; 3 numbers measured, no verdict."


def test_no_sentence_is_longer_than_15_words_whatever_the_measure():
    """Every shipped measure, on either side of its limit, of one judge and of many."""
    for module in pkgutil.walk_packages(recuse.metrics.__path__, "recuse.metrics."):
        importlib.import_module(module.name)
    shipped = {name: about.record() for name, about in MEASURES.items() if about.above or about.below}
    assert len(shipped) > 30
    for (name, about), value, many in itertools.product(shipped.items(), (-9.0, 9.0), (1, 2, 9)):
        red = [verdict(f"judge-{n}", "fail", gate=name, value=value) for n in range(many)]
        said(*red, measures=shipped)
        for clause in (part.split("|")[0] for part in (about["above"], about["below"]) if part):
            upgrade = {**UPGRADE, "clause": clause, "verdict": "worse", "outcome": "fail"}
            said(verdict("eve"), upgrades=[upgrade])


def test_per_panel_the_strongest_reason_is_a_new_one_then_the_surest():
    faults = {"otherwise": "fail", "state": "applied"}
    slight = verdict("gemini", "accepted", value=0.6, half=0.01, fault=faults)
    unsure = verdict("gemini", "accepted", gate="run_sd", value=1.5, half=0.9, fault=faults)
    new = verdict("grok", "fail", value=0.7, half=0.19)
    (panel,) = decide_merge(results(verdict("gpt"), slight, unsure))["panels"]
    assert (panel["cleared"], panel["not cleared"], panel["undecided"]) == (["gpt"], ["gemini"], [])
    assert (panel["because"]["not cleared"]["gate"], panel["because"]["not cleared"]["margin"]) == ("self_bias", 0.1)
    (panel,) = decide_merge(results(verdict("gpt"), slight, unsure, new))["panels"]
    assert panel["because"]["not cleared"]["judge"] == "grok"


def test_the_order_of_verdicts_does_not_matter():
    found = results(
        verdict("a", "fail", value=0.9), verdict("b", "fail", value=0.9), verdict("c", "fail", gate="run_sd")
    )
    turned = copy.deepcopy(found)
    turned["verdicts"].reverse()
    assert decide_merge(turned) == decide_merge(found)
