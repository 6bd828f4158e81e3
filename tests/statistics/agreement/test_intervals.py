"""Intervals: sums without an item are those of the data without it, clusters widen, and the truth is covered."""

from __future__ import annotations

import numpy as np
import pytest
from rater_tables import cohen_kappa, concordance, gwet_ac, ratings_of

from recuse.statistics.agreement import correlation, options

MAKE = {
    "kappa": lambda a, b: cohen_kappa(a - 1, b - 1, 5),
    "quadratic kappa": lambda a, b: cohen_kappa(a - 1, b - 1, 5, "quadratic"),
    "alpha": lambda a, b: options.krippendorff_alpha([a, b]),
    "ordinal alpha": lambda a, b: options.krippendorff_alpha([a, b], "ordinal"),
    "pearson": correlation.pearson,
    "spearman": correlation.spearman_rho,
    "kendall": correlation.kendall_tau,
    "mean error": correlation.mean_error,
}


@pytest.mark.parametrize("name", MAKE)
def test_leaving_an_item_out_is_computing_without_it(name):
    a, b = ratings_of("missing", items=25)[:2]
    whole = MAKE[name](a, b)
    without = [MAKE[name](np.delete(a, i), np.delete(b, i)).value for i in range(len(a))]
    assert whole.of(whole.sums - whole.shares) == pytest.approx(without, abs=1e-12)


def test_items_that_repeat_each_other_add_nothing():
    """Every item three times, one cluster each: the interval of the items alone."""
    a, b = ratings_of("agreeing", items=40)[:2]
    once = cohen_kappa(a - 1, b - 1, 5)
    thrice = cohen_kappa(np.repeat(a, 3) - 1, np.repeat(b, 3) - 1, 5)
    assert thrice.value == pytest.approx(once.value)
    assert thrice.jackknife(np.repeat(np.arange(40), 3)).interval(0.95) == pytest.approx(
        once.jackknife().interval(0.95)
    )
    assert thrice.jackknife().interval(0.95)[0] > once.jackknife().interval(0.95)[0] + 0.02


def test_p_values_are_dual_to_intervals():
    a, b = ratings_of("agreeing")[:2]
    for name, make in MAKE.items():
        distribution = make(a, b).jackknife()
        low, high = distribution.interval(0.9)
        assert distribution.p_value(low, "above") == pytest.approx(0.05, abs=1e-9), name
        assert distribution.p_value(high, "below") == pytest.approx(0.05, abs=1e-9), name
        assert distribution.half_width_at(4.0) == pytest.approx((high - low) / 2, rel=0.6), name


def pass_fail(rng, items, share, kappa, effect=None):
    """Two raters of pass and fail with this share of passes and this kappa; `effect` (items,): clusters' own shares."""
    p = np.full(items, share) if effect is None else effect
    first = rng.random(items) < p
    same = rng.random(items) < kappa
    return first.astype(float), np.where(same, first, rng.random(items) < p).astype(float)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("items", "share", "kappa"),
    [
        (30, 0.5, 0.4),
        (30, 0.5, 0.8),
        (30, 0.8, 0.6),
        (100, 0.5, 0.4),
        (100, 0.5, 0.8),
        (100, 0.8, 0.6),
        (100, 0.9, 0.3),
    ],
)
def test_coverage_of_kappa(items, share, kappa):
    """Between 92 and 99 % of 2,000 intervals at 95 % hold the true kappa. With 30 items, 3 of them fails, it is 73 %:
    gates ask for 20 labels outside the commonest option first."""
    rng, held, defined = np.random.default_rng([items, int(10 * share), int(10 * kappa)]), 0, 0
    for _ in range(2000):
        low, high = cohen_kappa(*pass_fail(rng, items, share, kappa), 2).jackknife().interval(0.95)
        defined += low == low
        held += low <= kappa <= high
    assert 0.92 <= held / defined <= 0.99
    assert defined >= 1800


def graded(rng, items, size):
    """Two raters' grades from 1 to 5 of items in clusters of `size` that share half of their quality."""
    shared = rng.normal(size=-(-items // size)).repeat(size)[:items]
    quality = np.sqrt(0.5) * shared + np.sqrt(0.5) * rng.normal(size=items)
    return [np.clip(np.round(3 + quality + 0.6 * rng.normal(size=items)), 1, 5) for _ in range(2)]


COVERED = {**MAKE, "AC2": lambda a, b: gwet_ac(a - 1, b - 1, 5, "linear"), "concordance": concordance}


@pytest.mark.slow
@pytest.mark.parametrize(("items", "size"), [(60, 1), (240, 4)])
def test_coverage_of_the_others(items, size):
    """Between 91 and 98.5 % of 500 intervals at 95 % hold the value of 400,000 items, for 60 clusters of 1 and of 4."""
    rng = np.random.default_rng(items)
    truth = {name: make(*graded(rng, 400_000, 1)).value for name, make in COVERED.items()}
    held = dict.fromkeys(COVERED, 0)
    for _ in range(500):
        a, b = graded(rng, items, size)
        for name, make in COVERED.items():
            low, high = make(a, b).jackknife(np.arange(items) // size).interval(0.95)
            held[name] += low <= truth[name] <= high
    share = {name: count / 500 for name, count in held.items()}
    assert min(share.values()) >= 0.91, share
    assert max(share.values()) <= 0.985, share


@pytest.mark.parametrize("limit", [1.0, 1.5])
def test_beyond_complete_agreement_lies_nothing(limit):
    kappa = cohen_kappa([1.0, 0, 1, 0, 1, 1] * 10, [1.0, 0, 1, 1, 0, 1] * 10, 2).jackknife()
    assert (kappa.p_value(limit, "above"), kappa.p_value(limit, "below")) == (1.0, 0.0)
