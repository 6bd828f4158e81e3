"""Does a judge choose the longer text when it says no more?

Twins have the same content, one of them padded without a further fact (fixtures/tasks/headlines/padding.toml); in
ordinary texts, where length goes with content, a judge is compared with its peers on the same text (thesis on bias in
LLM self-evaluation, sec. 2.2).
"""

from __future__ import annotations

import pytest

from recuse.metrics import duels, length

pytestmark = pytest.mark.elicits(task="headlines", protocol="pairwise_length")


def test_padding_preference(judge, ratings, pairs, gate):
    """How much more than half the padded twin wins."""
    assert gate("padding", length.padding_preference(ratings, pairs("pairwise_length")), judge=judge)


def test_length_in_grades(judge, ratings_of, texts, measure):
    """Points per doubling of a text's length, beyond what the peers add."""
    measure(length.length_coefficient(ratings_of("grading"), texts), judge=judge)


def test_length_in_duels(judge, ratings_of, pairs, texts, measure):
    """Win share per doubling of the length, beyond what the peers give."""
    measure(length.duel_length_coefficient(ratings_of("pairwise"), pairs("pairwise"), texts), judge=judge)


def test_like_length(judge, ratings_of, pairs, texts, measure):
    """Would meeting the text nearest in length alone take a liking for length down? In duels, and where grades decide
    who wins, so that every text meets every other."""
    decided, met = duels.from_grades(ratings_of("grading"))
    measure(length.same_length_reference(decided, met, texts), judge=judge, asked="grades")
    fought = length.same_length_reference(ratings_of("pairwise"), pairs("pairwise"), texts)
    measure(fought, judge=judge, asked="duels")
