"""How numbers are written."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.schema.number_text import (
    MISSING,
    brief,
    count,
    counted,
    decimals_for,
    fixed,
    in_words,
    interval,
    limit,
    listed,
    out_of,
    rate,
    with_interval,
)


@pytest.mark.parametrize(
    ("value", "decimals", "signed", "told"),
    [
        (0.77, 2, True, "+0.77"),
        (-0.335, 3, True, "−0.335"),
        (-0.335, 2, True, "−0.34"),  # half away from zero, not what binary fractions make of it
        (0.145, 2, False, "0.15"),
        (2.675, 2, False, "2.68"),
        (-0.001, 2, True, "0.00"),  # never a negative zero
        (0.0, 2, True, "0.00"),
        (None, 2, False, MISSING),
        (math.nan, 2, False, MISSING),
        (True, 2, False, MISSING),
    ],
)
def test_fixed(value: object, decimals: int, signed: bool, told: str) -> None:
    assert fixed(value, decimals, signed=signed) == told


def test_a_figure_shows_ties_instead_of_breaking_them() -> None:
    assert decimals_for([-0.335, 0.77]) == 3
    assert decimals_for([0.30, 0.77, None, math.nan]) == 2
    assert decimals_for([0.3349]) == 2


def test_interval_with_a_missing_end() -> None:
    assert interval(0.64, 0.9) == "0.64 to 0.90"
    assert interval(None, 0.9) == "below 0.90"
    assert interval(0.64, None, signed=True) == "above +0.64"
    assert interval(None, math.nan) == ""


def test_limits() -> None:
    assert limit({"within": [-0.5, 0.5]}) == "±0.5"
    assert limit({"within": [-0.5, 0.9]}) == "−0.5 to 0.9"
    assert limit({"at_least": 0.5}) == "≥ 0.5"
    assert limit({"at_most": 0.0}) == "≤ 0"
    assert limit({}) == ""


def test_words() -> None:
    assert [in_words(3), in_words(17), in_words(1, capital=True)] == ["three", "17", "One"]
    assert [out_of(2, 3), out_of(0, 2)] == ["Two of three", "None of two"]
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c", "d"]) == "a, b, c and d"
    assert listed(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
    assert count(1234567) == "1,234,567"
    assert [counted(1, "judge"), counted(3, "judge")] == ["1 judge", "3 judges"]


@given(st.floats(0, 1))
def test_a_rate_says_all_or_none_only_where_it_is(share):
    assert (rate(share) == "100 %", rate(share) == "0 %") == (share == 1, share == 0)


@pytest.mark.parametrize(
    ("value", "text"), [(0.834, "0.83"), (-1.52, "-1.5"), (42.4, "42"), (99.7, "100"), (-124.0, "-120")]
)
def test_a_sentence_has_two_digits_and_no_power_of_ten(value, text):
    assert brief(value) == text
    assert brief(abs(value), signed=True) == f"+{text.lstrip('-')}"


def test_an_interval_says_its_level_where_it_is_not_95_percent():
    row = {"value": 0.5, "low": 0.25, "high": 0.75, "unit": "", "level": 0.95}
    assert with_interval(row) == "0.50 (0.25 to 0.75)"
    assert with_interval(row | {"level": 0.9}) == "0.50 (0.25 to 0.75, 90 % interval)"
