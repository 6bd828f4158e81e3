"""Error against a score that can be counted: by hand, planted, and where nothing is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recuse.papers.self_preference.labelled_texts import known_score_error
from recuse.ratings import Numeric, Ratings


def judged(scores: dict[str, list[float]], right: list[float | None]) -> Ratings:
    """Judge -> a score per text."""
    rows = [
        {"judge": judge, "item": f"i{k}", "target": "t", "criterion": "counted", "score": score}
        for judge, each in scores.items() for k, score in enumerate(each)
    ]  # fmt: skip
    texts = pd.DataFrame({"item": [f"i{k}" for k in range(len(right))], "target": "t", "true_counted": right})
    return Ratings.of(pd.DataFrame(rows), scales=Numeric(0, 10), texts=texts)


def test_by_hand():
    """Errors +1, -1, +3: mean 1, mean size 5/3; the third is furthest off."""
    found = known_score_error(judged({"a": [9, 7, 10]}, [8.0, 8.0, 7.0])).of(judge="a", criterion="counted")
    assert found.value == pytest.approx(1.0)
    assert found.detail["absolute"] == pytest.approx(5 / 3)
    assert found.detail["worst"] == ["i2", "t", 10.0, 7.0]


def test_a_judge_that_cannot_count_is_told_from_one_that_can():
    rng = np.random.default_rng(2)
    right = list(rng.integers(4, 10, 30).astype(float))
    ratings = judged({"counts": [r + rng.normal(0, 0.2) for r in right], "always nine": [9.0] * 30}, right)
    one, other = (known_score_error(ratings).of(judge=name, criterion="counted") for name in ("counts", "always nine"))
    assert one.low < 0 < one.high
    assert one.detail["order"] > 0.9
    assert other.low > 1
    assert other.detail["order"] is None


def test_a_text_whose_right_score_is_not_known_is_left_out():
    found = known_score_error(judged({"a": [9, 7]}, [8.0, None])).of(judge="a", criterion="counted")
    assert (found.value, found.n, found.n_excluded) == (1.0, 1, 1)


def test_where_nothing_can_be_counted_nothing_is_measured(published):
    assert len(known_score_error(published)) == 0


def test_where_texts_are_few_and_fixed_new_replies_are_what_varies(rate):
    texts = pd.DataFrame({"item": ["x", "y"], "target": ["x", "y"], "true_total": [8.0, 6.0]})
    ratings = rate({("a", "x"): [9, 8], ("a", "y"): [6, 6]}, texts=texts, scales=Numeric(0, 10, 1))
    found = known_score_error(ratings).of(judge="a", criterion="total")
    assert (found.value, found.over, found.n) == (0.25, "repeats", 4)
