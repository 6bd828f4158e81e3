"""Is its own text easy for a judge to predict, and does it pay for that?"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from recuse.metrics import predictability
from recuse.schema import RecuseError

NAMES = ("x", "y", "z")
OWN = {name: name for name in NAMES}


def likelihoods(make_rows, cube) -> pd.DataFrame:
    """Bits per character, from an array (stories, judges, authors), judges and authors of the same names."""
    i, j, t = (axis.ravel() for axis in np.indices(np.shape(cube)))
    names = np.array(NAMES)
    return make_rows(
        {"judge": names[j], "target": names[t], "item": np.char.add("story-", i.astype(str)), "score": np.ravel(cube)},
        protocol="text_perplexity", criterion="bits_per_character",
    )  # fmt: skip


def grades(make_rows, cube, framing: str = "positive") -> pd.DataFrame:
    table = likelihoods(make_rows, cube)
    return table.assign(protocol="grading", criterion="overall", framing=framing)


def test_own_predictability_by_hand(make_rows):
    """x finds its own text 2 bits a character easier than y and z do in story 0, where it needs 1 and they 3, and 1 bit
    in story 1 (4 and 5); third texts are the same to all. y's and z's own texts are no easier for them."""
    cube = np.full((2, 3, 3), 3.0)
    cube[1] += 2  # a hard story, for everyone: takes no part
    cube[:, 0, 0] = 1, 4
    found = predictability.own_predictability(likelihoods(make_rows, cube), OWN)
    mine = found.of(judge="x")
    assert (mine.value, mine.n, mine.unit) == (pytest.approx(1.5), 2, "bits per character")
    assert (mine.detail["own"], mine.detail["others"]) == (2.5, 4.0)
    assert [found.of(judge=name).value for name in "yz"] == [0, 0]


def test_an_own_text_that_is_easy_for_all_is_not_preferred(make_rows):
    """x writes what everybody can predict, and reads everything with a bit less surprise than the others."""
    cube = np.full((4, 3, 3), 5.0)
    cube[:, :, 0] -= 3
    cube[:, 0, :] -= 1
    assert predictability.own_predictability(likelihoods(make_rows, cube), OWN).of(judge="x").value == pytest.approx(0)


def test_a_missing_likelihood_leaves_its_story_out(make_rows):
    rng = np.random.default_rng(3)
    table = likelihoods(make_rows, rng.uniform(2, 9, (5, 3, 3)))
    table.loc[0, ["status", "score"]] = "unparsed", math.nan  # x on its own text
    mine = predictability.own_predictability(table, OWN).of(judge="x")
    assert (mine.n, mine.n_excluded) == (4, 1)
    alone = predictability.own_predictability(table[table["judge"] == "x"], {"x": "x"}).of(judge="x")
    assert "no story has its likelihood and a peer's" in alone.note


def test_grades_that_follow_what_is_easy(make_rows):
    """x adds 0.4 points a bit to what its peers give; z, whose grades are the mean of nothing but quality, nothing."""
    rng = np.random.default_rng(1)
    bits = rng.normal(-9, 1, (6, 3, 3))
    quality = rng.normal(3, 0.3, (6, 1, 3)) + np.zeros((1, 3, 1))
    beyond = bits[:, 0] - bits[:, 1:].mean(axis=1)
    quality[:, 0] += 0.4 * beyond
    table = likelihoods(make_rows, -bits)
    found = predictability.grade_on_predictability(grades(make_rows, quality), table, scale=(-9, 9))
    mine = found.of(judge="x")
    assert (mine.value, mine.n, mine.n_clusters, mine.clusters) == (pytest.approx(0.4), 18, 6, "stories")
    turned = grades(make_rows, -quality, "negative")
    other = predictability.grade_on_predictability(turned, table, framing="negative", scale=(-9, 9))
    assert other.of(judge="x").value == pytest.approx(0.4)


def test_the_interval_holds_the_planted_slope(make_rows):
    """400 panels of 12 stories, slope 0.2 and noise of half a point: 95 % intervals hold it in 92 to 98 %."""
    rng, held = np.random.default_rng(8), 0
    for _ in range(400):
        bits = rng.normal(-9, 1, (12, 3, 3))
        scores = rng.normal(3, 0.5, (12, 3, 3))
        scores[:, 0] += 0.2 * (bits[:, 0] - bits[:, 1:].mean(axis=1))
        tables = grades(make_rows, scores), likelihoods(make_rows, -bits)
        found = predictability.grade_on_predictability(*tables, scale=(-9, 9)).of(judge="x")
        held += found.low <= 0.2 <= found.high
    assert 0.92 <= held / 400 <= 0.98


def test_without_differences_in_predictability_there_is_no_slope(make_rows):
    scores = grades(make_rows, np.random.default_rng(2).integers(1, 6, (4, 3, 3)).astype(float))
    flat = predictability.grade_on_predictability(scores, likelihoods(make_rows, np.full((4, 3, 3), 7.0)))
    assert flat.of(judge="x").note == "undefined: no text is easier for it than others"
    some = likelihoods(make_rows, np.random.default_rng(2).uniform(2, 9, (4, 3, 3)))
    lone = predictability.grade_on_predictability(scores[scores["judge"] == "x"], some[some["judge"] == "x"])
    assert "no peer has grade and likelihood" in lone.of(judge="x").note
    with pytest.raises(RecuseError, match="no ratings under framing negative"):
        predictability.grade_on_predictability(scores, some, framing="negative")


def test_only_texts_with_both_count(make_rows):
    """Grades of five stories, likelihoods of the last two and one more."""
    rng = np.random.default_rng(4)
    scores = grades(make_rows, rng.integers(1, 6, (5, 3, 3)).astype(float))
    table = likelihoods(make_rows, rng.uniform(2, 9, (3, 3, 3))).assign(
        item=lambda rows: rows["item"].map({"story-0": "story-3", "story-1": "story-4", "story-2": "story-9"})
    )
    found = predictability.grade_on_predictability(scores, table).of(judge="y")
    assert (found.n, found.n_clusters, found.n_excluded) == (6, 2, 3)
