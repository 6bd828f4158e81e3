"""The decision: its table row by row, and its laws over generated records."""

from __future__ import annotations

import json
import math
import random
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recuse.cassettes.pack_file import _remedy
from recuse.gates import decide
from recuse.gates.gate_tables import EVERY_GATE, UseTable
from recuse.gates.limits import Limit
from recuse.gates.records import Change, Evidence, Figure, PanelPlan, VerdictRecord, changes_of
from recuse.schema import vocabulary

USES = {
    "grade": UseTable(yardstick=("agreement",), decides=("offset", "unanswered")),
    "choose": UseTable(yardstick=("right_choices", "agreement"), decides=("order",)),
    "risk": UseTable(yardstick=("offset",), decides=("own_work",)),
}
CONDITIONS, PEERS = ("injection", "leniency"), ("leniency", "own_work")
NAMED = {gate for use in USES.values() for gate in use.gates}
WITHIN, LEAST = Limit("within", -0.5, 0.5), Limit("at_least", -0.1, float("inf"))


def figure(judge="ann", value=0.0, half=0.1, *, metric="offset", panel="p", **subject):
    about = {"panel": panel, "task": "t", "protocol": "q", **({"judge": judge} if judge else {}), **subject}
    return Figure(metric, about, value, value - half, value + half, above="scores too high")


def verdict(gate, judge="ann", outcome="pass", *, value=0.0, limit=WITHIN, half=0.1, **more):
    about = {k: more.pop(k) for k in ("panel", "task", "protocol", "criterion") if k in more}
    found = figure(judge, value, half, metric=gate, **about)
    green = more.pop("green", outcome == "pass" or more.get("accepted", False))
    more = {"limit": limit, "outcome": outcome, "green": green, "test": f"test_{gate}"} | more
    return VerdictRecord(**{f.name: getattr(found, f.name) for f in fields(found)}, gate=gate, label=gate, **more)


def asked(gate, *judges, panel="p", task="t", protocol="q", test=None):
    about = {"panel": panel, "task": task, "protocol": protocol}
    return {"gate": gate, **about, "judges": list(judges or ("ann",)), "test": test or f"test_{gate}"}


GRADED = ("agreement", "offset", "unanswered")


def evidence(*verdicts, uses=("grade",), further=(), judges=("ann",), gates=GRADED, changes=(), figures=(), **more):
    panels = (PanelPlan("p", tuple(judges), tuple(uses), tuple(further)),) if judges else ()
    due = tuple(asked(gate, *judges) for gate in gates)
    return evidence_of(panels, due, verdicts, changes, figures=tuple(figures), **more)


def evidence_of(panels, due, verdicts, changes, **more):
    return Evidence(
        panels=tuple(panels), due=tuple(due), uses=USES, conditions=frozenset(CONDITIONS), peers=frozenset(PEERS),
        verdicts=tuple(verdicts), changes=tuple(changes), **more,
    )  # fmt: skip


def passes(*others, judge="ann", gates=GRADED):
    """A pass of every gate that no verdict of `others` is about, and these."""
    about = {(v.gate, v.judge) for v in others}
    return (*(verdict(gate, judge) for gate in gates if (gate, judge) not in about), *others)


def word_on(found, judge="ann", use="grade"):
    return next(one for one in decide(found).judges if (one.judge, one.use) == (judge, use))


# --------------------------------------------------------------------------- the word on a judge


def test_cleared_is_who_passes_every_gate_that_had_to_be_asked():
    one = word_on(evidence(*passes()))
    assert (one.word, one.stated, one.accepted) == ("cleared", True, False)
    assert set(one.gates) == set(GRADED)
    assert one.sentence == "ann is cleared to grade: every gate that decides passes."


@pytest.mark.parametrize(
    ("gate", "held_against", "said"),
    [
        ("sensitivity", "the right answers", "it decides as the right answers say"),
        ("sensitivity", "one person", "it decides as your one expert does; nobody knows how far experts agree"),
        ("expert_kappa", "", "it decides as your one expert does; nobody knows how far experts agree"),
        ("human_ceiling", "", "it agrees with your people about as well as they agree with each other"),
        ("human_ceiling", "the right answers", "it agrees with the right answers about as well as your people do"),
    ],
)
def test_whoever_is_cleared_is_as_good_as_what_it_was_held_against(gate, held_against, said):
    passed = verdict(gate)
    passed = replace(passed, detail={"held_against": held_against})
    found = evidence(passed, gates=(gate,))
    one = word_on(replace(found, uses={"grade": UseTable(yardstick=(gate,))}))
    assert (one.word, one.cause) == ("cleared", said)


@pytest.mark.parametrize("gate", [*GRADED, "injection"])
@pytest.mark.parametrize("accepted", [True, False])
def test_not_cleared_is_who_fails_a_gate_of_the_use_or_a_condition_accepted_or_not(gate, accepted):
    failed = verdict(gate, outcome="fail", value=0.9, accepted=accepted)
    one = word_on(evidence(*passes(failed), gates=(*GRADED, gate)))
    assert (one.word, one.accepted, one.gates) == ("not cleared", accepted, (gate,))


OPEN = [("undecided", False), ("undecided", True), ("not measured", False), ("not measured", True)]


