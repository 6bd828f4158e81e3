"""Peer Rank: hand arithmetic, the eigenvector it must be, weights that never settle, missing verdicts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from recuse.papers.self_preference.mitigation import peer_rank, win_ratios
from recuse.ratings import Numeric, Ratings
from recuse.ratings.pair_array import pair_array
from recuse.schema import RecuseError


def test_two_judges_by_hand():
    """Both find that x wins 3/4 and y 1/4 of its pairs: after one round the weights are 3/4 and 1/4, and stay."""
    weights, rounds = peer_rank(np.array([[0.75, 0.25], [0.75, 0.25]]), [0, 1])
    assert weights.tolist() == pytest.approx([0.75, 0.25])
    assert rounds == 2


@pytest.mark.parametrize("seed", range(4))
def test_weights_are_the_leading_eigenvector(seed):
    """w = A w / |A w| with A (k, l) = W (l, own of k): Perron's vector."""
    rng = np.random.default_rng(seed)
    wins, own = rng.uniform(0.1, 0.9, (4, 5)), [3, 0, 4, 1]
    values, vectors = np.linalg.eig(wins[:, own].T)
    leading = np.abs(vectors[:, np.argmax(values.real)].real)
    assert peer_rank(wins, own)[0] == pytest.approx(leading / leading.sum())


def test_a_bad_judge_loses_weight():
    """Three judges see b and c as they are; the author of a, which wins least, praises itself."""
    wins = np.array([[1.0, 0.2, 0.3], [0.1, 0.8, 0.6], [0.1, 0.7, 0.7]])
    weights, _ = peer_rank(wins, [0, 1, 2])
    assert weights[0] < 0.25
    a, b, c = weights @ wins
    assert b > c > a


def test_weights_that_go_round_in_a_circle():
    """x says that only y's text wins, y that x's wins half the time: the weights alternate for ever."""
    with pytest.raises(RecuseError, match="after 1000 rounds"):
        peer_rank(np.array([[0.0, 1.0], [0.5, 0.0]]), [0, 1])


def test_nobody_wins():
    with pytest.raises(RecuseError, match="nobody has a weight"):
        peer_rank(np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]), [0, 1])
    with pytest.raises(RecuseError, match="needs every judge's verdict"):
        peer_rank(np.array([[0.5, np.nan], [0.5, 0.5]]), [0, 1])


def test_wins_from_scores_by_hand():
    """x gives a, b, c 5 4 4 and 3 3 -: a beats b and c once and ties b once: 5/6; b loses, ties c, ties a: 1/3; c
    1/4. y scored nothing but a."""
    given = {("x", "a"): [5, 3], ("x", "b"): [4, 3], ("x", "c"): [4, None], ("y", "a"): [1, 1]}
    rows = [(judge, target, str(i), s) for (judge, target), scores in given.items() for i, s in enumerate(scores)]
    ratings = Ratings.of(pd.DataFrame(rows, columns=["judge", "target", "item", "score"]), scales=Numeric(1, 5))
    wins = win_ratios(pair_array(ratings), ["x", "y"], "abc")
    assert wins[0].tolist() == pytest.approx([2.5 / 3, 1 / 3, 0.25])
    assert np.isnan(wins[1]).all()


def test_wins_from_choices(make_comparisons, make_pairs):
    names = [(p + q, "1", p, q) for p, q in combinations("abc", 2)]
    verdicts = {("x", "ab"): ("first", "second"), ("x", "ac"): ("first", "first"), ("x", "bc"): ("tie", "")}
    met = pair_array(Ratings.of(make_comparisons(verdicts), texts=make_pairs(*names).drop(columns="story")))
    wins = win_ratios(met, ["x", "y"], ["a", "b", "c"])
    assert wins[0].tolist() == pytest.approx([0.75, 0, 0.5])
    assert np.isnan(wins[1]).all()
