"""Matrices with parameters: selection strength, errors with skew, and the reverse matrix of Table 2."""

from __future__ import annotations

import numpy as np
import pytest

from recuse.papers.indeterminacy.rating_task import (
    RatingTask,
    choice_matrix,
    decay_for,
    endorsements,
    error_matrix,
    recovered,
    reverse_choice_matrix,
    selection_strength,
)
from recuse.schema import RecuseError

YES_NO = RatingTask.of(["yes", "no"])
THREE = RatingTask.of(["a", "b", "c"])
TOXIC = RatingTask.of(["very toxic", "toxic", "no or unsure"])


def test_chance_has_strength_1_and_the_printed_weight_has_not():
    """Printed: mean over sets with the option of P(option) / |S|: (1 + .5 / 2) / 2 = .625 at chance. With |S|: 1."""
    even = choice_matrix(YES_NO, 0.0)
    held = YES_NO.membership[0] > 0
    assert (even[0] / YES_NO.sizes)[held].mean() == 0.625
    assert selection_strength(YES_NO, even) == 1.0
    assert selection_strength(THREE, choice_matrix(THREE, 0.0)) == pytest.approx(1.0)


@pytest.mark.parametrize("strength", [0.5, 0.8, 1.0, 1.5, 2.0])
def test_the_decay_for_a_strength_has_that_strength(strength):
    task = RatingTask.of(["a", "b", "c", "d"])
    found = choice_matrix(task, decay_for(task, strength))
    assert selection_strength(task, found) == pytest.approx(strength, abs=1e-9)


def test_with_two_options_strength_2_is_reached_at_the_limit_alone():
    assert choice_matrix(YES_NO, decay_for(YES_NO, 2.0))[0, 2] == pytest.approx(1.0, abs=1e-6)
    with pytest.raises(RecuseError, match=r"lies between 0\.000 and 2\.000"):
        decay_for(YES_NO, 2.5)


def test_choices_fall_by_one_and_the_same_factor_from_rank_to_rank():
    """exp(-gamma r): with gamma = ln 2 each next option of a set is half as likely, so 4 : 2 : 1 of three."""
    found = choice_matrix(THREE, np.log(2))
    everything = THREE.set_place({"a", "b", "c"})
    np.testing.assert_allclose(found[:, everything], [4 / 7, 2 / 7, 1 / 7])
    np.testing.assert_allclose(found[:, THREE.set_place({"a", "c"})], [2 / 3, 0, 1 / 3])
    np.testing.assert_allclose(choice_matrix(THREE, -np.log(2))[:, everything], [1 / 7, 2 / 7, 4 / 7])


def test_a_specified_task_leaves_no_choice_to_select():
    task = RatingTask.of(["a", "b"], [["a"], ["b"]])
    assert np.isnan(selection_strength(task, choice_matrix(task, 3.0)))
    assert decay_for(task, 2.0) == 0.0


def test_errors_sum_to_the_rate_and_skew_favours_sets_with_the_option():
    plain, skewed = error_matrix(THREE, 0.3), error_matrix(THREE, 0.3, 1.0)
    for matrix in (plain, skewed):
        np.testing.assert_allclose(matrix.sum(axis=0), 1)
        np.testing.assert_allclose(np.diag(matrix), 0.7)
    held = THREE.membership[0] > 0
    assert skewed[held][:, 1].sum() > plain[held][:, 1].sum()
    with pytest.raises(RecuseError, match="error rate"):
        error_matrix(THREE, 1.1)


def test_table_2():
    """Very Toxic and Toxic stand for themselves; of No/Unsure a share beta would have held Toxic admissible."""
    found = reverse_choice_matrix(TOXIC, 0.3, positive=1)
    assert {TOXIC.set_name(v): found[v].tolist() for v in np.flatnonzero(found.any(axis=1))} == {
        "very toxic": [1, 0, 0], "toxic": [0, 1, 0.3], "no or unsure": [0, 0, 0.7],
    }  # fmt: skip


def test_under_table_2_toxic_is_endorsed_by_who_chose_it_and_by_beta_of_the_rest():
    chosen = np.array([0.1, 0.3, 0.6])
    for variant, extra in (("printed", 0.0), ("both", 0.0), ("nested", 0.1)):
        back = reverse_choice_matrix(TOXIC, 0.2, positive=1, variant=variant)
        np.testing.assert_allclose(back.sum(axis=0), 1)
        endorsed = endorsements(TOXIC, recovered(back, chosen))
        assert endorsed[1] == pytest.approx(0.3 + 0.2 * 0.6 + extra)


def test_the_nested_variant_flips_a_decision_at_a_smaller_beta():
    """The paper calls Table 2 conservative: who chose Very Toxic would accept Toxic too."""
    chosen = np.array([0.2, 0.2, 0.6])

    def first(variant):
        def toxic(beta):
            back = reverse_choice_matrix(TOXIC, beta, positive=1, variant=variant)
            return endorsements(TOXIC, recovered(back, chosen))[1]

        return next(beta for beta in np.linspace(0, 1, 101) if toxic(float(beta)) >= 0.5)

    assert first("nested") < first("printed")


def test_of_two_options_the_other_one_is_the_fallback():
    np.testing.assert_allclose(
        reverse_choice_matrix(YES_NO, 0.4, positive=0, variant="both"), [[1, 0], [0, 0.6], [0, 0.4]]
    )


@pytest.mark.parametrize("beta", [-0.1, 1.5, float("nan")])
def test_beta_is_a_probability(beta):
    with pytest.raises(RecuseError, match="beta is a probability"):
        reverse_choice_matrix(YES_NO, beta, positive=0)


def test_what_a_reverse_matrix_cannot_be_built_from():
    with pytest.raises(RecuseError, match="positive option"):
        reverse_choice_matrix(YES_NO, 0.1, positive=2)
    with pytest.raises(RecuseError, match="not among"):
        reverse_choice_matrix(RatingTask.of(["a", "b"], [["a"], ["b"]]), 0.1, positive=0, variant="both")
