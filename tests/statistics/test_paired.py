"""The paired t-test and its effect size: hand arithmetic, scipy, the noncentral t, degenerate input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from recuse.statistics.paired import Paired


def test_by_hand():
    """1, 2, 3, 6: mean 3, deviations -2 -1 0 3, SD sqrt(14 / 3), t = 3 * 2 / sqrt(14 / 3) = 2.7774602993."""
    test = Paired.of([1, 2, math.nan, 3, 6])
    assert (test.n, test.mean, test.sd) == pytest.approx((4, 3, math.sqrt(14 / 3)))
    assert test.t == pytest.approx(2.7774602993)
    assert (test.dz[0], test.detail(1.0)["dz"]) == pytest.approx((3 / math.sqrt(14 / 3),) * 2)


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_scipy(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(4, 1, 40), rng.normal(4.2, 0.5, 40)
    test, theirs = Paired.of(a - b), stats.ttest_rel(a, b)
    assert (test.t, test.p) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert test.distribution.interval(0.95) == pytest.approx(tuple(theirs.confidence_interval()))


@pytest.mark.parametrize("shift", [0.0, 0.3, -2.0])
def test_the_interval_of_the_effect_puts_t_at_its_two_tails(shift):
    test = Paired.of(np.random.default_rng(1).normal(shift, 1, 50))
    value, low, high = test.dz
    assert low < value < high
    assert stats.nct(49, low * math.sqrt(50)).cdf(test.t) == pytest.approx(0.975, abs=1e-6)
    assert stats.nct(49, high * math.sqrt(50)).cdf(test.t) == pytest.approx(0.025, abs=1e-6)


def test_a_hundred_stories_find_028_standard_deviations():
    """The thesis, footnote 10. `margin` equal to that effect has 80 % power, whatever the mean was."""
    rng = np.random.default_rng(2)
    for shift in (0.0, 5.0):
        d = rng.normal(0, 1, 100)
        test = Paired.of(shift + (d - d.mean()) / d.std(ddof=1) * 0.5)
        detail = test.detail(margin=0.5 * 0.28295)
        assert detail["smallest_effect"] == pytest.approx(0.28295, abs=5e-5)
        assert detail["smallest_difference"] == pytest.approx(0.5 * 0.28295, abs=5e-5)
        assert detail["power"] == pytest.approx(0.8, abs=2e-4)


@pytest.mark.parametrize(("differences", "why"), [
    ([], "one item"), ([0.5], "one item"), ([math.nan, 0.5], "one item"), ([0.3] * 7, "no item differs"),
])  # fmt: skip
def test_nothing_to_test(differences, why):
    test = Paired.of(differences)
    assert why in test.distribution.undefined
    assert math.isnan(test.t)
    assert math.isnan(test.p)
    detail = test.detail(0.25)
    assert detail["t"] is detail["p"] is detail["dz"] is detail["dz_low"] is detail["power"] is None


def test_small_p_values_stay_apart_from_zero():
    test = Paired.of(np.tile([0.9, 1.0, 1.1], 60))
    assert 0 < test.detail(0.25)["p"] < 1e-100
