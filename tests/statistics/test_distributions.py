"""Are the sampling distributions right? Each against an independent program, its own duality, and its coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from recuse.papers.merchant_risk.repeat_noise import FixedTexts, MeanDifference, Noise, mean_difference
from recuse.schema import RecuseError
from recuse.statistics.agreement.correlation import ICC
from recuse.statistics.bounded import bounded_mean
from recuse.statistics.clusters import Contrast, contrast
from recuse.statistics.distributions import (
    Binomial,
    Draws,
    FisherZ,
    InUnits,
    Student,
    welch_satterthwaite,
)

DISTRIBUTIONS = {
    "student": Student(0.77, 0.06, 19.2),
    "binomial": Binomial(88, 100),
    "no successes": Binomial(0, 12),
    "all successes": Binomial(12, 12),
    "fisher": FisherZ(0.69, 15),
    "contrast": Contrast(0.77, 0.06, 19.2),
    "skewed contrast": Contrast(0.77, 0.3, 9.0, -0.6),
    "mean difference": MeanDifference(0.2, 0.11, 45),
    "mean difference of whole scores": MeanDifference(0.2, 0.15, 45, 0.8, 1.0, 50),
    "mean difference of equal scores": MeanDifference(0.0, 0.11, 45, 0.0, 1.0, 50),
    "reliability": FixedTexts(36.5, 5, Noise(45), 10),
    "low reliability": FixedTexts(3.2, 5, Noise(45), 10),
    "reliability without noise": FixedTexts(math.inf, 5, Noise(45), 10, between=0.8, step=1.0, n=50),
    "bounded": bounded_mean([1, 0, 0, -1, 0, 0, 1, 1, 0, 0], range(10), (-4.0, 4.0), slip=1.0),
    "bounded share": bounded_mean([1, 0, 1, 1, 0.5, 0.5], [1, 1, 2, 2, 3, 3], (0.0, 1.0)),
    "bounded, all equal": bounded_mean([0.0] * 11, range(11), (-0.5, 0.5)),
    "draws": Draws(0.1, np.sort(np.random.default_rng(1).normal(0.1, 0.3, 999))),
    "turned round": InUnits(Student(0.77, 0.06, 19.2), 0.0, -1.0),
    "beyond chance": InUnits(Binomial(88, 100), 0.25, 0.75),
    "lost draws": Draws(0.1, np.sort(np.random.default_rng(1).normal(0.1, 0.3, 990)), lost=9),
}


@pytest.mark.parametrize("distribution", DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
@given(level=st.floats(0.5, 0.995), limit=st.floats(-1.5, 1.5))
def test_interval_and_p_value_agree(distribution, level, limit):
    """p <= (1 - level) / 2 exactly when the interval lies on that side of the limit."""
    low, high = distribution.interval(level)
    assert (distribution.p_value(limit, "above") <= (1 - level) / 2) == (low > limit)
    assert (distribution.p_value(limit, "below") <= (1 - level) / 2) == (high < limit)


@pytest.mark.parametrize("distribution", DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
def test_higher_level_is_wider_and_more_data_narrower(distribution):
    inner, outer = distribution.interval(0.8), distribution.interval(0.95)
    assert outer[0] <= inner[0] <= inner[1] <= outer[1]
    now, four_times = distribution.half_width_at(1.0), distribution.half_width_at(4.0)
    assert (now is None) == isinstance(distribution, ICC | FixedTexts), "no other outlook is unknown"
    if now is not None:
        low, high = distribution.interval(0.95)
        assert now == pytest.approx((high - low) / 2)
        assert four_times < now


NOTHING_VARIES = {
    "equal runs": Student(0.5, 0.0, 0.0),
    "a single repeat": Student(0.5, math.nan, math.nan),
    "no trials": Binomial(0, 0),
    "perfect order": FisherZ(1.0, 15),
    "seven pairs": FisherZ(0.5, 7),
    "constant scores": MeanDifference(0.0, 0.11, 45),
    "one run per cell": mean_difference([np.array([3.0])]),
    "no noise on a scale without steps": FixedTexts(math.inf, 5, Noise(45), 10),
    "one cluster": bounded_mean([0.5, 0.5], [1, 1], (0.0, 1.0)),
    "equal draws": Draws(0.5, np.full(999, 0.5)),
    "no draws": Draws(0.5, np.empty(0)),
}


@pytest.mark.parametrize("distribution", NOTHING_VARIES.values(), ids=NOTHING_VARIES)
def test_nothing_varies_so_nothing_is_sure(distribution):
    """No zero-width interval, no significance, no outlook, and a reason."""
    assert distribution.undefined
    assert all(map(math.isnan, distribution.interval(0.95)))
    assert [distribution.p_value(limit, side) for limit in (-9.0, 0.5, 9.0) for side in ("above", "below")] == [1.0] * 6
    assert distribution.half_width_at(2.0) is None


def test_an_order_that_no_draw_changes_is_a_point():
    """A discrete statistic may well be the same in every draw, if the caller has seen the data vary."""
    distribution = Draws(0.9, np.full(999, 0.9), discrete=True)
    assert distribution.interval(0.95) == (0.9, 0.9)
    assert distribution.p_value(0.3, "above") == pytest.approx(1 / 1000)


def test_lost_draws_count_against_every_claim():
    """Of 99 draws 9 were lost: at most 10 of 100 places could lie on the wrong side of a limit beyond all others."""
    distribution = Draws(0.5, np.linspace(0.1, 0.9, 90), lost=9)
    assert distribution.p_value(0.0, "above") == pytest.approx(10 / 100)
    assert distribution.p_value(1.0, "below") == pytest.approx(10 / 100)


def test_a_level_is_a_probability():
    with pytest.raises(RecuseError, match=r"between 0 and 1, for example 0\.95; got 95"):
        Student(0.0, 1.0, 9.0).interval(95)


def test_student_is_scipy_student():
    sample = np.random.default_rng(2).normal(8.8, 0.2, 10)
    distribution = Student(sample.mean(), sample.std(ddof=1) / math.sqrt(10), 9)
    assert distribution.interval(0.9) == pytest.approx(stats.ttest_1samp(sample, 0).confidence_interval(0.9))
    assert distribution.p_value(8.75, "above") == pytest.approx(
        stats.ttest_1samp(sample, 8.75, alternative="greater").pvalue
    )
    assert distribution.p_value(8.75, "below") == pytest.approx(
        stats.ttest_1samp(sample, 8.75, alternative="less").pvalue
    )


def test_a_difference_of_two_means_is_welchs_test():
    rng = np.random.default_rng(3)
    a, b = rng.normal(9.3, 0.4, 10), rng.normal(8.7, 0.1, 7)
    distribution = Student(a.mean(), a.std(ddof=1) / math.sqrt(10), 9).minus(
        Student(b.mean(), b.std(ddof=1) / math.sqrt(7), 6)
    )
    welch = stats.ttest_ind(a, b, equal_var=False)
    assert distribution.df == pytest.approx(welch.df)
    assert distribution.interval(0.95) == pytest.approx(welch.confidence_interval(0.95))


def test_difference_by_hand():
    """Two cells of 4 runs, variances 0.08 and 0.04, weights 1 and -1/2: Var = 0.08/4 + 0.25 * 0.04/4 = 0.0225, se 0.15;
    df = 0.0225^2 / (0.02^2/3 + 0.0025^2/3) = 0.00050625 / 0.00013541667 = 3.7384615."""
    distribution = Student(9.0, math.sqrt(0.02), 3).minus(Student(4.0, math.sqrt(0.0025), 3))
    assert (distribution.value, distribution.se, distribution.df) == pytest.approx((5.0, 0.15, 3.7384615))


def test_cells_of_no_weight_do_not_matter():
    known = contrast(np.array([1.0]), np.array([9.0]), np.array([0.1]), np.array([10]))
    beside = contrast(np.array([1.0, 0.0]), np.array([9.0, np.nan]), np.array([0.1, np.nan]), np.array([10, 0]))
    assert beside == known


def test_equal_cells_pool_their_degrees_of_freedom():
    assert welch_satterthwaite([0.01, 0.01, 0.01], [9, 9, 9]) == pytest.approx((math.sqrt(0.03), 27))
    assert welch_satterthwaite([0.01, 0.0], [9, 9]) == pytest.approx((0.1, 9))


def test_clopper_pearson_is_scipys_and_statsmodels():
    """statsmodels 0.15.0: proportion_confint(88, 100, method="beta") -> (0.7997643163800312, 0.9364310974388407)."""
    assert Binomial(88, 100).interval(0.95) == pytest.approx((0.7997643163800312, 0.9364310974388407))
    for successes in range(13):
        expected = stats.binomtest(successes, 12).proportion_ci(0.9, method="exact")
        assert Binomial(successes, 12).interval(0.9) == pytest.approx((expected.low, expected.high))
        greater = stats.binomtest(successes, 12, 0.3, alternative="greater").pvalue
        assert Binomial(successes, 12).p_value(0.3, "above") == pytest.approx(greater)


def test_fisher_z_by_hand():
    """rho = 0.5, n = 15: z = 0.5493061, se = sqrt(1.125/12) = 0.3061862; z -+ 1.959964 se = -0.0508076, 1.1494199."""
    assert FisherZ(0.5, 15).interval(0.95) == pytest.approx((math.tanh(-0.0508077), math.tanh(1.1494199)), abs=1e-6)


def test_limits_beyond_what_a_number_can_be():
    assert Binomial(3, 10).p_value(-0.1, "above") == 0.0
    assert Binomial(3, 10).p_value(1.0, "above") == 1.0
    assert FisherZ(0.5, 15).p_value(-1.0, "above") == 0.0
    assert FisherZ(0.5, 15).p_value(1.0, "below") == 0.0
    assert MeanDifference(0.2, 0.2, 9).p_value(0.0, "above") == 0.0
    assert FixedTexts(2.0, 5, Noise(45), 10).p_value(1.0, "below") == 0.0


# --------------------------------------------------------------------------- coverage


def coverage(distributions, truth, level=0.95):
    ends = np.array([distribution.interval(level) for distribution in distributions])
    return float(np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])))


@pytest.mark.parametrize(("p", "n"), [(0.88, 100), (0.99, 250)])
def test_binomial_intervals_never_cover_less(p, n):
    """Exact means at least 95 %: every count weighed by its probability, no simulation."""
    counts = np.arange(n + 1)
    held = [low <= p <= high for low, high in (Binomial(k, n).interval(0.95) for k in counts)]
    assert 0.95 <= stats.binom(n, p).pmf(counts)[held].sum() < 1


@pytest.mark.parametrize(("latent", "rho"), [(0.0, 0.0), (0.6, 0.562), (0.9, 0.869)])
def test_spearman_intervals_cover_tied_levels(latent, rho):
    """15 picks, three per level; rho from 200,000 picks: measured 96.1, 95.4, 96.3 % in 20,000 panels."""
    rng = np.random.default_rng(14)
    risk = rng.standard_normal((2000, 15))
    felt = latent * risk + math.sqrt(1 - latent**2) * rng.standard_normal((2000, 15))
    levels = np.sort(np.repeat(np.arange(5.0), 3))[felt.argsort(1).argsort(1)]
    x, y = levels - 2, risk.argsort(1).argsort(1) - 7.0
    found = (x * y).sum(1) / np.sqrt((x**2).sum(1) * (y**2).sum(1))
    assert coverage([FisherZ(float(r), 15) for r in found], rho) == pytest.approx(0.958, abs=0.015)


def test_an_end_beyond_the_draws_is_unknown():
    """99 draws cannot tell the outer half per cent; nine lost draws use up the ends."""
    draws = np.sort(np.random.default_rng(5).normal(0, 1, 99))
    assert all(map(math.isnan, Draws(0.0, draws).interval(0.995)))
    assert Draws(0.0, draws).interval(0.98) == (draws[0], draws[-1])
    assert all(map(math.isnan, Draws(0.0, draws[:90], lost=9).interval(0.85)))


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize(("texts", "repeats", "ratio"), [(6_900, 8, 9.7), (300, 3, 2.0), (21_000, 2, 50.0)])
def test_the_reliability_of_thousands_of_texts_lies_around_its_value(texts: int, repeats: int, ratio: float) -> None:
    """An interval holds its value, ends where its p-values say, and shrinks with the root of the number of texts."""
    reliability = FixedTexts(1 + repeats * ratio, texts, Noise(texts * (repeats - 1)), repeats)
    value, (low, high) = ratio / (1 + ratio), reliability.interval(0.95)
    assert low < value < high
    assert high - low < 8 * (1 - value) / math.sqrt(texts)
    assert reliability.p_value(low, "above") == pytest.approx(0.025, abs=1e-4)
    assert reliability.p_value(high, "below") == pytest.approx(0.025, abs=1e-4)


@pytest.mark.parametrize(("f", "texts", "repeats"), [(3.2, 5, 10), (36.5, 5, 10), (1.6, 40, 4), (78.6, 690, 8)])
def test_the_ends_of_a_reliability_are_where_the_noncentral_f_has_their_probability(f, texts, repeats):
    """By a root finder of its own, on scipy's noncentral F, without ours."""
    df = texts * (repeats - 1)
    for end, probability in zip(FixedTexts(f, texts, Noise(df), repeats).interval(0.95), (0.975, 0.025), strict=True):
        of = lambda theta, p=probability: stats.ncf.cdf(f, texts - 1, df, (texts - 1) * repeats * theta) - p  # noqa: E731
        theta = optimize.brentq(of, 0, 10 * f / repeats, xtol=1e-13, rtol=1e-12) if of(0.0) > 0 else 0.0
        assert end == pytest.approx(theta / (1 + theta), rel=1e-8)
