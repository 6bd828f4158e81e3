"""Does a judge answer to the word it is asked about, or to what the numbers mean?

Every text is rated for quality and for badness, on the scale that runs up and on the one that runs down, the numbers'
meanings written out each time (thesis on bias in LLM self-evaluation, sec. 3.2 and appendix A, whose two framings are
two of the four). Nothing is gated: `direction` and `framing_shift` are, where one word is asked for.
"""

from __future__ import annotations

import pytest

from recuse import measures

pytestmark = pytest.mark.asks("worded_scores", "numbers")


def test_effects(ratings, measure):
    """How much milder it is when asked for badness, where low is best, and how far one depends on the other."""
    measure(measures.wording_effect(ratings))


def test_flip(ratings, measure):
    """Does it write the mirrored number because of a word, though the numbers mean what they meant?"""
    measure(measures.wording_flip(ratings))


@pytest.mark.asks("direction")
def test_direction(ratings, measure):
    """Does the number follow the meaning of the scale, under either word?"""
    measure(measures.direction_insensitivity(ratings))


@pytest.mark.asks("peers", "authors", "common_items", "neutral_texts")
def test_self_preference(ratings, measure):
    """Higher scores or better scores for itself: in all four ways of asking."""
    measure(measures.self_preference_controlled(ratings))
