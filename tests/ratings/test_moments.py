"""Moments: counts, means and sums of squares by cell are numpy's, and hold no spread that rounding made."""

from __future__ import annotations

import numpy as np

from recuse.ratings.array import moments_of


def test_they_are_numpys() -> None:
    rng = np.random.default_rng(0)
    cells, values = rng.integers(0, 7, 200), rng.normal(5, 2, 200)
    found = moments_of(cells, values, 8)
    for cell in range(7):
        mine = values[cells == cell]
        assert found.count[cell] == len(mine)
        np.testing.assert_allclose(found.mean[cell], mine.mean())
        np.testing.assert_allclose(found.variance[cell], mine.var(ddof=1))
    assert found.count[7] == 0
    assert np.isnan(found.mean[7])


def test_missing_values_are_left_out_and_one_value_has_no_variance() -> None:
    found = moments_of(np.array([0, 0, 1]), np.array([2.0, np.nan, np.nan]), 2)
    assert found.count.tolist() == [1, 0]
    assert found.mean[0] == 2.0
    assert np.isnan(found.variance).all()


def test_equal_but_for_rounding_is_equal() -> None:
    found = moments_of(np.zeros(2, dtype=int), np.array([0.1 + 0.2, 0.3]), 1)
    assert found.variance[0] == 0.0


def test_close_scores_far_from_zero_keep_their_digits() -> None:
    values = 1e8 + np.array([0.0, 0.1, 0.2])
    np.testing.assert_allclose(moments_of(np.zeros(3, dtype=int), values, 1).variance, [0.01], rtol=1e-5)


def test_moments_of_parts_add_up_to_those_of_the_whole() -> None:
    """What another engine that can only add would do: counts, sums, squares about the joint mean."""
    rng = np.random.default_rng(1)
    values = rng.normal(0, 1, 30)
    halves = moments_of(np.repeat([0, 1], 15), values, 2)
    whole = moments_of(np.zeros(30, dtype=int), values, 1)
    between = halves.count @ (halves.mean - whole.mean[0]) ** 2
    np.testing.assert_allclose(whole.squares[0], halves.squares.sum() + between)
