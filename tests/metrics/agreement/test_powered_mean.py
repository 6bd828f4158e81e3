"""PPI++ of arrays beside the formula written out, text by text."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.metrics.corrected_rate import powered_mean
from recuse.statistics.distributions import Binomial


def by_hand(y, f, g, clusters):
    n, free = len(y), len(g)
    every = [*f, *g]
    middle = sum(every) / len(every)
    spread = sum((x - middle) ** 2 for x in every) / (len(every) - 1)
    my, mf, mg = sum(y) / n, sum(f) / n, sum(g) / free
    together = sum((a - my) * (b - mf) for a, b in zip(y, f, strict=True)) / (n - 1)
    weight = together / ((1 + n / free) * spread)
    pulled = {}
    for k, (a, b) in enumerate(zip(y, f, strict=True)):
        pulled[clusters[k]] = pulled.get(clusters[k], 0) + (a - weight * b - my + weight * mf) / n
    for k, b in enumerate(g):
        pulled[clusters[n + k]] = pulled.get(clusters[n + k], 0) + weight * (b - mg) / free
    count = len({*clusters[:n]})
    se = math.sqrt(count / (count - 2) * sum(x**2 for x in pulled.values()))
    sd = math.sqrt(sum((a - my) ** 2 for a in y) / (n - 1))
    correlation = abs(together) / spread * math.sqrt(sum((x - middle) ** 2 for x in every) / len(every)) / sd
    return my + weight * (mg - mf), weight, se, count - 2, correlation


def drawn(seed, n=12, free=30):
    draw = np.random.default_rng(seed)
    y, f, g = draw.normal(size=n), draw.normal(size=n), draw.normal(size=free)
    return y, 0.7 * y + f, g


@given(st.integers(0, 10**6), st.booleans())
def test_the_formula_written_out(seed, shared):
    y, f, g = drawn(seed)
    clusters = np.random.default_rng(seed).integers(0, 9, size=42) if shared else np.arange(42)
    _, clusters = np.unique(clusters, return_inverse=True)
    one = powered_mean(y, f, g, clusters=clusters)
    value, weight, se, df, correlation = by_hand(y.tolist(), f.tolist(), g.tolist(), clusters.tolist())
    got = (one.value, one.weight, one.distribution.se, one.distribution.df, one.correlation)
    assert got == pytest.approx((value, weight, se, df, correlation))
    if not shared:
        assert powered_mean(y, f, g) == one


@given(st.integers(0, 10**6))
def test_counted_texts_are_so_many(seed):
    """Patterns with counts, and the texts that they stand for one by one."""
    y, f, g = drawn(seed, 8, 10)
    times = np.random.default_rng(seed).integers(1, 5, size=18)
    many = [np.repeat(values, times[part]) for values, part in ((y, np.s_[:8]), (f, np.s_[:8]), (g, np.s_[8:]))]
    passes, ends = many[0] > 0, (0.0, 1.0)
    for clusters in (None, np.arange(18)):
        two = powered_mean((y > 0) * 1.0, f, g, clusters=clusters, times=times.astype(float), ends=ends)
        assert two.distribution.interval(0.95) == pytest.approx(
            powered_mean(passes * 1.0, *many[1:], ends=ends).distribution.interval(0.95)
        )
        counted = powered_mean(y, f, g, clusters=clusters, times=times.astype(float))
        single = powered_mean(*many)
        names = ("value", "weight", "sd", "correlation")
        assert [getattr(counted, n) for n in names] == pytest.approx([getattr(single, n) for n in names])
        assert counted.distribution.interval(0.95) == pytest.approx(single.distribution.interval(0.95))


def test_labels_alone_of_yes_and_no_have_the_exact_interval_on_a_scale_of_yes_and_no_only():
    y = np.array([0.0, 1, 1, 1, 1, 1])
    assert powered_mean(y, y, y[:0], ends=(0.0, 1.0)).distribution == Binomial(5, 6)
    assert powered_mean(y, y, y[:0], ends=(0.0, 5.0)).distribution.df == 5
    assert powered_mean(y, y, y, ends=(0.0, 1.0), tuned=False).distribution == Binomial(5, 6)


def test_the_interval_of_yes_and_no_is_that_with_one_more_of_either():
    """As if two more had been labelled, on which the judge's answer says nothing; the value stays."""
    y, f = (np.repeat(cells, [12, 3, 1, 4]) for cells in ([1.0, 1, 0, 0], [1.0, 0, 1, 0]))
    g = np.repeat([1.0, 0], [30, 10])
    plain, one = (powered_mean(y, f, g, ends=ends) for ends in ((-9.0, 9.0), (0.0, 1.0)))
    assert (one.value, one.weight) == (plain.value, plain.weight)
    guess = (13 + 30) / 60
    left = np.array([*(y - one.weight * (f - guess)), 1, 0])
    squares = ((left - left.mean()) ** 2).sum() / 22**2 + one.weight**2 * 0.75 * 0.25 / 40
    assert one.distribution.value == pytest.approx(left.mean() + one.weight * (0.75 - guess))
    assert one.distribution.se == pytest.approx(math.sqrt(20 / 18 * squares))


def test_a_guess_that_never_varies_leaves_the_labels_alone():
    y = np.arange(6.0)
    assert powered_mean(y, np.ones(6), np.ones(20)).weight == 0
    assert powered_mean(y, np.ones(6), np.ones(20)).distribution == powered_mean(y, y, y[:0]).distribution


def test_labels_that_never_vary_say_nothing_of_how_far_others_would():
    one = powered_mean(np.full(3, 0.1), np.full(3, 0.1), np.zeros(0))
    assert (one.value, one.distribution.se) == (pytest.approx(0.1), 0.0)
    assert one.distribution.undefined
