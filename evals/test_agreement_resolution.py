"""Do judges agree on single texts, or only on which system is better?

A leaderboard may be sound while the scores of single texts are not: averaging over many texts hides what judges
disagree on in each of them. A panel whose scores are used text by text (as a filter, as a reward) has to be validated
text by text. And agreement is no evidence of being right: judges may look at the same surface.
"""

from __future__ import annotations

import pytest

from recuse import measures

pytestmark = pytest.mark.asks("scores", "numbers", "peers", "items", "shared_texts")


def test_panel_agreement(ratings, measure):
    """Do these judges give a single text the same score?"""
    measure(measures.panel_agreement(ratings))


def test_single_texts(ratings, measure):
    """With whom does each judge agree on single texts, in order and in level?"""
    measure(measures.sample_agreement(ratings))
    measure(measures.absolute_agreement(ratings))
    measure(measures.pooled_agreement(ratings))
    measure(measures.agreement_of_means(ratings))


@pytest.mark.asks("several_targets")
def test_resolutions(ratings, measure):
    """Model level, sample level, absolute: how much agreement is left at each?"""
    measure(measures.model_agreement(ratings))
    measure(measures.resolution_gap(ratings))
    measure(measures.quality_agreement(ratings))


@pytest.mark.asks("tiers")
def test_tiers(ratings, measure):
    """Does each judge keep targets of known tiers in order?"""
    measure(measures.tier_order(ratings))


def test_spread(ratings, measure):
    """How far apart do scores of one text lie, and how does each judge use the scale?"""
    measure(measures.wide_spread(ratings))
    measure(measures.scale_use(ratings))


@pytest.mark.asks("temperature")
def test_temperature(ratings, measure):
    """Does agreement change with the temperature at which judges are asked?"""
    measure(measures.agreement_change(ratings))


def test_effective_judges(ratings, measure):
    """How many independent judges is this panel worth?"""
    measure(measures.effective_judges(ratings))
