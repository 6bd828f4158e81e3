"""Does a judge choose its own text more often than others choose it?

The pairwise form of self-preference (thesis on bias in LLM self-evaluation, sec. 2.4). Nothing is gated: a judge that
chooses by place or by chance moves every text towards one half, its own among them, which only `controlled` takes out.
"""

from __future__ import annotations

import pytest

from recuse import measures

pytestmark = pytest.mark.asks("choices", "authors", "peers")


def test_own_wins(ratings, measure):
    """How often its own text wins by its own choice, its peers' and people's."""
    measure(measures.own_win_rate(ratings))


@pytest.mark.asks("three_judges")
def test_own_wins_beyond_peers(ratings, measure):
    """Beyond those who wrote neither text, as it is and with the judge's own noise taken out."""
    measure(measures.own_win_excess(ratings))
    measure(measures.controlled_own_win_excess(ratings))


@pytest.mark.asks("order", "three_judges")
def test_position_calibration(ratings, measure):
    """What would asking every pair in both orders have changed?"""
    measure(measures.own_win_excess_change(ratings))
