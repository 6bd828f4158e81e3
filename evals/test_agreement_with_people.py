"""Does a judge agree with people, item by item?

People rated the same texts one by one. What counts is not how high agreement is, but whether the judge agrees with them
as well as people agree with each other on the same texts, and better than one answer given to everything.
"""

from __future__ import annotations

import pytest

from recuse import measures
from recuse.metrics import agreement


@pytest.mark.asks("scores", "two_people")
def test_human_ceiling(ratings, gate):
    """As well as one more person? Agreement with people less people's own, a margin fixed beforehand."""
    assert gate("human_ceiling", measures.human_ceiling(ratings))


@pytest.mark.asks("scores", "people_items")
def test_unanswered(ratings, gate):
    """Does it answer what people answered, the hard ones too?"""
    assert gate("unanswered", measures.unanswered(ratings))


@pytest.mark.asks("scores", "people_items")
def test_gain_over_constant(ratings, measure):
    """Better than always giving the answer that people give most often?"""
    measure(measures.gain_over_constant(ratings))


@pytest.mark.asks("scores", "people_items")
def test_coefficients(ratings, measure):
    """Every coefficient that fits the scale, each with base rate and constant predictor."""
    measure(measures.commonest_answer(ratings))
    for family in agreement.every_coefficient(ratings):
        measure(family)


@pytest.mark.asks("scores", "two_people")
def test_alternative_annotator(ratings, measure):
    """Whom of the people might the judge stand in for? And how well do people agree among themselves?"""
    measure(measures.people_alpha(ratings))
    measure(measures.advantage_over_person(ratings))
    measure(measures.winning_rate(ratings))


@pytest.mark.asks("scores", "people_items", "slices")
def test_worst_slice(ratings, gate):
    """Is there a system or a topic on which it agrees less?"""
    assert gate("worst_slice", measures.worst_slice(ratings))


@pytest.mark.asks("scores", "people_items", "groups", "numbers")
def test_slice_favour(ratings, gate):
    """Is there a system or a topic that it favours against people?"""
    assert gate("slice_favour", measures.slice_favour(ratings))


@pytest.mark.asks("scores", "people_items")
def test_corrected_rates(ratings, measure):
    """What people would say of all texts, corrected by those that they rated."""
    if (numbers := ratings.where_scale(lambda scale: scale.counts)) is not None:
        measure(measures.prediction_powered_mean(numbers))
    if (passed_or_failed := ratings.where_scale(agreement.FITS["pass or fail"])) is not None:
        measure(measures.rogan_gladen_rate(passed_or_failed))


@pytest.mark.asks("scores", "people_items")
def test_delegable_share(ratings, measure):
    """Which texts need no person at 5 % errors?"""
    measure(measures.delegable_share(ratings))
    measure(measures.brier_score(ratings))


@pytest.mark.asks("choices", "two_people")
def test_human_ceiling_of_choices(ratings, gate):
    """Does it choose between two texts as well as one more person?"""
    assert gate("human_ceiling", measures.human_ceiling(ratings))


@pytest.mark.asks("choices", "people_items", "expert")
def test_right_choices(ratings, gate):
    """Does it choose what the right answers, or one expert, say is the better text?"""
    assert gate("right_choices", measures.right_choices(ratings))


@pytest.mark.asks("choices", "people_items")
def test_choices(ratings, measure):
    """Does it choose between two texts as people do, whichever stands first?"""
    for family in agreement.every_coefficient(ratings):
        measure(family)
    measure(measures.gain_over_constant(ratings))
