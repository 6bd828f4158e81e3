"""Do people themselves tell the targets apart?

An order of targets by people's means is concluded only where their differences are larger than chance, each pair
corrected for all the others (merchant-risk paper, sec. 3.5).
"""

from __future__ import annotations

import pytest

from recuse import measures
from recuse.papers.merchant_risk import people_ratings

pytestmark = pytest.mark.asks("scores", "numbers", "people", "several_targets", rests_on="margins")


def test_order_of_people(ratings, measure):
    """Which targets do people tell apart, pair by pair, and how many groups is that?"""
    measure(measures.people_difference(ratings))
    measure(measures.people_groups(ratings))


def test_scale_of_people(ratings, measure):
    """Where people's scale is not the judges': what is left of their difference once the scales are matched?"""
    measure(measures.scale_matched_offset(ratings))


@pytest.mark.asks("scores", "blinded_people", rests_on="pairs")
def test_single_ratings(ratings, measure):
    """How reliable is one person, how reliable are all together, and which targets do they tell apart?"""
    measure(measures.people_reliability(ratings))
    measure(people_ratings.blinded_pairs(ratings))
    measure(people_ratings.blinded_groups(ratings))
