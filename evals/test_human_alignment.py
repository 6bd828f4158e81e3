"""Does a judge score as people do?

People rated the same texts, one by one, or only their means are known. Where means belong to other texts of the same
targets (a published study, texts written afresh), read the order and not the offset.
"""

from __future__ import annotations

import pytest

from recuse import measures
from recuse.papers.merchant_risk.judge_profiles import with_criteria_mean

# Means of judges and of people, text by text, are all that is compared.
pytestmark = pytest.mark.asks("scores", "numbers", "people", rests_on="cells")


def test_human_offset(ratings, gate):
    """Judge minus people, averaged over the texts."""
    assert gate("human_offset", measures.human_offset(ratings))


def test_human_order(ratings, gate):
    """Does it rank the texts as people rank them?"""
    assert gate("human_order", measures.human_order(ratings))


def test_matrices(ratings, measure):
    """Judge minus people, target by target; the panel as a whole; who is closest."""
    rated = {*ratings.table["criterion"][ratings.table["kind"].eq("person")].unique()}  # none: only means are known
    parts = ratings.parts and (not rated or rated.issuperset(ratings.parts))
    measure(measures.human_offset_matrix(with_criteria_mean(ratings) if parts else ratings))
    measure(measures.human_panel_offset(ratings))
    measure(measures.closest_judge(ratings))


@pytest.mark.asks("people_items", "several_targets", "items")
def test_system_order(ratings, gate):
    """Does it order systems by their means as people do?"""
    assert gate("system_order", measures.system_order(ratings))


@pytest.mark.asks("people_items", "authors", "items", "common_items")
def test_own_favour(ratings, gate):
    """Does it add to its own texts what it does not add to others', against people?"""
    assert gate("own_favour", measures.own_favour(ratings))


@pytest.mark.asks("authors")
def test_self_offset(ratings, measure):
    """Own work against people: is a self-critical judge harsh, or right?"""
    measure(measures.human_self_offset(ratings))


def test_calibration(ratings, measure):
    """Would taking its offset out, or mapping its scores to people's, bring it closer on texts not used for that?"""
    measure(measures.calibration_change(ratings))
    measure(measures.calibration_helps(ratings))


@pytest.mark.asks("peers")
def test_ensembles(ratings, measure):
    """Would several judges together, calibrated and weighted on other texts, lie closer than one alone?"""
    measure(measures.ensemble_change(ratings))
