"""What people said joins the judges' table as raters, whatever the judges were asked under."""

from __future__ import annotations

import pandas as pd
import pytest

from recuse.elicitation.panel_ratings import with_people
from recuse.ratings import completed


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
