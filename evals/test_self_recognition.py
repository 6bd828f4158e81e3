"""Does a judge know its own texts when it is asked, and does it prefer those that it knows?

Asked which of two texts it wrote, and of single texts whether it wrote them (thesis on bias in LLM self-evaluation,
sec. 2.4). Nothing is gated: to know one's own text is no fault; to prefer it is, and has its own gate.
"""

from __future__ import annotations

import pytest

from recuse import measures


@pytest.mark.asks("recognition_choices", "authors")
def test_pairs(ratings, measure):
    """Which of two texts it wrote, beyond chance and beyond what peers claim."""
    measure(measures.recognised_in_pairs(ratings))


@pytest.mark.asks("recognitions", "authors", "common_items")
def test_single_texts(ratings, measure):
    """How much oftener it says yes to its own texts."""
    measure(measures.recognised_singly(ratings))


@pytest.mark.asks("recognition_choices", "authors", "scores")
def test_preference_from_pairs(ratings, measure):
    """Do judges that know their texts favour them more, and each judge the texts that it knows?"""
    measure(measures.recognition_and_preference(ratings))
    measure(measures.preference_where_recognised(ratings))


@pytest.mark.asks("recognitions", "authors", "common_items", "scores")
def test_preference_from_single_texts(ratings, measure):
    """The same, by what it says of single texts."""
    measure(measures.recognition_and_preference(ratings))
    measure(measures.preference_where_recognised(ratings))
