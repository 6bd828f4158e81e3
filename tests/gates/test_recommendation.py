"""Who is cleared: the worst that any verdict says, and which verdicts said it."""

from __future__ import annotations

import json
import random

import pytest

from recuse.gates import recommendations


def verdict(outcome, *, judge="grok", gate="bias", allowed=False, blocks=True, state=None, otherwise=None, **subject):
    """As results.json holds it; `state` and `otherwise` are those of an accepted fault."""
    fault = None if state is None else {"state": state, "otherwise": otherwise, "reason": "known"}
    about = {"task": "t", "panel": "p", "judge": judge, **subject}
    return {
        "gate": gate, "subject": about, "outcome": outcome, "allowed": allowed, "blocks": blocks,
        "accepted_fault": fault,
    }  # fmt: skip


def recommended(*verdicts):
    (record,) = recommendations(verdicts)
    return record["recommended"]


TABLE = [
    ("pass", {}, "cleared", "cleared"),
    ("undecided", {"allowed": True}, "cleared", "cleared"),
    ("undecided", {}, "undecided", "undecided"),
    ("not measured", {}, "undecided", "undecided"),
    ("fail", {}, "not cleared", "not cleared"),
    ("accepted", {"state": "applied", "otherwise": "fail"}, "not cleared", "cleared"),
    ("accepted", {"state": "applied", "otherwise": "undecided"}, "undecided", "cleared"),
    ("accepted", {"state": "applied", "otherwise": "not measured"}, "undecided", "cleared"),
    ("fail", {"state": "no longer needed", "otherwise": "pass"}, "cleared", "cleared"),
    ("fail", {"state": "no longer needed", "otherwise": "undecided"}, "cleared", "cleared"),
    ("not measured", {"state": "exceeded", "otherwise": "not measured"}, "undecided", "undecided"),
    ("fail", {"state": "expired", "otherwise": "fail"}, "not cleared", "not cleared"),
    ("fail", {"state": "exceeded", "otherwise": "fail"}, "not cleared", "not cleared"),
    ("undecided", {"state": "expired", "otherwise": "undecided"}, "undecided", "undecided"),
]  # fmt: skip


@pytest.mark.parametrize(("outcome", "more", "if_it_blocks", "if_not"), TABLE)
def test_what_one_verdict_says(outcome, more, if_it_blocks, if_not):
    assert recommended(verdict(outcome, **more)) == if_it_blocks
    assert recommended(verdict(outcome, blocks=False, **more)) == if_not


def test_the_worst_verdict_counts_and_is_named():
    known = {"state": "applied", "otherwise": "fail"}
    (record,) = recommendations(
        [
            verdict("pass", gate="a"),
            verdict("undecided", gate="b"),
            verdict("accepted", gate="c", names="shown", **known),
            verdict("accepted", gate="d", blocks=False, **known),
            verdict("undecided", gate="e", allowed=True),
        ]
    )
    assert (record["panel"], record["judge"], record["recommended"]) == ("p", "grok", "not cleared")
    assert record["because"] == [
        {
            "gate": "c",
            "subject": {"task": "t", "panel": "p", "judge": "grok", "names": "shown"},
            "outcome": "accepted",
            "otherwise": "fail",
        }
    ]
    assert [reference["gate"] for reference in record["besides"]] == ["b"]
    assert [reference["gate"] for reference in record["tolerated"]] == ["d", "e"]


def test_a_cleared_judge_has_nothing_against_it():
    (record,) = recommendations([verdict("pass"), verdict("undecided", gate="b", allowed=True)])
    assert (record["recommended"], record["because"], record["besides"]) == ("cleared", [], [])


def test_each_panel_and_judge_has_its_own_over_all_its_tasks():
    found = recommendations(
        [
            verdict("pass", judge="b"),
            verdict("fail", judge="a", task="u"),
            verdict("pass", judge="a"),
            verdict("pass", judge="a", panel="q"),
        ]
    )
    assert [(r["panel"], r["judge"], r["recommended"]) for r in found] == [
        ("p", "a", "not cleared"),
        ("p", "b", "cleared"),
        ("q", "a", "cleared"),
    ]


def test_a_verdict_on_the_panel_bars_nobody():
    about_all = verdict("fail")
    del about_all["subject"]["judge"]
    assert recommendations([about_all]) == []


def test_the_order_of_verdicts_does_not_matter():
    verdicts = [verdict(o, gate=g, judge=j) for o in ("fail", "undecided") for g in "ab" for j in "xy"]
    shuffled = random.Random(0).sample(verdicts, len(verdicts))
    assert json.dumps(recommendations(shuffled)) == json.dumps(recommendations(verdicts))
