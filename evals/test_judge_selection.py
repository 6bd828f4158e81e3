"""Which judge would each measure of agreement choose, and is it the best one for its use?

A measure ranks judges; the one it ranks first is scored by how often it decides as people do. Method: L. Guerdan et
al., Validating LLM-as-a-Judge Systems in the Absence of Gold Labels, sections 5 to 7.
"""

from __future__ import annotations

import pytest

from recuse import measures


@pytest.mark.asks("forced_choices", "property", "two_people", "peers")
def test_chosen_judge(ratings, measure):
    """Is the judge that a measure chooses the best one?"""
    measure(measures.best_judge(ratings))
    measure(measures.selection_regret(ratings))


@pytest.mark.asks("forced_choices", "property", "two_people", "peers")
def test_chosen_judge_over_beta(ratings, measure):
    """Does the choice survive if up to 4 in 10 of those who chose otherwise would have accepted it too?"""
    measure(measures.regret_over_beta(ratings))


@pytest.mark.asks("forced_choices", "three_judges")
def test_without_labels(ratings, measure):
    """What do the judges' answers alone say? Not who is right."""
    measure(measures.common_class_recall(ratings))
