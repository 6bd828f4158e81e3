"""Does a judge score alike when the highest number is the best score and when the lowest is?

Every text is scored in both directions, with the same definitions and their numbers turned round (thesis on bias in LLM
self-evaluation, sec. 3.2). Brought to the ascending scale, both scores should agree.
"""

from __future__ import annotations

import pytest

from recuse import measures
from recuse.papers.self_preference import scale_framing

pytestmark = pytest.mark.asks("scores", "numbers", "direction")


def test_direction(ratings, gate):
    """Does the number follow the meaning of the scale, or is it the same one whichever end is best?"""
    assert gate("direction", measures.direction_insensitivity(ratings))


def test_shift(ratings, gate):
    """How much milder it is where low numbers are good."""
    assert gate("framing_shift", measures.framing_shift(ratings))


def test_shift_by_author(ratings, measure):
    """The same, author by author."""
    measure(scale_framing.shift_by_target(ratings))


@pytest.mark.asks("peers", "authors", "common_items")
def test_self_preference_change(ratings, measure):
    """Does its preference for its own text change with the direction of the scale?"""
    measure(measures.framing_change(ratings))
