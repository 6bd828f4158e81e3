"""Is its own text easy for a judge to predict, and does it pay for that?"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from recuse.papers.self_preference import self_knowledge
from recuse.ratings import Numeric
from recuse.schema import RatingsError

NAMES = ("x", "y", "z")
OWN = {name: name for name in NAMES}
BITS = Numeric(0, math.inf, reversed=True, unit="bits per character")
OPEN = Numeric(-99, 99)


@pytest.fixture
def likelihoods(make_scores_from, rate):
    """Bits per character from an array (items, judges, targets), judges and targets of the same names."""

    def made(cube, **known):
        return rate(make_scores_from(np.asarray(cube), NAMES), scale=BITS, authors=OWN, **known)

    return made


@pytest.fixture
def scored(make_scores_from, rate):
    """Scores from such an array, with likelihoods beside them."""

    def made(cube, beside, scale=OPEN):
        return rate(make_scores_from(cube, NAMES), scale=scale, beside={"likelihoods": beside}.get)

    return made


def test_own_predictability_by_hand(likelihoods):
    """x finds its own text 2 bits a character easier than y and z do in item 0, where it needs 1 and they 3, and 1 bit
    in item 1 (4 and 5); third texts are the same to all. y's and z's own texts are no easier for them."""
    cube = np.full((2, 3, 3), 3.0)
    cube[1] += 2  # a hard item, for everyone: takes no part
    cube[:, 0, 0] = 1, 4
    found = self_knowledge.own_predictability(likelihoods(cube))
    mine = found.of(judge="x")
    assert (mine.value, mine.n, mine.unit) == (pytest.approx(1.5), 2, "bits per character")
    assert (mine.detail["own"], mine.detail["others"]) == (2.5, 4.0)
    assert [found.of(judge=name).value for name in "yz"] == [0, 0]


def test_an_own_text_that_is_easy_for_all_is_not_preferred(likelihoods):
    """x writes what everybody can predict, and reads everything with a bit less surprise than the others."""
    cube = np.full((4, 3, 3), 5.0)
    cube[:, :, 0] -= 3
    cube[:, 0, :] -= 1
    assert self_knowledge.own_predictability(likelihoods(cube)).of(judge="x").value == pytest.approx(0)


def test_a_missing_likelihood_leaves_its_item_out(likelihoods):
    cube = np.random.default_rng(3).uniform(2, 9, (5, 3, 3))
    cube[0, 0, 0] = math.nan  # x on its own text
    mine = self_knowledge.own_predictability(likelihoods(cube)).of(judge="x")
    assert (mine.n, mine.n_excluded) == (4, 1)


def test_a_lone_judge_has_nobody_to_be_compared_with(make_scores_from, rate):
    cube = np.random.default_rng(3).uniform(2, 9, (5, 1, 3))
    alone = rate(make_scores_from(cube, "x", NAMES), scale=BITS, authors={"x": "x"})
    assert "no item has its likelihood and a peer's" in self_knowledge.own_predictability(alone).of(judge="x").note
    scores = rate(make_scores_from(cube, "x", NAMES), scale=OPEN, beside={"likelihoods": alone}.get)
    assert "no peer has score and likelihood" in self_knowledge.grade_on_predictability(scores).of(judge="x").note


def test_scores_that_follow_what_is_easy(likelihoods, scored):
    """x adds 0.4 points a bit to what its peers give; z, whose scores are the mean of nothing but quality, nothing."""
    rng = np.random.default_rng(1)
    bits = rng.normal(9, 1, (6, 3, 3))
    quality = rng.normal(3, 0.3, (6, 1, 3)) + np.zeros((1, 3, 1))
    quality[:, 0] -= 0.4 * (bits[:, 0] - bits[:, 1:].mean(axis=1))
    found = self_knowledge.grade_on_predictability(scored(quality, likelihoods(bits)))
    mine = found.of(judge="x")
    assert (mine.value, mine.n, mine.n_clusters, mine.unit) == (pytest.approx(0.4), 18, 6, "points per bit")
    turned = Numeric(-99, 99, reversed=True)
    again = self_knowledge.grade_on_predictability(scored(-quality, likelihoods(bits), scale=turned))
    assert again.of(judge="x").value == pytest.approx(0.4)


def test_in_each_direction_of_the_scale(likelihoods, make_scores_from, rate):
    """Likelihoods know no direction; scores are compared with them in either."""
    rng = np.random.default_rng(1)
    bits, scores = rng.normal(9, 1, (6, 3, 3)), rng.normal(3, 0.3, (6, 3, 3))
    up = make_scores_from(scores, NAMES, direction="ascending")
    down = up.assign(direction="reversed", score=-up["score"])
    both = rate(up, down, scale=OPEN, beside={"likelihoods": likelihoods(bits)}.get)
    found = self_knowledge.grade_on_predictability(both)
    assert found.by == ("judge", "direction")
    for judge in NAMES:
        values = [found.of(judge=judge, direction=direction).value for direction in ("ascending", "reversed")]
        assert values[0] == pytest.approx(values[1])


@pytest.mark.slow
def test_the_interval_holds_the_planted_slope(likelihoods, scored):
    """400 panels of 12 items, slope 0.2 and noise of half a point: 95 % intervals hold it in 92 to 98 %."""
    rng, held = np.random.default_rng(8), 0
    for _ in range(400):
        bits = rng.normal(-9, 1, (12, 3, 3))
        scores = rng.normal(3, 0.5, (12, 3, 3))
        scores[:, 0] += 0.2 * (bits[:, 0] - bits[:, 1:].mean(axis=1))
        found = self_knowledge.grade_on_predictability(scored(scores, likelihoods(20 - bits))).of(judge="x")
        held += found.low <= 0.2 <= found.high
    assert 0.92 <= held / 400 <= 0.98


def test_items_of_one_cluster_leave_the_jackknife_together(likelihoods, make_scores_from, rate):
    """Every item twice, in one cluster: the interval of the items once."""
    rng = np.random.default_rng(6)
    bits, scores = rng.normal(9, 1, (5, 3, 3)), rng.normal(3, 0.5, (5, 3, 3))
    texts = pd.DataFrame({"item": [f"i{k}" for k in range(10)], "cluster": [f"c{k // 2}" for k in range(10)]})
    once, twice = (
        rate(make_scores_from(scores.repeat(n, axis=0), NAMES), scale=OPEN, clusters="cases",
             beside={"likelihoods": likelihoods(bits.repeat(n, axis=0), texts=None if n == 1 else texts)}.get)
        for n in (1, 2)
    )  # fmt: skip
    a, b = (self_knowledge.grade_on_predictability(ratings).of(judge="x") for ratings in (once, twice))
    assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high))
    assert (a.n_clusters, b.n_clusters, b.n, b.units) == (5, 5, 30, "cases")


def test_without_differences_in_predictability_there_is_no_slope(likelihoods, scored):
    scores = np.random.default_rng(2).integers(1, 6, (4, 3, 3)).astype(float)
    flat = self_knowledge.grade_on_predictability(scored(scores, likelihoods(np.full((4, 3, 3), 7.0))))
    assert flat.of(judge="x").note == "undefined: no text is easier for it than others"


def test_without_likelihoods_it_says_so(make_scores_from, rate):
    found = self_knowledge.grade_on_predictability(rate(make_scores_from(np.full((4, 3, 3), 3.0), NAMES)))
    assert len(found) == 3
    assert "no log-probabilities were recorded" in found.of(judge="x").note


def test_likelihoods_under_several_levels_are_an_error(likelihoods, scored, make_scores_from, rate):
    cube = np.full((2, 3, 3), 3.0)
    several = rate(*(make_scores_from(cube, NAMES, names=n) for n in ("shown", "hidden")), scale=BITS)
    with pytest.raises(RatingsError, match="asked with names varied"):
        self_knowledge.grade_on_predictability(scored(cube, several))


def test_only_texts_with_both_count(make_scores_from, rate):
    """Scores of five items, likelihoods of the last two and one more."""
    rng = np.random.default_rng(4)
    frame = make_scores_from(rng.uniform(2, 9, (3, 3, 3)), NAMES)
    frame["item"] = frame["item"].map({"i0": "i3", "i1": "i4", "i2": "i9"})
    scores = make_scores_from(rng.integers(1, 6, (5, 3, 3)).astype(float), NAMES)
    ratings = rate(scores, beside={"likelihoods": rate(frame, scale=BITS)}.get)
    found = self_knowledge.grade_on_predictability(ratings).of(judge="y")
    assert (found.n, found.n_clusters, found.n_excluded) == (6, 2, 3)
