"""Paired comparison where several items share a cluster."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from recuse.statistics.paired import Paired


def test_copies_within_a_cluster_count_once() -> None:
    """Every item three times in its cluster: t, p, interval and effective size of the items once."""
    d = np.random.default_rng(1).normal(0.3, 1, 12)
    theirs = stats.ttest_1samp(d, 0)
    test = Paired.of(d.repeat(3), np.arange(12).repeat(3))
    assert (test.n, test.mean, test.t, test.p) == pytest.approx((36, d.mean(), theirs.statistic, theirs.pvalue))
    assert test.distribution.interval(0.95) == pytest.approx(tuple(theirs.confidence_interval()))
    assert test.dz[1:] == pytest.approx(Paired.of(d).dz[1:], rel=0.07)  # of 12 items, not of 36
    assert test.size in (11, 12)  # the SD of 36 copies divides by 35
    assert test.detail(0.5)["power"] == pytest.approx(Paired.of(d).detail(0.5)["power"], abs=0.06)


def test_a_cluster_per_item_is_the_plain_test() -> None:
    d = np.random.default_rng(2).normal(0.3, 1, 15)
    plain, clustered = Paired.of(d), Paired.of(d, [f"c{k}" for k in range(15)])
    assert (clustered.t, clustered.p, *clustered.dz) == pytest.approx((plain.t, plain.p, *plain.dz))


def test_missing_differences_leave_with_their_cluster() -> None:
    test = Paired.of([1.0, math.nan, 2.0], ["a", "b", "c"])
    assert (test.n, test.distribution.df) == (2, 1)
    assert Paired.of([math.nan], ["a"]).n == 0


def test_one_cluster_has_a_mean_and_no_test() -> None:
    test = Paired.of([1.0, 2.0, 3.0], ["a", "a", "a"])
    assert test.mean == 2
    assert math.isnan(test.p)
    assert "one cluster says nothing" in test.distribution.undefined
    assert test.detail(0.5)["p"] is None


def test_a_margin_without_end_has_no_power() -> None:
    detail = Paired.of([1.0, 2.0, 4.0]).detail(math.inf)
    assert (detail["margin"], detail["power"]) == (None, None)
    assert detail["smallest_difference"] > 0
