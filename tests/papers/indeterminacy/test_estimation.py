"""Transition matrices from counts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from recuse.papers.indeterminacy.rating_task import RatingTask, choice_matrix, transition_estimate

TASK = RatingTask.of(["yes", "no"])
ALLOWED = TASK.membership > 0


def test_posterior_means_by_hand():
    """Of 8 who held both, 6 chose yes: (6 + 1/2) / (8 + 1). A set of one option leaves no doubt."""
    matrix, low, high = transition_estimate(np.array([[4.0, 0, 6], [0, 3, 2]]), ALLOWED)
    np.testing.assert_allclose(matrix, [[1, 0, 6.5 / 9], [0, 1, 2.5 / 9]])
    assert low[0, 2] == pytest.approx(stats.beta.ppf(0.025, 6.5, 2.5))
    assert (low[0, 0], high[0, 0], high[1, 0]) == (1, 1, 0)


def test_a_column_that_nobody_filled_has_its_prior():
    matrix, low, high = transition_estimate(np.array([[4.0, 0, 0], [0, 3, 0]]), ALLOWED)
    assert matrix[0, 2] == 0.5
    assert high[0, 2] - low[0, 2] > 0.95


def test_intervals_hold_the_matrix_that_drew_the_counts():
    rng, truth = np.random.default_rng(0), choice_matrix(TASK, 1.0)[0, 2]
    held = 0
    for _ in range(400):
        yes = rng.binomial(30, truth)
        _, low, high = transition_estimate(np.array([[5.0, 0, yes], [0, 5, 30 - yes]]), ALLOWED)
        held += low[0, 2] <= truth <= high[0, 2]
    assert 0.92 < held / 400 < 0.99
