"""Distributions over stories: hand arithmetic, agreement with statsmodels and scipy, coverage, degenerate input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from recuse.statistics import clusters
from recuse.statistics.clusters import slip_variance
from recuse.statistics.distributions import Binomial


def random_clusters(seed, count=12, size=5):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(count), rng.integers(1, size + 1, count))
    return rng, groups, rng.normal(0, 1, count)[groups]


# --------------------------------------------------------------------------- means


def test_mean_by_hand():
    """Stories (1, 2, 3), (5), mean 11/4: sums of deviations 6 - 3 * 2.75 = -2.25 and 5 - 2.75 = 2.25, so
    se^2 = 2/1 * (2.25^2 + 2.25^2) / 4^2 = 1.265625 and se = 1.125, on one degree of freedom."""
    distribution = clusters.clustered_mean([1, 2, 3, 5], ["p", "p", "p", "q"])
    assert (distribution.value, distribution.se, distribution.df) == pytest.approx((2.75, 1.125, 1))


def test_mean_of_single_observations_is_the_t_interval():
    x = np.random.default_rng(0).normal(3, 2, 25)
    distribution = clusters.clustered_mean(x, np.arange(25))
    assert distribution.interval(0.95) == pytest.approx(stats.t(24, x.mean(), stats.sem(x)).interval(0.95))


def test_a_difference_within_clusters_is_the_paired_t():
    """One value on either side of every cluster, in any order of the rows."""
    rng = np.random.default_rng(5)
    one, other = rng.normal(1, 2, 14), rng.normal(0, 1, 14)
    order = rng.permutation(28)
    values, groups = np.concatenate([one, other])[order], np.tile(np.arange(14), 2)[order]
    found = clusters.difference_of_means(values, order < 14, order >= 14, groups)
    theirs = stats.ttest_rel(one, other)
    assert found.value == pytest.approx((one - other).mean())
    assert found.interval(0.95) == pytest.approx(tuple(theirs.confidence_interval()))
    assert 2 * found.p_value(0.0, "above" if found.value > 0 else "below") == pytest.approx(theirs.pvalue)


def test_a_mean_over_one_side_is_the_t_interval_whatever_the_other_values():
    values = np.array([2.0, 3.0, 5.0, 9.0, 100.0])
    found = clusters.difference_of_means(values, values < 50, None, np.arange(5))
    assert found.interval(0.9) == pytest.approx(tuple(stats.ttest_1samp(values[:4], 0).confidence_interval(0.9)))


def test_where_nothing_varies_a_slip_by_one_step_is_allowed_for():
    """Of G equal clusters: the spread of the slip that they cannot rule out, none where no step is known."""
    equal, every = np.full(8, 3.0), np.ones(8, dtype=bool)
    found = clusters.difference_of_means(equal, every, None, np.arange(8), step=0.5)
    assert found.se == pytest.approx(math.sqrt(slip_variance(0.5, 8) / 8))
    assert clusters.difference_of_means(equal, every, None, np.arange(8)).undefined


def test_a_stratified_mean_is_cochrans():
    """sum W_h mean_h with variance sum W_h^2 s_h^2 / n_h + sum W_h (mean_h - mean)^2 / N (Cochran 1977, sec. 12.2), N
    the sum of the weights; of labels in fewer clusters as many fewer."""
    a, b = np.array([1.0, 2.0, 6.0]), np.array([4.0, 4.0, 5.0, 9.0])
    weights = np.concatenate([np.full(3, 10 / 3), np.full(4, 30 / 4)])
    strata = np.array([0] * 3 + [1] * 4)
    found = clusters.stratified_mean(np.concatenate([a, b]), strata, weights, np.arange(7))
    between = 0.25 * (3 - 4.875) ** 2 + 0.75 * (5.5 - 4.875) ** 2
    variance = 0.25**2 * a.var(ddof=1) / 3 + 0.75**2 * b.var(ddof=1) / 4 + between / 40
    alike = np.repeat([0, 1, 2, 3], [3, 2, 1, 1])
    equal = clusters.stratified_mean(np.repeat([3.0, 5.5], [3, 4]), strata, weights, alike)
    assert equal.se**2 == pytest.approx(between / 40 * 7 / 4)
    assert (found.value, found.se) == pytest.approx((0.25 * 3 + 0.75 * 5.5, math.sqrt(variance)))


def test_mean_agrees_with_statsmodels():
    """OLS on a constant with cluster-robust covariance; statsmodels adds the factor (n - 1) / (n - 1) = 1."""
    from statsmodels.regression.linear_model import OLS

    rng, groups, effects = random_clusters(1)
    x = effects + rng.normal(0, 1, len(groups))
    fit = OLS(x, np.ones(len(x))).fit(cov_type="cluster", cov_kwds={"groups": groups}, use_t=True)
    distribution = clusters.clustered_mean(x, groups)
    assert (distribution.value, distribution.se) == pytest.approx((fit.params[0], fit.bse[0]))
    assert distribution.interval(0.9) == pytest.approx(fit.conf_int(0.1)[0])


@pytest.mark.parametrize("values", [[], [2.0], [2.0, 3.0]])
def test_one_cluster_says_nothing(values):
    distribution = clusters.clustered_mean(values, ["p"] * len(values))
    assert distribution.undefined == "one cluster says nothing about the next"
    assert all(math.isnan(end) for end in distribution.interval(0.95))
    assert distribution.p_value(0, "above") == 1


def test_a_constant_has_a_mean_and_no_interval():
    distribution = clusters.clustered_mean([0.1] * 6, [1, 1, 2, 2, 3, 3])
    assert distribution.value == pytest.approx(0.1)
    assert "no cluster differs" in distribution.undefined


# --------------------------------------------------------------------------- shares


def test_share_of_single_observations_is_clopper_pearson():
    distribution = clusters.clustered_share([1, 0, 1, 1, 0, 1, 1, 0, 1, 1], np.arange(10))
    assert distribution == Binomial(7, 10)
    assert distribution.interval(0.95) == pytest.approx(tuple(stats.binomtest(7, 10).proportion_ci(method="exact")))


def test_share_by_hand():
    """Stories (1, 1) and (0, 0) twice each, (1, 0) four times: p = 1/2, sums of deviations 1, 1, -1, -1, 0 x 4,
    se^2 = 8/7 * 4 / 256 = 1/56; deff = (1/56) / (1/4 / 15) = 15/14, n / deff = 224/15, times (t(15) / t(7))^2."""
    distribution = clusters.clustered_share(
        [1, 1, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0], np.repeat(np.arange(8), 2)
    )
    size = 224 / 15 * (stats.t(15).ppf(0.975) / stats.t(7).ppf(0.975)) ** 2
    assert (distribution.successes, distribution.trials) == pytest.approx((size / 2, size))


def test_hits_in_three_stories_do_not_show_likeness():
    """They count stories, as where there is no hit at all."""
    distribution = clusters.clustered_share([1, 0, 1, 0, 1, 0, *[0] * 14], np.repeat(np.arange(10), 2))
    assert distribution.trials == pytest.approx(10 * (stats.t(19).ppf(0.975) / stats.t(9).ppf(0.975)) ** 2)


@pytest.mark.parametrize(("hits", "end"), [([1] * 20, 1), ([0] * 20, 0)])
def test_a_share_of_all_or_none_counts_stories(hits, end):
    """Ten stories of two: as if each were one observation, and less for the unknown spread."""
    distribution = clusters.clustered_share(hits, np.repeat(np.arange(10), 2))
    assert distribution.successes == end * distribution.trials
    assert distribution.trials == pytest.approx(10 * (stats.t(19).ppf(0.975) / stats.t(9).ppf(0.975)) ** 2)


def test_a_share_in_one_story_is_one_observation_and_of_nothing_undefined():
    assert clusters.clustered_share([1, 1, 0], ["p"] * 3).trials == 1
    assert clusters.clustered_share([], []).undefined


@pytest.mark.parametrize("copied", [0.0, 0.6, 1.0])
def test_share_covers(copied):
    """30 stories of four, each value the story's own with chance `copied`: at least 93 % at nominal 95 %."""
    rng = np.random.default_rng(8)
    groups = np.repeat(np.arange(30), 4)
    for p in (0.1, 0.5):
        covered = 0
        for _ in range(300):
            own = np.repeat(rng.random(30) < p, 4)
            x = np.where(rng.random(120) < copied, own, rng.random(120) < p)
            low, high = clusters.clustered_share(x, groups).interval(0.95)
            covered += low <= p <= high
        assert covered / 300 >= 0.93


