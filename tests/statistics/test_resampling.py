"""Is resampling right? The bootstrap and the permutation test against scipy's, hand counts, and their coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from recuse.statistics.rank_correlation import kendall, spearman
from recuse.statistics.resampling import bootstrap, generator, percentile, permutation_test, resampled_means


def mean_of(x):
    return lambda weights: weights @ x / weights.sum(axis=1)


def median_of(x):
    """Weighted medians are awkward; expand the weights instead."""
    return lambda weights: np.array([np.median(np.repeat(x, w.astype(int))) for w in weights])


@pytest.mark.parametrize(("method", "scipys"), [("bca", "BCa"), ("percentile", "percentile")])
def test_bootstrap_is_scipys(method, scipys):
    """Same data, other random numbers: ends agree within the noise of 9,999 draws (the SE of an end is about 0.01)."""
    x = np.random.default_rng(1).exponential(size=40)
    mine = bootstrap(mean_of(x), 40, np.random.default_rng(2), method=method)
    theirs = stats.bootstrap((x,), np.mean, method=scipys, rng=np.random.default_rng(3))
    assert mine.value == pytest.approx(x.mean())
    assert mine.interval(0.95) == pytest.approx(tuple(theirs.confidence_interval), abs=0.04)


def test_acceleration_of_a_mean_is_its_skewness():
    """For a mean a = sum d^3 / (6 (sum d^2)^1.5); for 0, 0, 3: d = -1, -1, 2, a = 6 / (6 * 6^1.5) = 0.0680."""
    x = np.array([0.0, 0.0, 3.0])
    assert bootstrap(mean_of(x), 3, np.random.default_rng(4)).acceleration == pytest.approx(6 / (6 * 6**1.5))


def test_whole_clusters_are_drawn():
    """Items that only repeat their cluster's value add nothing: the spread is that of the 20 cluster means."""
    values = np.random.default_rng(5).normal(size=20)
    clusters = np.repeat(np.arange(20), 5)
    repeated = bootstrap(mean_of(values[clusters]), 100, np.random.default_rng(6), clusters=clusters)
    plain = bootstrap(mean_of(values), 20, np.random.default_rng(6))
    assert repeated.interval(0.95) == pytest.approx(plain.interval(0.95))
    naive = bootstrap(mean_of(values[clusters]), 100, np.random.default_rng(6))
    assert naive.half_width_at(1.0) < 0.6 * plain.half_width_at(1.0)


def test_a_statistic_that_is_not_a_mean():
    x = np.random.default_rng(7).normal(8, 1, 31)
    law = bootstrap(median_of(x), 31, np.random.default_rng(8), draws=999, method="percentile")
    low, high = law.interval(0.95)
    assert low < law.value == np.median(x) < high


def test_draws_depend_on_seed_and_names_only():
    """Measured in another order, a subject draws the same numbers; another subject draws others."""
    x = np.random.default_rng(9).normal(size=12)
    first = bootstrap(mean_of(x), 12, generator(1, "self_bias", "grok-4"))
    generator(1, "self_bias", "gpt-5.1").random(1000)
    again = bootstrap(mean_of(x), 12, generator(1, "self_bias", "grok-4"))
    other = bootstrap(mean_of(x), 12, generator(1, "self_bias", "gpt-5.1"))
    assert np.array_equal(first.draws, again.draws)
    assert not np.array_equal(first.draws, other.draws)


@pytest.mark.parametrize(
    ("values", "why"), [([], "every resample"), ([3.0], "every resample"), ([3.0] * 9, "no resample")]
)
def test_too_little_to_resample(values, why):
    law = bootstrap(mean_of(np.array(values)), len(values), np.random.default_rng(10))
    assert why in law.undefined


def test_undefined_draws_count_against_both_ends():
    """A correlation is undefined where a resample is constant; 100 of 999 lost leave a 70 % interval at most."""
    values = np.concatenate([np.full(100, np.nan), np.linspace(-1, 1, 899)])
    law = percentile(0.0, values)
    assert law.lost == 100
    assert all(map(math.isnan, law.interval(0.8)))
    assert law.interval(0.7) == pytest.approx((values[100 + 49], values[-50]))


