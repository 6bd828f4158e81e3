"""The rating array: what it holds, where items are nested, own columns, other axes, one array per factor level."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from recuse.ratings import Numeric, Ratings
from recuse.ratings.array import arrays_by_level, judges_array
from recuse.schema import RecuseError


def frame(rows: list[tuple[str, str, str, float]], **columns: object) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["judge", "item", "target", "score"]).assign(**columns)


ROWS = [("x", "i", "a", 1.0), ("x", "i", "b", 2.0), ("y", "j", "a", 3.0), ("y", "i", "a", 4.0)]


def test_means_asked_and_own_columns() -> None:
    array = judges_array(Ratings.of(frame(ROWS), scales=Numeric(1, 5)))
    assert array.axes == (("x", "y"), ("i", "j"), ("a", "b"))
    assert array.requested.tolist() == [[[True, True], [False, False]], [[True, False], [True, False]]]
    assert array.means[0, 0].tolist() == [1, 2]
    assert np.isnan(array.means[0, 1]).all()
    assert array.columns({"x": "b", "y": "elsewhere"}) == [1, None]


def test_people_are_left_out() -> None:
    table = pd.concat([frame(ROWS, kind="judge"), frame([("ann", "i", "a", 5.0)], kind="person")])
    ratings = Ratings.of(table, scales=Numeric(1, 5))
    assert ratings.array().raters == ("x", "y", "ann")
    assert judges_array(ratings).raters == ("x", "y")
    assert judges_array(ratings) is judges_array(ratings)


@pytest.mark.parametrize(("rows", "nested"), [
    ([("x", "i", "a", 1.0), ("x", "j", "b", 2.0)], True),  # every target its own items
    ([("x", "i", "a", 1.0), ("x", "i", "b", 2.0)], False),
    ([("x", "i", "a", 1.0), ("y", "i", "b", math.nan)], False),  # asked about, though by another judge and in vain
    ([("x", "i", "a", 1.0), ("x", "j", "a", 2.0)], False),  # one target has nothing to be compared with either way
])  # fmt: skip
def test_nested(rows: list[tuple[str, str, str, float]], nested: bool) -> None:
    assert judges_array(Ratings.of(frame(rows), scales=Numeric(1, 5))).nested is nested


def test_one_array_per_level_on_common_axes() -> None:
    """y and item j were asked with names shown alone: empty where they are hidden."""
    table = pd.concat([frame(ROWS, names="shown"), frame(ROWS[:2], names="hidden")])
    ratings = Ratings.of(table, scales=Numeric(1, 5))
    arrays = arrays_by_level(ratings, "names")
    assert list(arrays) == ["shown", "hidden"]
    assert arrays["shown"].axes == arrays["hidden"].axes == (("x", "y"), ("i", "j"), ("a", "b"))
    assert not arrays["hidden"].requested[1].any()
    assert arrays_by_level(Ratings.of(frame(ROWS), scales=Numeric(1, 5)), "names") == {}


def test_one_array_per_level_within_every_other_factor() -> None:
    table = frame(ROWS, names="shown", direction="ascending")
    ratings = Ratings.of(pd.concat([table, table.assign(direction="reversed")]), scales=Numeric(1, 5))
    with pytest.raises(RecuseError, match=r"direction still var"):
        arrays_by_level(ratings, "names")


def test_turned_round() -> None:
    """At the scale's ends; a scale without one is turned at 0, so that fewer bits are better."""
    assert Numeric(1, 5).turned(4.0) == 2
    assert Numeric(0, math.inf, reversed=True).turned(4.0) == -4
    table = frame(ROWS)
    for scale, first in ((Numeric(1, 5, reversed=True), 5.0), (Numeric(0, math.inf, reversed=True), -1.0)):
        assert judges_array(Ratings.of(table, scales=scale)).means[0, 0, 0] == first
