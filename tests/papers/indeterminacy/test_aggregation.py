"""Shares to rating vectors; ties and missing answers."""

from __future__ import annotations

import numpy as np
import pytest

from recuse.papers.indeterminacy.definitions import RatingVectors, hard, hard_response_set
from recuse.schema import RecuseError

nan = float("nan")


def test_the_mode_and_its_ties():
    choices = np.array([[0.2, 0.5, 0.3], [0.4, 0.2, 0.4], [nan, nan, nan]])
    np.testing.assert_array_equal(hard(choices), [[0, 1, 0], [0.5, 0, 0.5], [nan] * 3])


def test_the_threshold_is_reached_by_equality_even_after_rounding():
    found = hard_response_set(np.array([[0.1 + 0.2, 0.29], [0.7 - 0.4, 0.0]]), 0.3)
    np.testing.assert_array_equal(found, [[1, 0], [1, 0]])


def test_a_hard_response_set_may_be_empty_or_hold_everything():
    np.testing.assert_array_equal(hard_response_set(np.array([[0.4, 0.4], [0.9, 0.8]]), 0.5), [[0, 0], [1, 1]])
    with pytest.raises(RecuseError, match="cut-off"):
        hard_response_set(np.array([0.5]), 0.0)


def test_the_four_aggregations_of_one_item():
    vectors = RatingVectors(np.array([[0.6, 0.4]]), np.array([[0.7, 0.5]]), tau=0.6)
    assert [vectors.by(name).tolist() for name in ("h", "s", "hrs", "srs")] == [
        [[1, 0]], [[0.6, 0.4]], [[1, 0]], [[0.7, 0.5]],
    ]  # fmt: skip
