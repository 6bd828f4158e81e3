"""Means between the ends of a scale: by hand, against other programs' formulas, against hedged betting."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from recuse.gates.verdict_power import _moved_fault
from recuse.statistics.bounded import bounded_mean


@pytest.mark.parametrize("ends", [(0.0, 1.0), (-1.0, 1.0), (0.1, 0.7)])
@pytest.mark.parametrize("hits", [1, 7, 19])
def test_a_share_of_single_trials_is_clopper_and_pearsons(ends, hits):
    """Twenty values, each the one end or the other."""
    low, high = ends
    x = low + (high - low) * (np.arange(20) < hits)
    expected = stats.binomtest(hits, 20).proportion_ci(0.95)
    found = bounded_mean(x, range(20), ends).interval(0.95)
    assert found == pytest.approx((low + (high - low) * expected.low, low + (high - low) * expected.high))


def test_shares_above_and_below_0_are_jeffreys():
    """Neither part is the whole: the beta quantiles of 300 + 1/2 and 700 + 1/2, but for z / t of the trials."""
    x = [1.0] * 300 + [-1.0] + [0.0] * 699
    above = bounded_mean(x, range(1000), (-1.0, 1.0)).above
    assert above.bounds(0.025, 999.0) == pytest.approx(tuple(stats.beta(300.5, 700.5).ppf([0.025, 0.975])), abs=2e-4)
    assert not above.counted


@pytest.mark.parametrize("n", [24, 60, 150])
def test_errors_one_way_are_missed_as_seldom_as_is_said(n):
    """Every share of errors up to a fifth, by all numbers of them that may be seen. Where one was seen, Jeffreys' high
    end missed 5 %; where errors the other way could be, the low end is hardly wider for that."""
    for ends in ((0.0, 1.0), (-1.0, 1.0)):
        found = np.array([bounded_mean(1.0 * (np.arange(n) < k), range(n), ends).interval(0.95) for k in range(n + 1)])
        for share in np.linspace(0.002, 0.2, 100):
            chance = stats.binom(n, share).pmf(np.arange(n + 1))
            assert chance @ (found[:, 0] > share) <= 0.025
            assert chance @ (found[:, 1] < share) <= 0.025
    assert found[1, 0] > -2 / n  # with the exact bound of none below 0, too: 2.5 / n
    assert not bounded_mean([1, 1, 0] * 8, np.repeat(np.arange(12), 2), (0.0, 1.0)).above.counted


@pytest.mark.parametrize(("n", "limit"), [(24, 0.25), (60, 0.1), (200, 0.5)])
def test_the_smallest_fault_of_what_never_varied_is_found_as_often_as_is_said(n, limit):
    """Slips of a step, in so large a share of texts: at least four recordings in five lie beyond the limit. Taken to
    have no spread, one in twenty did."""
    never = bounded_mean(np.zeros(n), range(n), (-4.0, 4.0), slip=1.0)
    fault = _moved_fault(never.moved, limit, True, never.half_width_at(1.0) / 2, 0.95)
    rng = np.random.default_rng(3)
    slips = (1.0 * (rng.random(n) < fault) for _ in range(400))
    beyond = [bounded_mean(x, range(n), (-4.0, 4.0), slip=1.0).interval(0.95)[0] > limit for x in slips]
    assert 0.78 < np.mean(beyond) < 0.95
    assert never.moved(2.5).value == 2.5
    assert bounded_mean(np.zeros(n), range(n), (-1.0, 1.0)).moved(-1.5).value == -1.0


def test_values_that_vary_freely_have_students_interval():
    x = np.random.default_rng(1).normal(0.2, 0.5, 200)
    distribution, t = bounded_mean(x, range(200), (-4.0, 4.0)), stats.ttest_1samp(x, 0).confidence_interval(0.95)
    assert distribution.value == pytest.approx(x.mean())
    assert distribution.interval(0.95) == pytest.approx((t.low, t.high), abs=0.01)


@pytest.mark.parametrize("value", [-0.5, 0.0, 0.5])
def test_a_constant_has_an_interval_that_holds_it(value):
    low, high = bounded_mean([value] * 40, np.repeat(np.arange(20), 2), (-0.5, 0.5)).interval(0.95)
    assert -0.5 <= low <= value <= high <= 0.5
    assert 0 < high - low < 0.2


def test_clusters_without_spread_count_once():
    """Seventeen stories without a slip keep a tenth, whether they hold one pair each or five."""
    for size in (1, 5):
        low, high = bounded_mean([0.0] * 17 * size, np.repeat(np.arange(17), size), (-0.5, 0.5)).interval(0.95)
        end = 0.5 * (1 - 0.025 ** (1 / 17))  # so large a share of slips shows none in one case of forty
        assert (low, high) == pytest.approx((-end, end))


def test_bounds_each_missed_half_of_the_time():
    """Both quantiles that the number of trials follows from vanish there; scipy's of 4 degrees of freedom before."""
    mean = bounded_mean([0.1, 0.0, -0.2, 0.3, 0.1], range(5), (-1, 1))
    assert mean.interval(1e-8) == pytest.approx(mean.interval(2e-4), abs=1e-4)


def test_parts_are_mirrored():
    distribution, mirror = (bounded_mean(sign * np.array([1, 0, 0, 0, 3.0]), range(5), (-4.0, 4.0)) for sign in (1, -1))
    low, high = distribution.interval(0.95)
    assert mirror.interval(0.95) == pytest.approx((-high, -low))


