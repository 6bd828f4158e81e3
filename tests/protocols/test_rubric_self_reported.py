"""The self-reported rubric: means and SDs as claimed, each on its own scale."""

from __future__ import annotations

import json
from typing import Any

import pytest

from recuse.papers.merchant_risk import rubric_self_reported
from recuse.schema import Judgement, Reply
from recuse.tasks import Task


def read(task: Task, **changes: Any) -> dict[str, Judgement]:
    whole = {name: {"mean": 8.2, "sd": 0.42, "why": "Even."} for name in (*task.criteria, "final")} | changes
    answer = {name: value for name, value in whole.items() if value is not None}
    rows = rubric_self_reported.read(task, task.items[0], {"condition": "attributed"}, Reply(json.dumps(answer)))
    return {row.criterion: row for row in rows}


def test_every_claim_is_a_row(task: Task) -> None:
    rows = read(task, final={"mean": 8.3, "sd": 0.1})
    assert list(rows) == [f"{name}.{part}" for name in (*task.criteria, "final") for part in ("mean", "sd")]
    assert {row.status for row in rows.values()} == {"ok"}
    assert (rows["accuracy.mean"].score, rows["final.mean"].score, rows["final.sd"].score) == (8.2, 8.3, 0.1)


@pytest.mark.parametrize(
    ("claim", "row", "status", "why"),
    [
        (None, "accuracy.mean", "unparsed", "the reply lacks accuracy"),
        (8.2, "accuracy.sd", "unparsed", "the reply lacks accuracy.sd"),
        ({"mean": 8.2}, "accuracy.sd", "unparsed", "the reply lacks accuracy.sd"),
        ({"mean": 8.2, "sd": "0.4"}, "accuracy.sd", "unparsed", "accuracy.sd is '0.4', not a number"),
        ({"mean": 8.2, "sd": -0.1}, "accuracy.sd", "out_of_scale", "accuracy.sd is -0.1, outside 0..10"),
        ({"mean": 10.5, "sd": 0.1}, "accuracy.mean", "out_of_scale", "accuracy.mean is 10.5, outside 0..10"),
    ],
)
def test_a_claim_that_is_none_says_why(task: Task, claim: object, row: str, status: str, why: str) -> None:
    rows = read(task, accuracy=claim)
    assert (rows[row].score, rows[row].status, rows[row].why) == (None, status, why)
    assert rows["quality.mean"].status == "ok"


def test_a_refusal_fails_every_claim(task: Task) -> None:
    reply = Reply("I cannot perform ten runs.")
    rows = rubric_self_reported.read(task, task.items[0], {"condition": "attributed"}, reply)
    assert {(row.status, row.why) for row in rows} == {("refused", "I cannot perform ten runs.")}
    assert len(rows) == 12


def test_it_is_asked_once(task: Task) -> None:
    assert rubric_self_reported.REPEATS == 1
    assert (
        "ten times" in rubric_self_reported.prompt(task, task.items[0], {"condition": "attributed"}).messages[1].content
    )
