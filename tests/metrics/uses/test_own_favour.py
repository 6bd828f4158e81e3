"""Favour to its own texts against people: by hand, against scipy, what it is free of, coverage, who is cleared."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recuse.metrics.human_alignment import own_favour
from recuse.ratings import Numeric, Ratings

WROTE = {"authors": {"judge": "s0"}}
FIVE = Numeric(1, 5)


def tables(rng, n=60, systems=4, favour=0.0, leniency=0.0, people=3):
    quality = 3 + rng.normal(size=(n, systems)) * 0.6 - 0.3 * np.arange(systems)
    given = quality + rng.normal(size=quality.shape) * 0.4 + leniency
    given[:, 0] += favour
    return {"judge": given, **{f"p{k}": quality + rng.normal(size=quality.shape) * 0.4 for k in range(people)}}


def test_by_hand(grid):
    """Own text: +2 and +1 over people, 1.5. Others': +1, 0, 0, +1, 0.5."""
    judge, ann = np.array([[5.0, 3, 2], [4, 3, 5]]), np.array([[3.0, 2, 2], [3, 3, 4]])
    found = own_favour(grid({"judge": judge, "ann": ann}, scales=FIVE, **WROTE)).of(judge="judge")
    assert (found.value, found.detail["own"], found.detail["others"]) == (1.0, 1.5, 0.5)


def test_of_common_items_it_is_the_paired_t(grid):
    scores = tables(np.random.default_rng(1))
    found = own_favour(grid(scores, scales=Numeric(-9, 15), **WROTE)).of(judge="judge")
    beyond = scores["judge"] - np.mean([scores[f"p{k}"] for k in range(3)], axis=0)
    t = stats.ttest_1samp(beyond[:, 0] - beyond[:, 1:].mean(axis=1), 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((t.low, t.high), abs=1e-9)


def test_leniency_and_the_quality_of_its_texts_are_no_favour(grid):
    scores = tables(np.random.default_rng(2))
    moved = {who: of + (1.0 if who == "judge" else 0.0) for who, of in scores.items()}
    better = {who: of + np.array([2.0, 0, 0, 0]) for who, of in scores.items()}
    ends = [own_favour(grid(s, scales=Numeric(-9, 15), **WROTE)).of(judge="judge") for s in (scores, moved, better)]
    assert ends[0].value == pytest.approx(ends[1].value) == pytest.approx(ends[2].value)
    assert ends[0].low == pytest.approx(ends[1].low) == pytest.approx(ends[2].low)


def test_it_does_not_depend_on_the_unit(grid, word):
    scores = tables(np.random.default_rng(3), favour=0.5)
    percent = {who: (of - 1) * 25 for who, of in scores.items()}
    one = own_favour(grid(scores, scales=Numeric(-9, 15), **WROTE))
    other = own_favour(grid(percent, scales=Numeric(-250, 350), **WROTE))
    assert other.of(judge="judge").value == pytest.approx(25 * one.of(judge="judge").value)
    assert word("own_favour", one) == word("own_favour", other)


def test_nothing_of_its_own_is_undefined(grid, word):
    scores = tables(np.random.default_rng(4))
    for who in scores:
        if who != "judge":
            scores[who][:, 0] = np.nan
    estimates = own_favour(grid(scores, scales=Numeric(-9, 15), **WROTE))
    assert estimates.of(judge="judge").note == "undefined: no text of its own was rated by both the judge and people"
    assert word("own_favour", estimates) != ["pass"]


def test_refusing_its_own_bad_texts_keeps_it_from_passing(grid, word):
    scores = tables(np.random.default_rng(5), n=200)
    scores = {who: np.clip(of, 1, 5) for who, of in scores.items()}
    scores["judge"][:80, 0] = np.nan
    estimates = own_favour(grid(scores, scales=FIVE, **WROTE))
    assert estimates.of(judge="judge").detail["losses"]["sides"] == {"own": [80, 200], "others'": [0, 600]}
    assert word("own_favour", estimates) == ["undecided"]


def test_one_text_per_system_says_nothing_about_the_next(make_frame):
    judged = make_frame({("judge", "s0"): [4, 5], ("judge", "s1"): [3, 3]})
    frame = pd.concat([judged, make_frame({("ann", "s0"): [3], ("ann", "s1"): [3]}, kind="person")])
    found = own_favour(Ratings.of(frame, scales=FIVE, authors={"judge": "s0"})).of(judge="judge")
    assert "one text says nothing about the next" in found.note


@pytest.mark.slow
@pytest.mark.parametrize("n", [15, 60])
def test_intervals_cover(grid, n):
    rng = np.random.default_rng(n)
    held = 0
    for _ in range(200):
        scores = tables(rng, n, favour=0.3, leniency=0.4)
        found = own_favour(grid(scores, scales=Numeric(-9, 15), **WROTE)).of(judge="judge")
        held += found.low <= 0.3 <= found.high
    assert 0.91 * 200 <= held <= 0.99 * 200


@pytest.mark.slow
def test_who_passes(grid, word):
    """Limit: a quarter of a grade on 1-5. A lenient judge without favour passes; twice the limit never does."""
    rng = np.random.default_rng(7)
    words: dict[str, list[str]] = {"fair": [], "lenient": [], "favours": [], "marks down": []}
    for _ in range(30):
        for kind, known in (("fair", {}), ("lenient", {"leniency": 0.5}), ("favours", {"favour": 0.5}),
                            ("marks down", {"favour": -0.5})):  # fmt: skip
            scores = {who: np.clip(of, 1, 5) for who, of in tables(rng, 100, **known).items()}
            words[kind] += word("own_favour", own_favour(grid(scores, scales=FIVE, **WROTE)))
    assert words["fair"].count("pass") >= 28
    assert words["lenient"].count("pass") >= 28
    assert words["favours"].count("pass") == words["marks down"].count("pass") == 0
