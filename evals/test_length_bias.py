"""Does a judge prefer the longer text when it says no more?

Twins have the same content, one of them padded without a further fact; in ordinary texts, where length goes with
content, a judge is compared with its peers on the same text (thesis on bias in LLM self-evaluation, sec. 2.2).
"""

from __future__ import annotations

import pytest

from recuse import measures


@pytest.mark.asks("length_twins")
def test_padding_preference(ratings, gate):
    """How much more than half the padded twin wins."""
    assert gate("padding", measures.padding_preference(ratings))


@pytest.mark.asks("scores", "numbers", "peers", "items", "lengths")
def test_length_in_scores(ratings, measure):
    """What a doubling of a text's length adds to its score, beyond what the peers add."""
    measure(measures.length_coefficient(ratings))


@pytest.mark.asks("choices", "peers", "lengths")
def test_length_in_choices(ratings, measure):
    """Win share per doubling of the length, beyond what the peers give."""
    measure(measures.choice_length_coefficient(ratings))


@pytest.mark.asks("scores", "numbers", "peers", "items", "lengths")
def test_like_length_in_scores(ratings, measure):
    """Would meeting the text nearest in length alone take a liking for length down? Scores decide who wins, so that
    every text meets every other of its item."""
    measure(measures.same_length_reference(ratings))


@pytest.mark.asks("choices", "peers", "lengths")
def test_like_length_in_choices(ratings, measure):
    """The same where judges chose between two texts."""
    measure(measures.same_length_reference(ratings))