def test_runs_are_redrawn_within_their_cell():
    means = resampled_means([np.array([1.0, 2.0]), np.array([5.0, 5.0, 5.0])], np.random.default_rng(11), 4000)
    assert means.shape == (4000, 2)
    assert set(means[:, 0]) == {1.0, 1.5, 2.0}
    assert np.mean(means[:, 0] == 1.5) == pytest.approx(0.5, abs=0.03)
    assert set(means[:, 1]) == {5.0}


# --------------------------------------------------------------------------- permutation


def test_a_perfect_order_of_five():
    """Two of 120 orders have |rho| = 1."""
    test = permutation_test([1, 2, 3, 4, 5], [2, 4, 6, 8, 9], spearman, np.random.default_rng(0))
    assert (test.p, test.arrangements, test.exact) == (2 / 120, 120, True)


@pytest.mark.parametrize("statistic", [spearman, kendall])
@pytest.mark.parametrize("ties", [False, True])
def test_enumeration_is_scipys(statistic, ties):
    rng = np.random.default_rng(12)
    x = rng.integers(0, 4, 7) if ties else rng.permutation(7)
    y = rng.integers(0, 4, 7) if ties else rng.permutation(7)
    theirs = stats.permutation_test(
        (y,), lambda z: abs(float(statistic(x, z[None, :])[0])), permutation_type="pairings", n_resamples=np.inf,
        alternative="greater",
    )  # fmt: skip
    assert permutation_test(x, y, statistic, rng).p == pytest.approx(theirs.pvalue)


def test_random_orders_count_the_observed_one():
    """No random order of 15 beats a perfect one, and p is 1 / (B + 1), never 0."""
    test = permutation_test(np.arange(15), np.arange(15), kendall, np.random.default_rng(13), draws=199)
    assert (test.p, test.arrangements, test.exact) == (1 / 200, 199, False)


def test_a_constant_has_no_test():
    assert math.isnan(permutation_test([1, 2, 3], [5, 5, 5], spearman, np.random.default_rng(0)).p)
    assert math.isnan(permutation_test([], [], spearman, np.random.default_rng(0)).p)


def test_permutation_keeps_its_promise():
    """Unrelated tied data: at most 5 % of p-values reach 0.05 (they are few and discrete, so fewer do)."""
    rng = np.random.default_rng(14)
    p = [permutation_test([1, 1, 2, 2, 3, 3], rng.integers(0, 4, 6), kendall, rng).p for _ in range(600)]
    assert np.mean(np.array(p) <= 0.05) <= 0.05


# --------------------------------------------------------------------------- coverage


@pytest.mark.parametrize(("n", "expected"), [(30, 0.91), (100, 0.944)])
def test_bca_covers_the_mean_of_skewed_items(n, expected):
    """Exponential items: measured 91.1 and 94.4 % in 1,000 samples; small skewed samples are beyond any bootstrap."""
    rng = np.random.default_rng(15)
    held = 0
    for _ in range(500):
        low, high = bootstrap(mean_of(rng.exponential(size=n)), n, rng, draws=999).interval(0.95)
        held += low <= 1 <= high
    assert held / 500 == pytest.approx(expected, abs=0.03)


def test_cluster_bootstrap_covers_where_the_plain_one_does_not():
    """25 clusters of 4 with half the variance between them: about 93 against 80 %."""
    rng, clusters, held = np.random.default_rng(16), np.repeat(np.arange(25), 4), np.zeros(2)
    for _ in range(300):
        x = rng.standard_normal(25)[clusters] + rng.standard_normal(100)
        for i, units in enumerate((clusters, None)):
            low, high = bootstrap(mean_of(x), 100, rng, clusters=units, draws=999).interval(0.95)
            held[i] += low <= 0 <= high
    assert held[0] / 300 == pytest.approx(0.935, abs=0.035)
    assert held[1] / 300 < 0.87
