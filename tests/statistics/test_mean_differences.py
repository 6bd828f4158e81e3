"""Gini's mean difference: pairs by hand, a variance without bias, and what an SD would have to pay for heavy tails."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from recuse.papers.merchant_risk.repeat_noise import LEAST, NORMAL, mean_difference


def pairs(scores):
    return [abs(a - b) for a, b in itertools.combinations(scores, 2)]


def test_it_is_the_mean_over_pairs_weighted_by_repeats_less_one():
    texts = [np.array([1.0, 4.0, 4.5]), np.array([2.0, 2.0, 7.0, 3.0, 1.0]), np.array([9.0])]
    expected = (2 * np.mean(pairs(texts[0])) + 4 * np.mean(pairs(texts[1]))) / 6
    assert mean_difference(texts).value == pytest.approx(expected)


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize(("texts", "repeats"), [(5, 10), (1, 10), (40, 3), (40, 2), (3, 5)])
def test_its_error_is_that_of_repetition(texts, repeats):
    """On average over 1,500 samples the squared error told is the variance from sample to sample; a little more, since
    none below half of what normal scores have is believed."""
    rng = np.random.default_rng(4)
    found = [mean_difference(scores) for scores in rng.normal(0, 1, (1500, texts, repeats))]
    values = np.array([one.value for one in found])
    told = np.mean([(one.value * one.error) ** 2 for one in found])
    assert told == pytest.approx(values.var(), rel=0.2)
    assert values.mean() == pytest.approx(2 / math.sqrt(math.pi), rel=0.02)


def test_normal_scores_have_the_error_that_theory_gives():
    found = mean_difference(np.random.default_rng(6).normal(0, 1, (2000, 10)))
    assert found.error**2 * 18_000 == pytest.approx(NORMAL, rel=0.1)


def test_no_small_error_is_believed():
    """Two answers of one text say how far apart they lie, and nothing of how far others would."""
    found = mean_difference([np.array([3.0, 4.0])])
    assert found.error**2 == pytest.approx(LEAST * NORMAL)
    low, high = found.interval(0.95)
    assert low < 0.01
    assert high > 10


def test_scale_and_place_do_not_matter():
    scores = np.random.default_rng(8).normal(0, 1, (5, 10))
    one, other = mean_difference(scores), mean_difference(7 + 3 * scores)
    assert other.interval(0.9) == pytest.approx([3 * end for end in one.interval(0.9)])


def test_a_slip_more_than_was_seen_is_allowed_for():
    scores = np.full((5, 10), 4.0)
    scores[0, 0] = 3.0
    low, high = mean_difference(scores, step=1.0).interval(0.95)
    assert high - mean_difference(scores).interval(0.95)[1] == pytest.approx(2 / 50)
    assert low > 0


def test_two_answers_lie_no_further_apart_than_half_the_scale() -> None:
    """E|X - Y| of two draws from any distribution on a range is at most half of it; four answers may show more."""
    found = mean_difference([np.array([0.0, 10.0]), np.array([1.0, 9.0])], step=1.0, span=10.0)
    assert found.value == pytest.approx(9.0)
    assert found.interval(0.95)[1] == pytest.approx(9.0)
    less = mean_difference([np.array([2.0, 4.0, 3.0]), np.array([5.0, 9.0, 5.0])], step=1.0, span=10.0)
    low, high = less.interval(0.99)
    assert 0 < low < less.value < high == 5.0
    assert less.p_value(5.01, "below") == 0.0
