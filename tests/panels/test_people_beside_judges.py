"""What people said joins the judges' table as raters, whatever the judges were asked under."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from recuse.elicitation.panel_ratings import with_people, with_total
from recuse.ratings import completed
from recuse.references import people_of


def judged(**columns) -> pd.DataFrame:
    return completed(pd.DataFrame({"rater": "x", "criterion": "winner", **columns}))


def test_a_score_counts_under_every_level_that_judges_were_asked_under():
    table = judged(item="1", criterion="total", names=["shown", "hidden"], score=[1.0, 2.0])
    joined = with_people(
        table, pd.DataFrame({"rater": ["ann"], "item": ["1"], "score": [3.0]}), ["names"], ["total"], {}
    )
    people = joined[joined["kind"] == "person"]
    assert people[["names", "criterion", "score"]].to_numpy().tolist() == [
        ["shown", "total", 3.0], ["hidden", "total", 3.0],
    ]  # fmt: skip


@pytest.mark.parametrize(("told", "order"), [({}, "ab"), ({"order": "ba"}, "ba")])
def test_a_choice_counts_once_in_the_order_it_was_made_in(told, order):
    pairs = {"order": ["ab", "ba"] * 2, "labels": ["plain", "plain", "swapped", "swapped"]}
    table = judged(item="1", response="first", **pairs)
    persons = pd.DataFrame({"rater": ["ann"], "item": ["1"], "response": ["first"], **told})
    joined = with_people(table, persons, ["order", "labels"], ["winner"], {})
    people = joined[joined["kind"] == "person"]
    assert people[["criterion", "order", "labels", "response"]].to_numpy().tolist() == [
        ["winner", order, "plain", "first"]
    ]


def test_people_on_other_items_are_left_out():
    table = judged(item=["1"], response="first")
    persons = pd.DataFrame({"rater": ["ann", "ann"], "item": ["1", "9"], "response": "first"})
    assert with_people(table, persons, [], ["winner"], {})["item"].tolist() == ["1", "1"]


@pytest.mark.parametrize("item", ["742", "0742", "5411"])
def test_items_called_by_a_code_are_no_numbers(tmp_path, item):
    """A merchant category's code is the key of an expert's file, and a text in the judges' table."""
    (tmp_path / "experts.csv").write_text(f"rater,item,score\nann,{item},3\nben,{item},4\n")
    task = SimpleNamespace(name="bank", folder=tmp_path, data={"people": {"file": "experts.csv"}})
    persons = people_of(task, "rubric")
    joined = with_people(judged(item=[item], criterion="total", score=1.0), persons, [], ["total"], {})
    assert joined["rater"].tolist() == ["x", "ann", "ben"]


def test_peoples_total_is_the_mean_of_all_their_criteria():
    parts = ["accuracy", "clarity"]
    persons = pd.DataFrame({
        "rater": ["ann", "ann", "ben"], "item": "1", "criterion": [*parts, "clarity"], "score": [2.0, 5.0, 3.0],
    })  # fmt: skip
    rows = with_total(persons, parts, "total")
    assert rows[rows["criterion"].eq("total")][["rater", "score"]].to_numpy().tolist() == [["ann", 3.5]]
    assert with_total(rows, parts, "total") is rows
    alone = persons.drop(columns="criterion")
    assert with_total(alone, parts, "total") is alone
