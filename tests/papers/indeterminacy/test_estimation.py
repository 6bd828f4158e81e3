"""Transition matrices from counts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from recuse.papers.indeterminacy.rating_task import RatingTask, check_stochastic
from recuse.papers.indeterminacy.transitions import choice_matrix, transition_estimate
from recuse.schema import RecuseError

TASK = RatingTask.of(["yes", "no"])


def test_posterior_means_by_hand():
    """Of 8 who held both, 6 chose yes: (6 + 1/2) / (8 + 1). A set of one option leaves no doubt."""
    found = transition_estimate([[4, 0, 6], [0, 3, 2]], TASK.membership)
    np.testing.assert_allclose(found.matrix, [[1, 0, 6.5 / 9], [0, 1, 2.5 / 9]])
    assert found.low[0, 2] == pytest.approx(stats.beta.ppf(0.025, 6.5, 2.5))
    assert (found.low[0, 0], found.high[0, 0], found.high[1, 0]) == (1, 1, 0)
    assert not check_stochastic(found.matrix, "a choice matrix")[..., TASK.membership == 0].any()


def test_a_column_that_nobody_filled_has_its_prior_and_says_so():
    found = transition_estimate([[4, 0, 0], [0, 3, 0]], TASK.membership)
    assert found.empty == (2,)
    assert found.matrix[0, 2] == 0.5
    assert found.high[0, 2] - found.low[0, 2] > 0.95


def test_intervals_hold_the_matrix_that_drew_the_counts():
    rng, truth = np.random.default_rng(0), choice_matrix(TASK, 1.0)[0, 2]
    held = 0
    for _ in range(400):
        yes = rng.binomial(30, truth)
        found = transition_estimate([[5, 0, yes], [0, 5, 30 - yes]], TASK.membership)
        held += found.low[0, 2] <= truth <= found.high[0, 2]
    assert 0.92 < held / 400 < 0.99


@pytest.mark.parametrize(
    ("counts", "more", "says"),
    [
        ([[1, 1, 1], [0, 1, 1]], {}, "exclude each other"),
        ([[-1, 0, 1], [0, 1, 1]], {}, "at least 0"),
        ([[1, 0, 1], [0, 1, 1]], {"total": 9}, "add up to 4"),
        ([[1, 0, 1], [0, 1, 1]], {"prior": 0}, "a prior is above 0"),
        ([[1, 0]], {}, "one shape"),
    ],
)
def test_counts_that_cannot_be(counts, more, says):
    with pytest.raises(RecuseError, match=says):
        transition_estimate(counts, TASK.membership, **more)
