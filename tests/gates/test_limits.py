from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.gates.limits import Limit
from recuse.schema.number_text import figure

WITHIN = Limit.of({"within": [-0.5, 0.5]})
AT_LEAST = Limit.of({"at_least": 0.95})
AT_MOST = Limit.of({"at_most": 0.0})

numbers = st.floats(-1e6, 1e6)
limits = st.one_of(
    st.tuples(numbers, numbers).filter(lambda b: b[0] < b[1]).map(lambda b: Limit.of({"within": list(b)})),
    numbers.map(lambda x: Limit.of({"at_least": x})),
    numbers.map(lambda x: Limit.of({"at_most": x})),
)
intervals = st.tuples(numbers, numbers).map(sorted)


@given(limits)
def test_mapping_and_back(limit):
    assert Limit.of(limit.mapping()) == limit


def test_in_words():
    assert [str(x) for x in (WITHIN, AT_LEAST, AT_MOST)] == ["within [-0.5, +0.5]", "at least 0.95", "at most 0"]
    assert str(Limit.of({"within": [0.2, 0.8]})) == "within [0.2, 0.8]"


def test_bounds_count_as_inside():
    assert WITHIN.encloses(-0.5, 0.5)
    assert not WITHIN.excludes(0.5, 0.7)
    assert AT_MOST.holds(0.0)
    assert not AT_MOST.excludes(0.0, 0.0)


@given(limits, intervals)
def test_an_interval_is_inside_outside_or_across(limit, interval):
    low, high = interval
    assert not (limit.encloses(low, high) and limit.excludes(low, high))
    if limit.encloses(low, high):
        assert limit.holds(low)
        assert limit.holds(high)
    if limit.excludes(low, high):
        assert not limit.holds(low)
        assert not limit.holds(high)


@given(limits, intervals)
def test_a_missing_end_settles_nothing(limit, interval):
    low, high = interval
    for ends in ((math.nan, high), (low, math.nan)):
        assert not limit.encloses(*ends)
        assert not limit.excludes(*ends)


@given(limits, numbers)
def test_excess_is_positive_exactly_outside(limit, value):
    assert (limit.excess(value) > 0) == (not limit.holds(value))


@given(limits, limits)
def test_reaching_beyond_is_strict(one, other):
    assert not (one.reaches_beyond(other) and other.reaches_beyond(one))
    assert not one.reaches_beyond(one)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.77, "+0.77"),
        (-0.335, "-0.335"),
        (0.5, "+0.5"),
        (0.50004, "+0.50004"),
        (0.4999, "+0.4999"),
        (-0.0, "+0"),
        (1234.5, "+1234"),
        (math.nan, "undefined"),
        (math.inf, "+inf"),
    ],
)
def test_figures_tell_the_side_of_the_bound(value, shown):
    assert WITHIN.show(value) == shown


@given(numbers, st.lists(numbers, max_size=3).map(tuple))
def test_rounding_never_carries_a_value_across_a_bound(value, bounds):
    shown = float(figure(value, apart_from=bounds))
    for bound in bounds:
        if abs(value - bound) > 1e-9:  # nearer ones differ by floating point's own errors
            assert (shown > bound, shown < bound) == (value > bound, value < bound)


def test_no_figure_is_told_in_powers_of_ten():
    assert figure(1.05e-40, apart_from=(0.0, 0.95)) == "0"
    assert figure(0.03938) == "0.039"
