"""Does a judge put the right response first?

One of an item's responses is known to be right, as in RewardBench 2 (Malik et al. 2025); each is scored by itself.
"""

from __future__ import annotations

import pytest

from recuse import measures

pytestmark = pytest.mark.asks("scores", "numbers", "right_answer", "common_items")


def test_best_response(ratings, measure):
    """How often the right one has the best score, by all repeats together."""
    measure(measures.best_response(ratings))


def test_right_choices(ratings, gate):
    """Clearly more often than a guess would?"""
    assert gate("right_choices", measures.right_choices(ratings))


@pytest.mark.asks("repeats")
def test_by_the_first_answer(ratings, measure):
    """The same by each judge's first answer alone: what asking again brings."""
    measure(measures.best_response(ratings, repeats=1), repeats="first")
