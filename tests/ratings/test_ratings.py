"""Ratings: who and what is in them, their parts by criterion and level, and what is computed once."""

from __future__ import annotations

import pickle
import re

import pandas as pd
import pytest

from recuse.metrics.measure import measure
from recuse.ratings import Numeric, Ordinal, Ratings
from recuse.ratings.answers import answers_of_one_way, facts_at
from recuse.schema import RatingsError, RecuseError


def frame() -> pd.DataFrame:
    """Two judges and a person, two criteria, names shown and hidden."""
    rows = [
        (rater, "person" if rater == "ann" else "judge", item, "a", criterion, names, 3.0)
        for rater in ("x", "y", "ann") for item in "ij" for criterion in ("tone", "facts")
        for names in ("hidden", "shown")
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["rater", "kind", "item", "target", "criterion", "names", "score"])


def test_who_and_what() -> None:
    ratings = Ratings.of(frame(), authors={"x": "a", "elsewhere": "a"})
    assert (ratings.judges, ratings.persons, ratings.targets) == (("x", "y"), ("ann",), ("a",))
    assert (ratings.criteria, ratings.headline, ratings.factors) == (("tone", "facts"), ("tone", "facts"), ("names",))
    assert ratings.own() == {"x": "a"}


def test_each_goes_through_criteria_and_levels_the_ordinary_level_first() -> None:
    ratings = Ratings.of(frame())
    assert ratings.within() == ("names", "criterion")
    assert [names for names, _ in ratings.each()] == [
        ("shown", "tone"), ("hidden", "tone"), ("shown", "facts"), ("hidden", "facts"),
    ]  # fmt: skip
    assert all(part.factors == () and part.criterion == names[-1] for names, part in ratings.each())