@pytest.mark.parametrize(("outcome", "green"), OPEN)
@pytest.mark.parametrize("gate", GRADED)
def test_whoever_has_an_open_verdict_is_undecided_though_a_gate_allows_it(gate, outcome, green):
    one = word_on(evidence(*passes(verdict(gate, outcome=outcome, green=green))))
    assert (one.word, one.accepted, one.gates) == ("undecided", green, (gate,))


@pytest.mark.parametrize("outcome", ["fail", "undecided"])
def test_what_a_use_that_nobody_states_would_refuse_is_not_called_accepted(outcome):
    """The run is green on its account, and nobody accepted anything by name."""
    for accepted in (False, True):
        open_ = verdict("offset", outcome=outcome, value=0.9, green=True, accepted=accepted)
        one = word_on(evidence(*passes(open_), uses=(), further=("grade",)))
        assert (one.stated, one.accepted) == (False, accepted)


@pytest.mark.parametrize("gate", GRADED)
def test_a_gate_without_a_verdict_leaves_the_judge_undecided(gate):
    one = word_on(evidence(*(v for v in passes() if v.gate != gate)))
    assert (one.word, one.accepted) == ("undecided", False)
    assert gate in one.gates
    assert f"{gate} was not measured in this run" in one.cause


def test_a_gate_without_a_verdict_is_called_what_its_file_calls_it():
    found = evidence(*(v for v in passes() if v.gate != "unanswered"))
    named = replace(found, labels={"unanswered": "texts without an answer"})
    assert word_on(named).cause == "texts without an answer was not measured in this run"


