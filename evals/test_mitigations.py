"""What would a remedy have changed?

The same ratings scored again: self-preference S - R before and after each remedy, paired by item (thesis on bias in LLM
self-evaluation, sec. 2.4.1 and 5.1). Nothing is gated: a mean with the peers makes every deviation smaller.
"""

from __future__ import annotations

import pytest

from recuse import measures

pytestmark = pytest.mark.asks("numbers", "peers")


@pytest.mark.asks("scores", "authors", "common_items")
def test_what_if(ratings, measure):
    """Averaging and weighing judges (by how well they predict a text, by how their own texts win, in scores or in
    choices), mixing both directions of the scale, expected scores, parts scored one by one."""
    measure(measures.self_preference_change(ratings))


@pytest.mark.asks("scores", "direction")
def test_part_inverted_jury(ratings, measure):
    """Is a jury more reliable, or nearer the truth, where half of it is asked on the inverted scale?"""
    measure(measures.jury_reliability(ratings))
    measure(measures.jury_error(ratings))


@pytest.mark.asks("scores", "people_items")
def test_escalation(ratings, measure):
    """What is a jury worth that hands on to people what its members differ about?"""
    measure(measures.escalation(ratings))