def test_outlook_and_ends():
    distribution = bounded_mean([1, 1, 1, 0.9], [1, 2, 3, 4], (0.0, 1.0))
    assert 0.99 < distribution.interval(0.99)[1] <= 1.0
    assert distribution.p_value(1.2, "below") < 1e-12
    assert distribution.half_width_at(4.0) < distribution.half_width_at(1.0)


def test_nothing_and_one_cluster_have_no_interval():
    for distribution in (bounded_mean([], [], (0.0, 1.0)), bounded_mean([0.2, 0.4], ["a", "a"], (0.0, 1.0))):
        assert distribution.undefined
        assert all(map(math.isnan, distribution.interval(0.95)))


def hedged(x, alpha=0.05, grid=801):
    """The hedged capital interval of Waudby-Smith and Ramdas (2024, Journal of the Royal Statistical Society B 86,
    1-27, theorem 3) for values in [0, 1]: m stays where the greater of two halved wealths, bet on a mean above and
    below m, stays below 1 / alpha. Predictable plug-in bets, truncated at c / m and c / (1 - m), c = 1/2."""
    x = np.random.default_rng(0).permutation(np.asarray(x, dtype=float))
    t = np.arange(1, len(x) + 1)
    means = (0.5 + np.cumsum(x)) / (t + 1)
    variances = (0.25 + np.cumsum((x - means) ** 2)) / (t + 1)
    before = np.concatenate([[0.25], variances[:-1]])
    bet = np.sqrt(2 * np.log(2 / alpha) / (before * len(x)))
    m = np.linspace(0, 1, grid)[:, None]
    with np.errstate(divide="ignore"):
        up, down = np.minimum(bet, 0.5 / m), np.minimum(bet, 0.5 / (1 - m))
    wealth = np.maximum(np.log1p(up * (x - m)).cumsum(1).max(1), np.log1p(-down * (x - m)).cumsum(1).max(1))
    kept = np.flatnonzero(wealth + math.log(0.5) < math.log(1 / alpha))
    return float(m[kept[0], 0]), float(m[kept[-1], 0])


@pytest.mark.parametrize(
    "chances", [(0.1, 0.8, 0.1), (0.025, 0.95, 0.025), (0, 0.97, 0.03), (0.02, 0.48, 0.5), (0, 0.1, 0.9), (0, 1, 0)]
)
@pytest.mark.parametrize("n", [15, 30, 100])
def test_no_wider_than_hedged_betting(chances, n):
    """The narrowest known interval that holds for every bounded distribution, on the same samples: ours is nowhere
    wider by more than a tenth."""
    samples = np.random.default_rng(6).choice([-0.5, 0.0, 0.5], p=chances, size=(20, n))
    ours = [np.diff(bounded_mean(x, range(n), (-0.5, 0.5)).interval(0.95))[0] for x in samples]
    theirs = [np.diff(hedged(x + 0.5))[0] for x in samples]
    assert np.mean(ours) <= 1.1 * np.mean(theirs)


def test_a_fair_judge_passes_the_place_or_can_be_told_how_many_more():
    """Fifteen stories of two pairs, four in five with the same choice in both orders, limit +-0.1: 8 % of fair judges
    passed with half a cluster added at either end; a fifth do now, and the outlook at sixty stories is inside."""
    rng, passed = np.random.default_rng(7), 0
    groups = np.repeat(np.arange(15), 2)
    for x in rng.choice([-0.5, 0.0, 0.5], p=[0.1, 0.8, 0.1], size=(400, 30)):
        low, high = bounded_mean(x, groups, (-0.5, 0.5)).interval(0.95)
        passed += low >= -0.1 and high <= 0.1
    assert passed / 400 > 0.16
    assert bounded_mean([0.5, -0.5] + [0.0] * 28, groups, (-0.5, 0.5)).half_width_at(4.0) < 0.1


@pytest.mark.parametrize("value", [-0.4, 0.0, 0.3])
def test_moved_to_another_mean_it_is_that_of_a_normal_with_the_same_spread(value):
    """Above and below its origin, the first two moments of max(X, 0) and max(-X, 0) by numerical integration."""
    x = np.random.default_rng(1).normal(0.2, 0.5, 200)
    known = bounded_mean(x, range(200), (-4.0, 4.0))
    n, moved = known.df + 1, known.moved(value)
    one, other = known.above.variance, known.below.variance
    spread = math.sqrt(n * (one + other - 2 * known.correlation * math.sqrt(one * other)))
    grid = np.linspace(value - 12 * spread, value + 12 * spread, 400_001)
    density = stats.norm(value, spread).pdf(grid)
    density /= density.sum()
    above, below = np.maximum(grid, 0), np.maximum(-grid, 0)
    for part, side in ((moved.above, above), (moved.below, below)):
        mean = density @ side
        assert part.mean == pytest.approx(mean, abs=1e-5)
        assert n * part.variance == pytest.approx(density @ side**2 - mean**2, rel=1e-3)
    assert moved.value == pytest.approx(value, abs=1e-9)
    errors = n * math.sqrt(moved.above.variance * moved.below.variance)
    assert moved.correlation == pytest.approx(-(density @ above) * (density @ below) / errors, rel=1e-3)


def test_what_never_varied_is_bounded_by_slips_of_a_step_either_way():
    """None of 40 texts is a step off, on a scale of four: as none of 40 that could be one off."""
    stepped = bounded_mean(np.zeros(40), range(40), (-4.0, 4.0), slip=1.0)
    assert stepped.interval(0.95) == bounded_mean(np.zeros(40), range(40), (-1.0, 1.0)).interval(0.95)
    high = stepped.interval(0.95)[1]
    assert stepped.interval(0.95) == (-high, high)
