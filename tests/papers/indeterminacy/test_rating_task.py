"""Section 2 of the paper: options, admissible sets, and Definition 2.1 read strictly."""

from __future__ import annotations

import numpy as np
import pytest

from recuse.papers.indeterminacy.rating_task import RatingTask
from recuse.schema import RecuseError


def underspecified(task: RatingTask) -> bool:
    """Definition 2.1, read strictly: |O| < |Q|. With the printed <= every task would be underspecified."""
    return len(task.options) < len(task.sets)


def test_yes_or_no_is_underspecified_and_a_third_option_makes_it_specified():
    """Figure 2: two options, three sets. With Maybe for unclear cases there are as many sets as options."""
    assert underspecified(RatingTask.of(["yes", "no"]))
    maybe = RatingTask.of(["yes", "no", "maybe"], [["yes"], ["no"], ["maybe"]])
    assert not underspecified(maybe)


def test_definition_2_1_is_strict():
    """With the printed <= a task whose every option stands alone would be underspecified too."""
    task = RatingTask.of(["win", "tie", "lose"], [["win"], ["tie"], ["lose"]])
    assert len(task.options) <= len(task.sets)
    assert not underspecified(task)


def test_as_many_sets_as_options_does_not_suffice():
    task = RatingTask.of(["a", "b"], [["a"], ["a", "b"]])
    assert not underspecified(task)
    assert set(task.sets) != set(RatingTask.of(["a", "b"], [["a"], ["b"]]).sets)


def test_membership_marks_the_options_of_every_set():
    task = RatingTask.of(["a", "b"])
    np.testing.assert_array_equal(task.membership, [[1, 0, 1], [0, 1, 1]])
    assert [task.set_name(v) for v in range(3)] == ["a", "b", "a|b"]
    assert task.set_place(["b", "a"]) == 2


@pytest.mark.parametrize("options", [["a"], ["a", "a"], []])
def test_options_are_two_or_more_and_differ(options):
    with pytest.raises(RecuseError, match="two options or more"):
        RatingTask.of(options)


def test_a_set_is_not_empty_and_holds_options():
    with pytest.raises(RecuseError, match="empty set"):
        RatingTask.of(["a", "b"], [[]])
    with pytest.raises(RecuseError, match="got c"):
        RatingTask.of(["a", "b"], [["c"]])
    with pytest.raises(RecuseError, match="each once"):
        RatingTask.of(["a", "b"], [["a"], ["a"]])


def test_what_is_not_in_the_task_is_named():
    task = RatingTask.of(["a", "b"], [["a"], ["b"]])
    with pytest.raises(RecuseError, match=r"a\|b is not among the 2"):
        task.set_place(["a", "b"])
    with pytest.raises(RecuseError, match="got z"):
        task.set_place(["z"])
