"""Decisions by threshold, consistency, bias, prevalence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.papers.indeterminacy.definitions import TAUS, consistency, decisions, estimation_bias, prevalence
from recuse.schema import RecuseError

nan = float("nan")


def test_a_share_equal_to_the_cut_off_is_positive():
    np.testing.assert_array_equal(decisions(np.array([[0.5, 1], [0.49, 1], [nan, nan]]), 0, 0.5), [1, 0, nan])


def test_a_grid_of_cut_offs_is_the_first_axis():
    found = decisions(np.array([[0.3], [0.6]]), 0, TAUS)
    np.testing.assert_array_equal(found, [[1, 1], [0, 1], [0, 0]])


def test_consistency_and_bias_by_hand():
    judge, people = np.array([1, 1, 0, nan]), np.array([1, 0, 0, 1])
    assert consistency(judge, people) == pytest.approx(2 / 3)
    assert estimation_bias(judge, people) == pytest.approx(1 / 3)
    assert prevalence(judge) == pytest.approx(2 / 3)


def test_below_0_the_judge_underestimates():
    assert estimation_bias(np.array([0.0, 0]), np.array([1.0, 0])) == -0.5


@given(seed=st.integers(0, 10_000), tau=st.floats(0.01, 1.0))
def test_consistency_and_bias_never_exceed_1_together(seed, tau):
    rng = np.random.default_rng(seed)
    judge, people = (decisions(rng.random((4, 30, 2)), 0, tau) for _ in range(2))
    assert (consistency(judge, people) + np.abs(estimation_bias(judge, people)) <= 1 + 1e-12).all()


def test_prevalence_falls_with_the_cut_off():
    found = prevalence(decisions(np.random.default_rng(1).random((50, 1)), 0, (0.2, 0.4, 0.6, 0.8)))
    assert (np.diff(found) <= 0).all()


def test_no_item_in_common_is_undefined():
    assert np.isnan(consistency(np.array([nan]), np.array([1.0])))


@pytest.mark.parametrize("tau", [0.0, 1.2])
def test_a_cut_off_is_a_share(tau):
    with pytest.raises(RecuseError, match="cut-off"):
        decisions(np.array([[0.5]]), 0, tau)


def test_of_pairs_the_prevalence_of_winning_is_the_win_rate():
    """Win, tie, lose: a pair counts as won where at least tau chose win."""
    shares = np.array([[0.6, 0.1, 0.3], [0.2, 0.5, 0.3], [0.5, 0.0, 0.5], [0.1, 0.1, 0.8]])
    assert prevalence(decisions(shares, 0, 0.5)) == 0.5
