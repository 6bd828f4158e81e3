"""The rating array: axes, holes, people, directions, and what stays the same under another order of rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recuse.ratings import Nominal, Numeric, Ordinal, Ratings, mean_of
from recuse.ratings.array import array_of, coded, first_of, grouped, judges_array, names_at, recoded
from recuse.schema import RecuseError
from recuse.schema.arrays import in_order

FRAME = pd.DataFrame(
    [
        ("x", "judge", "i", "a", 0, 4.0), ("x", "judge", "i", "a", 1, 2.0), ("x", "judge", "j", "a", 0, 5.0),
        ("y", "judge", "i", "a", 0, None), ("y", "judge", "i", "b", 0, 1.0),
        ("ann", "person", "i", "a", 0, 3.0),
    ],
    columns=["rater", "kind", "item", "target", "repeat", "score"],
)  # fmt: skip


def ratings(frame: pd.DataFrame = FRAME, **known: object) -> Ratings:
    return Ratings.of(frame, scales=Numeric(1, 5), **known)  # type: ignore[arg-type]


def test_raters_items_targets_and_repeats_are_its_axes() -> None:
    array = ratings().array()
    assert array.axes == (("x", "y", "ann"), ("i", "j"), ("a", "b"))
    assert array.shape == (3, 2, 2)
    assert array.means[0, 0, 0] == 3.0
    assert array.counts[0].tolist() == [[2, 0], [1, 0]]
    np.testing.assert_array_equal(array.values[0, 0, 0], [4.0, 2.0])


def test_a_name_is_one_whether_a_number_or_a_text() -> None:
    names, places = coded(pd.Series([1, "1", 2], dtype=object))
    assert (names, places.tolist()) == (("1", "2"), [0, 0, 1])


def test_a_failed_reply_was_asked_and_a_text_never_shown_was_not() -> None:
    array = ratings().array()
    assert array.requested[1].tolist() == [[True, True], [False, False]]
    assert np.isnan(array.means[1, 0, 0])


def test_people_are_raters_and_can_be_left_out() -> None:
    array, alone = ratings().array(), judges_array(ratings())
    assert array.people.tolist() == [False, False, True]
    assert array.judges == ("x", "y")
    assert alone.raters == ("x", "y")
    np.testing.assert_array_equal(alone.means, array.means[:2])
    np.testing.assert_array_equal(alone.values, array.values[:2])


def test_the_order_of_rows_changes_nothing_but_the_order_of_names() -> None:
    array = ratings().array()
    shuffled = ratings(FRAME.sample(frac=1, random_state=3))
    np.testing.assert_array_equal(array_of(shuffled, array.axes).means, array.means)


def test_means_on_other_axes_are_empty_where_nobody_is() -> None:
    found = array_of(ratings(), (("y", "z"), ("i",), ("b", "a"))).means
    assert found[0].tolist()[0][0] == 1.0
    assert np.isnan(found[1]).all()


def test_a_reversed_scale_is_turned_to_the_ascending_one() -> None:
    frame = FRAME.assign(direction="reversed")
    array = ratings(frame).where(direction="reversed").array()
    assert array.means[0, 0, 0] == 3.0
    assert array.means[0, 1, 0] == 1.0  # 5 where 1 is best


def test_pass_and_fail_are_one_and_nothing() -> None:
    frame = pd.DataFrame({"judge": ["x", "x"], "item": ["i", "j"], "response": ["pass", "fail"]})
    assert Ratings.of(frame, scales=Ordinal(("fail", "pass"))).array().means.ravel().tolist() == [1.0, 0.0]


def test_what_texts_share_is_their_cluster() -> None:
    texts = pd.DataFrame({"item": ["i", "j"], "target": "a", "cluster": ["s", "s"]})
    assert ratings(texts=texts).array().clusters == ("s", "s")
    assert ratings().array().clusters == ("i", "j")


def test_a_factor_that_still_varies_and_options_without_distance_are_named() -> None:
    with pytest.raises(
        RecuseError, match=r"one combination of factor levels; names still vary. Use each\(\), or where"
    ):
        ratings(FRAME.assign(names="shown")).array()
    frame = pd.DataFrame({"judge": ["x"], "item": ["i"], "response": ["red"]})
    with pytest.raises(RecuseError, match="criterion rating has options without distances"):
        Ratings.of(frame, scales=Nominal(("red", "blue"))).array()
    with pytest.raises(RecuseError, match="rater z is not in the ratings; they hold x, y, ann"):
        ratings().array().row("z")


def test_mean_of_what_is_there() -> None:
    values = np.array([[1.0, np.nan], [3.0, np.nan]])
    assert mean_of(values, axis=0)[0] == 2.0
    assert np.isnan(mean_of(values, axis=0)[1])


@pytest.mark.parametrize(
    ("names", "places"), [("a", [0, 0]), ("abc", [0, 1, 2]), ("abc", [0, 2, 1]), ("ab", [1]), ("a", [])]
)
def test_names_stand_at_their_places(names: str, places: list[int]) -> None:
    assert names_at(tuple(names), np.array(places, dtype=np.intp)) == tuple(names[place] for place in places)


@pytest.mark.parametrize("levels", [1, 3, 90], ids=["one", "few", "more combinations than rows"])
def test_rows_alike_are_a_group_by_order_of_appearance(levels: int) -> None:
    draw = np.random.default_rng(levels)
    codes = [draw.integers(-1, levels, 40) for _ in range(3)]
    rows = list(zip(*(each.tolist() for each in codes), strict=True))
    different = list(dict.fromkeys(rows))
    groups = grouped(*codes)
    assert groups.tolist() == list(map(different.index, rows))
    assert first_of(groups).tolist() == list(map(rows.index, different))


@pytest.mark.parametrize("places", ["0 0", "1 0 1", "2 -1 0 2", "-1 1 1", ""])
def test_some_of_the_rows_have_names_of_their_own(places: str) -> None:
    """Of a row without a name, -1, the last one."""
    given, names = np.array(places.split(), dtype=np.intp), ("a", "b", "c")
    own, codes = recoded(names, given)
    assert list(own) == [names[place] for place in dict.fromkeys(given.tolist())]
    assert [own[code] for code in codes.tolist()] == [names[place] for place in given.tolist()]


def test_a_column_that_was_filled_in_is_known_without_a_look() -> None:
    ratings = Ratings.of(FRAME.drop(columns="kind"))
    for name in ("task", "protocol", "kind", "request"):
        known, seen = ratings.coded(name), coded(ratings.table[name])
        assert (known[0], known[1].tolist()) == (seen[0], seen[1].tolist())


@pytest.mark.parametrize("largest", [3, 2**16 - 1, 2**16, 2**17])
def test_places_in_order_are_those_of_a_stable_sort_however_large_the_numbers(largest):
    numbers = np.array([largest, 2, 0, largest, 2, 1])
    assert in_order(numbers).tolist() == [2, 5, 1, 4, 0, 3]
