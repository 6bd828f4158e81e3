"""Contrasts of cells: by hand, what a quiet cell knows, what skewness moves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from recuse.statistics.clusters import Contrast, contrast, slip_variance


def test_equal_cells_by_hand():
    """Two cells of 4 repeats, variance 0.08 each, weights 1 and -1: Var = 2 * 0.08 / 4 = 0.04, df = 6."""
    distribution = contrast(np.array([1.0, -1.0]), np.array([9.0, 8.0]), np.array([0.08, 0.08]), np.array([4, 4]))
    assert (distribution.value, distribution.se, distribution.df) == pytest.approx((1.0, 0.2, 6.0))


def test_a_small_variance_is_pulled_up_and_a_large_one_stays():
    """Variances 0.04 and 0.08, mean 0.06: the first becomes 0.04 + 0.3 * 0.02 = 0.046."""
    distribution = contrast(np.array([1.0, -1.0]), np.array([9.0, 8.0]), np.array([0.04, 0.08]), np.array([4, 4]))
    assert distribution.se == pytest.approx(math.sqrt((0.046 + 0.08) / 4))


def test_a_quiet_cell_is_bounded_as_clopper_and_pearson_bound_no_slip_of_ten():
    distribution = contrast(np.array([1.0]), np.array([9.0]), np.array([0.0]), np.array([10]), step=1.0)
    high = stats.binomtest(0, 10).proportion_ci(0.95, method="exact").high
    assert distribution.interval(0.95) == pytest.approx((9 - high, 9 + high))


def test_nothing_varies_on_a_scale_without_steps():
    distribution = contrast(np.array([1.0, -1.0]), np.array([9.0, 8.0]), np.zeros(2), np.array([10, 10]))
    assert distribution.undefined
    assert all(map(math.isnan, distribution.interval(0.95)))


def test_one_peer_score_off_is_no_certainty():
    """Temperature 0: five judges of which one moved once, by a fiftieth. That alone used to count: [-0.002, 0.001]."""
    variances = np.array([0.0, 0.0, 0.0, 0.0, 0.02**2 / 10])
    distribution = contrast(
        np.array([1, -0.25, -0.25, -0.25, -0.25]), np.full(5, 8.0), variances, np.full(5, 10), step=0.2
    )
    low, high = distribution.interval(0.95)
    assert high - low > 0.1


def test_a_cell_with_one_repeat_borrows():
    """From the other cells' variance, 0.1: Var = 0.1 / 10 + 0.1 / 1."""
    distribution = contrast(np.array([1.0, -1.0]), np.array([9.0, 8.0]), np.array([0.1, np.nan]), np.array([10, 1]))
    assert distribution.se == pytest.approx(math.sqrt(0.11))
    alone = contrast(np.array([1.0]), np.array([9.0]), np.array([np.nan]), np.array([1]), step=1.0)
    assert "single repeat" in alone.undefined


def test_skewness_widens_towards_the_tail():
    """Scores that end at 10 and now and then fall far below: the true mean may lie far lower than Student's t
    allows."""
    plain, skewed = Contrast(9.5, 0.2, 9), Contrast(9.5, 0.2, 9, -0.6)
    (low, high), (lower, higher) = plain.interval(0.95), skewed.interval(0.95)
    assert lower < low - 0.2
    assert higher == pytest.approx(high)


def test_skewness_is_that_of_scipy():
    """Unbiased third moment of one cell over se^3, times 1.5: sample skewness G1 / sqrt(n)."""
    x = np.array([0.0, 0, 0, 1, 5])
    thirds = np.array([((x - x.mean()) ** 3).sum()])
    distribution = contrast(np.ones(1), np.array([x.mean()]), np.array([x.var(ddof=1)]), np.array([5]), thirds=thirds)
    assert distribution.skew == pytest.approx(1.5 * stats.skew(x, bias=False) / math.sqrt(5))


def test_a_slip_variance_shrinks_with_repeats():
    assert slip_variance(1.0, 20) < slip_variance(1.0, 10) < slip_variance(2.0, 10)
    assert math.isnan(slip_variance(1.0, 1))
