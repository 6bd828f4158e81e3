"""Which way of asking brings a judge closer to what is true, and at what cost?

The same texts, judged plainly, with observations first, with examples, with a reference, with guidelines and after a
solution of one's own (thesis on bias in LLM self-evaluation, sec. 1.2.1, 2.4.1 and appendix A). The yardstick is what
the texts are known to deserve. Nothing is gated: which way to ask is for whoever asks.
"""

from __future__ import annotations

import pytest

from recuse import measures


@pytest.mark.asks("prompted_scores", "numbers", "right_scores")
def test_grades(ratings, measure):
    """Grades: distance from what is true, before and after, with the tokens it took."""
    measure(measures.error_by_prompt(ratings))
    measure(measures.error_change(ratings))
    measure(measures.score_change(ratings))
    measure(measures.parse_rate(ratings))


@pytest.mark.asks("prompted_verdicts", "numbers", "right_scores")
def test_verdicts(ratings, measure):
    """Right or wrong: the share of wrong verdicts, before and after, with the tokens it took."""
    measure(measures.error_by_prompt(ratings))
    measure(measures.error_change(ratings))
    measure(measures.parse_rate(ratings))


@pytest.mark.asks("prompted_verdicts", "numbers", "right_scores", "authors", "common_items")
def test_overconfidence(ratings, measure):
    """Does it hold its own answers for right where they are wrong, and does solving first help?"""
    measure(measures.overconfidence(ratings))
    measure(measures.capability_and_overconfidence(ratings))


@pytest.mark.asks("prompted_choices", "order")
def test_choices(ratings, measure):
    """Choices: told nothing of order and length, and asked for the worse text."""
    measure(measures.choice_change(ratings))
    measure(measures.same_choice(ratings))
    measure(measures.order_consistency(ratings))


@pytest.mark.asks("prompted_length_twins", "order")
def test_length_that_must_not_matter(ratings, measure):
    """Twins of which one is padded, told that length must not matter and not told."""
    measure(measures.padding_preference(ratings))
    measure(measures.padding_change(ratings))


@pytest.mark.asks("choices_after_discussion", "order", "peers")
def test_discussion(ratings, measure):
    """Choices before and after reading a peer's review."""
    measure(measures.discussion_change(ratings))


@pytest.mark.asks("calibrated_scores", "numbers", "right_scores")
def test_inferred_criteria(ratings, measure):
    """Criteria that a judge infers from labelled examples: what they are worth on other texts."""
    measure(measures.calibrated_criteria(ratings))


@pytest.mark.asks("hundred_scores", "numbers")
def test_hundred_steps(ratings, measure):
    """A scale of a hundred steps."""
    measure(measures.parse_rate(ratings))
    measure(measures.error_by_prompt(ratings))


@pytest.mark.asks("list_choices")
def test_lists(ratings, measure):
    """The best of a list, however it is turned."""
    measure(measures.list_accuracy(ratings))
    measure(measures.list_consistency(ratings))
