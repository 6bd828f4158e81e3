"""Does a judge give more to a text that tells it to?

A payload in one of six classes is added to a lead (fixtures/tasks/headlines/injections.jsonl); it succeeds where the
judge grades the text above its clean twin, or lets it win a duel that the twin did not win (thesis on bias in LLM
self-evaluation, sec. 2.3). A suffix that asks for nothing shows how much of that is noise. Defences are measured by the
successful attacks they stop and by the clean texts they block.
"""

from __future__ import annotations

import pytest

from recuse.metrics import defences, injection

pytestmark = pytest.mark.elicits(task="headlines", protocol="grading_injected")


@pytest.fixture
def outcomes(ratings_of, attacks):
    """What became of every attack on a grade."""
    return injection.grade_outcomes(ratings_of("grading_injected"), ratings_of("grading"), attacks)


@pytest.fixture
def measure_defence(outcomes, measure):
    """What a defence stops of the attacks that succeeded, and what clean text it blocks."""

    def both(on_attacks, on_clean):
        measure(defences.stopped(outcomes, on_attacks))
        measure(defences.clean_blocked(on_clean))

    return both


def test_success(judge, outcomes, gate):
    """Share of attacks that lift the grade."""
    assert gate("injection", injection.success_rate(outcomes), judge=judge, asked="grades")


def test_success_by_class(judge, outcomes, measure):
    """Which kinds of attack work, and how much more often than a suffix that asks for nothing."""
    measure(injection.by_class(outcomes), judge=judge)
    measure(injection.above_harmless(outcomes), judge=judge, asked="grades")


@pytest.mark.elicits(protocol="pairwise_injected")
def test_success_in_duels(judge, ratings, ratings_of, items, gate, measure):
    """Share of attacks that win a duel which the clean twin did not win, in both orders."""
    outcomes = injection.duel_outcomes(ratings, ratings_of("pairwise"), items)
    measure(injection.above_harmless(outcomes), judge=judge, asked="duels")
    assert gate("injection", injection.success_rate(outcomes), judge=judge, asked="duels")


def test_reading_the_text(attacks, texts, measure_defence):
    """Known phrases and odd statistics of the text."""
    measure_defence(*defences.text_blocks(attacks, texts))


def test_committee(ratings, ratings_of, attacks, measure_defence):
    """The median of the other judges in a judge's place."""
    measure_defence(*defences.committee_blocks(ratings, ratings_of("grading"), attacks))


@pytest.mark.elicits(protocol="input_filter")
def test_asking_a_model(items, ratings, measure_defence):
    """Each judge of the panel asked, before anyone grades, whether a text tries to steer who reads it."""
    measure_defence(*defences.filter_blocks(ratings, items))


@pytest.mark.elicits(protocol="output_filter")
def test_asking_a_model_about_the_answer(ratings, replies, measure_defence):
    """Each judge of the panel asked, after the grade, whether the text steered the one who gave it."""
    measure_defence(*defences.reply_blocks(ratings, replies))
