"""Is one answer always right, and does the judge decide as people do where it is not?

A forced choice hides that a rater would have accepted another option too. So agreement is shown under every definition
of it, and decisions by a threshold are gated over thresholds, and over how many of those who chose otherwise would have
accepted the option in question. Method: L. Guerdan et al., Validating LLM-as-a-Judge Systems in the Absence of Gold
Labels.
"""

from __future__ import annotations

import pytest

from recuse import measures


@pytest.mark.asks("forced_choices", "property", "two_people")
def test_decisions(ratings, measure):
    """Does it let through what people let through, and find as much as they do, at every threshold?"""
    measure(measures.decision_consistency(ratings))
    measure(measures.prevalence_bias(ratings))


@pytest.mark.asks("forced_choices", "property", "two_people")
def test_decisions_over_beta(ratings, measure):
    """Does that survive if up to 4 in 10 of those who chose otherwise would have accepted it too?"""
    measure(measures.consistency_over_beta(ratings))
    measure(measures.bias_over_beta(ratings))


@pytest.mark.asks("forced_choices", "two_people")
def test_agreement_by_definition(ratings, measure):
    """How well does it agree with people, by what of their answers is kept?"""
    measure(measures.performance(ratings))


@pytest.mark.asks("forced_choices", "property", "two_people")
def test_ratings_needed(ratings, measure):
    """How many ratings per text would settle it, and how far could people's own share move?"""
    measure(measures.ratings_needed(ratings))
    measure(measures.prevalence_shift(ratings))


@pytest.mark.asks("forced_choices", "response_sets", "people_items")
def test_response_sets(ratings, measure):
    """How often do raters accept several options, and what did those mean who chose otherwise?"""
    measure(measures.indeterminate_share(ratings))
    measure(measures.accepted_both(ratings))
    measure(measures.rater_error(ratings))
