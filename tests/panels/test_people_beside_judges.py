"""What people said joins the judges' table as raters, whatever the judges were asked under."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from recuse.elicitation.replies import with_people, with_total
from recuse.ratings import Numeric, Ordinal, completed
from recuse.references import checked_people, people_of
from recuse.schema import RecuseError


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


SCALES = {"tone": Numeric(1, 5), "passes": Ordinal(("fail", "pass"))}
HEAD = "rater,item,target,criterion,score,response"


def checked(folder, text, targets=("bot", "rival"), items=(("1", "bot"), ("1", "rival")), headline=tuple(SCALES)):
    (folder / "people.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    task = SimpleNamespace(
        name="desk", folder=folder, data={"people": {"file": "people.csv"}}, criteria=tuple(SCALES),
        targets=dict.fromkeys(targets), items=[SimpleNamespace(id=i, target=t) for i, t in items],
    )  # fmt: skip
    return checked_people(task, people_of(task, "rubric"), SCALES, headline)


def test_ratings_by_people_may_be_of_other_items_and_leave_an_answer_out(tmp_path):
    rows = "ann,1,bot,tone,5,\nann,1,bot,passes,,pass\nann,1,rival,tone,,\nann,9,old,tone,2.5,\n"
    assert checked(tmp_path, f"{HEAD}\n{rows}")["rater"].tolist() == ["ann"] * 4


def test_an_item_of_one_system_tells_whose_text_a_person_rated(tmp_path):
    alone = checked(tmp_path, "rater,item,score\nann,1,5\n", items=[("1", "bot")], headline=("tone",))
    assert alone[["target", "criterion"]].to_numpy().tolist() == [["bot", "tone"]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{HEAD}\nann,1,bot,tone,5,\n=======\n", "every rating has its rater and its item; there is rater ======="),
        (f"{HEAD}\nann,1,bott,tone,5,\n", "targets of desk are bot, rival; .* target bott, criterion tone, score 5"),
        (f"{HEAD}\nann,1\n", "targets of desk are bot, rival; there is rater ann, item 1: mend or delete"),
        (f"{HEAD}\nann,1,bot,tune,5,\n", "criteria of desk are tone, passes; .* criterion tune"),
        (f"{HEAD}\nann,1,bot,tone,6,\n", "people.csv: scores lie between 1 and 5; there is rater ann, .* score 6"),
        (f"{HEAD}\nann,1,bot,tone,good,\n", "scores lie between 1 and 5; .* score good"),
        (f"{HEAD}\nann,1,bot,passes,,pas\n", "responses are one of fail, pass; .* response pas"),
        (f"{HEAD}\nann,1,bot,tone,5,\nann,1,bot,tone,4,\n", "a person rates a text once by a criterion"),
        (f"{HEAD}\nann,1,bot,tone,5,,,x\n", "not a table in UTF-8 with as many cells in each row"),
        (f"{HEAD}\nann,1,bot,tone,5,\n".encode("utf-16"), "not a table in UTF-8"),
        ("rater,text,target,criterion,score\nann,1,bot,tone,5\n", "columns rater, item, and score or response"),
        ("rater,item,target,criterion,rating\nann,1,bot,tone,5\n", "columns rater, item, and score or response"),
        ("rater,item,criterion,score\nann,1,tone,5\n", "need the column target, since several systems answered"),
        ("rater,item,target,score\nann,1,bot,5\n", "need the column criterion, since there are several: tone, passes"),
    ],
)  # fmt: skip
def test_a_rating_that_would_count_for_nobody_is_named(tmp_path, text, why):
    with pytest.raises(RecuseError, match=why):
        checked(tmp_path, text)
