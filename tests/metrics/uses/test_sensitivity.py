"""Sensitivity and specificity against one expert: by hand, against other programs, and the chance to be cleared."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from recuse.metrics.expert import sensitivity, specificity
from recuse.ratings import Nominal, Numeric, Ordinal
from recuse.schema import RecuseError


def test_by_hand_with_an_unanswered_text_on_either_side(label):
    """Of 4 toxic texts 2 are found and 1 is left out: 2/4; of 5 others 3 are left alone and 1 is left out: 3/5."""
    ratings = label({"judge": ["t", "t", "f", None, "f", "f", "f", "t", None], "ann": ["t"] * 4 + ["f"] * 5})
    found, left = (measure(ratings).of(judge="judge") for measure in (sensitivity, specificity))
    assert (found.value, found.n) == (0.5, 4)
    assert (left.value, left.n) == (0.6, 5)
    assert found.detail == {
        "positive": "t", "stated": False, "held_against": "one person", "unanswered": 1,
        "answered_only": pytest.approx(2 / 3, abs=1e-12), "even": 0, "of": 9,
    }  # fmt: skip


@pytest.mark.parametrize("side", ["yes", "no"])
def test_the_two_change_places_with_what_is_positive(label, side):
    rng = np.random.default_rng(3)
    ratings = label({"judge": rng.choice(["yes", "no"], 60), "ann": rng.choice(["yes", "no"], 60)})
    other = {"yes": "no", "no": "yes"}[side]
    assert sensitivity(ratings, side).of(judge="judge").value == specificity(ratings, other).of(judge="judge").value


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 0.95))
def test_against_sklearn_and_scipy(label, seed, share):
    from sklearn.metrics import recall_score

    rng = np.random.default_rng(seed)
    expert, judge = rng.random((2, 40)) < [[share], [0.5]]
    if not 0 < expert.sum() < 40:
        return
    ratings = label({"judge": np.where(judge, "bad", "good"), "ann": np.where(expert, "bad", "good")})
    found = sensitivity(ratings, "bad").of(judge="judge")
    assert found.value == pytest.approx(recall_score(expert, judge), abs=1e-12)
    exact = stats.binomtest(int((expert & judge).sum()), int(expert.sum())).proportion_ci(0.95, method="exact")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-9)


def test_options_may_be_called_anything_and_the_rarer_one_is_positive(label):
    said = {"judge": ["ham", "spam", "ham", "ham"], "ann": ["ham", "spam", "spam", "ham"]}
    even = label(said, scales=Nominal(("ham", "spam")))
    assert sensitivity(even).of(judge="judge").detail["positive"] == "ham"  # equally common: the first one
    more = label({who: [*of, "ham"] for who, of in said.items()})
    found = sensitivity(more).of(judge="judge")
    assert (found.detail["positive"], found.detail["stated"], found.value) == ("spam", False, 0.5)


def test_one_of_several_labels_when_it_is_stated(label):
    said = {"judge": ["toxic", "rude", "fine", "toxic"], "ann": ["toxic", "toxic", "fine", "rude"]}
    assert len(sensitivity(label(said))) == 0
    stated = label(said, positive={"rating": "toxic"})
    assert sensitivity(stated).of(judge="judge").value == 0.5
    assert specificity(label(said), "toxic").of(judge="judge").value == 0.5
    with pytest.raises(RecuseError, match=r"positive = 'tox' is none of the options; there are fine, rude, toxic"):
        sensitivity(label(said), "tox")


@pytest.mark.parametrize(("reversed_", "name"), [(False, "4 or more"), (True, "4 or less")])
def test_scores_over_a_threshold(label, reversed_, name):
    ratings = label({"judge": [5.0, 3.0, 4.0, 1.0], "ann": [4.0, 4.0, 2.0, 5.0]}, scales=Numeric(1, 5, 1, reversed_))
    found = sensitivity(ratings, threshold=4).of(judge="judge")
    assert found.detail["positive"] == name
    assert found.value == pytest.approx(2 / 3 if reversed_ else 1 / 3)
    kept = label({"judge": [5.0, 3.0], "ann": [4.0, 4.0]}, scales=Numeric(1, 5, 1), thresholds={"rating": (4.0,)})
    assert sensitivity(kept).of(judge="judge").value == 0.5
    assert len(sensitivity(label({"judge": [5.0, 3.0], "ann": [4.0, 4.0]}, scales=Numeric(1, 5, 1)))) == 0


def test_of_several_people_most_decide_and_an_even_split_does_not_count(label):
    ratings = label({"judge": "ppf", "ann": "ppf", "bea": "pff", "cid": ["p", "f", None]}, scales=Ordinal(("f", "p")))
    found = sensitivity(ratings, "p").of(judge="judge")
    assert (found.value, found.n, found.detail["held_against"]) == (1.0, 1, "most people")
    two = label({"judge": "ppf", "ann": "ppf", "bea": "pff"}, scales=Ordinal(("f", "p")))
    assert sensitivity(two, "p").of(judge="judge").detail["even"] == 1


def test_right_answers_come_before_people(label):
    ratings = label({"judge": "pf", "ann": "fp", "bea": "fp", "gold": "pf"}, scales=Ordinal(("f", "p")), truth="gold")
    found = sensitivity(ratings, "p").of(judge="judge")
    assert (found.value, found.detail["held_against"]) == (1.0, "the right answers")


def test_nothing_positive_is_undefined_and_passes_nothing(label, word):
    estimates = sensitivity(label({"judge": "pppp", "ann": "pppp"}, scales=Ordinal(("f", "p"))))
    assert math.isnan(estimates.of(judge="judge").value)
    assert "called no text f" in estimates.of(judge="judge").note
    assert word("sensitivity", estimates) != ["pass"]


def test_a_judge_that_answers_nothing_has_found_nothing(label, word):
    ratings = label({"judge": [None] * 80, "ann": ["p", "f"] * 40}, scales=Ordinal(("f", "p")))
    for measure in (sensitivity, specificity):
        assert measure(ratings).of(judge="judge").value == 0.0
        assert word(measure.__wrapped__.__name__, measure(ratings)) == ["fail"]


def test_leaving_out_what_it_would_get_wrong_never_helps(label):
    rng = np.random.default_rng(5)
    expert = rng.choice(["p", "f"], 100)
    judge = np.where(rng.random(100) < 0.8, expert, np.where(expert == "p", "f", "p"))
    silent = [None if j != e else j for j, e in zip(judge, expert, strict=True)]
    for measure in (sensitivity, specificity):
        one, other = (measure(label({"judge": said, "ann": expert}), "p").of(judge="judge") for said in (judge, silent))
        assert one.value == other.value
        assert (one.low, one.high) == (other.low, other.high)


def test_texts_of_one_topic_count_as_one_where_they_are_alike(label):
    topics = np.repeat(np.arange(20), 10)
    good = np.repeat(np.arange(20) < 16, 10)
    expert = np.tile(["p", "f"], 100)
    judge = np.where(good, expert, np.where(expert == "p", "f", "p"))
    alone, together = (
        sensitivity(label({"judge": judge, "ann": expert}, clusters), "p").of(judge="judge")
        for clusters in (None, topics)
    )
    assert alone.value == together.value == 0.8
    assert together.high - together.low > 2 * (alone.high - alone.low)


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.5, 0.4])
def test_who_is_cleared_with_a_hundred_labels(label, word, share):
    """Both rates .97: cleared at least 80 times in 100; .75 or less: in none; at the limit: seldom."""
    rng = np.random.default_rng(int(share * 10))
    expert = np.arange(100) < 100 * share

    def cleared(rate):
        right = rng.random(100) < rate
        judge = np.where(right, expert, ~expert)
        ratings = label({"judge": np.where(judge, "bad", "ok"), "ann": np.where(expert, "bad", "ok")})
        words = [*word("sensitivity", sensitivity(ratings)), *word("specificity", specificity(ratings))]
        return words == ["pass", "pass"]

    assert sum(cleared(0.97) for _ in range(50)) >= 40
    assert sum(cleared(0.75) for _ in range(50)) == 0
    assert sum(cleared(0.8) for _ in range(50)) <= 3


@pytest.mark.slow
@pytest.mark.parametrize(("n", "rate"), [(15, 0.97), (40, 0.9), (150, 0.8)])
def test_intervals_cover(label, n, rate):
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(150):
        judge = np.where(rng.random(n) < rate, "bad", "ok")
        found = sensitivity(label({"judge": judge, "ann": ["bad"] * n}, scales=Ordinal(("bad", "ok"))), "bad")
        held += found.of(judge="judge").low <= rate <= found.of(judge="judge").high
    assert held >= 0.92 * 150