OPEN_PANEL = {
    "of two judges": evidence(verdict("offset", outcome="undecided"), judges=("ann", "bob")),
    "of nobody": evidence(
        *passes(), *passes(judge="bob"), verdict("own_work", judge="", outcome="undecided"), judges=("ann", "bob")
    ),
    "a gate is missing": evidence(*(v for v in passes() if v.gate != "unanswered")),
    "refused": evidence(
        *passes(verdict("offset", outcome="fail", value=0.9), verdict("offset", "bob", "fail", value=0.9), judge="ann"),
        judges=("ann", "bob"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("found", OPEN_PANEL.values(), ids=OPEN_PANEL)
def test_a_decision_is_written_in_the_words_that_people_read(found, monkeypatch):
    before = decide(found)
    new = {word: f"<{number}>" for number, word in enumerate([*vocabulary.SHOWN, *vocabulary.WORD_MEANINGS])}
    for identifier, word in new.items():
        monkeypatch.setitem(vocabulary.PRINTED, identifier, word)
    after = decide(found)
    assert [one.word for one in after.judges] == [one.word for one in before.judges]
    written = "\n".join((*after.lines, after.next, *after.sentences))
    assert [w for w in ("undecided", "not measured", "not cleared", "cleared") if w in written] == [], written
    assert any(word in written for word in new.values())


def test_a_verdict_of_several_that_is_gone_is_missed_for_everybody_who_was_asked():
    """Of three criteria, the verdict on one is gone: whose it was, nobody knows."""
    some = [verdict("agreement", criterion=name, of=3) for name in ("clear", "true")]
    assert word_on(evidence(*passes(*some))).word == "undecided"
    assert word_on(evidence(*passes(*some, verdict("agreement", criterion="kind", of=3)))).word == "cleared"


def test_a_gate_that_two_tests_ask_is_missed_where_one_of_them_gave_no_verdict():
    tests = "evals/test_a.py::test_scores", "evals/test_a.py::test_choices"
    found = evidence(*passes(verdict("agreement", test=f"{tests[0]}[p/t/q]")))
    both = tuple(asked("agreement", test=test) for test in tests)
    others = tuple(a for a in found.due if a["gate"] != "agreement")
    assert word_on(replace(found, due=(*both[:1], *others))).word == "cleared"
    assert word_on(replace(found, due=(*both, *others))).word == "undecided"


def test_a_candidate_whose_test_was_skipped_is_not_cleared_by_the_verdict_of_the_judge_in_use():
    both = "ann", "next"
    verdicts = [verdict(gate, judge, test=f"test_{gate}[p/t/q{'/next' * (judge == 'next')}]")
                for gate in GRADED for judge in both if (gate, judge) != ("offset", "next")]  # fmt: skip
    found = evidence(*verdicts, judges=both)
    due = tuple(asked(gate, judge) for gate in GRADED for judge in both)
    decision = decide(replace(found, due=due))
    assert [(one.word, one.cause) for one in decision.judges] == [
        ("cleared", "every gate that decides passes"), ("undecided", "offset was not measured in this run"),
    ]  # fmt: skip
    assert (decision.word, decision.exit_code) == ("decide", 2)
    assert decision.next == "run again, or record what is missing"


def test_of_a_candidate_that_is_not_recorded_no_sentence_says_that_an_eval_is_lacking():
    """The evals are there, and gave the judge in use its verdicts."""
    gates = "human_ceiling", "unanswered"
    found = evidence(*passes(gates=gates), judges=("ann", "next"))
    panel = replace(found.panels[0], rated=("people_items", "two_people"))
    due = tuple(asked(gate, judge) for gate in gates for judge in panel.judges)
    uses = {"grade": UseTable(yardstick=("human_ceiling",), decides=("unanswered",))}
    one = word_on(replace(found, panels=(panel,), due=due, uses=uses), "next")
    assert (one.word, one.cause, one.next) == (
        "undecided", "human ceiling and unanswered were not measured in this run",
        "run again, or record what is missing",
    )  # fmt: skip


def test_a_gate_that_is_about_some_judges_only_is_not_missed_for_others():
    """Who wrote none of the texts has no verdict on its own work."""
    own = verdict("injection", "ann")
    found = evidence(*passes(own), *passes(judge="bob"), judges=("ann", "bob"), gates=(*GRADED, "injection"))
    assert word_on(found, "bob").word == "cleared"


def test_judges_of_one_name_in_two_panels_are_two_judges():
    """What is asked in one panel, and what comes of it, says nothing of the other."""
    first = evidence(*passes(verdict("offset", outcome="fail", value=0.9)), verdict("injection"),
                     gates=(*GRADED, "injection", "right_choices"))  # fmt: skip
    second = PanelPlan("r", ("ann",), ("grade",), ("choose",))
    both = replace(first, panels=(*first.panels, second),
                   due=(*first.due, *(asked(gate, panel="r") for gate in GRADED if gate != "agreement")),
                   uses=USES | {"grade": UseTable(yardstick=("offset",), decides=("unanswered",))})  # fmt: skip
    there = (verdict("offset", panel="r"), verdict("unanswered", panel="r"))
    found = decide(replace(both, verdicts=(*first.verdicts, *there)))
    assert [(one.panel, one.use, one.word) for one in found.judges] == [
        ("p", "grade", "not cleared"), ("r", "grade", "cleared"),
    ]  # fmt: skip


def test_nobody_is_cleared_whom_nothing_compares_with_people_or_true_answers():
    one = word_on(evidence(verdict("offset"), gates=("offset",)))
    assert one.word == "undecided"
    assert "no ratings by people and no true answers" in one.cause
    assert "people" in one.gates


def test_one_yardstick_of_several_is_enough_for_a_use():
    gates = ("right_choices", "order")
    assert word_on(evidence(*passes(gates=gates), uses=("choose",), gates=gates), use="choose").word == "cleared"


def test_a_part_of_the_questions_clears_nobody_and_forgives_nothing():
    part = {"whole": False, "part": "only test_a.py ran"}
    one = word_on(evidence(*passes(), **part))
    assert (one.word, one.cause, one.next, one.accepted) == (
        "undecided", "only test_a.py ran", "run all of evals/", False,
    )  # fmt: skip
    assert word_on(evidence(*passes(verdict("offset", outcome="fail", value=0.9)), **part)).word == "not cleared"
    assert not word_on(evidence(*passes(verdict("offset", outcome="undecided", green=True)), **part)).accepted


FORGED = Change("recording", "recordings of ann (p)", "do not merge", "ann: 80 of 80 replies say that other answered",
                "ask the judge itself", about=("p", "ann"))  # fmt: skip
MERGED = replace(FORGED, word="merge", cause="ann is recorded: 3 new replies")


@pytest.mark.parametrize("changes", [(FORGED, MERGED), (MERGED, FORGED)])
def test_nobody_is_cleared_by_replies_that_are_not_its_own(changes):
    found = evidence(*passes(), *passes(judge="bob"), judges=("ann", "bob"), changes=changes)
    decision = decide(found)
    assert [(one.judge, one.word, one.cause, one.next) for one in decision.judges] == [
        ("ann", "undecided", "80 of 80 replies say that other answered", "ask the judge itself"),
        ("bob", "cleared", "every gate that decides passes", ""),
    ]  # fmt: skip
    assert (decision.word, decision.cause, decision.exit_code) == ("do not merge", FORGED.cause, 2)
    assert decision.lines[1] == (
        "These judges: 1 of 2 cleared to grade (bob); 1 undecided: ann: 80 of 80 replies say that other answered."
    )
    failed = verdict("offset", outcome="fail", value=0.9)
    assert word_on(replace(found, verdicts=passes(failed))).word == "not cleared"
    for other in (replace(FORGED, about=("r", "ann")), replace(FORGED, kind="yardstick"), MERGED):
        assert word_on(replace(found, changes=(other,))).word == "cleared"


def test_a_change_of_recordings_names_the_judge_that_they_are_of():
    row = {"kind": "recording", "what": FORGED.what, "word": FORGED.word, "cause": FORGED.cause, "next": FORGED.next,
           "before": None, "after": None, "place": {"panel": "p", "judge": "ann"}}  # fmt: skip
    results = {"verdicts": [], "upgrades": [], "objections": []}
    assert changes_of({**results, "changed": [row]}) == [FORGED]
    assert changes_of({**results, "changed": [{**row, "place": {"panel": "p"}}]})[0].about == ("p", "")


LIMIT = {"gate": "bias", "where": {}, "key": "limit", "before": "a", "after": "b", "change": "widened", "otherwise": [],
         "consequence": "", "sentence": "limit of bias widened"}  # fmt: skip
LABELS = {"kind": "yardstick", "what": "people.csv", "word": "decide", "cause": "people.csv is changed", "place": {}}
READ, WHY = "read it, and merge it if it is meant", "--because"


@pytest.mark.parametrize(
    ("given", "objections", "said", "steps"),
    [
        (False, [], [], (READ, "restore it, or accept it")),  # no base was given, so nothing turns the run red
        (True, [], [], (WHY, "restore it, or accept it")),
        (False, ["b.json: limit of bias widened"], [], (WHY, "restore it, or accept it")),  # --baseline does
        (False, [], [LIMIT["sentence"]], (READ, READ)),  # the reason is given
    ],
)
def test_where_the_run_is_red_until_somebody_says_why_the_next_step_says_how(given, objections, said, steps):
    unsaid = [f"b.json: {one}" for one in [LIMIT["sentence"]] if one not in said]
    baseline = {"limits": [LIMIT], "named": [], "vanished": [], "removed": [], "outcomes": [], "objections": unsaid}
    results = {"verdicts": [], "upgrades": [], "objections": objections, "baseline": baseline}
    told = [change for change in changes_of({**results, "changed": [{**LABELS, "red": given}]}) if change.kind != "run"]
    assert [step in change.next for step, change in zip(steps, told, strict=True)] == [True, True]


def test_a_gate_of_another_use_says_nothing_of_this_one():
    found = evidence(
        *passes(verdict("order", outcome="fail", value=0.9, green=True)), verdict("right_choices", green=True),
        further=("choose",), gates=(*GRADED, "order", "right_choices"),
    )  # fmt: skip
    assert [(one.use, one.word, one.stated) for one in decide(found).judges] == [
        ("grade", "cleared", True), ("choose", "not cleared", False),
    ]  # fmt: skip
    assert (decide(found).word, decide(found).red) == ("merge", False)


def test_a_further_use_has_a_word_only_where_one_of_its_yardsticks_is_asked():
    assert [one.use for one in decide(evidence(*passes(), further=("risk",))).judges] == ["grade", "risk"]
    found = evidence(verdict("right_choices"), uses=("choose",), further=("grade", "risk"), gates=("right_choices",))
    assert [one.use for one in decide(found).judges] == ["choose"]


def test_a_study_clears_and_refuses_nobody():
    decision = decide(evidence(uses=(), gates=()))
    assert (decision.judges, decision.word, decision.red) == ((), "no decision", False)
    assert "studies are measured" in decision.lines[1]


def test_judges_that_were_compared_and_not_checked_are_not_called_studies():
    upgrade = Change("upgrade", "new", "merge", "new may replace old")
    decision = decide(evidence(uses=(), judges=(), gates=(), changes=(upgrade,)))
    assert decision.lines[1] == "These judges: compared with each other, checked for no use."


def test_where_a_file_names_no_use_all_gates_decide():
    def without_uses(*verdicts, gates):
        found = evidence(*verdicts, uses=(EVERY_GATE,), gates=gates)
        return replace(found, uses={}, conditions=frozenset(gates), peers=frozenset())

    assert word_on(without_uses(*passes(gates=("x",)), gates=("x",)), use=EVERY_GATE).word == "cleared"
    failed = without_uses(*passes(verdict("y", outcome="fail", value=0.9), gates=("x",)), gates=("x", "y"))
    assert word_on(failed, use=EVERY_GATE).sentence.startswith("ann is not cleared: it ")
    nothing = word_on(without_uses(gates=()), use=EVERY_GATE)
    assert nothing.word == "undecided"
    assert nothing.sentence == "ann is undecided: no gate was asked of it."


# --------------------------------------------------------------------------- accepted, and red


def test_an_accepted_failure_clears_nobody_and_turns_nothing_red():
    decision = decide(evidence(*passes(verdict("offset", outcome="fail", value=0.9, accepted=True))))
    assert (decision.word, decision.red, decision.judges[0].word) == ("merge", False, "not cleared")
    assert "0 of 1 cleared to grade; 1 not cleared, known and accepted: ann scores too high." in decision.lines[1]


def test_an_accepted_failure_accepts_nothing_else():
    known = verdict("offset", outcome="fail", value=0.9, accepted=True)
    decision = decide(evidence(*passes(known, verdict("unanswered", outcome="fail", value=0.9))))
    assert (decision.word, decision.red, decision.judges[0].accepted) == ("do not merge", True, False)
    for verdicts, why in (
        (passes(known, verdict("unanswered", outcome="undecided")), "ann: whether it scores too high is too close"),
        ([v for v in passes(known) if v.gate != "unanswered"], "ann: unanswered was not measured in this run"),
    ):
        decision = decide(evidence(*verdicts))
        assert (decision.word, decision.red, decision.judges[0].word) == ("decide", True, "not cleared")
        assert decision.cause.startswith(why)
        part = decide(evidence(*verdicts, **PART))
        assert (part.word, part.red, part.judges[0].word) == ("no decision", False, "not cleared")
    allowed = decide(evidence(*passes(known, verdict("unanswered", outcome="undecided", green=True))))
    assert (allowed.word, allowed.red) == ("merge", False)


def test_an_undecided_that_its_gate_allows_keeps_the_run_green_and_clears_nobody():
    decision = decide(evidence(*passes(verdict("offset", outcome="undecided", green=True))))
    assert (decision.word, decision.red, decision.judges[0].word) == ("merge", False, "undecided")


EXPIRED = Change("expired", "1 accepted failure", "decide", "1 accepted failure expired on 2027-12-31")


def test_what_was_accepted_until_a_day_that_has_passed_asks_a_person_and_turns_the_run_red():
    """Nothing in the change caused it, so the change is not refused."""
    known = replace(verdict("offset", outcome="fail", value=0.9), expired=True)
    decision = decide(evidence(*passes(known), changes=(EXPIRED,)))
    assert (decision.word, decision.red, decision.judges[0].word) == ("decide", True, "not cleared")
    assert decision.cause == EXPIRED.cause
    assert "0 of 1 cleared to grade; 1 not cleared, acceptance expired: ann scores too high." in decision.lines[1]


def test_a_doubt_about_a_use_that_nobody_states_turns_nothing_red():
    found = evidence(*passes(), verdict("right_choices", outcome="undecided", green=True), further=("choose",),
                     gates=(*GRADED, "right_choices"))  # fmt: skip
    decision = decide(found)
    assert [one.word for one in decision.judges] == ["cleared", "undecided"]
    assert (decision.word, decision.red) == ("merge", False)


def test_a_judge_not_cleared_or_undecided_for_its_panels_use_is_red():
    for outcome, word in (("fail", "do not merge"), ("undecided", "decide"), ("not measured", "decide")):
        decision = decide(evidence(*passes(verdict("agreement", outcome=outcome, value=0.9))))
        assert (decision.word, decision.red) == (word, True)


# --------------------------------------------------------------------------- the word on the change

MERGE, ASK, REFUSED = (Change("upgrade", w, w, f"cause of {w}", f"step of {w}") for w in (
    "merge", "decide", "do not merge"))  # fmt: skip
FAILED, DOUBTED = verdict("offset", outcome="fail", value=0.9), verdict("offset", outcome="undecided")
UNFINISHED = {"unfinished": (("a", "no key"), ("b", "no key"), ("c", "broken"))}
PART = {"whole": False, "part": "only test_a.py ran"}

TABLE = [
    ("a judge fails its own use", passes(FAILED), {}, "do not merge"),
    ("an upgrade is refused", passes(), {"changes": (MERGE, ASK, REFUSED)}, "do not merge"),
    ("a failure in part of a run", passes(FAILED), PART, "do not merge"),
    ("a failure in an unfinished run", passes(FAILED), UNFINISHED, "do not merge"),
    ("only a part ran", passes(), PART, "no decision"),
    ("a test ended without a verdict", passes(), UNFINISHED, "no decision"),
    ("a doubt in an unfinished run", passes(DOUBTED), UNFINISHED, "no decision"),
    ("an objection in an unfinished run", passes(), {**UNFINISHED, "changes": (ASK,)}, "no decision"),
    ("a judge is undecided", passes(DOUBTED), {}, "decide"),
    ("a limit was changed", passes(), {"changes": (MERGE, ASK)}, "decide"),
    ("a change is fine", passes(), {"changes": (MERGE,)}, "merge"),
    ("none of these", passes(), {}, "merge"),
    ("nobody to judge", (), {"judges": (), "gates": ()}, "no decision"),
    ("nobody to judge, a change", (), {"judges": (), "gates": (), "changes": (ASK,)}, "decide"),
]


@pytest.mark.parametrize(("verdicts", "more", "word"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_word_on_a_change(verdicts, more, word):
    decision = decide(evidence(*verdicts, **more))
    assert decision.word == word
    assert decision.cause
    assert word != "no decision" or not decision.red
    assert decision.lines[0] == f"This change: {word}: {decision.cause}."


def test_the_cause_is_that_of_the_worst_change_and_brings_its_step():
    decision = decide(evidence(*passes(), changes=(MERGE, ASK, REFUSED)))
    assert (decision.cause, decision.next) == ("cause of do not merge", "step of do not merge")
    assert [c.word for c in decision.changes] == ["do not merge", "decide", "merge"]


def test_a_cause_that_stops_several_tests_is_told_once():
    found = decide(evidence(*passes(), **UNFINISHED))
    assert found.cause == "no key (3 tests unfinished)"
    assert found.next.endswith(": pytest evals/ --record=missing")
    assert decide(evidence(*passes(), unfinished=(("a", "broken."),))).cause == "broken (1 test unfinished)"


def test_what_records_the_missing_answers_names_the_panel():
    """It may not be among those that are examined without a name; a file is recorded nowhere."""
    tests = (*["t[x.csv/replies/file]"] * 3, "t[local/replies/rubric]", *["t[ours/replies/rubric]"] * 2, "conftest")
    found = decide(evidence(*passes(), unfinished=tuple((test, "not recorded") for test in tests)))
    assert found.next.endswith(": pytest evals/ --panel fixtures/panels/ours.toml --record=missing")


def test_recordings_that_are_kept_elsewhere_are_fetched_and_not_recorded_again():
    path = Path("/repo/fixtures/cassettes/packs/abc.pack")
    why = f"index.json names {path}, which is not here; {_remedy(path, SimpleNamespace(url='https://store/'))}"
    found = decide(evidence(*passes(), unfinished=(("t[local/replies/rubric]", "no key"), ("t", why))))
    assert found.next == "fetch the recordings: python -m recuse.cassettes fetch /repo/fixtures/cassettes"


def test_nothing_changed_is_told_only_where_a_baseline_says_so():
    assert decide(evidence(*passes(), compared=True)).cause == "nothing changed"
    assert decide(evidence(*passes())).cause == "nothing stands against it"


def test_the_first_named_is_whoever_lies_furthest_beyond_its_limit():
    fails = [verdict("offset", name, "fail", value=v) for name, v in (("ann", 0.6), ("bob", 1.9), ("cat", 0.7))]
    rest = [verdict(gate, name) for gate in ("agreement", "unanswered") for name in ("ann", "bob", "cat")]
    decision = decide(evidence(*rest, *fails, judges=("ann", "bob", "cat")))
    assert decision.cause == "bob scores too high; 2 more judges not cleared"
    assert decision.judges[1].cause == "it scores too high (offset +1.9, limit within [-0.5, +0.5])"
    assert decision.lines[1].startswith("These judges: 0 of 3 cleared to grade; 3 not cleared: bob ")


@pytest.mark.parametrize(
    ("limit", "value", "half", "excess"),
    [(WITHIN, 0.9, 0.1, 0.8), (WITHIN, 0.25, 0.1, -0.5), (LEAST, -0.3, 0.1, 2.0), (LEAST, -0.3, 0.0, 0.0),
     (WITHIN, math.nan, 0.1, -math.inf)],
)  # fmt: skip
def test_how_far_a_value_lies_outside_is_told_in_half_widths(limit, value, half, excess):
    """Of the limit, [-0.5, 0.5] here; of the interval where the limit has one side."""
    assert verdict("offset", value=value, limit=limit, half=half).excess == pytest.approx(excess)


def test_a_verdict_about_the_panel_bars_nobody_and_is_told():
    about_all = verdict("injection", "", "fail", value=0.9)
    decision = decide(evidence(*passes(about_all), gates=(*GRADED, "injection")))
    assert (decision.judges[0].word, decision.word, decision.cause) == (
        "cleared", "do not merge", "injection is outside its limit",
    )  # fmt: skip
    assert decision.red


def test_of_several_verdicts_about_the_panel_the_furthest_is_told_in_any_order():
    near, far = verdict("injection", "", "fail", value=0.6), verdict("drift", "", "fail", value=0.9)
    for both in ((near, far), (far, near)):
        assert decide(evidence(*passes(), *both)).cause == "drift is outside its limit"


@pytest.mark.parametrize(("words", "code"), [
    (["pass", "pass"], 0), (["pass", "undecided"], 2), (["undecided", "fail"], 1), (["pass", "fail"], 1), ([], 2),
])  # fmt: skip
def test_the_exit_code_is_that_of_the_worst_word(words, code):
    names = [f"j{k}" for k in range(len(words))]
    rest = [verdict(gate, name) for gate in ("agreement", "unanswered") for name in names]
    ends = [verdict("offset", name, word, value=0.9) for name, word in zip(names, words, strict=True)]
    assert decide(evidence(*rest, *ends, judges=names)).exit_code == code


def test_the_record_is_what_json_can_hold():
    decision = decide(evidence(*passes(FAILED), changes=(ASK,)))
    record = json.loads(json.dumps(decision.record()))
    assert record["lines"] == list(decision.lines)
    assert record["judges"][0]["word"] == "not cleared"
    assert record["changes"] == [
        {"kind": "upgrade", "what": "decide", "word": "decide", "cause": "cause of decide", "next": "step of decide"}
    ]


# --------------------------------------------------------------------------- laws, over generated records

JUDGES = {"cleared": 2, "undecided": 1, "not cleared": 0}
CHANGES = {"merge": 2, "decide": 1, "no decision": 1, "do not merge": 0}
OUTCOMES = ("pass", "pass", "pass", "fail", "undecided", "not measured")


@st.composite
def runs(draw):
    """What a run may come to: one or two panels of judges with uses, the last of them a candidate or not, gates asked
    by one or two tests each, of a candidate by themselves, and a verdict or several of each on every judge; a verdict
    is green if it passes, is accepted or allowed, or is not asserted."""
    panels, asking, verdicts = [], [], []
    for name in ("p", "r")[: draw(st.integers(1, 2))]:
        judges = tuple(f"{name}-judge-{k}" for k in range(draw(st.integers(1, 3))))
        stated = draw(st.sampled_from([("grade",), ("choose",), ("risk",), ("grade", "choose"), ()]))
        further = tuple(use for use in USES if stated and use not in stated and draw(st.booleans()))
        line_ups = {name: judges}
        if judges[1:] and draw(st.booleans()):
            line_ups = {name: judges[:-1], f"{name}/{judges[-1]}": judges[-1:]}
        panels.append(PanelPlan(name, judges, stated, further))
        in_force = [g for use in (*stated, *further) for g in USES[use].gates] + [*CONDITIONS] * bool(stated)
        for gate in dict.fromkeys(in_force):
            asserted = gate in {g for use in stated for g in USES[use].gates} or gate == "injection"
            for test in (f"test_{gate}", f"test_{gate}_again")[: draw(st.sampled_from([0, 1, 1, 1, 2]))]:
                of_all = draw(st.booleans())
                criteria = draw(st.sampled_from([("",), ("clear", "true")]))
                for asks, those in line_ups.items():
                    asking.append(asked(gate, *those, panel=name, test=test))
                    about = those if of_all else ("",) if asks == name else ()  # a candidate's test is about it alone
                    for judge in about:
                        for criterion in criteria:
                            outcome = draw(st.sampled_from(OUTCOMES))
                            accepted = outcome != "pass" and draw(st.booleans())
                            allowed = outcome == "undecided" and draw(st.booleans())
                            measured = outcome != "not measured"
                            verdicts.append(verdict(
                                gate, judge, outcome, panel=name, accepted=accepted, criterion=criterion,
                                value=draw(st.sampled_from([0.0, 0.7, -0.8])) if measured else math.nan,
                                green=outcome == "pass" or accepted or allowed or not asserted,
                                of=len(about) * len(criteria), test=f"{test}[{asks}]",
                            ))  # fmt: skip
    changes = draw(st.lists(st.sampled_from([MERGE, ASK, REFUSED]), max_size=2))
    return evidence_of(panels, asking, verdicts, changes)


def words(decision):
    return {(one.panel, one.judge, one.use): one.word for one in decision.judges}


@given(runs(), st.data())
def test_l1_verdicts_taken_away_never_help(found, data):
    """No word gets better, but for a judge that only the verdicts taken away refused: nobody knows of that any more.
    It is undecided, and the change is not merged."""
    assume(found.verdicts)
    gone = data.draw(st.sets(st.integers(0, len(found.verdicts) - 1), min_size=1))
    left = replace(found, verdicts=tuple(v for k, v in enumerate(found.verdicts) if k not in gone))
    fails = [found.verdicts[k] for k in gone if found.verdicts[k].outcome == "fail"]
    before, after = decide(found), decide(left)
    for key, word in words(after).items():
        known = any((v.panel, v.judge) == key[:2] for v in fails)
        assert JUDGES[word] <= JUDGES[words(before)[key]] or (known and word == "undecided")
    refused = before.word == "do not merge" and any(not v.green for v in fails)
    assert CHANGES[after.word] <= CHANGES[before.word] or (refused and after.word != "merge")


@given(runs(), st.data())
def test_l1_whoever_a_test_without_a_verdict_asked_is_not_cleared(found, data):
    """Though everything else passes; a candidate neither by the verdicts of the judges in use."""
    asking = sorted({(v.panel, v.gate, v.test) for v in found.verdicts if v.judge})
    assume(asking)
    panel, gate, test = data.draw(st.sampled_from(asking))
    gone = [v for v in found.verdicts if (v.panel, v.gate, v.test) == (panel, gate, test)]
    left = tuple(replace(v, outcome="pass") for v in found.verdicts if v not in gone)
    about = {v.judge for v in gone}
    for one in decide(replace(found, verdicts=left)).judges:
        if one.panel == panel and one.judge in about and gate in (*USES[one.use].gates, *CONDITIONS):
            assert one.word != "cleared"


@given(runs(), st.data())
def test_l1_what_is_measured_no_more_never_helps(found, data):
    """As above, where the verdict is there and says that nothing could be measured."""
    assume(found.verdicts)
    k = data.draw(st.integers(0, len(found.verdicts) - 1))
    old = found.verdicts[k]
    new = replace(old, outcome="not measured", accepted=False, green=not old.accepted and old.green)
    new = replace(new, green=old.green if old.outcome != "pass" and not old.accepted else False)
    before, after = decide(found), decide(replace(
        found, verdicts=(*found.verdicts[:k], new, *found.verdicts[k + 1 :])))  # fmt: skip
    for key, word in words(after).items():
        known = old.outcome == "fail" and (old.panel, old.judge) == key[:2]
        assert JUDGES[word] <= JUDGES[words(before)[key]] or (known and word == "undecided")
    assert CHANGES[after.word] <= CHANGES[before.word] or (old.outcome == "fail" and after.word != "merge")


@given(runs(), st.data())
def test_l1_a_gate_that_no_eval_asks_any_more_never_helps(found, data):
    """Its tests are gone with all that they asked: nobody is cleared for a use that names it, nor where it decides for
    every use."""
    gate = data.draw(st.sampled_from(sorted({v.gate for v in found.verdicts} | {"order"})))
    left = replace(
        found, unasked=frozenset([gate]), due=tuple(a for a in found.due if a["gate"] != gate),
        verdicts=tuple(v for v in found.verdicts if v.gate != gate),
    )  # fmt: skip
    failed = {(v.panel, v.judge) for v in found.verdicts if v.gate == gate and v.outcome == "fail"}
    before, after = words(decide(found)), words(decide(left))
    for (panel, judge, use), word in after.items():
        if gate in (*USES[use].gates, *CONDITIONS):
            assert word != "cleared"
        known = (panel, judge) in failed or (panel, "") in failed
        assert JUDGES[word] <= JUDGES[before.get((panel, judge, use), "cleared")] or known


def test_a_gate_that_no_eval_asks_is_named_with_what_to_do():
    found = evidence(*passes(), uses=("grade",), gates=("agreement", "unanswered"), unasked=frozenset(["offset"]))
    one = word_on(replace(found, verdicts=tuple(v for v in found.verdicts if v.gate != "offset")))
    assert (one.word, one.gates) == ("undecided", ("offset",))
    assert one.cause == "no eval here asks offset, by which evals/gates.toml decides"
    assert one.next == "bring back an eval that does, or take the gate out of evals/gates.toml"


@given(runs())
def test_l1_a_test_that_ended_without_a_verdict_never_helps(found):
    before, after = decide(found), decide(replace(found, unfinished=(("a", "no key"),)))
    assert words(after) == words(before)
    assert CHANGES[after.word] <= CHANGES[before.word]
    assert after.word != "merge"


@given(runs())
def test_l1_a_part_of_a_run_clears_nobody_and_never_merges(found):
    before, after = decide(found), decide(replace(found, whole=False, part="a part ran"))
    assert all(JUDGES[word] <= JUDGES[words(before)[key]] for key, word in words(after).items())
    assert "cleared" not in words(after).values()
    assert CHANGES[after.word] <= CHANGES[before.word]
    assert after.word != "merge"


@given(runs())
def test_cleared_needs_a_yardstick_that_passes_and_no_deciding_verdict_that_does_not(found):
    for one in decide(found).judges:
        use = USES[one.use]
        about = [v for v in found.verdicts if (v.panel, v.judge) == (one.panel, one.judge)]
        deciding = [v for v in about if v.gate in (*use.gates, *CONDITIONS)]
        if one.word == "cleared":
            assert {v.outcome for v in deciding} == {"pass"}
            assert {v.gate for v in deciding} & set(use.yardstick)


@given(runs())
def test_a_run_is_green_only_if_everybody_is_cleared_or_accepted(found):
    decision = decide(found)
    open_ = [one for one in decision.judges if one.stated and one.word != "cleared" and not one.accepted]
    assert not (open_ and decision.word == "merge")
    assert decision.red or decision.word != "do not merge"
    assert decision.red or not open_ or decision.word == "no decision"


@given(runs())
def test_l3_peers_refuse_nobody_unless_the_use_names_them(found):
    for one in decide(found).judges:
        decides = (set(USES[one.use].gates) | set(CONDITIONS)) - (set(PEERS) - set(USES[one.use].gates))
        about = [v for v in found.verdicts if (v.panel, v.judge) == (one.panel, one.judge)]
        fails = [v for v in about if v.outcome == "fail" and v.gate in decides]
        assert (one.word == "not cleared") == bool(fails)


@given(runs(), st.data())
def test_l3_a_verdict_on_one_judge_changes_no_word_on_another(found, data):
    assume(found.verdicts)
    k = data.draw(st.integers(0, len(found.verdicts) - 1))
    old = found.verdicts[k]
    turned = replace(old, outcome=data.draw(st.sampled_from(["pass", "fail", "undecided"])), green=False)
    now = replace(found, verdicts=(*found.verdicts[:k], turned, *found.verdicts[k + 1 :]))
    assert [one for one in decide(now).judges if one.judge != old.judge] == [
        one for one in decide(found).judges if one.judge != old.judge
    ]


@given(runs(), st.randoms(use_true_random=False))
def test_l4_the_order_of_records_changes_nothing(found, rng):
    assert decide(shuffled(found, rng)) == decide(found)


def shuffled(found: Evidence, rng: random.Random) -> Evidence:
    def in_another_order(records):
        return tuple(rng.sample(records, len(records)))

    return replace(
        found, verdicts=in_another_order(found.verdicts), figures=in_another_order(found.figures),
        changes=in_another_order(found.changes), due=in_another_order(found.due),
    )  # fmt: skip


@given(runs(), st.permutations(["a", "b", "c", "d", "e", "f"]), st.permutations(["x", "y"]))
def test_l4_names_of_judges_and_panels_change_nothing_but_names(found, others, panels):
    new = dict(zip(("p", "r"), panels, strict=True))
    judges = [judge for panel in found.panels for judge in panel.judges]
    new |= {judge: f"rater_{name}" for judge, name in zip(judges, others, strict=False)}
    changed, before = decide(renamed(found, new)), decide(found)
    assert [(one.panel, one.judge, one.use, one.word, one.cause, one.gates) for one in changed.judges] == [
        (new[one.panel], new[one.judge], one.use, one.word, one.cause, one.gates) for one in before.judges
    ]
    cause = before.cause
    for judge in judges:
        cause = cause.replace(judge, new[judge])
    assert (changed.word, changed.cause, changed.next, changed.red) == (before.word, cause, before.next, before.red)


def renamed(found: Evidence, new: dict[str, str]) -> Evidence:
    def about(subject):
        return {k: new[v] if k in ("panel", "judge") else v for k, v in subject.items()}

    panels = tuple(replace(p, name=new[p.name], judges=tuple(new[j] for j in p.judges)) for p in found.panels)
    due = tuple({**a, "panel": new[a["panel"]], "judges": [new[j] for j in a["judges"]]} for a in found.due)
    verdicts = tuple(replace(v, subject=about(v.subject)) for v in found.verdicts)
    return replace(found, panels=panels, due=due, verdicts=verdicts)


@given(runs())
def test_judges_in_another_order_have_the_same_words(found):
    turned = tuple(replace(p, judges=p.judges[::-1]) for p in found.panels[::-1])
    after = decide(replace(found, panels=turned))
    assert words(after) == words(decide(found))
    assert after.word == decide(found).word


@given(runs())
def test_figures_explain_and_decide_nothing(found):
    """Whatever else was measured changes causes, and no word."""
    judges = [(panel.name, judge) for panel in found.panels for judge in panel.judges]
    figures = tuple(figure(j, 1.0, metric="commonest_answer", panel=p) for p, j in judges)
    more = decide(replace(found, figures=figures))
    assert (words(more), more.word) == (words(decide(found)), decide(found).word)
