"""Does a judge that sees all texts at once score as it does one by one?

All sets in one call, with a ranking at the end, beside one set per call (merchant-risk paper, Appendix A): the ranking
against the scores of the same reply, and the scores against those given one at a time.
"""

from __future__ import annotations

import pytest

from recuse import measures

pytestmark = pytest.mark.asks("scores", "numbers", "ranking")


def test_joint_scoring(ratings, measure):
    """Ranking against own scores; scores with all texts in view against scores of one alone."""
    measure(measures.ranking_follows_scores(ratings))
    measure(measures.joint_shift(ratings))
