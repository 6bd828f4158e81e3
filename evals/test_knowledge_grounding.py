"""Does agreement between judges survive their having to say what they know?

Judges that score by a given checklist may agree because they all see the same surface. The same texts are scored again
by rubrics that are written after a judge has said what it knows and what may mislead it ("Beyond the Illusion of
Consensus", 2026, sections 2 and 3).
"""

from __future__ import annotations

import pytest

from recuse import measures


@pytest.mark.asks("scores", "rubric_source", "peers", "items", "numbers")
def test_delta_k(ratings, measure):
    """Agreement by rubrics from knowledge, less agreement by the checklist."""
    measure(measures.delta_k(ratings))


@pytest.mark.asks("scores", "rubric_source", "peers", "items", "numbers")
def test_groups(ratings, measure):
    """The same within each domain and language; and is it more in one domain than in another?"""
    measure(measures.delta_k_by_group(ratings))
    measure(measures.domain_selectivity(ratings))


@pytest.mark.asks("scores", "twins", "items", "numbers")
def test_planted_flaws(ratings, gate):
    """Does a polished text with a deep flaw get away with it?"""
    assert gate("flaw_penalty", measures.flaw_penalty(ratings))


@pytest.mark.asks("scores", "quotes", "peers", "items", "numbers")
def test_evidence(ratings, measure):
    """Do judges that agree on a text cite the same places in it?"""
    measure(measures.evidence_overlap(ratings))


@pytest.mark.asks("scores", "rubric_source", "items", "numbers")
def test_repeated_numbers(ratings, measure):
    """Does it score, or does it repeat the numbers that the prompt shows?"""
    measure(measures.repeated_numbers(ratings))


@pytest.mark.asks("scores", "quotes", "items", "numbers")
def test_quotes(ratings, measure):
    """Is what it cites in the text?"""
    measure(measures.quotes_in_text(ratings))
