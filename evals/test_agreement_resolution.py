"""Do judges agree on single texts, or only on which system is better?

A leaderboard may be sound while the scores of single texts are not: averaging over many texts hides what judges
disagree on in each of them. A panel whose scores are used text by text (as a filter, as a reward) has to be validated
text by text. And agreement is no evidence of being right: judges may look at the same surface.
"""

from __future__ import annotations

import pytest

from recuse.papers.illusion import (
    agreement_change,
    criteria_agreement,
    effective_judges,
    judge_spread,
    quality_agreement,
    resolution,
    tiers,
)

pytestmark = pytest.mark.asks("scores", "numbers", "peers", "items", "shared_texts")


def test_panel_agreement(ratings, measure):
    """Do these judges give a single text the same score?"""
    measure(resolution.panel_agreement(ratings))


def test_single_texts(ratings, measure):
    """With whom does each judge agree on single texts, in order and in level?"""
    measure(resolution.sample_agreement(ratings))
    measure(resolution.absolute_agreement(ratings))
    measure(criteria_agreement.pooled_agreement(ratings))
    measure(criteria_agreement.agreement_of_means(ratings))


@pytest.mark.asks("several_targets")
def test_resolutions(ratings, measure):
    """Model level, sample level, absolute: how much agreement is left at each?"""
    measure(resolution.model_agreement(ratings))
    measure(resolution.resolution_gap(ratings))
    measure(quality_agreement.quality_agreement(ratings))


@pytest.mark.asks("tiers")
def test_tiers(ratings, measure):
    """Does each judge keep targets of known tiers in order?"""
    measure(tiers.tier_order(ratings))


def test_spread(ratings, measure):
    """How far apart do scores of one text lie, and how does each judge use the scale?"""
    measure(judge_spread.wide_spread(ratings))
    measure(judge_spread.scale_use(ratings))


@pytest.mark.asks("temperature")
def test_temperature(ratings, measure):
    """Does agreement change with the temperature at which judges are asked?"""
    measure(agreement_change.agreement_change(ratings))


def test_effective_judges(ratings, measure):
    """How many independent judges is this panel worth?"""
    measure(effective_judges.effective_judges(ratings))
