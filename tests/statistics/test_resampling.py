"""Is resampling right? The bootstrap and the permutation test against scipy's and hand counts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from recuse.papers.merchant_risk.human_order import resampled_means
from recuse.papers.rank_tests import kendall, pearson_of_ranks, permutation_test, spearman
from recuse.statistics.distributions import generator, percentile


def test_draws_depend_on_seed_and_names_only():
    """Measured in another order, a subject draws the same numbers; another subject draws others."""
    first = generator(1, "self_bias", "grok-4").random(12)
    generator(1, "self_bias", "gpt-5.1").random(1000)
    assert np.array_equal(first, generator(1, "self_bias", "grok-4").random(12))
    assert not np.array_equal(first, generator(1, "self_bias", "gpt-5.1").random(12))


def test_the_interval_of_a_mean_is_scipys():
    """Same data, other random numbers: ends agree within the noise of 9,999 draws (the SE of an end is about 0.01)."""
    x = np.random.default_rng(1).exponential(size=40)
    mine = percentile(float(x.mean()), resampled_means([x], np.random.default_rng(2))[:, 0])
    theirs = stats.bootstrap((x,), np.mean, method="percentile", rng=np.random.default_rng(3))
    assert mine.interval(0.95) == pytest.approx(tuple(theirs.confidence_interval), abs=0.04)


@pytest.mark.parametrize(("values", "why"), [([], "every resample"), ([3.0] * 9, "the same in every resample")])
def test_too_little_to_resample(values, why):
    assert why in percentile(3.0, np.array(values)).undefined


def test_undefined_draws_count_against_both_ends():
    """A correlation is undefined where a resample is constant; 100 of 999 lost leave a 70 % interval at most."""
    values = np.concatenate([np.full(100, np.nan), np.linspace(-1, 1, 899)])
    distribution = percentile(0.0, values)
    assert distribution.lost == 100
    assert all(map(math.isnan, distribution.interval(0.8)))
    assert distribution.interval(0.7) == pytest.approx((values[100 + 49], values[-50]))


def test_repeats_are_redrawn_within_their_cell():
    means = resampled_means([np.array([1.0, 2.0]), np.array([5.0, 5.0, 5.0])], np.random.default_rng(11), 4000)
    assert means.shape == (4000, 2)
    assert set(means[:, 0]) == {1.0, 1.5, 2.0}
    assert np.mean(means[:, 0] == 1.5) == pytest.approx(0.5, abs=0.03)
    assert set(means[:, 1]) == {5.0}


# --------------------------------------------------------------------------- permutation


def test_a_perfect_order_of_five():
    """Two of 120 orders have |rho| = 1."""
    test = permutation_test([1, 2, 3, 4, 5], [2, 4, 6, 8, 9], spearman, np.random.default_rng(0))
    assert test == (2 / 120, "all 120 orders")


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize("statistic", [spearman, kendall])
@pytest.mark.parametrize("ties", [False, True])
def test_enumeration_is_scipys(statistic, ties):
    rng = np.random.default_rng(12)
    x = rng.integers(0, 4, 6) if ties else rng.permutation(6)
    y = rng.integers(0, 4, 6) if ties else rng.permutation(6)
    theirs = stats.permutation_test(
        (y,), lambda z: abs(float(statistic(x, z[None, :])[0])), permutation_type="pairings", n_resamples=np.inf,
        alternative="greater",
    )  # fmt: skip
    assert permutation_test(x, y, statistic, rng).p == pytest.approx(theirs.pvalue)


def test_random_orders_count_the_observed_one():
    """No random order of 15 beats a perfect one, and p is 1 / (B + 1), never 0."""
    order = np.arange(15.0)
    test = permutation_test(order, order, pearson_of_ranks, np.random.default_rng(13))
    assert test == (1 / 100_000, "99999 random orders")


def test_a_constant_has_no_test():
    assert math.isnan(permutation_test([1, 2, 3], [5, 5, 5], spearman, np.random.default_rng(0)).p)
    assert math.isnan(permutation_test([], [], spearman, np.random.default_rng(0)).p)


def test_permutation_keeps_its_promise():
    """Unrelated tied data: at most 5 % of p-values reach 0.05 (they are few and discrete, so fewer do)."""
    rng = np.random.default_rng(14)
    p = [permutation_test([1, 1, 2, 2, 3, 3], rng.integers(0, 4, 6), kendall, rng).p for _ in range(600)]
    assert np.mean(np.array(p) <= 0.05) <= 0.05
