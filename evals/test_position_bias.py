"""Does a judge's choice between two texts hold when they change places?

Where every pair is asked in both orders, and with the letters A and B either way round, a preference for a text, for
the place it stands in and for the letter it carries can be told apart (thesis on bias in LLM self-evaluation,
sec. 2.1).
"""

from __future__ import annotations

import pytest

from recuse import measures

pytestmark = pytest.mark.asks("choices")


def test_usable_replies(ratings, gate):
    """Share of replies that hold one choice."""
    assert gate("parse_rate", measures.parse_rate(ratings))


@pytest.mark.asks("order")
def test_order_consistency(ratings, gate):
    """Share of pairs with the same choice in both orders."""
    assert gate("order_consistency", measures.order_consistency(ratings))


@pytest.mark.asks("order")
def test_slot_preference(ratings, gate):
    """How much more than half the first text wins, whatever it is and is called."""
    assert gate("slot_preference", measures.slot_preference(ratings))


@pytest.mark.asks("order", "labels")
def test_letter_preference(ratings, gate):
    """How much more than half the text called A wins, wherever it stands."""
    assert gate("letter_preference", measures.letter_preference(ratings))


def test_ties(ratings, measure):
    """How often it names neither."""
    measure(measures.tie_share(ratings))


@pytest.mark.asks("order")
def test_first_picks(ratings, measure):
    """How often the choice falls on the text shown first."""
    measure(measures.first_pick_share(ratings))


@pytest.mark.asks("order", "peers")
def test_close_calls(ratings, measure):
    """Does the order decide less where one text is clearly better?"""
    measure(measures.gap_effect(ratings))


@pytest.mark.asks("order", "peers")
def test_calibration(ratings, measure):
    """Asking in both orders, asking for evidence first, and both: does it bring the judge closer to people, or to what
    its peers score higher? Not to its peers' choices, which are made by one of the ways compared."""
    evidence, scores = ratings.beside("choices_after_evidence"), ratings.beside("scores")
    measure(measures.verdict_agreement(ratings, evidence, scores))
    measure(measures.calibration_gain(ratings, evidence, scores))
