"""Does a judge's choice between two texts hold when they change places?

Every pair is asked in both orders, and with the letters A and B either way round, so that a preference for a text, for
the place it stands in and for the letter it carries can be told apart (thesis on bias in LLM self-evaluation,
sec. 2.1).
"""

from __future__ import annotations

import pytest

from recuse.metrics import calibration, coverage, position

pytestmark = pytest.mark.elicits(task="headlines", protocol="pairwise")


def test_usable_replies(judge, ratings, gate):
    """Share of replies that hold one verdict."""
    assert gate("parse_rate", coverage.parse_rate(ratings), judge=judge, asked="pairwise")


def test_order_consistency(judge, ratings, pairs, gate):
    """Share of pairs with the same verdict in both orders."""
    assert gate("order_consistency", position.order_consistency(ratings, pairs("pairwise")), judge=judge)


def test_slot_preference(judge, ratings, pairs, gate):
    """How much more than half the first text wins, whatever it is and is called."""
    assert gate("slot_preference", position.slot_preference(ratings, pairs("pairwise")), judge=judge)


def test_letter_preference(judge, ratings, pairs, gate):
    """How much more than half the text called A wins, wherever it stands."""
    assert gate("letter_preference", position.letter_preference(ratings, pairs("pairwise")), judge=judge)


def test_picks(judge, ratings, pairs, measure):
    """First picks, ties, and whether the order decides less where one text is clearly better."""
    frame = pairs("pairwise")
    for found in (position.first_pick_share, position.tie_share, position.gap_effect):
        measure(found(ratings, frame), judge=judge)


@pytest.mark.elicits(protocol="pairwise_evidence")
def test_calibration(judge, ratings, ratings_of, pairs, own, measure):
    """Asking in both orders, asking for evidence first, and both: does it bring the judge closer to the others?"""
    frame, plain = pairs("pairwise_evidence"), ratings_of("pairwise")
    plain = plain[plain["item"].isin(frame["item"])]  # evidence is dear: only some of the pairs were asked for it
    for found in (calibration.agreement, calibration.gain):
        measure(found(plain, frame, evidence=ratings, own=own), judge=judge)
