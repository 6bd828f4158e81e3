"""What ratings offer: computed from the data, one thing at a time, and what would bring what is missing."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from recuse.ratings import Nominal, Numeric, Ordinal, Ratings, ResponseSets
from recuse.ratings.needs import NEEDS, check_needs, kind_of, offers_of, unlock, unlock_by_column
from recuse.schema import RecuseError
from recuse.suite.questions import missing

LEAST = pd.DataFrame({"judge": ["x"], "item": ["i"], "score": [3.0]})


def offers(frame: pd.DataFrame = LEAST, **known: Any) -> set[str]:
    return set(offers_of(Ratings.of(frame, **known)))


def more(**columns: Any) -> pd.DataFrame:
    return pd.concat([LEAST, LEAST.assign(**columns)], ignore_index=True)


def test_the_least_there_can_be() -> None:
    assert offers() == {"scores", "numbers"}


@pytest.mark.parametrize(
    ("need", "frame", "known"),
    [
        ("items", more(item="j"), {}),
        ("repeats", LEAST.merge(pd.DataFrame({"repeat": [0, 1]}), how="cross"), {}),
        ("names", LEAST.merge(pd.DataFrame({"names": ["shown", "hidden"]}), how="cross"), {}),
        ("direction", LEAST.merge(pd.DataFrame({"direction": ["ascending", "reversed"]}), how="cross"),
         {"scales": Numeric(1, 5)}),
        ("rubric_source", LEAST.merge(pd.DataFrame({"rubric_source": ["checklist", "shared"]}), how="cross"), {}),
        ("authors", LEAST.assign(target="a"), {"authors": {"x": "a"}}),
        ("parts", LEAST, {"parts": ("rating",)}),
        ("reference", LEAST, {"reference": pd.DataFrame({"item": ["i"], "value": [1.0]})}),
        ("people", LEAST, {"people": pd.DataFrame({"target": [""], "mean": [3.0], "sd": [1.0], "n": [4]})}),
        ("picks", LEAST, {"beside": lambda kind: Ratings.of(LEAST) if kind == "picks" else None}),
    ],
)  # fmt: skip
def test_each_thing_brings_what_asks_for_it_and_nothing_else(
    need: str, frame: pd.DataFrame, known: dict[str, Any]
) -> None:
    assert offers(frame, **known) == {"scores", "numbers", need}


def test_two_judges_are_peers_and_share_texts_where_they_judged_one() -> None:
    assert offers(more(judge="y")) == {"scores", "numbers", "peers", "shared_texts"}
    assert offers(more(judge="y", item="j")) == {"scores", "numbers", "peers", "items"}


def test_twins_are_a_flawed_and_a_sound_text_on_one_item() -> None:
    both = pd.concat([LEAST.assign(target="a"), LEAST.assign(target="b")], ignore_index=True)
    texts = both[["item", "target"]]
    assert "twins" in offers(both, texts=texts.assign(flawed=["yes", "no"]))
    assert "twins" not in offers(both, texts=texts.assign(flawed=["yes", None]))
    assert "twins" not in offers(both, texts=texts)


def test_people_in_the_table_are_people_and_no_peers() -> None:
    assert offers(more(judge="ann", kind="person").fillna({"kind": "judge"})) == {
        "scores",
        "numbers",
        "people",
        "people_items",
        "expert",
    }


def test_an_author_without_a_text_here_and_one_level_are_nothing_to_ask_about() -> None:
    assert offers(authors={"x": "elsewhere"}) == {"scores", "numbers"}
    assert offers(LEAST.assign(names="shown")) == {"scores", "numbers"}


def test_options_without_distances_are_no_numbers() -> None:
    frame = pd.DataFrame({"judge": ["x"], "item": ["i"], "response": ["red"]})
    assert offers(frame, scales=Nominal(("red", "blue"))) == {"scores", "forced_choices", "positive", "property"}


def test_three_judges_are_three() -> None:
    assert {"peers", "three_judges"} <= offers(pd.concat([more(judge="y"), LEAST.assign(judge="z")]))


def test_what_is_missing_says_what_to_add() -> None:
    assert missing(["scores", "repeats", "people"], offers()) == ["repeats", "people"]
    assert unlock("repeats") == "record more repeats of the same question"
    assert all(need.unlock for need in NEEDS.values())
    assert unlock("fit_for_client") == "ask by a protocol that offers fit_for_client"
    assert unlock_by_column("repeats") == "the judge's repeats: a column repeat, or columns judge.1, judge.2"
    assert unlock_by_column("fit_for_client") == unlock("fit_for_client")


def test_a_need_that_nothing_offers_is_named_with_its_place() -> None:
    with pytest.raises(RecuseError, match=r"test_x\.py: nothing offers 'coffee'; known: "):
        check_needs(["scores", "coffee"], "test_x.py")
    check_needs(["fit_for_client"], "test_x.py", known=("fit_for_client",))


def test_the_first_kind_named_is_what_a_question_is_about() -> None:
    assert kind_of(["peers", "choices", "scores"]) == "choices"
    assert kind_of(["peers"]) == "scores"


def test_a_yes_or_no_is_two_options_or_what_is_stated() -> None:
    labels = pd.DataFrame({"judge": ["x"] * 3, "item": list("ijk"), "response": ["red", "blue", "green"]})
    assert {"several_options"} == offers(labels) & {"positive", "several_options"}
    assert {"positive"} == offers(labels, positive={"rating": "red"}) & {"positive", "several_options"}
    assert "property" in offers(labels, positive={"rating": "red"})
    assert "property" in offers(labels, scales={"rating": Ordinal(("red", "green", "blue"))})
    assert "property" not in offers(labels), "the first label of the alphabet is none that anybody looks for"
    assert "property" in offers(labels, scales={"rating": ResponseSets(("blue", "red"))}), "one of two, or both"
    assert "property" not in offers(labels, scales={"rating": ResponseSets(("blue", "green", "red"))})
    assert "positive" in offers(LEAST, thresholds={"rating": (2.0,)})
    assert "positive" not in offers(LEAST, thresholds={"rating": (2.0, 3.0)})


@pytest.mark.parametrize(("who", "offered"), [("x", True), ("anna", False)])
def test_what_is_varied_is_what_judges_were_asked(who: str, offered: bool) -> None:
    """People who were asked both ways say nothing of a judge that was asked one way."""
    both = [
        ("x", "judge", "shown"),
        ("anna", "person", "shown"),
        (who, "person" if who == "anna" else "judge", "hidden"),
    ]
    frame = pd.DataFrame(both, columns=["rater", "kind", "names"]).assign(item="i", score=3.0)
    assert ("names" in offers(frame)) == offered
