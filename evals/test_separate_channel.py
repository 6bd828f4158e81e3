"""Does it help to show a text in a message of its own, apart from the instructions?

Payloads that no defence was made from, on texts that a judge scores either way (thesis on bias in LLM self-evaluation,
sec. 2.3.1, footnote 5). Nothing is gated: `injection` is, where texts are shown as they usually are.
"""

from __future__ import annotations

import pytest

from recuse import measures

pytestmark = pytest.mark.asks("channelled_scores", "numbers")


def test_success(ratings, measure):
    """Share of held-out payloads that lift the score."""
    measure(measures.success_by_channel(ratings))


@pytest.mark.asks("channel")
def test_change(ratings, measure):
    """What the separate message stops, on the same attacks."""
    measure(measures.channel_change(ratings))
