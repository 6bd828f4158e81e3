"""Do a model's levels agree with what the data say?

Each model put items on levels; the reference holds the true value of every item (on the merchant-risk task a unified
risk score computed from a SYNTHETIC transactions table; the real one is not public). The pick is the unit.
"""

from __future__ import annotations

import pytest

from recuse import measures

pytestmark = pytest.mark.asks("picks", "reference")


@pytest.mark.asks(rests_on="margins")  # rho and n, which papers print
def test_rank_correlation(ratings, gate):
    """Rank correlation of assigned level and true value."""
    assert gate("ground_truth", measures.rank_correlation(ratings))


def test_misassignments(ratings, measure):
    """Which items sit one level off, which further, and does the mean value rise level by level?"""
    measure(measures.misassignments(ratings))
    measure(measures.progression(ratings))


@pytest.mark.asks("levels")
def test_severity(ratings, gate):
    """How many items does it put two levels or more from where the data put them? Asked of levels in a file."""
    assert gate("misplaced_levels", measures.misassignments(ratings))


def test_years(ratings, measure):
    """Does it follow the data of every year, where the data tell years apart?"""
    measure(measures.yearly_rank_correlation(ratings))


@pytest.mark.asks("peers", rests_on="margins")  # the picks themselves, which the study prints
def test_overlap(ratings, measure):
    """Which items do several models pick, and do they put them on the same level?"""
    measure(measures.pick_overlap(ratings))


@pytest.mark.asks("picks", "scores", "authors", "people", rests_on="cells")
def test_three_sources(ratings, measure):
    """Peers, people and data: do they rank the models alike?"""
    measure(measures.three_sources(ratings))