def test_rows_at_a_level_say_what_they_said_in_the_whole() -> None:
    whole = frame().assign(target=lambda rows: rows["item"].map({"i": "a"}))  # of "j" nobody knows whose it is
    for name in ("rater", "item", "target", "criterion"):
        table = (ratings := Ratings.of(whole, headline=["tone"])).table
        ratings.coded(name)
        shown = ratings.where(names="shown").table[name]
        assert [*shown.dropna()] == [*table[name][table["names"] == "shown"].dropna()]
        assert shown.isna().sum() == (len(shown) // 2 if name == "target" else 0)


def test_a_factor_that_a_measure_compares_is_left_in() -> None:
    ratings = Ratings.of(frame(), headline=["tone"])
    assert ratings.within("names") == ()
    ((names, part),) = ratings.each("names")
    assert (names, part.levels("names")) == ((), ("shown", "hidden"))


def test_a_combination_without_rows_is_passed_over() -> None:
    both = frame().assign(order="ab")
    both.loc[both["names"] == "hidden", "order"] = "ba"
    assert [names for names, _ in Ratings.of(both, headline=["tone"]).each()] == [("shown", "ab"), ("hidden", "ba")]


def test_one_scale_for_all_or_one_each_and_the_datas_own_otherwise() -> None:
    assert set(Ratings.of(frame(), scales=Numeric(1, 5)).scales.values()) == {Numeric(1, 5)}
    found = Ratings.of(frame(), scales={"tone": Numeric(1, 5)}).scales
    assert (found["tone"], found["facts"]) == (Numeric(1, 5), Numeric(3, 4))


def test_only_numbers_are_turned_with_the_scale() -> None:
    rows = frame().drop(columns="names").drop_duplicates().assign(direction="reversed")
    found = Ratings.of(rows, scales={"tone": Numeric(1, 5), "facts": Ordinal(("no", "yes"))}).where(
        direction="reversed"
    )
    assert found.scales == {"tone": Numeric(1, 5, reversed=True), "facts": Ordinal(("no", "yes"))}


def test_several_criteria_are_measured_one_at_a_time() -> None:
    with pytest.raises(
        RatingsError, match=r"one criterion is measured at a time; these ratings have tone, facts. Use each"
    ):
        _ = Ratings.of(frame()).criterion
    with pytest.raises(RatingsError, match="no ratings of criterion charm; there are tone, facts"):
        Ratings.of(frame()).with_criterion("charm")


def test_unknown_levels_of_known_factors_and_empty_ones_are_named() -> None:
    with pytest.raises(RecuseError, match="factor names is one of shown, hidden in every row; found 'visible'"):
        Ratings.of(frame().replace({"names": {"hidden": "visible"}}))
    with pytest.raises(RecuseError, match="factor order is one of ab, ba in every row; found an empty one"):
        Ratings.of(frame().assign(order=None))


def test_a_teams_own_factor_is_named_by_them() -> None:
    ratings = Ratings.of(
        frame().drop(columns="names").drop_duplicates().assign(temperature="0.7"), factors=["temperature"]
    )
    assert ratings.levels("temperature") == ("0.7",)
    assert ratings.words(("temperature",), ("0.7",)) == "temperature 0.7"
    assert Ratings.of(frame()).words(("names", "criterion"), ("hidden", "tone")) == "names hidden, tone"


def test_all_faults_of_a_frame_are_told_at_once() -> None:
    twice = pd.concat([frame(), frame()]).assign(kind="robot")
    with pytest.raises(RatingsError, match=r"kind is not one of(.|\n)*appears more than once"):
        Ratings.of(twice)
    with pytest.raises(RatingsError, match="rater is missing: rows 0, 1"):
        Ratings.of(frame().assign(rater=[None, None, *frame()["rater"][2:]]))
    with pytest.raises(RatingsError, match="kind is not one of judge, person: row 0"):
        Ratings.of(frame().assign(kind=[None, *frame()["kind"][1:]]))
    with pytest.raises(RatingsError, match="mood was not varied; varied was names"):
        Ratings.of(frame()).where(mood="good")


def test_a_measure_is_computed_once_per_ratings_and_arguments() -> None:
    calls: list[int] = []

    @measure("counted_once", "for this test")
    def counted(ratings: Ratings, more: int = 0) -> int:
        calls.append(more)
        return len(ratings.table) + more

    ratings = Ratings.of(frame())
    assert counted(ratings) == counted(ratings, 0) == counted(ratings, more=0)
    assert counted(ratings, 1) == counted(ratings) + 1
    counted(Ratings.of(frame()))
    assert calls == [0, 1, 0]


def test_rows_are_chosen_once_whichever_comes_first_the_criterion_or_the_level() -> None:
    ratings = Ratings.of(frame())
    assert ratings.with_criterion("tone").where(names="shown") is ratings.where(names="shown").with_criterion("tone")
    of_criteria = [part for names, part in ratings.each() if names[0] == "shown"]
    assert len(of_criteria) == 2
    assert of_criteria[0].table is of_criteria[1].table


def test_a_traceback_shows_no_table() -> None:
    assert repr(Ratings.of(frame())) == "<Ratings: 24 rows by x, y, ann on tone, facts>"


def test_ratings_go_to_other_processes() -> None:
    frame = pd.DataFrame({"judge": ["a", "b"], "item": ["x", "x"], "score": [1.0, 2.0]})
    there = pickle.loads(pickle.dumps(Ratings.of(frame)))
    assert there.table.equals(Ratings.of(frame).table)
    assert there.beside("scores") is None


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"criterion": ["tone", "facts"]}, "by one criterion at a time; these ratings have tone, facts"),
        ({"names": ["shown", "hidden"]}, "asked in one way; these were asked in 2 (names)"),
    ],
)
def test_what_is_done_of_one_criterion_asked_in_one_way_says_so(columns, words):
    ((name, values),) = columns.items()
    rows = [
        {"rater": who, "kind": kind, "item": f"t{k}", "response": "pass", name: value}
        for who, kind in (("gpt", "judge"), ("ann", "person")) for k in range(3) for value in values
    ]  # fmt: skip
    with pytest.raises(RecuseError, match=re.escape(words)):
        answers_of_one_way(Ratings.of(pd.DataFrame(rows)), "judges are chosen")
    one = Ratings.of(pd.DataFrame([row for row in rows if row[name] == values[0]]))
    answers = answers_of_one_way(one.where(names="shown") if name == "names" else one, "judges are chosen")
    assert (answers.judges, answers.people, len(answers.items)) == (("gpt",), ("ann",), 3)


@pytest.mark.parametrize("items", [["i"], ["i", "k", "i"]])
def test_facts_are_those_of_the_target_that_is_asked_about(items: list[str]) -> None:
    texts = pd.DataFrame({"item": ["i", "i", "k"], "target": ["a", "b", "a"], "words": [1.0, 2.0, 3.0]})
    assert facts_at(texts, items, ["b"] * len(items))["words"].fillna(0).tolist() == [2.0, 0.0, 2.0][: len(items)]
    assert facts_at(texts, ["i", "i"], ["b", "a"])["words"].tolist() == [2.0, 1.0]
