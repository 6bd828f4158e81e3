"""Adjusted p-values against statsmodels and scipy; decision levels against Holm on the p-values behind them."""

from __future__ import annotations

import math
from functools import partial
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.schema import RecuseError
from recuse.statistics.distributions import Student
from recuse.statistics.multiplicity import decision_levels, holm

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_holm_by_hand():
    # sorted .01 .02 .03 .04 times 4 3 2 1 is .04 .06 .06 .04, made to rise: .04 .06 .06 .06
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])


@given(p_values)
def test_holm_agrees_with_statsmodels(p):
    from statsmodels.stats.multitest import multipletests

    with mock.patch("gc.collect"):  # which statsmodels calls each time, among the objects of thousands of tests
        adjusted = multipletests(p, method="holm")[1]
    assert holm(p) == pytest.approx(adjusted, abs=1e-15)


@given(p_values, st.lists(st.integers(0, 30), max_size=5))
def test_a_test_that_was_not_made_changes_nothing_for_the_others(p, places):
    holes = list(p)
    for place in places:
        holes.insert(min(place, len(holes)), math.nan)
    adjusted = holm(holes)
    assert adjusted[~np.isnan(holes)].tolist() == holm(p).tolist()
    assert np.isnan(adjusted[np.isnan(holes)]).all()


def test_nothing_to_adjust():
    assert holm([]).tolist() == []
    assert np.isnan(holm([math.nan, math.nan])).all()


@pytest.mark.parametrize(("p", "says"), [([0.5, 1.5], "1.5 at position 1"), ([-0.1], "-0.1"), ([[0.1]], r"\(1, 1\)")])
def test_what_is_not_a_p_value_is_named(p, says):
    with pytest.raises(RecuseError, match=says):
        holm(p)


# --------------------------------------------------------------------------- decision levels

LIMIT = 0.5


def decides(distribution: Student, level: float) -> bool:
    """Whether the interval lies on one side of LIMIT."""
    low, high = distribution.interval(level)
    return low >= LIMIT or high <= LIMIT


families = st.lists(
    st.builds(Student, st.floats(-2, 3), st.floats(0.01, 1), st.integers(2, 30).map(float)), min_size=1, max_size=12
)


@given(families, st.sampled_from([0.9, 0.95, 0.99]))
def test_holm_levels_decide_what_holm_rejects(distributions, level):
    levels = decision_levels([partial(decides, distribution) for distribution in distributions], level)
    decisive = [
        2 * min(distribution.p_value(LIMIT, "above"), distribution.p_value(LIMIT, "below"))
        for distribution in distributions
    ]
    rejected = holm(np.minimum(decisive, 1)) <= 1 - level
    assert [
        decides(distribution, at) for distribution, at in zip(distributions, levels, strict=True)
    ] == rejected.tolist()


@given(families, st.randoms(use_true_random=False))
def test_the_order_of_the_family_does_not_matter(distributions, random):
    shuffled = list(enumerate(distributions))
    random.shuffle(shuffled)
    levels = decision_levels([partial(decides, distribution) for distribution in distributions], 0.95)
    again = decision_levels([partial(decides, distribution) for _, distribution in shuffled], 0.95)
    assert {place: at for (place, _), at in zip(shuffled, again, strict=True)} == dict(enumerate(levels))


@given(families, families)
def test_a_larger_family_never_decides_more(distributions, others):
    alone = decision_levels([partial(decides, distribution) for distribution in distributions], 0.95)
    together = decision_levels([partial(decides, distribution) for distribution in distributions + others], 0.95)
    for distribution, narrow, wide in zip(distributions, alone, together, strict=False):
        assert decides(distribution, narrow) or not decides(distribution, wide)


def test_levels_by_hand():
    sure, unsure = (lambda level: True), (lambda level: False)
    only_below_98 = lambda level: level < 0.98  # noqa: E731
    assert decision_levels([unsure] * 5, 0.95) == [0.99] * 5
    assert decision_levels([sure] * 5, 0.95) == [0.99] * 5
    # at .99 three are settled; the other two are asked again at 1 - .05 / 2, where one more is, and the last at .95
    assert decision_levels([sure, unsure, sure, only_below_98, sure], 0.95) == [0.99, 0.95, 0.99, 0.975, 0.99]
    assert decision_levels([], 0.95) == []
    assert decision_levels([sure], 0.95) == [0.95]


def test_a_level_must_be_a_level():
    with pytest.raises(RecuseError, match=r"between 0 and 1.*it is 95"):
        decision_levels([], 95)


def false_pass_rate(corrected: bool, families: int = 2000, members: int = 8, n: int = 10) -> float:
    """True values a hair above LIMIT, so every "below" is false; the members share part of their noise."""
    rng, wrong = np.random.default_rng(11), 0
    for _ in range(families):
        runs = LIMIT + 1e-9 + rng.normal(size=(members, n)) + 0.7 * rng.normal(size=(1, n))
        distributions = [Student(x.mean(), x.std(ddof=1) / math.sqrt(n), n - 1) for x in runs]
        each = [partial(decides, distribution) for distribution in distributions]
        levels = decision_levels(each, 0.95) if corrected else [0.95] * members
        wrong += any(
            distribution.interval(at)[1] <= LIMIT for distribution, at in zip(distributions, levels, strict=True)
        )
    return wrong / families


def test_family_error_rate_of_directional_decisions():
    # one of two directions is false, so alpha / 2 = .025 is the bound; .035 is three standard errors above it
    assert false_pass_rate(corrected=True) < 0.035
    assert false_pass_rate(corrected=False) > 0.1
