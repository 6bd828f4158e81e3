"""The populations that experiments draw: the design of sec. 6 and Appendix D.1."""

from __future__ import annotations

import numpy as np
import pytest

from recuse.papers.indeterminacy.rating_task import (
    Design,
    counted_choices,
    draw_population,
    forced_choices,
    on_simplex,
    selection_strength,
    simulated_task,
)
from recuse.schema import RecuseError


def rng(seed=0):
    return np.random.default_rng(seed)


def test_projection_is_the_nearest_point_of_the_simplex():
    points = rng().normal(0.3, 0.5, size=(200, 4))
    found = on_simplex(points)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert (found >= 0).all()
    others = rng(1).dirichlet(np.ones(4), size=(200, 300))
    nearest = ((others - points[:, None]) ** 2).sum(axis=2).min(axis=1)
    assert (((found - points) ** 2).sum(axis=1) <= nearest + 1e-12).all()
    inside = rng(2).dirichlet(np.ones(4), size=20)
    np.testing.assert_allclose(on_simplex(inside), inside, atol=1e-12)


def test_a_population_is_what_its_design_says():
    found = draw_population(Design(options=4, sets=15, people_strength=2.0, judge_strength=0.5, error=0.3), rng())
    assert found.stable.shape == (100, 15)
    assert found.judged.shape == (50, 100, 15)
    assert selection_strength(found.task, found.choice) == pytest.approx(2.0)
    assert selection_strength(found.task, found.judge_choice) == pytest.approx(0.5)
    np.testing.assert_allclose(found.judged.sum(axis=2), 1)
    np.testing.assert_allclose(found.people.choices, forced_choices(found.choice, found.stable, found.error))


def test_what_people_hold_reasonable_is_spread_evenly_over_the_simplex():
    """A flat Dirichlet over V sets: the variance of a share is (V - 1) / (V^2 (V + 1)), 0.0153 for 7."""
    found = draw_population(Design(items=4000, judges=1), rng())
    assert found.stable.var(axis=0) == pytest.approx(np.full(7, 6 / 49 / 8), rel=0.1)


def test_judges_lie_at_different_distances():
    found = draw_population(Design(), rng())
    apart = ((found.judged - found.stable) ** 2).sum(axis=2).mean(axis=1)
    assert apart.max() > 10 * apart.min()


@pytest.mark.parametrize(("options", "sets"), [(2, 3), (3, 5), (10, 30), (4, 4)])
def test_tasks_hold_every_option_alone_and_one_set_with_the_first(options, sets):
    task = simulated_task(options, sets, rng())
    assert (len(task.options), len(task.sets)) == (options, sets)
    assert all(frozenset({name}) in task.sets for name in task.options)
    if sets > options:
        assert any(len(s) > 1 and task.options[0] in s for s in task.sets)


@pytest.mark.parametrize(("options", "sets"), [(3, 2), (2, 4)])
def test_sets_that_cannot_be(options, sets):
    with pytest.raises(RecuseError, match="response sets here"):
        simulated_task(options, sets, rng())


def test_draws_follow_their_chances():
    chances = np.array([[0.2, 0.5, 0.3], [0.0, 0.0, 1.0]])
    found = counted_choices(chances, 20_000, rng())
    np.testing.assert_array_equal(found.sum(axis=1), 20_000)
    np.testing.assert_allclose(found / 20_000, chances, atol=0.012)


def test_estimates_come_to_the_population_as_ratings_grow():
    """Consistency of the estimator (Appendix D.1): the error falls as one over the root of the ratings."""
    found = draw_population(Design(people_strength=1.5, error=0.2, skew=1.0), rng())
    few = found.sampled_people((10, 100, 4000), rng(1))
    errors = np.sqrt(((few.endorsed - found.truth) ** 2).mean(axis=(1, 2)))
    assert errors[0] > 2 * errors[1] > 4 * errors[2]
    assert errors[2] < 0.02
    np.testing.assert_allclose(few.choices.sum(axis=2), 1)  # shares of the ratings that there are


def test_response_sets_from_choices_use_the_true_reverse_matrices():
    found = draw_population(Design(error=0.3), rng())
    few = found.sampled_people((5,), rng(1))
    endorsed = few.choices[0]
    for matrix, shares in ((found.choice, found.observed), (found.error, found.stable)):
        joint = matrix * shares[:, None, :]  # Bayes: P(column | row) of every item
        endorsed = np.einsum("irv,ir->iv", joint / joint.sum(axis=2, keepdims=True), endorsed)
    np.testing.assert_allclose(few.endorsed[0], endorsed @ found.task.membership.T, atol=1e-12)


def test_budgets_rise():
    with pytest.raises(RecuseError, match="budgets rise"):
        draw_population(Design(judges=1), rng()).sampled_people((3, 1), rng())