# --------------------------------------------------------------------------- slopes


def slope(y, *known, **levels):
    """Of one outcome."""
    return clusters.slopes(np.asarray(y, dtype=float)[:, None], *known, **levels)[0]


def test_slope_agrees_with_refits_by_statsmodels(jackknife):
    """Stories as dummies; one story after the other left out."""
    rng, groups, effects = random_clusters(3, count=15)
    x, z = rng.normal(0, 1, len(groups)) + effects, rng.normal(0, 1, len(groups))
    y = effects + 0.7 * x - 0.3 * z + rng.normal(0, 1, len(groups))
    design = np.column_stack([x, z, groups[:, None] == np.arange(15)]).astype(float)
    distribution = slope(y, x, groups, z[:, None])
    assert (distribution.value, distribution.se) == pytest.approx(jackknife(y, design, groups))
    assert distribution.df == 14


def test_slope_through_the_origin_agrees_with_refits_by_statsmodels(jackknife):
    rng, groups, effects = random_clusters(4, count=15)
    x, z = rng.normal(0, 1, len(groups)), rng.normal(0, 1, len(groups))
    y = effects + 0.7 * x + rng.normal(0, 1, len(groups))
    distribution = slope(y, x, groups, z[:, None], levels=False)
    assert (distribution.value, distribution.se) == pytest.approx(jackknife(y, np.column_stack([x, z]), groups))


