"""The alternative annotator test: by hand, its procedure, one person and the group, what is undefined."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest
from simulated_raters import NAN, World, answers_from

from recuse.papers import alternative_annotator as alternative
from recuse.papers.alternative_annotator import Won, _comparisons, _threshold, winning_rate
from recuse.ratings import Numeric, Ratings
from recuse.schema import RecuseError

of_answers = inspect.unwrap(winning_rate)


def test_by_hand():
    """Three people; person 0 left out. 40 items: on 30 all agree; on 6 person 0 is alone against judge and others; on 4
    the judge is alone. W_judge = 36/40, W_person = 34/40."""
    right = np.ones(40)
    odd, judge = right.copy(), right.copy()
    odd[30:36] = 0
    judge[36:] = 0
    comparison = _comparisons(answers_from(judge, [odd, right, right]), 0, None)["person 0"]
    assert (comparison.judge.mean(), comparison.person.mean()) == (36 / 40, 34 / 40)
    assert comparison.distribution.value == pytest.approx(2 / 40)


def test_ties_go_to_both():
    same = np.tile([0.0, 1.0], 20)
    comparison = _comparisons(answers_from(same, [same, same]), 0, None)["person 0"]
    assert comparison.judge.all()
    assert comparison.person.all()
    assert comparison.distribution.p_value(-0.1, "above") < 0.05  # equal is not worse by a tenth


def test_numbers_go_by_the_squared_difference_from_the_others():
    """Person 0 says 5, the others 1 and 3: squared differences 16 + 4; the judge's 2 has 1 + 1."""
    people = np.array([[5.0] * 30, [1.0] * 30, [3.0] * 30])
    comparison = _comparisons(answers_from(np.full(30, 2.0), people, scale=Numeric(0, 10)), 0, None)["person 0"]
    assert (comparison.judge.mean(), comparison.person.mean()) == (1.0, 0.0)


def test_p_value_is_the_one_sided_paired_t():
    """Nearly: one step of smoothing keeps differences without exception from counting as certain."""
    from scipy import stats

    world = World(1, items=300, people=3)
    comparison = _comparisons(answers_from(world.judge("another person"), world.people), 0, None)["person 1"]
    theirs = stats.ttest_1samp(comparison.judge - comparison.person, -0.1, alternative="greater")
    assert comparison.distribution.p_value(-0.1, "above") == pytest.approx(theirs.pvalue, rel=0.15)


def test_benjamini_and_yekutieli():
    """q / (m H_m) per rank: with three p-values .005, .02, .9 and q = .05 the steps are .0091, .0182, .0273."""
    p = np.array([0.02, 0.005, 0.9])
    assert _threshold(p, 0.05) == 0.005
    assert _threshold(np.array([0.018, 0.005, 0.9]), 0.05) == 0.018
    assert _threshold(np.array([0.5, 0.9]), 0.05) < 0
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.random(6) ** 4
        assert (p <= _threshold(p, 0.05)).tolist() == multitest.multipletests(p, 0.05, "fdr_by")[0].tolist()


def test_a_good_judge_wins_and_a_bad_one_does_not():
    world = World(2, items=400, people=3)
    rates = {}
    for kind in ("another person", "random", "inverted", "always passes"):
        answers = answers_from(world.judge(kind), world.people)
        rates[kind] = of_answers(answers, 0)
    assert rates["another person"].value == 1.0
    assert rates["random"].value == rates["inverted"].value == 0.0
    assert rates["another person"].detail["average_advantage"] > rates["random"].detail["average_advantage"]
    assert rates["another person"].note == "3 of 3 people"


def test_no_answer_is_no_advantage():
    world = World(3, items=100, people=3)
    comparison = _comparisons(answers_from(np.full(100, NAN), world.people), 0, None)["person 0"]
    assert not comparison.judge.any()
    assert comparison.person.all()
    assert comparison.lost == 100


def test_a_single_expert_is_the_reference():
    """Person 0 is the expert; persons 1 and 2 guess, the judge sees what the expert sees: it represents the expert
    better than either."""
    world = World(4, items=200, people=1)
    crowd = [world.judge("random"), world.judge("random")]
    answers = answers_from(world.rater(), [world.people[0], *crowd])
    comparisons = _comparisons(answers, 0, "person 0")
    assert set(comparisons) == {"person 1", "person 2"}
    assert of_answers(answers, 0, expert="person 0").value == 1.0


def test_too_few_texts_in_common():
    same = np.tile([0.0, 1.0], 10)
    answers = answers_from(same, [same, same])
    found = of_answers(answers, 0)
    assert math.isnan(found.value)
    assert "30 texts in common" in found.note
    by_person = dict(inspect.unwrap(alternative.advantage_over_person)(answers))
    assert "the test needs 30" in by_person[answers.judges[0], "person 0"].note


def test_by_judge_and_person(table):
    ratings = Ratings.of(table())
    found = alternative.advantage_over_person(ratings)
    assert found.by == ("judge", "person", "criterion")
    assert len(found) == 8
    assert set(alternative.winning_rate(ratings, expert="ann").of(judge="mira", criterion="safe").detail) > {"epsilon"}


def test_mistakes_are_told(table):
    ratings = Ratings.of(table())
    with pytest.raises(RecuseError, match="epsilon"):
        alternative.winning_rate(ratings, epsilon=1.5)
    with pytest.raises(RecuseError, match="no person 'zoe'; people: ann, bea"):
        alternative.winning_rate(ratings, expert="zoe")


def test_the_interval_holds_what_the_tests_leave_open():
    """Of four people one is surely won, one surely lost: from a quarter to three quarters."""
    distribution = Won(np.array([1e-6, 0.3, 0.6, 1.0]), np.array([1.0, 0.6, 0.3, 1e-6]))
    assert distribution.interval(0.95) == (0.25, 0.75)
    assert distribution.p_value(0.2, "above") < 0.001
    assert distribution.p_value(0.8, "below") < 0.001
    assert distribution.p_value(0.5, "above") > 0.2
    assert distribution.interval(0.99999999) == (0.0, 1.0)
