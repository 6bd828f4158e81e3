"""The generation protocol: fifteen picks of the table, each code once, or a named failure per level."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recuse.papers.merchant_risk import generation
from recuse.schema import Item, Judge, Judgement, RecuseError, Reply
from recuse.tasks import Task

Picks = Callable[..., str]
ANN = Judge("ann", "Ann", "openai_chat", "http://api.example", "ann-1", author="gpt-5.1")
BOB = Judge("bob", "Bob", "openai_chat", "http://api.example", "bob-1")


def item_of(task: Task) -> Item:
    [item] = generation.items(task, ANN)
    return item


def read(task: Task, text: str) -> list[Judgement]:
    """The rows of the picks; what is told of the rationales has tests of its own."""
    rows = generation.read(task, item_of(task), {}, Reply(text))
    return [row for row in rows if row.criterion == "risk_level"]


def test_a_good_reply_puts_every_pick_on_its_level(task: Task, picks: Picks) -> None:
    rows = read(task, picks())
    assert [(row.item, row.score) for row in rows[:4]] == [("5411", 1.0), ("4900", 1.0), ("5912", 1.0), ("5251", 2.0)]
    assert len(rows) == 15
    assert {(row.criterion, row.status) for row in rows} == {("risk_level", "ok")}


def test_the_order_of_levels_does_not_matter(task: Task, picks: Picks) -> None:
    backwards = json.dumps(json.loads(picks())[::-1])
    assert read(task, backwards) == read(task, picks())


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (None, "level 2: 0 entries, one is wanted"),
        ({"level": 3, "mccs": [1, 2, 3]}, "level 2: 0 entries, one is wanted"),
        ({"level": "2", "mccs": [5251, 5732, 5651]}, "level 2: 0 entries, one is wanted"),
        ({"level": 2}, "level 2: mccs is not a list of 3 different codes"),
        ({"level": 2, "mccs": "5251, 5732, 5651"}, "level 2: mccs is not a list of 3 different codes"),
        ({"level": 2, "mccs": [5251, 5732]}, "level 2: mccs is not a list of 3 different codes"),
        ({"level": 2, "mccs": [5251, 5251, 5732]}, "level 2: mccs is not a list of 3 different codes"),
        ({"level": 2, "mccs": [5251, 5732, 9998]}, "level 2: 9998 is not a code of the table"),
        ({"level": 2, "mccs": [5251, 5732, "5651"]}, "level 2: '5651' is not a code of the table"),
        ({"level": 2, "mccs": [5251, 5732, 5651.0]}, "level 2: 5651.0 is not a code of the table"),
        ({"level": 2, "mccs": [5251, 5732, True]}, "level 2: True is not a code of the table"),
        ({"level": 2, "mccs": [5251, 5732, 5411]}, "level 2: 5411 was already put on another level"),
    ],
)
def test_a_level_that_cannot_be_read_is_one_failed_row(task: Task, picks: Picks, entry: Any, why: str) -> None:
    rows = [row for row in read(task, picks(2, entry)) if row.item == "level-2"]
    assert [(row.score, row.status, row.why) for row in rows] == [(None, "unparsed", why)]


def test_true_is_not_level_one(task: Task, picks: Picks) -> None:
    rows = read(task, picks(1, {"level": True, "mccs": [5411, 4900, 5912]}))
    assert rows[0].why == "level 1: 0 entries, one is wanted"


@pytest.mark.parametrize(
    ("text", "status"),
    [("I cannot rank trades.", "refused"), ("{}", "unparsed"), ("[1] and [2]", "unparsed"), ("", "unparsed")],
)
def test_a_reply_without_an_array_is_one_failed_row(task: Task, text: str, status: str) -> None:
    [row] = read(task, text)
    assert (row.criterion, row.status, row.item) == ("risk_level", status, None)


def test_the_list_may_be_the_one_member_of_an_object(task: Task, picks: Picks) -> None:
    """As providers whose schemas want an object at the top send it."""
    assert read(task, json.dumps({"answer": json.loads(picks())})) == read(task, picks())


def test_an_author_writes_as_itself_and_anyone_else_under_its_own_name(task: Task) -> None:
    assert [generation.items(task, judge)[0].target for judge in (ANN, BOB)] == ["gpt-5.1", "bob"]


def test_the_prompt_gives_the_table_and_nothing_of_anybodys_rationales(task: Task) -> None:
    said = generation.prompt(task, item_of(task), {}).messages[-1].content
    assert "5411 " in said
    assert all(entry["rationale"] not in said for item in task.items for entry in item.fields["rationales"])


@pytest.mark.parametrize("table", [None, "code,name\n1,x\n", "mcc,name\nfive,x\n"])
def test_a_table_that_cannot_be_read_is_named(task: Task, tmp_path: Path, table: str | None) -> None:
    if table is not None:
        (tmp_path / "mcc.csv").write_text(table, encoding="utf-8")
    with pytest.raises(RecuseError, match=r"mcc\.csv: not a table of categories with the columns mcc and name"):
        generation.items(Task(task.name, tmp_path, task.data), ANN)
