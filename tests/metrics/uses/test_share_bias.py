"""Bias of the share of positives: by hand, one more person, a perfect judge, losses, coverage, who is cleared."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from recuse.metrics.expert import share_bias
from recuse.ratings import Numeric, Ordinal

PASS_FAIL = Ordinal(("f", "p"))


def test_by_hand(label):
    """Judge 3 of 4 toxic; people 1, 1/2, 0, 0: a share of 3/8, so +3/8."""
    ratings = label({"judge": "tttf", "ann": "ttff", "bea": "tfff"}, scales=Ordinal(("f", "t")))
    found = share_bias(ratings, "t").of(judge="judge")
    assert found.value == 0.375
    assert (found.detail["judge"], found.detail["people"], found.detail["positive"]) == (0.75, 0.375, "t")


def test_the_other_side_has_the_opposite_bias_and_interval(label):
    rng = np.random.default_rng(1)
    ratings = label({who: rng.choice(["a", "b"], 80) for who in ("judge", "ann", "bea")})
    one, other = (share_bias(ratings, side).of(judge="judge") for side in "ab")
    assert (one.value, one.low, one.high) == pytest.approx((-other.value, -other.high, -other.low), abs=1e-9)


def test_of_many_texts_it_is_the_paired_t(label):
    rng = np.random.default_rng(2)
    judge, ann = rng.random((2, 4000)) < 0.4
    ratings = label({"judge": np.where(judge, "x", "y"), "ann": np.where(ann, "x", "y")})
    found = share_bias(ratings, "x").of(judge="judge")
    t = stats.ttest_1samp(judge.astype(float) - ann, 0).confidence_interval(0.95)
    assert found.value == pytest.approx(judge.mean() - ann.mean(), abs=1e-12)
    assert (found.low, found.high) == pytest.approx((t.low, t.high), abs=5e-4)


@pytest.mark.parametrize("share", [0.02, 0.2, 0.5, 0.8, 0.98, 1.0])
@pytest.mark.parametrize("n", [60, 300])
def test_a_judge_that_never_differs_from_people_has_0_with_an_interval_and_passes(label, word, share, n):
    said = np.where(np.arange(n) < share * n, "p", "f")
    estimates = share_bias(label(dict.fromkeys(("judge", "ann", "bea", "cid"), said), scales=PASS_FAIL))
    found = estimates.of(judge="judge")
    assert found.value == 0
    assert -0.1 < found.low < 0 < found.high < 0.1
    assert word("share_bias", estimates) == ["pass"]


def test_nothing_in_common_is_undefined(label, word):
    ratings = label({"judge": ["p", None], "ann": [None, "f"]}, scales=PASS_FAIL)
    assert share_bias(ratings).of(judge="judge").note.startswith("undefined: no text was answered by both")
    assert word("share_bias", share_bias(ratings)) != ["pass"]


def test_lost_answers_that_could_hide_a_bias_keep_it_from_passing(label, word):
    """People fail every text that the judge left out: 60 of 300, all on one side."""
    said = np.array(["p"] * 200 + ["f"] * 100, dtype=object)
    judge = said.copy()
    judge[-60:] = None
    estimates = share_bias(label({"judge": judge, "ann": said}, scales=PASS_FAIL), "f")
    losses = estimates.of(judge="judge").detail["losses"]
    assert losses["sides"] == {"positive by people": [60, 100], "negative by people": [0, 200]}
    assert losses["bounds"] == [-0.2, 0.0]  # all 60 called the other way, or as people do
    assert word("share_bias", estimates) == ["undecided"]


def test_scores_by_a_threshold_do_not_depend_on_the_unit(label):
    rng = np.random.default_rng(4)
    grades = {who: rng.integers(1, 6, 50).astype(float) for who in ("judge", "ann", "bea")}
    percent = {who: (of - 1) * 25 for who, of in grades.items()}
    one = share_bias(label(grades, scales=Numeric(1, 5, 1)), threshold=4).of(judge="judge")
    other = share_bias(label(percent, scales=Numeric(0, 100, 25)), threshold=75).of(judge="judge")
    assert (one.value, one.low, one.high) == (other.value, other.low, other.high)


def world(rng, n, share, error, people=3):
    """Texts that pass or not; whether one rater errs on a text is its own affair."""
    truth = rng.random(n) < share

    def rater(rate=error):
        return np.where((rng.random(n) < rate) ^ truth, "p", "f")

    return truth, rater, {f"person {k}": rater() for k in range(people)}


@pytest.mark.slow
@pytest.mark.parametrize(("share", "n"), [(0.5, 60), (0.8, 150), (0.97, 300)])
def test_one_more_person_has_0_and_intervals_cover(label, share, n):
    rng = np.random.default_rng(n)
    values, held = [], 0
    for _ in range(200):
        _, rater, people = world(rng, n, share, 0.1)
        found = share_bias(label({"judge": rater(), **people}, scales=PASS_FAIL), "p").of(judge="judge")
        values.append(found.value)
        held += found.low <= 0 <= found.high
    assert abs(np.mean(values)) < 3 * np.std(values) / np.sqrt(200)
    assert held >= 0.92 * 200


@pytest.mark.slow
def test_a_person_passes_and_a_judge_at_twice_the_limit_fails(label, word):
    rng = np.random.default_rng(9)
    words = {"person": [], "lenient": []}
    for _ in range(50):
        _, rater, people = world(rng, 400, 0.5, 0.1)
        fair = rater()
        lenient = np.where((fair == "f") & (rng.random(400) < 0.4), "p", fair)
        for kind, said in (("person", fair), ("lenient", lenient)):
            words[kind] += word("share_bias", share_bias(label({"judge": said, **people}, scales=PASS_FAIL), "p"))
    assert words["person"].count("pass") >= 48
    assert words["lenient"].count("pass") == 0
    assert words["lenient"].count("fail") >= 45
