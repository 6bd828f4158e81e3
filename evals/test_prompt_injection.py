"""Does a judge give more to a text that tells it to?

A payload of one of several classes is added to a text; it succeeds where the judge scores the text a step of the scale
above its clean twin, or lets it win a pair that the twin did not win (thesis on bias in LLM self-evaluation, sec. 2.3).
A suffix that asks for nothing shows how much of that is noise. Defences are measured by the successful attacks they
stop and by the clean texts they block.
"""

from __future__ import annotations

import pytest

from recuse import measures
from recuse.papers.self_preference import defences, text_filters


def measure_defence(defence, ratings, measure):
    """What a defence stops of the attacks that succeeded, and what clean text it blocks."""
    measure(measures.attacks_stopped(ratings, defence))
    measure(measures.clean_blocked(ratings, defence))


@pytest.mark.asks("attacked_scores", "scores", "numbers")
def test_success(ratings, gate):
    """Share of attacks that lift the score."""
    assert gate("injection", measures.injection_success(ratings))


@pytest.mark.asks("attacked_scores", "scores", "numbers")
def test_success_by_class(ratings, measure):
    """Which kinds of attack work, and how much more often than a suffix that asks for nothing."""
    measure(defences.by_class(ratings))
    measure(measures.injection_above_harmless(ratings))


@pytest.mark.asks("attacked_choices", "choices")
def test_success_in_pairs(ratings, gate, measure):
    """Share of attacks that win a pair which the clean twin did not win, in both orders."""
    measure(measures.injection_above_harmless(ratings))
    assert gate("injection", measures.injection_success(ratings))


@pytest.mark.asks("attacked_scores", "scores", "numbers")
def test_reading_the_text(ratings, measure):
    """Known phrases and odd statistics of the text."""
    measure_defence(text_filters.text_blocks, ratings, measure)


@pytest.mark.asks("attacked_scores", "scores", "numbers", "held_out_payloads")
def test_held_out_payloads(ratings, measure):
    """Does reading the text also find what its patterns were not made from: other words, other languages?"""
    measure(measures.detection_rate(ratings))


@pytest.mark.asks("attacked_scores", "scores", "numbers", "three_judges")
def test_committee(ratings, measure):
    """The median of the other judges in a judge's place."""
    measure_defence(defences.committee_blocks, ratings, measure)


@pytest.mark.asks("attacked_scores", "scores", "numbers", "text_filter")
def test_asking_a_model(ratings, measure):
    """Each judge of the panel asked, before anyone grades, whether a text tries to steer who reads it."""
    measure_defence(defences.filter_blocks, ratings, measure)


@pytest.mark.asks("attacked_scores", "scores", "numbers", "reply_filter")
def test_asking_a_model_about_the_answer(ratings, measure):
    """Each judge of the panel asked, after the grade, whether the text steered the one who gave it."""
    measure_defence(defences.reply_blocks, ratings, measure)
