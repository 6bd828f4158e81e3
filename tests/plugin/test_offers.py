"""Needs that follow from who wrote what: items with texts by several targets, texts by neither of two judges."""

from __future__ import annotations

import pandas as pd
import pytest

from recuse.ratings import Ratings
from recuse.ratings.needs import has_neutral_texts, offers_of, unlock


@pytest.mark.parametrize(
    ("judges", "targets", "authors", "there"),
    [
        ("xyz", "abc", {"x": "a", "y": "b", "z": "c"}, True),
        ("xy", "ab", {"x": "a", "y": "b"}, False),  # each text is one of the two's
        ("xy", "ab", {"x": "a"}, True),  # y wrote nothing, so b is neutral
        ("xy", "abc", {"x": "a", "y": "b"}, True),  # and so is c
        ("xy", "a", {"x": "a"}, False),
        ("x", "ab", {"x": "a"}, False),  # no peer
        ("xyz", "abc", {"x": "d"}, False),  # what x wrote is not judged
        ("xyz", "abc", {}, False),
    ],
)
def test_neutral_texts(judges: str, targets: str, authors: dict[str, str], there: bool) -> None:
    assert has_neutral_texts(judges, targets, authors) is there


def test_items_are_common_where_one_has_texts_by_two_targets() -> None:
    frame = pd.DataFrame([(j, t, 3.0) for j in "xy" for t in "ab"], columns=["judge", "target", "score"])
    authors = {"x": "a"}
    common = offers_of(Ratings.of(frame.assign(item="i"), authors=authors))
    nested = offers_of(Ratings.of(frame.assign(item=frame["target"]), authors=authors))
    assert common - nested == {"common_items"}
    assert "neutral_texts" in nested


def people(**said: list[str]) -> pd.DataFrame:
    """Ratings of a judge and of people: person -> the items they rated."""
    rows = [("judge", "judge", item) for item in "xyz"]
    rows += [(person, "person", item) for person, items in said.items() for item in items]
    return pd.DataFrame(rows, columns=["rater", "kind", "item"]).assign(response="pass")


def test_people_one_by_one_and_two_on_one_item():
    alone = offers_of(Ratings.of(people(ann=["x"])))
    assert {"people", "people_items"} <= alone
    assert "two_people" not in alone
    assert "two_people" not in offers_of(Ratings.of(people(ann=["x"], bea=["y"])))
    assert "two_people" in offers_of(Ratings.of(people(ann=["x"], bea=["x"])))


def test_means_of_people_are_people_and_no_items():
    summary = pd.DataFrame({"target": [""], "mean": [0.5], "sd": [0.1], "n": [9]})
    there = offers_of(Ratings.of(people(), people=summary))
    assert "people" in there
    assert not {"people_items", "two_people"} & there
    assert "means cannot tell who agrees on what" in unlock("people_items")
