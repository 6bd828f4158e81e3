"""Intraclass correlations from sums: the same value as from the table, and an interval that knows of clusters."""

from __future__ import annotations

import numpy as np
import pytest

from recuse.statistics.agreement.correlation import icc, icc_of_pairs, mean_squares

CLUSTERS, EACH = 40, 6


def clustered(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two raters whose errors are shared within a cluster: 240 items say little more than 40 would."""
    clusters = np.repeat(np.arange(CLUSTERS), EACH)
    truth = rng.normal(size=CLUSTERS)[clusters]
    raters = [truth + rng.normal(size=CLUSTERS)[clusters] + 0.1 * rng.normal(size=CLUSTERS * EACH) for _ in range(2)]
    return raters[0], raters[1], clusters


def test_the_value_is_that_of_the_table():
    rng = np.random.default_rng(1)
    x, y = 3 + rng.normal(size=(2, 50))
    y[7] = np.nan
    y += x
    whole = icc_of_pairs(x, y)
    assert whole.value == pytest.approx(float(icc(mean_squares(np.column_stack([x, y])))))
    some = np.argsort(x)[25:]  # whose mean is not that of all
    part = mean_squares(np.column_stack([x, y])[some])
    assert whole.of(whole.shares[some].sum(axis=0)[None]) == pytest.approx(float(icc(part)))


def test_one_item_has_none():
    why = icc_of_pairs([1.0], [2.0]).undefined
    assert why == "an intraclass correlation needs two items that both rated; there are 1"


@pytest.mark.slow
def test_its_interval_covers_where_items_come_in_clusters_and_the_items_alone_do_not():
    """True ICC(2,1): var(truth) 1 of 1 + 1 + 0.01. Taken as independent items, intervals are far too short."""
    truth, covered, alone = 1 / 2.01, 0, 0
    for seed in range(300):
        x, y, clusters = clustered(np.random.default_rng(seed))
        built = icc_of_pairs(x, y)
        low, high = built.jackknife(clusters).interval(0.95)
        covered += low <= truth <= high
        low, high = built.jackknife(None).interval(0.95)
        alone += low <= truth <= high
    assert 0.91 <= covered / 300 <= 0.99
    assert alone / 300 < 0.75
