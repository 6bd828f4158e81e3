"""Are plans right? Against the figures of another program, hand arithmetic, and simulated tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from recuse.papers.merchant_risk.score_repeats import observations_for_half_width
from recuse.schema import RecuseError
from recuse.statistics.paired import power_of, smallest_effect


def test_statsmodels_session():
    """statsmodels 0.15.0, TTestPower():
    >>> solve_power(nobs=100, power=.8, alpha=.05)
    0.2829117119690806
    >>> power(.5, 20, .05)
    0.5645044184390203
    >>> solve_power(effect_size=.5, power=.8, alpha=.05)
    33.36713118431779
    """
    assert smallest_effect(100) == pytest.approx(
        0.2829117119690806, rel=1e-5
    )  # their search stops at a power of 0.799997
    assert power_of(0.5, 20) == pytest.approx(0.5645044184390203)


def test_power_is_that_of_simulated_tests():
    samples = np.random.default_rng(1).normal(0.4, 1, (4000, 30))
    found = stats.ttest_1samp(samples, 0, axis=1).pvalue <= 0.05
    assert power_of(0.4, 30) == pytest.approx(found.mean(), abs=0.02)


@pytest.mark.parametrize(
    ("effect", "n", "alpha"), [(0.283, 100, 0.05), (3.0, 5, 0.01), (0.1217, 1000, 0.01), (20, 2, 0.05)]
)
def test_power_is_the_integral_it_stands_for(effect, n, alpha):
    """P(|T| > c) = E[Phi(d - c r) + Phi(-d - c r)], r^2 = chi2 / df, by quadrature; at n = 2 scipy's tail is NaN."""
    c, d, chi2 = stats.t(n - 1).ppf(1 - alpha / 2), effect * math.sqrt(n), stats.chi2(n - 1)

    def given(w):
        r = c * math.sqrt(w / (n - 1))
        return (stats.norm.cdf(d - r) + stats.norm.cdf(-d - r)) * chi2.pdf(w)

    expected = integrate.quad(given, *chi2.ppf([1e-13, 1 - 1e-13]), epsabs=1e-12, limit=500)[0]
    assert power_of(effect, n, alpha=alpha) == pytest.approx(expected, abs=1e-7)


def test_power_of_nothing_is_alpha_and_has_no_sign():
    assert power_of(0.0, 30, alpha=0.01) == pytest.approx(0.01)
    assert power_of(-0.4, 30) == power_of(0.4, 30)


@pytest.mark.parametrize("n", [2, 5, 40, 1000])
def test_smallest_effect_and_its_power_are_inverse(n):
    assert power_of(smallest_effect(n), n) == pytest.approx(0.8)


def test_half_width_by_hand():
    """SD 0.2 to +- 0.1: n = 18 gives 2.1098 * 0.2 / sqrt(18) = 0.0995, n = 17 2.1199 * 0.2 / sqrt(17) = 0.1028."""
    assert observations_for_half_width(0.2, 0.1) == 18


@pytest.mark.parametrize("sd", [0.05, 0.31, 2.0])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.995])
def test_half_width_is_the_smallest_that_will_do(sd, level):
    n = observations_for_half_width(sd, 0.1, level=level)
    reach = [stats.t(m - 1).ppf((1 + level) / 2) * sd / math.sqrt(m) for m in (n, n - 1) if m > 1]
    assert reach[0] <= 0.1
    assert n == 2 or reach[1] > 0.1


def test_what_cannot_be_planned():
    assert observations_for_half_width(0.0, 0.1) is None
    assert observations_for_half_width(math.nan, 0.1) is None
    assert math.isnan(smallest_effect(1))
    assert math.isnan(power_of(0.5, 1))
    with pytest.raises(RecuseError, match="half-width is a number above 0"):
        observations_for_half_width(0.2, 0.0)
