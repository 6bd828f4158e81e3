"""Do a model's risk levels agree with what the payments say?

Each model put three merchant categories on each of five levels; the reference is a unified risk score computed from a
SYNTHETIC transactions table (merchant-risk paper, sec. 5; the real table is not public). The pick is the unit.
"""

from __future__ import annotations

import pytest

from recuse.metrics import ground_truth

pytestmark = pytest.mark.elicits(task="merchant_risk", protocol="generation")


def test_rank_correlation(judge, ratings, empirical_risk, gate):
    """Rank correlation of assigned level and empirical risk."""
    assert gate("ground_truth", ground_truth.rank_correlation(ratings, empirical_risk), judge=judge)


def test_misassignments(ratings, empirical_risk, measure):
    """Which categories sit one level off, which further, and does mean risk rise level by level?"""
    measure(ground_truth.misassignments(ratings, empirical_risk))
    measure(ground_truth.progression(ratings, empirical_risk))


@pytest.mark.parametrize("condition", ["attributed", "anonymized"])
def test_three_sources(condition, ratings, ratings_of, own, human_finals, empirical_risk, measure):
    """Peers, people and payments: do they rank the models alike?"""
    if not own:
        pytest.skip("no judge of this panel is the author of a text")
    payments = ground_truth.rank_correlation(ratings, empirical_risk)
    found = ground_truth.three_sources(ratings_of("rubric"), human_finals, payments, own, condition=condition)
    measure(found, condition=condition)
