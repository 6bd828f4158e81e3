"""Shares of sets, beta, choice matrices, and how many ratings a decision takes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from recuse.papers.indeterminacy.rating_task import RatingTask, error_matrix
from recuse.papers.indeterminacy.response_sets import (
    SHOWN,
    accepted_both,
    indeterminate_share,
    performance,
    rater_error,
    ratings_needed,
)
from recuse.ratings import Ratings
from recuse.ratings.scale import ResponseSets


def test_shares_of_sets_and_beta_come_back(planted):
    found = planted(items=400).person_rows(toxic_of_both=0.2).judge("j")
    both = found.theta[:, 2].mean()
    share = indeterminate_share(found.ratings()).of(rater="people")
    assert share.low < both < share.high
    beta = accepted_both(found.ratings()).of(rater="people")
    chose_fine = found.theta[:, 1].mean() + 0.8 * both
    assert beta.low - 0.02 < 0.8 * both / chose_fine < beta.high + 0.02


@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_a_planted_error_comes_back_from_people_who_answered_twice(rate):
    """Errors by the paper's matrix E, people who differ beside them, a judge that says something else every time."""
    options = ("toxic", "fine")
    task, rng = RatingTask.of(options), np.random.default_rng(5)
    sets, error = [task.set_name(v) for v in range(len(task.sets))], error_matrix(task, rate)
    rows = []
    for person, text in product("pqr", range(400)):
        held = rng.integers(len(sets))
        rows += [(person, "person", f"t{text}", k, sets[rng.choice(len(sets), p=error[:, held])]) for k in (0, 1)]
    rows += [("j", "judge", f"t{text}", k, sets[k]) for text in range(400) for k in (0, 1)]
    frame = pd.DataFrame(rows, columns=["rater", "kind", "item", "repeat", "response"])
    found = rater_error(Ratings.of(frame, scales=ResponseSets(options))).of()
    assert found.low < rate < found.high < rate + 0.05
    assert (found.n, found.detail["sets"]) == (1200, 3)


def test_who_answered_once_shows_no_error(planted):
    assert len(rater_error(planted(items=30).person_rows().judge("j").ratings())) == 0


def test_the_task_is_said_to_be_underspecified_in_words(planted):
    detail = indeterminate_share(planted(items=30).person_rows().judge("j").ratings()).of(rater="people").detail
    assert "underspecified" in detail["words"]
    assert "Add an option" in detail["words"]


def test_a_task_in_which_nobody_names_two_is_not(planted):
    sure = planted(items=30)
    sure.theta = np.hstack([sure.theta[:, :2] / sure.theta[:, :2].sum(axis=1, keepdims=True), np.zeros((30, 1))])
    found = indeterminate_share(sure.person_rows().judge("j").ratings()).of(rater="people")
    assert found.value == 0.0
    assert "determine how often each response set is meant" in found.detail["words"]


def test_choice_matrices_are_estimated_from_pairs(planted):
    ratings = planted(items=400).person_rows(toxic_of_both=0.2).judge("j").ratings()
    found = indeterminate_share(ratings).of(rater="people").detail
    assert found["sets"] == ["toxic", "fine", "toxic|fine"]
    np.testing.assert_allclose(np.array(found["choice"]), [[1, 0, 0.2], [0, 1, 0.8]], atol=0.05)
    np.testing.assert_allclose(np.array(found["reverse"]).sum(axis=0), 1)
    assert found["choice_low"][0][2] < 0.2 < found["choice_high"][0][2]
    assert found["prior"] == 0.5


def test_nobody_asked_both_ways_leaves_nothing_to_measure(planted):
    ratings = planted(items=30).person_rows().judge("j").choices_alone()
    assert len(indeterminate_share(ratings)) == 0


def test_ratings_needed_grow_with_doubt(planted):
    found = ratings_needed(planted(items=300, people=7).person_rows().judge("j").ratings(), (0.5,))
    estimate = found.of(threshold="0.5")
    assert estimate.value > 1
    assert estimate.detail["one"] < estimate.detail["now"]
    assert estimate.detail["have"] == 7


def test_single_ratings_cannot_tell(planted):
    found = ratings_needed(planted(people=1).person_rows().judge("j").ratings(), (0.5,)).of(threshold="0.5")
    assert "no text has two ratings" in found.note


def test_every_definition_that_is_shown_is_measured_with_an_interval(planted):
    found = performance(planted(items=60).person_rows().judge("j").ratings())
    assert len(found) == len(SHOWN)
    for each in SHOWN:
        estimate = found.of(judge="j", definition=each.name)
        assert estimate.low <= estimate.value <= estimate.high, each.name
        assert estimate.detail["higher"] is each.higher


def test_intervals_of_a_definition_hold_its_value_on_all_texts(planted):
    """Coverage: 60 of 1200 texts at a time."""
    whole = planted(items=1200, people=3, repeats=2).person_rows().judge("j").ratings()
    truth = performance(whole).of(judge="j", definition="mse(s/s)").value
    held = 0
    for k in range(20):
        items = [f"i{i}" for i in range(60 * k, 60 * (k + 1))]
        part = whole.table[whole.table["item"].isin(items)]
        few = type(whole).of(part, scales=whole.scales)
        estimate = performance(few).of(judge="j", definition="mse(s/s)")
        held += estimate.low <= truth <= estimate.high
    assert held >= 16


@pytest.mark.parametrize("missing", ["person", "judge"])
def test_a_side_without_answers_is_undefined(planted, missing):
    found = planted(items=10)
    if missing == "judge":
        found.person_rows().judge("j", status="unparsed")
        estimate = performance(found.ratings()).of(judge="j", definition="mse(s/s)")
        assert "no text has valid answers of both" in estimate.note
    else:
        found.judge("j")
        with pytest.raises(Exception, match="add rows of kind person"):
            performance(found.ratings())
