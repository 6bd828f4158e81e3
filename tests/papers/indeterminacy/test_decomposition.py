"""Theorems 3.3 and 3.4, and what follows from them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.papers.indeterminacy.rating_task import (
    RatingTask,
    choice_matrix,
    endorsements,
    error_matrix,
    forced_choices,
    identifiability,
    reversed_shares,
)

YES_NO = RatingTask.of(["yes", "no"])


@given(seed=st.integers(0, 10_000), options=st.integers(2, 4), rate=st.floats(0, 0.9), decay=st.floats(-3, 3))
def test_theorem_3_3_forward_and_back(seed, options, rate, decay):
    task = RatingTask.of([f"o{k}" for k in range(options)])
    rng = np.random.default_rng(seed)
    theta = rng.dirichlet(np.ones(len(task.sets)), size=5)
    choice, error = choice_matrix(task, decay), error_matrix(task, rate, 0.7)
    observed = theta @ error.T
    chosen = forced_choices(choice, theta, error)
    np.testing.assert_allclose(chosen.sum(axis=-1), 1)
    back = reversed_shares(error, theta, reversed_shares(choice, observed, chosen))
    np.testing.assert_allclose(back, theta, atol=1e-12)


def test_the_reverse_matrix_depends_on_the_item():
    """Bayes by hand: of yes-sayers, .5 x .2 / (.4 + .1) would have accepted both; with theta (.1, .5, .4), 2 / 3."""
    choice = choice_matrix(YES_NO, 0.0)
    yes = np.array([1.0, 0.0])
    assert reversed_shares(choice, np.array([0.4, 0.4, 0.2]), yes)[2] == pytest.approx(0.1 / 0.5)
    assert reversed_shares(choice, np.array([0.1, 0.5, 0.4]), yes)[2] == pytest.approx(0.2 / 0.3)


def test_what_never_occurs_does_no_harm():
    choice = choice_matrix(YES_NO, 60.0)  # no is chosen only by who holds it alone
    back = reversed_shares(choice, np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.0]))
    np.testing.assert_allclose(back, [1, 0, 0], atol=1e-12)


def test_theorem_3_4_specified_tasks_are_identifiable_and_others_are_not():
    specified = RatingTask.of(["yes", "no", "maybe"], [["yes"], ["no"], ["maybe"]])
    assert "determine how often" in identifiability(choice_matrix(specified, 1.0))
    found = identifiability(choice_matrix(YES_NO, 1.0))
    assert found.startswith(
        "the task is underspecified: forced choices between 2 options cannot tell 3 response sets apart"
    )


def test_theorem_3_4_two_populations_give_the_same_choices():
    """Footnote 6: selection effects leave no trace in forced choices. F theta is equal, Omega is not."""
    choice = choice_matrix(YES_NO, 0.0)
    one, other = np.array([0.5, 0.5, 0.0]), np.array([0.2, 0.2, 0.6])
    np.testing.assert_allclose(forced_choices(choice, one), forced_choices(choice, other))
    assert endorsements(YES_NO, one)[0] == 0.5
    assert endorsements(YES_NO, other)[0] == pytest.approx(0.8)


@given(seed=st.integers(0, 10_000), decay=st.floats(-5, 5))
def test_without_error_no_option_is_chosen_more_often_than_endorsed(seed, decay):
    """O <= Omega entry by entry, so prevalence by forced choice is never above that by response sets."""
    task = RatingTask.of(["a", "b", "c"])
    theta = np.random.default_rng(seed).dirichlet(np.ones(7), size=20)
    chosen, endorsed = forced_choices(choice_matrix(task, decay), theta), endorsements(task, theta)
    assert (chosen <= endorsed + 1e-12).all()


@pytest.mark.slow("simulations")
def test_the_model_is_the_process_it_stands_for():
    """Draw raters one by one along S* -> S -> O: choices depend on the set alone (Assumptions 3.1 and 3.2). Errors move
    the shares by far more than 60,000 draws do, and by E transposed they would move elsewhere."""
    rng = np.random.default_rng(1)
    theta, choice, error = np.array([0.1, 0.8, 0.1]), choice_matrix(YES_NO, 1.0), error_matrix(YES_NO, 0.4, skew=2.0)
    wrong = (forced_choices(choice, theta), forced_choices(choice, theta, error.T))
    assert min(abs(other[0] - forced_choices(choice, theta, error)[0]) for other in wrong) > 0.2
    stable = rng.choice(3, size=60_000, p=theta)
    observed = np.array([rng.choice(3, p=error[:, v]) for v in stable])
    chosen = np.array([rng.choice(2, p=choice[:, v]) for v in observed])
    assert (chosen == 0).mean() == pytest.approx(forced_choices(choice, theta, error)[0], abs=0.01)
    seen = [np.isin(observed, np.flatnonzero(YES_NO.membership[k])).mean() for k in range(2)]
    assert endorsements(YES_NO, theta, error) == pytest.approx(np.array(seen), abs=0.01)
    both = observed == 2
    shares = [(chosen[both & (stable == v)] == 0).mean() for v in range(3)]
    assert np.ptp(shares) < 0.04


def test_fully_specified_both_ways_of_asking_say_the_same():
    task = RatingTask.of(["yes", "no", "maybe"], [["yes"], ["no"], ["maybe"]])
    theta = np.random.default_rng(0).dirichlet(np.ones(3), size=10)
    np.testing.assert_allclose(forced_choices(choice_matrix(task, 2.0), theta), endorsements(task, theta))
