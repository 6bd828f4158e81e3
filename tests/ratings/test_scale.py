"""Scales: what counts, in which direction, what is outside, and what a column of values suggests."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from recuse.ratings import Nominal, Numeric, Ordinal, ResponseSets, Scale, scale_of
from recuse.schema import RecuseError

NOTHING = pd.Series([], dtype=object)


def scores(*values: float | None) -> pd.Series:
    return pd.Series(values, dtype=float)


def responses(*values: str | None) -> pd.Series:
    return pd.Series(values, dtype=object)


def test_a_numeric_scale_has_ends_span_and_direction() -> None:
    scale = Numeric(1, 5)
    assert (scale.ends, scale.span, scale.unit, scale.counts) == ((1, 5), 4, "points", True)
    assert scale.numbers(scores(1, 4, None), NOTHING).tolist()[:2] == [1, 4]
    turned = Numeric(1, 5, reversed=True).numbers(scores(1, 4, None), NOTHING)
    assert turned.tolist()[:2] == [5, 2]
    assert math.isnan(turned[2])


def test_turning_twice_changes_nothing() -> None:
    scale = Numeric(0, 10, reversed=True)
    once = scale.numbers(scores(0, 2.5, 10), NOTHING)
    assert scale.numbers(scores(*once), NOTHING).tolist() == [0, 2.5, 10]


def test_a_score_outside_is_named_with_its_row_and_a_hair_is_forgiven() -> None:
    assert Numeric(0, 10).numbers(scores(10 + 1e-9), NOTHING).tolist() == [10 + 1e-9]
    with pytest.raises(RecuseError, match=r"scores lie between 0 and 10; row 1 has 11\. Give the task's scale"):
        Numeric(0, 10).numbers(scores(3, 11), NOTHING)


def test_a_scale_runs_upwards() -> None:
    with pytest.raises(RecuseError, match="from a minimum to a larger maximum; got 5 to 1"):
        Numeric(5, 1)


def test_two_ordered_options_are_shares_and_three_are_ranks() -> None:
    two, three = Ordinal(("fail", "pass")), Ordinal(("low", "middle", "high"))
    assert two.numbers(NOTHING, responses("pass", "fail", None)).tolist()[:2] == [1, 0]
    assert (two.counts, two.span, two.unit) == (True, 1, "share")
    assert (three.counts, three.ends) == (False, (0, 2))
    with pytest.raises(RecuseError, match="responses are one of fail, pass; row 0 has 'perhaps'"):
        two.numbers(NOTHING, responses("perhaps"))


def test_options_without_an_order_do_not_count() -> None:
    scale = Nominal(("red", "blue"))
    assert not scale.counts
    assert math.isnan(scale.span)
    assert scale.numbers(NOTHING, responses("blue", "red")).tolist() == [1, 0]


def test_a_response_set_is_one_code_whatever_the_order_of_its_members() -> None:
    scale = ResponseSets(("toxic", "fine", "unclear"))
    assert scale.members("toxic | unclear") == {"toxic", "unclear"}
    assert scale.numbers(NOTHING, responses("toxic|unclear", "unclear|toxic", "fine")).tolist() == [5, 5, 2]
    for wrong in ("", "rude", "fine|rude"):
        with pytest.raises(RecuseError, match="a response set holds one or more of toxic, fine, unclear; got "):
            scale.members(wrong)


def test_what_is_no_response_set_is_told_with_its_row() -> None:
    with pytest.raises(RecuseError, match=r"row 2: a response set holds .*; got 'rude'"):
        ResponseSets(("toxic", "fine")).numbers(NOTHING, responses("fine", None, "rude"))


def test_all_sets_of_three_options() -> None:
    scale = ResponseSets(("a", "b", "c"))
    assert ["".join(s) for s in scale.sets] == ["a", "b", "c", "ab", "ac", "bc", "abc"]
    assert scale.written({"c", "a"}) == "a|c"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (scores(1, 3, 5, 4), Numeric(1, 5, 1)),
        (scores(0.5, 2.0), Numeric(0.5, 2.0, 1.5)),
        (scores(3, 3), Numeric(3, 4)),
        (responses("pass", "fail"), Ordinal(("fail", "pass"))),
        (responses("No", "Yes", None), Ordinal(("No", "Yes"))),
        (responses("pass", "pass"), Ordinal(("fail", "pass"))),
        (responses("red", "blue"), Nominal(("blue", "red"))),
    ],
)
def test_what_values_suggest(values: pd.Series, expected: Scale) -> None:
    is_score = values.dtype == float
    assert scale_of(values if is_score else scores(), NOTHING if is_score else values) == expected
