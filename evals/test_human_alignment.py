"""Does a judge score as people do?

The reference is the mean final score of 26 payment experts per text (merchant-risk paper, sec. 3.5 and 4.4). Only
their means and SDs are published, on the original texts; panel `local` judges texts written afresh for this project,
so for it read the order and not the offset.
"""

from __future__ import annotations

import pytest

from recuse.metrics import human_alignment
from recuse.metrics.consensus import with_criteria_mean

pytestmark = pytest.mark.elicits(task="merchant_risk", protocol="rubric")
CONDITIONS = pytest.mark.parametrize("condition", ["attributed", "anonymized"])


@CONDITIONS
def test_human_offset(judge, condition, ratings, human_finals, gate):
    """Judge minus people, averaged over the texts."""
    scores = ratings.query("condition == @condition")
    assert gate("human_offset", human_alignment.offset(scores, human_finals), judge=judge, condition=condition)


@CONDITIONS
def test_human_order(judge, condition, ratings, human_finals, gate):
    """Does it rank the texts as people rank them?"""
    assert gate("human_order", human_alignment.order_agreement(ratings, human_finals), judge=judge, condition=condition)


@CONDITIONS
def test_matrices(condition, ratings, own, task, human_finals, measure):
    """Judge minus people, text by text; the panel as a whole; who is closest."""
    both = with_criteria_mean(ratings, task.criteria)
    for source in ("total", "criteria_mean"):
        measure(
            human_alignment.offset_matrix(both, human_finals, own, condition=condition, criterion=source),
            condition=condition,
            score=source,
        )
    measure(human_alignment.panel_offset(ratings, human_finals, condition=condition), condition=condition)
    measure(human_alignment.closest_judge(ratings, human_finals, condition=condition), condition=condition)


@CONDITIONS
def test_self_offset(author, condition, ratings, own, human_finals, measure):
    """Own work against people: is a self-critical judge harsh, or right?"""
    measure(human_alignment.self_offset(ratings, human_finals, own), judge=author, condition=condition)
