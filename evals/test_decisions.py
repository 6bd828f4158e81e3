"""Does a judge decide as an expert does?

Whoever acts on pass or fail, on one label, or on a score over a threshold needs two error rates and a share: what is
missed, what is found wrongly, and how many there are. One expert's labels, or right answers, are enough to measure
them; how well experts agree they do not say. Which side is positive is stated, or is the one that people find less
often, and is named with every number.
"""

from __future__ import annotations

import pytest

from recuse import measures


@pytest.mark.asks("scores", "people_items", "positive", "expert")
def test_sensitivity(ratings, gate):
    """Does it find what the expert finds?"""
    assert gate("sensitivity", measures.sensitivity(ratings))


@pytest.mark.asks("scores", "people_items", "positive", "expert")
def test_specificity(ratings, gate):
    """Does it leave alone what the expert leaves?"""
    assert gate("specificity", measures.specificity(ratings))


@pytest.mark.asks("scores", "people_items", "positive", "two_people")
def test_error_rates_against_most(ratings, measure):
    """The same against what most of several people say."""
    measure(measures.sensitivity(ratings))
    measure(measures.specificity(ratings))


@pytest.mark.asks("scores", "people_items", "positive")
def test_share_bias(ratings, gate):
    """Would it report as many of them as people do?"""
    assert gate("share_bias", measures.share_bias(ratings))


@pytest.mark.asks("scores", "people_items", "several_options", "expert")
def test_expert_kappa(ratings, gate):
    """Of several labels, does it give the expert's?"""
    assert gate("expert_kappa", measures.expert_kappa(ratings))
