"""What coefficients are by hand, by identity and at the edge."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rater_tables import cohen_kappa, concordance, gwet_ac, percent_agreement, rate, ratings_of, scott_pi

from recuse.schema import RecuseError
from recuse.statistics.agreement import correlation, options

NAN = math.nan


def test_by_hand():
    """20 items: both pass 9, both fail 5, the judge alone 4, the person alone 2.

    p_o = 14/20; judge passes 13/20, person 11/20: p_e = (13 * 11 + 7 * 9) / 400 = 206/400.
    kappa = (0.7 - 0.515) / 0.485; pi: m = 24/40, p_e = 0.36 + 0.16 = 0.52; AC1: p_e = 2 * 0.6 * 0.4 / 2 * ... = 0.48.
    """
    judge = np.repeat([1.0, 0.0, 1.0, 0.0], [9, 5, 4, 2])
    person = np.repeat([1.0, 0.0, 0.0, 1.0], [9, 5, 4, 2])
    assert percent_agreement(judge, person, 2).value == pytest.approx(0.7)
    assert cohen_kappa(judge, person, 2).value == pytest.approx((0.7 - 0.515) / 0.485)
    assert scott_pi(judge, person, 2).value == pytest.approx((0.7 - 0.52) / 0.48)
    assert gwet_ac(judge, person, 2).value == pytest.approx((0.7 - 0.48) / 0.52)
    rates = {"true positive rate": 9 / 11, "true negative rate": 5 / 9, "precision": 9 / 13, "F1": 18 / 24}
    assert {which: rate(judge, person, 2, which).value for which in rates} == pytest.approx(rates)


def test_krippendorffs_own_example():
    """Krippendorff (2011), Computing Krippendorff's alpha-reliability: nominal 0.743, ordinal 0.815, interval 0.849,
    ratio 0.797 on four observers and twelve units with gaps."""
    values = np.array([
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ])  # fmt: skip
    found = {
        level: round(options.krippendorff_alpha(values, level).value, 3)
        for level in ("nominal", "ordinal", "interval", "ratio")
    }
    assert found == {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849, "ratio": 0.797}


def test_shrout_and_fleiss_own_example():
    """Their table 2 and 4: six targets, four judges."""
    values = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    found = [round(float(correlation.icc(correlation.mean_squares(values), form)), 2) for form in correlation.FORMS]
    assert found == [0.17, 0.29, 0.71, 0.44, 0.62, 0.91]


def test_quadratic_kappa_is_concordance():
    a, b = ratings_of("agreeing")[:2]
    assert cohen_kappa(a - 1, b - 1, 5, "quadratic").value == pytest.approx(concordance(a, b).value, abs=1e-12)


def test_two_options_make_weights_vanish():
    a, b = ratings_of("two options")[:2] - 1
    for coefficient in (cohen_kappa, scott_pi, gwet_ac):
        plain, *weighted = (coefficient(a, b, 2, weights).value for weights in ("plain", "linear", "quadratic"))
        assert weighted == pytest.approx([plain, plain], abs=1e-12)
    assert correlation.pearson(a, b).value == pytest.approx(correlation.spearman_rho(a, b).value, abs=1e-12)
    assert correlation.pearson(a, b).value == pytest.approx(correlation.kendall_tau(a, b).value, abs=1e-12)
    levels = [options.krippendorff_alpha([a, b], level).value for level in ("nominal", "ordinal", "interval", "ratio")]
    assert levels[1:] == pytest.approx([levels[0]] * 3, abs=1e-12)


def test_alpha_is_pi_for_many_items():
    """alpha = 1 - (1 - pi) (N - 1) / N with N = 2 n ratings."""
    a, b = ratings_of("agreeing")[:2]
    pi, n = scott_pi(a - 1, b - 1, 5).value, 2 * len(a)
    assert options.krippendorff_alpha([a, b]).value == pytest.approx(1 - (1 - pi) * (n - 1) / n, abs=1e-12)


def test_relabelling_and_order_of_raters_change_nothing(kind):
    values = ratings_of(kind)
    shuffled = values[::-1]
    turned = np.array([3.0, 1.0, 5.0, 2.0, 4.0, NAN])[np.nan_to_num(values - 1, nan=5).astype(int)]
    for other in (shuffled, turned):
        assert options.krippendorff_alpha(other).value == pytest.approx(
            options.krippendorff_alpha(values).value, abs=1e-12
        )
    moved = 3 * values + 7
    assert options.krippendorff_alpha(moved, "interval").value == pytest.approx(
        options.krippendorff_alpha(values, "interval").value, abs=1e-12
    )


def test_options_that_nobody_used_keep_their_distance():
    """1, 2 and 5 of a scale from 1 to 5 are not 1, 2 and 3."""
    a, b = np.array([0.0, 1, 4, 4, 0, 1]), np.array([0.0, 1, 1, 4, 4, 1])
    packed = {0.0: 0.0, 1.0: 1.0, 4.0: 2.0}
    as_three = [[packed[v] for v in side] for side in (a, b)]
    assert cohen_kappa(a, b, 5, "linear").value != pytest.approx(cohen_kappa(*as_three, 3, "linear").value)


CONSTANT = np.ones(10)


@pytest.mark.parametrize(
    ("coefficient", "why"),
    [
        (cohen_kappa(CONSTANT, CONSTANT, 2), "one and the same option"),
        (scott_pi(CONSTANT, CONSTANT, 2), "one and the same option"),
        (options.krippendorff_alpha([CONSTANT, CONSTANT]), "equal"),
        (options.krippendorff_alpha([CONSTANT, CONSTANT], "interval"), "equal"),
        (options.krippendorff_alpha([CONSTANT, CONSTANT], "ordinal"), "equal"),
        (options.scott_pi(options.counts_of([CONSTANT, CONSTANT], 2)), "same option"),
        (correlation.pearson(CONSTANT, np.arange(10)), "first rater gave every item the same"),
        (correlation.spearman_rho(np.arange(10), CONSTANT), "second rater gave every item the same"),
        (correlation.kendall_tau(CONSTANT, CONSTANT), "both raters gave every item the same"),
        (concordance(CONSTANT, CONSTANT), "both raters gave every item the same"),
        (rate(CONSTANT, CONSTANT, 2, "true negative rate"), "no item is labelled negative"),
        (rate(CONSTANT * 0, CONSTANT, 2, "precision"), "calls no item positive"),
        (percent_agreement([NAN, 1], [1, NAN], 2), "no item was rated by two"),
        (options.krippendorff_alpha([[NAN, 1], [1, NAN]]), "no item was rated by two"),
        (correlation.mean_error([NAN], [1.0]), "no item was rated by two"),
    ],
)  # fmt: skip
def test_undefined_says_why(coefficient, why):
    assert math.isnan(coefficient.value)
    assert why in coefficient.undefined
    assert all(map(math.isnan, coefficient.jackknife().interval(0.95)))


def test_constant_rater_against_one_who_varies_is_0():
    person = np.array([0.0, 1] * 5)
    assert cohen_kappa(CONSTANT, person, 2).value == pytest.approx(0.0, abs=1e-15)


def test_complete_agreement_is_not_certainty():
    """No disagreement in 30 items: the lower end is what 30 items can show, 1 - worst (1 - 0.025^(1/30))."""
    labels = np.arange(30.0) % 2
    kappa = cohen_kappa(labels, labels, 2)
    low, high = kappa.jackknife().interval(0.95)
    assert (kappa.value, high) == (1.0, 1.0)
    assert low == pytest.approx(1 - 2 * (1 - 0.025 ** (1 / 30)))
    assert kappa.jackknife().p_value(low, "above") == pytest.approx(0.025)


def test_icc_of_ratings_that_never_differ():
    constant = correlation.ICC(correlation.mean_squares(np.full((5, 3), 0.1)))
    assert math.isnan(constant.value)
    assert constant.undefined == "no rating differs from another"
    equal = correlation.ICC(correlation.mean_squares(np.arange(5.0)[:, None] + np.zeros(3)))
    assert equal.value == 1.0
    assert equal.undefined
    assert "two items" in correlation.ICC(correlation.mean_squares(np.ones((1, 3)))).undefined


def test_icc_p_values_are_dual():
    values = np.random.default_rng(2).normal(size=(12, 3)) + np.arange(12)[:, None] / 6
    distribution = correlation.ICC(correlation.mean_squares(values))
    low, high = distribution.interval(0.9)
    assert distribution.p_value(low, "above") == pytest.approx(0.05, abs=1e-9)
    assert distribution.p_value(high, "below") == pytest.approx(0.05, abs=1e-9)


def test_mistakes_are_told():
    with pytest.raises(RecuseError, match="codes run from 0 to 1"):
        options.counts_of([[1, 2], [1, 2]], 2)
    with pytest.raises(RecuseError, match="ratio scale starts at 0"):
        options.krippendorff_alpha([[-1.0, 2], [1, 2]], "ratio")
    with pytest.raises(RecuseError, match="clusters name the cluster of each of 2 items"):
        cohen_kappa([0, 1], [0, 1], 2).jackknife(["a"])


def test_what_coincides_at_equal_shares():
    """Both raters give each of three options a third of the time: Cohen, Scott and Gwet are one."""
    a = np.tile([0.0, 1, 2], 20)
    b = np.concatenate([a[:30], np.roll(a[30:], 1)])
    found = [coefficient(a, b, 3).value for coefficient in (cohen_kappa, scott_pi, gwet_ac)]
    assert found == pytest.approx([found[0]] * 3, abs=1e-12)


def test_absolute_agreement_is_concordance_for_many_items():
    rng = np.random.default_rng(0)
    quality = rng.normal(size=20_000)
    a, b = quality + rng.normal(size=20_000), quality + 0.5 + rng.normal(size=20_000)
    squares = correlation.mean_squares(np.column_stack([a, b]))
    assert float(correlation.icc(squares)) == pytest.approx(concordance(a, b).value, abs=1e-4)
    assert (
        float(correlation.icc(squares, "ICC(3,1)"))
        > float(correlation.icc(squares))
        > float(correlation.icc(squares, "ICC(1,1)"))
    )


def test_precision_is_the_true_positive_rate_with_sides_exchanged():
    a, b = ratings_of("two options")[:2] - 1
    assert rate(a, b, 2, "precision").value == rate(b, a, 2, "true positive rate").value


@pytest.mark.parametrize("coefficient", [correlation.spearman_rho, correlation.kendall_tau])
def test_many_different_values_keep_the_exact_value(coefficient):
    """200 numbers without ties: the value is that of scipy, the interval that of ranks in classes."""
    from scipy import stats

    rng = np.random.default_rng(5)
    a = rng.normal(size=200)
    b = a + rng.normal(size=200)
    theirs = stats.spearmanr if coefficient is correlation.spearman_rho else stats.kendalltau
    found = coefficient(a, b)
    assert found.value == pytest.approx(theirs(a, b).statistic, abs=1e-12)
    drawn = rng.integers(200, size=(400, 200))
    spread = np.std([theirs(a[k], b[k]).statistic for k in drawn])
    assert found.jackknife().se == pytest.approx(spread, rel=0.15)


@pytest.mark.parametrize("levels", [6, 41])
@pytest.mark.parametrize("coefficient", [correlation.spearman_rho, correlation.kendall_tau])
def test_ranks_of_items_that_are_counted(coefficient, levels):
    """Each different pair once, with how often it is there, is as good as every item: also where ranks fall into
    classes, and where one side is missing."""
    rng = np.random.default_rng(levels)
    x = rng.integers(0, levels, 2000).astype(float)
    y = np.clip(x + rng.integers(-2, 4, 2000), 0, levels - 1)
    x[:30] = NAN
    pairs, times = np.unique(np.column_stack([x, y]), axis=0, return_counts=True, equal_nan=True)
    whole, counted = coefficient(x, y), coefficient(*pairs.T, times.astype(float))
    assert counted.value == pytest.approx(whole.value, abs=1e-12)
    assert coefficient(*pairs.T).value != pytest.approx(whole.value, abs=1e-4), "counts matter here"
    assert counted.jackknife().interval(0.95) == pytest.approx(whole.jackknife().interval(0.95), abs=1e-9)
