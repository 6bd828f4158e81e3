"""Duels that grades decide."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from recuse.metrics import duels, length

THREE = {("x", "a"): [5, 2], ("x", "b"): [3, 2], ("x", "c"): [3, math.nan]}


def test_the_better_grade_wins_in_both_orders(make_grades):
    ratings, items = duels.from_grades(make_grades(THREE))
    assert items[["item", "story", "a", "b"]].to_numpy().tolist()[0] == ["story-0.a~b", "story-0", "a", "b"]
    verdicts = duels.both_orders(duels.verdicts_of(ratings, items)).set_index("item")
    won = {name: verdicts["won"][f"story-{k}.{name}"] for k in (0,) for name in ("a~b", "a~c", "b~c")}
    assert won == {"a~b": 1.0, "a~c": 1.0, "b~c": 0.5}
    assert verdicts["won"]["story-1.a~b"] == 0.5
    assert verdicts.loc[["story-1.a~c", "story-1.b~c"], "won"].isna().all()  # c's grade could not be read


def test_of_two_framings_the_positive_one_decides(make_grades):
    up, down = make_grades(THREE), make_grades(THREE, framing="negative")
    both, _ = duels.from_grades(pd.concat([down, up], ignore_index=True))
    assert both["response"].tolist() == duels.from_grades(up)[0]["response"].tolist()
    turned, _ = duels.from_grades(down)
    assert turned["response"].tolist()[0] == "second"  # 5 is the worst grade there


def test_a_taste_for_length_shows_and_shrinks_among_texts_of_like_length(make_cube):
    """x adds 0.8 points a doubling; against the text nearest in length there is less to be gained by it."""
    rng = np.random.default_rng(6)
    doublings = rng.normal(0, 1, (60, 1, 3))
    cube = rng.normal(3, 0.3, (60, 1, 3)) + rng.normal(0, 0.3, (60, 3, 3))
    cube[:, :1] += 0.8 * doublings
    grades = make_cube(cube, ("x", "y", "z"))
    stories, targets = np.meshgrid([f"story-{k}" for k in range(60)], ["x", "y", "z"], indexing="ij")
    words = pd.DataFrame({
        "item": stories.ravel(), "target": targets.ravel(), "words": np.round(40 * 2 ** doublings[:, 0].ravel())
    })  # fmt: skip
    found = length.same_length_reference(*duels.from_grades(grades, scale=(-9, 9)), words)
    assert found.of(judge="x", reference="any").low > 0.1
    assert found.of(judge="x", reference="change").high < 0
    assert found.of(judge="x", reference="any").n_clusters == pytest.approx(60)
    assert found.of(judge="y", reference="any").high < 0.05
