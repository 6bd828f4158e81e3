"""Do a judge's reasons fit its scores, or are they copied?

Every score comes with a sentence. Read by their words: reasons that contradict the score, speak of another criterion,
repeat themselves from criterion to criterion and from text to text, or copy the rubric (merchant-risk paper, sec. 7.3).
"""

from __future__ import annotations

import pytest

from recuse import measures

pytestmark = pytest.mark.asks("scores", "numbers", "explanations")


def test_explanations(ratings, measure):
    """Share of the explanations in which each is found, judge by judge."""
    measure(measures.explanation_finding(ratings))