@pytest.mark.slow
@pytest.mark.parametrize(("unequal", "least", "sandwich"), [(0.0, 0.93, (0.92, 0.95)), (1.0, 0.90, (0.78, 0.87))])
def test_intervals_of_a_slope_hold_it(unequal, least, sandwich):
    """2,000 samples of 12 stories of three texts, the spread of x alike in all stories or, on the log scale, with an SD
    of 1 between them: the jackknife's 95 % intervals hold the slope in 94 and 92 %, the sandwich's in 93 and 83 %."""
    rng, groups = np.random.default_rng(8), np.repeat(np.arange(12), 3)
    held = {"jackknife": 0, "sandwich": 0}
    for _ in range(2000):
        x = rng.normal(0, 1, 36) * np.exp(unequal * rng.normal(0, 1, 12))[groups]
        y = 0.2 * x + rng.normal(0, 1, 36)
        distribution = slope(y, x, groups)
        held["jackknife"] += distribution.interval(0.95)[0] <= 0.2 <= distribution.interval(0.95)[1]
        free = [part - np.bincount(groups, part)[groups] / 3 for part in (x, y)]
        scores = np.bincount(groups, free[0] * (free[1] - distribution.value * free[0]))
        se = math.sqrt(12 / 11 * (scores**2).sum()) / (free[0] ** 2).sum()
        held["sandwich"] += abs(distribution.value - 0.2) <= stats.t.ppf(0.975, 11) * se
    assert least <= held["jackknife"] / 2000 <= 0.97
    assert sandwich[0] <= held["sandwich"] / 2000 <= sandwich[1]


def test_a_slope_that_hangs_on_one_story_has_no_interval():
    """x varies within story 1 alone: without it there is no slope, so nobody knows how it would come out again."""
    distribution = slope([1, 2, 2, 4, 1, 0], [0, 1, 2, 2, 3, 3], [1, 1, 2, 2, 3, 3])
    assert distribution.value == pytest.approx(1.0)
    assert distribution.undefined


def test_slope_ignores_what_is_the_same_within_a_story():
    rng, groups, effects = random_clusters(6)
    x, y = rng.normal(0, 1, len(groups)), rng.normal(0, 1, len(groups))
    plain, shifted = slope(y, x, groups), slope(y + 9 * effects, x - 4 * effects, groups)
    assert (shifted.value, shifted.se) == pytest.approx((plain.value, plain.se))


@pytest.mark.parametrize("x", [[1, 1, 2, 2, 3, 3], [0, 1, 0, 1, 0, 1]])
def test_a_regressor_without_variation_of_its_own_has_no_slope(x):
    control = np.array([[0], [1], [0], [1], [0], [1]], dtype=float)
    assert slope([1, 2, 2, 4, 1, 0], x, [1, 1, 2, 2, 3, 3], control).undefined


def test_slopes_of_several_outcomes_are_those_of_each():
    rng = np.random.default_rng(9)
    y, x, z = rng.normal(size=(60, 3)), rng.normal(size=60), rng.normal(size=(60, 2))
    groups = np.repeat(np.arange(12), 5)
    together = clusters.slopes(y, x, groups, z)
    for column, distribution in zip(y.T, together, strict=True):
        alone = slope(column, x, groups, z)
        assert (distribution.value, distribution.se) == pytest.approx((alone.value, alone.se))


def test_levels_of_smaller_groups_within_clusters_agree_with_refits_by_statsmodels(jackknife):
    """Twelve clusters of three pairs, each pair with a level of its own."""
    rng = np.random.default_rng(10)
    x, pairs = rng.normal(size=72), np.repeat(np.arange(36), 2)
    y = 0.5 * x + rng.normal(size=36)[pairs] + rng.normal(size=72)
    value, se = jackknife(y, np.column_stack([x, pairs[:, None] == np.arange(36)]).astype(float), pairs // 3)
    distribution = slope(y, x, pairs // 3, levels=pairs)
    assert (distribution.value, distribution.se) == (pytest.approx(value), pytest.approx(se))


def test_controls_that_repeat_each_other_change_nothing():
    rng = np.random.default_rng(11)
    y, x, z = rng.normal(size=40), rng.normal(size=40), rng.normal(size=(40, 1))
    groups = np.repeat(np.arange(10), 4)
    once, twice = slope(y, x, groups, z), slope(y, x, groups, np.column_stack([z, 2 * z]))
    assert (twice.value, twice.se) == pytest.approx((once.value, once.se))
