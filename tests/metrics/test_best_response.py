"""Does a judge put the right response first? Hand arithmetic, ties, holes, a stranger's scale."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from recuse.papers.best_response import best_response
from recuse.ratings import Numeric, Ratings
from recuse.schema import RatingsError

SCORES = {  # item -> scores of a (right), b, c
    "wins": (5, 3, 2), "loses": (3, 5, 2), "ties": (5, 5, 1), "hole": (5, None, 1),
}  # fmt: skip


def ratings(scores=SCORES, repeats=((0, 0.0),), **known):
    rows = [
        {"judge": "j", "item": item, "target": target, "repeat": repeat, "score": None if s is None else s + add}
        for item, values in scores.items()
        for target, s in zip("abc", values, strict=True)
        for repeat, add in repeats
    ]
    texts = pd.DataFrame(
        [(i, t, str(int(t == "a"))) for i in scores for t in "abc"], columns=["item", "target", "gold"]
    )
    return Ratings.of(pd.DataFrame(rows), texts=texts, **known)


def test_one_of_three_is_right_and_a_tie_counts_as_wrong():
    """Clopper and Pearson by hand for 1 of 3: the upper end solves (1 - p)^3 + 3 p (1 - p)^2 = 0.025."""
    found = best_response(ratings()).of(judge="j")
    assert (found.n, found.n_excluded) == (3, 1)
    assert found.value == pytest.approx(1 / 3)
    assert (1 - found.high) ** 3 + 3 * found.high * (1 - found.high) ** 2 == pytest.approx(0.025)


def test_the_first_answer_alone():
    scores = {"x": (4, 3, 1)}
    rows = ratings(scores, repeats=((0, 0.0), (1, 0.0))).table
    rows.loc[(rows["target"] == "b") & (rows["repeat"] == 1), "score"] = 9.0
    texts = ratings(scores).texts
    both = Ratings.of(rows, texts=texts)
    assert best_response(both, repeats=1).of(judge="j").value == 1.0
    assert best_response(both).of(judge="j").value == 0.0


def test_where_the_lowest_number_is_best_the_lowest_comes_first():
    found = best_response(ratings({"x": (1, 3, 5), "y": (2, 3, 4)}, scales=Numeric(1, 5, reversed=True)))
    assert found.of(judge="j").value == 1.0


def test_an_item_with_one_text_says_nothing():
    frame = pd.DataFrame({"judge": "j", "item": ["x", "y"], "target": "a", "score": [1.0, 2.0]})
    texts = pd.DataFrame({"item": ["x", "y"], "target": "a", "gold": "1"})
    found = best_response(Ratings.of(frame, texts=texts)).of(judge="j")
    assert math.isnan(found.value)
    assert found.n == 0


def test_without_the_right_answers_it_says_what_to_give():
    frame = pd.DataFrame({"judge": "j", "item": ["x", "x"], "target": ["a", "b"], "score": [1.0, 2.0]})
    with pytest.raises(RatingsError, match="column gold"):
        best_response(Ratings.of(frame))


def test_guessing_among_four_is_right_one_time_in_four():
    rng = np.random.default_rng(1)
    items = np.repeat(np.arange(4000), 4)
    target = np.tile(list("abcd"), 4000)
    frame = pd.DataFrame({"judge": "j", "item": items, "target": target, "score": rng.random(16000)})
    texts = pd.DataFrame({"item": items.astype(str), "target": target, "gold": np.where(target == "a", "1", "0")})
    found = best_response(Ratings.of(frame, texts=texts)).of(judge="j")
    assert found.low < 0.25 < found.high
    assert found.high - found.low < 0.03
