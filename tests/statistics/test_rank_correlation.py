"""Rank correlation with ties: scipy as oracle, exact p-values by counting, and what the t approximation misses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from recuse.papers.rank_tests import kendall, permutation_test, ranks, spearman, spearman_t, spearman_test

LEVELS = np.repeat(np.arange(1, 6), 3)


def pairs(seed, n, ties):
    rng = np.random.default_rng(seed)
    return (rng.integers(0, 4, n), rng.integers(0, 5, n)) if ties else (rng.normal(size=n), rng.normal(size=n))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_coefficients_are_scipys(seed, ties):
    x, y = pairs(seed, 15, ties)
    assert ranks(x) == pytest.approx(stats.rankdata(x))
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)
    assert kendall(x, y) == pytest.approx(stats.kendalltau(x, y).statistic)
    assert spearman_t(float(spearman(x, y)), 15) == pytest.approx(stats.spearmanr(x, y).pvalue)


def test_rows_at_once():
    rng = np.random.default_rng(1)
    x, rows = rng.integers(0, 4, 6), rng.integers(0, 4, (50, 6))
    at_once = spearman(x, rows)
    each = [stats.spearmanr(x, row).statistic if len(set(row)) > 1 else math.nan for row in rows]
    assert at_once == pytest.approx(each, nan_ok=True)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [4, 6, 8])
def test_counting_is_enumerating(n, ties):
    """Dealing ranks to tied groups gives the same p as trying all n! orders."""
    x, y = pairs(n, n, ties)
    counted, tried = spearman_test(x, y), permutation_test(x, y, spearman, np.random.default_rng(0))
    assert "arrangements" in counted.method
    assert counted.p == pytest.approx(tried.p)


def test_fifteen_picks_by_counting():
    """15! / 3!^5 arrangements, none sampled; a Monte Carlo of 200,000 orders agrees within its error."""
    risk = np.array([1, 4, 2, 8, 3, 9, 5, 12, 6, 14, 7, 10, 11, 15, 13])
    test = spearman_test(LEVELS, risk)
    assert test.method == f"all {math.factorial(15) // 6**5} arrangements"
    observed = abs(float(spearman(LEVELS, risk)))
    orders = np.random.default_rng(2).permuted(np.tile(risk, (200_000, 1)), axis=1) - 8.0
    rho = orders @ (LEVELS - 3) / math.sqrt(30 * 280)
    share = np.mean(np.abs(rho) >= observed - 1e-12)
    assert test.p == pytest.approx(share, abs=4 * math.sqrt(share / 200_000))


def test_the_t_approximation_is_bold_where_ranks_are_tied():
    """At the size of the paper's strongest correlation it halves the p-value."""
    risk = np.array([2, 1, 7, 3, 5, 10, 4, 6, 8, 9, 14, 12, 11, 13, 15])
    rho = float(spearman(LEVELS, risk))
    assert rho > 0.77
    assert spearman_t(rho, 15) < 0.7 * spearman_test(LEVELS, risk).p


def test_p_does_not_depend_on_sides_or_direction():
    x, y = pairs(3, 10, ties=True)
    p = spearman_test(x, y).p
    assert spearman_test(y, x).p == pytest.approx(p)
    assert spearman_test(-x, y).p == pytest.approx(p)
    assert spearman_test(np.exp(x), y).p == pytest.approx(p)


def test_beyond_counting_orders_are_drawn():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=30), rng.normal(size=30)
    test = spearman_test(x, y)
    assert "random" in test.method
    assert test.p == pytest.approx(stats.spearmanr(x, y).pvalue, abs=0.02)
    assert spearman_test(x, y) == test


def test_kendall_of_five():
    """tau = 1 in two of 120 orders; scipy's exact distribution agrees elsewhere."""
    x, y, rng = [1, 2, 3, 4, 5], [2, 1, 4, 3, 5], np.random.default_rng(0)
    assert permutation_test(x, x, kendall, rng).p == pytest.approx(2 / 120)
    assert permutation_test(x, y, kendall, rng).p == pytest.approx(
        stats.kendalltau([1, 2, 3, 4, 5], y, method="exact").pvalue
    )


@pytest.mark.parametrize(("x", "y"), [([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [4, 4, 4]), ([1], [1]), ([], [])])
def test_a_constant_has_no_rank_correlation(x, y):
    assert math.isnan(spearman_test(x, y).p)
    assert math.isnan(spearman_t(math.nan, 15))
    if len(x) > 1:
        assert math.isnan(float(spearman(x, y)))
        assert math.isnan(float(kendall(x, y)))
