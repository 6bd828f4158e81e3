"""Does a judge count right what can be counted?

A criterion that is counted has a right score, whoever judges: completeness of a rationale set is a point per dimension
and level (merchant-risk paper, Appendix A).
"""

from __future__ import annotations

import pytest

from recuse import measures

pytestmark = pytest.mark.asks("scores", "numbers", "right_scores")


@pytest.mark.asks(rests_on="pairs")  # the texts were written for this project: what a study printed is about others
def test_known_scores(ratings, measure):
    """Score less right score, text by text."""
    measure(measures.known_score_error(ratings))
