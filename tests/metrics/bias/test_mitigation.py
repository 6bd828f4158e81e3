"""Mitigations: identities, hand arithmetic before and after, what is missing is said, not guessed."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recuse.metrics import mitigation, self_preference
from recuse.metrics.peer_rank import peer_rank
from recuse.schema import RecuseError

OWN = {"x": "a", "y": "b", "z": "c"}
JUDGES = ("x", "y", "z")


@pytest.fixture
def grades():
    """Digits of shape (stories, judges, authors), x fond of its own."""
    cube = np.clip(np.round(np.random.default_rng(1).normal(3.2, 0.9, (24, 3, 3))), 1, 5)
    cube[:, 0, 0] = np.minimum(cube[:, 0, 0] + 1, 5)
    return cube


@pytest.fixture
def ratings(make_rows, grades):
    return table_of(make_rows, grades)


def table_of(make_rows, cube, framing="positive", **more):
    i, j, t = (axis.ravel() for axis in np.indices(cube.shape))
    judges, targets = np.array(JUDGES)[j], np.array(list("abc"))[t]
    columns = {"judge": judges, "target": targets, "item": i.astype(str), "score": cube.ravel()}
    return make_rows(columns, framing=framing, **more)


def one(family, name, judge="x"):
    return family.of(judge=judge, mitigation=name)


# --------------------------------------------------------------------------- aggregation


def test_averaging_with_two_peers_leaves_a_third(ratings, grades):
    """S' = (S + 2 R) / 3, so S' - R = (S - R) / 3 on every story, and the paired t-test is of -2/3 (S - R)."""
    found = one(mitigation.what_if(ratings, OWN), "poll")
    before = self_preference.against_received(ratings, OWN).of(judge="x", framing="positive")
    assert found.detail["before"]["value"] == pytest.approx(before.value)
    assert found.detail["before"]["low"] == pytest.approx(before.low)
    assert found.detail["after"]["value"] == pytest.approx(before.value / 3)
    difference = grades[:, 0, 0] - grades[:, 1:, 0].mean(axis=1)
    theirs = stats.ttest_1samp(-2 / 3 * difference, 0)
    assert (found.low, found.high) == pytest.approx(tuple(theirs.confidence_interval()))
    assert found.detail["p"] == pytest.approx(theirs.pvalue)


def test_averaging_shrinks_the_controlled_measure_of_a_planted_judge(make_rows):
    """Additive grades and 0.9 points on its own texts: D falls from 0.9 to 0.9 / 3 as the panel takes its place."""
    rng = np.random.default_rng(2)
    cube = rng.normal(3, 0.3, (20, 1, 3)) + np.array([0.2, -0.1, 0.4])[None, :, None]
    cube[:, 0, 0] += 0.9
    found = one(mitigation.what_if(table_of(make_rows, cube), OWN, scale=(-9, 9)), "poll")
    assert found.detail["controlled_before"] == pytest.approx(0.9)
    assert found.detail["controlled_after"] == pytest.approx(0.3)


def test_weighted_poll_by_hand(make_rows):
    """x's perplexities on the story's texts are 2, 8, 4, geometric mean 4: weights 1/2, 2, 1; peers' are all the same:
    1. a: (5 / 2 + 3 + 2) / 2.5 = 3 instead of 10/3 with equal weights; R = 2.5."""
    cube = np.array([[[5, 3, 3], [3, 3, 3], [2, 3, 3]]] * 2, dtype=float)
    perplexity = np.array([[[2, 8, 4], [3, 3, 3], [9, 9, 9]]] * 2, dtype=float)
    ratings = table_of(make_rows, cube, perplexity=perplexity.ravel())
    found = mitigation.what_if(ratings, OWN)
    assert one(found, "weighted_poll").detail["after"]["value"] == pytest.approx(0.5)
    assert one(found, "poll").detail["after"]["value"] == pytest.approx(10 / 3 - 2.5)
    assert one(found, "weighted_poll").detail["mean_weight"] == {"x": pytest.approx(3.5 / 3), "y": 1.0, "z": 1.0}
    gap = ratings.assign(perplexity=ratings["perplexity"].where(ratings.index != 0))  # x on a, story 0
    assert one(mitigation.what_if(gap, OWN), "weighted_poll").n_excluded == 1
    with pytest.raises(RecuseError, match=r"1 or more; the ratings hold 0\.5"):
        mitigation.what_if(ratings.assign(perplexity=0.5), OWN)


def test_peer_rank_from_grades_and_from_duels(ratings, grades, make_duels, make_pairs):
    found = one(mitigation.what_if(ratings, OWN), "peer_rank")
    less = grades[:, :, :, None] - grades[:, :, None, :]
    credit = (np.sign(less) + 1) / 2 * ~np.eye(3, dtype=bool)
    expected = peer_rank(credit.sum(axis=(0, 3)) / (24 * 2), [0, 1, 2])
    assert found.detail["weights"] == {j: pytest.approx(w) for j, w in zip(JUDGES, expected.weights, strict=True)}
    joint = (grades * expected.weights[None, :, None]).sum(axis=1)[:, 0]
    assert found.detail["after"]["value"] == pytest.approx((joint - grades[:, 1:, 0].mean(axis=1)).mean())
    items = make_pairs(("ab", "0", "a", "b"), ("ac", "0", "a", "c"), ("bc", "0", "b", "c"))
    fights = {(judge, item): ("first", "second") for judge in JUDGES for item in ("ab", "ac", "bc")}
    fought = one(mitigation.what_if(ratings, OWN, duels=(make_duels(fights), items)), "peer_rank").detail
    assert fought["weights"] == {"x": pytest.approx(2 / 3), "y": pytest.approx(1 / 3), "z": 0.0}


def test_peer_rank_without_a_limit_is_undefined(make_rows, make_duels, make_pairs):
    """Weights that alternate: no number is made up. And a judge that wrote nothing has no weight."""
    cube = np.full((3, 3, 3), 3.0)
    ratings = table_of(make_rows, cube).query("judge != 'z' and target != 'c'")
    items = make_pairs(("1", "0", "a", "b"))
    fights = make_duels({("x", "1"): ("second", "first"), ("y", "1"): ("second", "first")})
    circle = mitigation.what_if(ratings, {"x": "a", "y": "b"}, duels=(fights, items))
    assert one(circle, "peer_rank").value == 0  # b wins always: settled, all weight on y
    alone = one(mitigation.what_if(ratings, {"x": "a"}), "peer_rank")
    assert alone.note == "undefined: Peer Rank weighs judges by how their own texts win, and y wrote none"


# --------------------------------------------------------------------------- asked in another way


def test_inverted_mix_by_hand(make_rows, grades):
    """Turned negative grades a point lower for x's own text alone: S falls by 1/2, R by nothing."""
    down = grades.copy()
    down[:, 0, 0] -= 1
    both = pd.concat([table_of(make_rows, grades), table_of(make_rows, 6 - down, "negative")], ignore_index=True)
    for framing, change in (("positive", -0.5), ("negative", 0.5)):
        found = one(mitigation.what_if(both, OWN, framing=framing, scale=(0, 6)), "inverted_mix")
        assert found.value == pytest.approx(change)
        assert math.isnan(found.low)  # the same on every story
    single = one(mitigation.what_if(table_of(make_rows, grades), OWN), "inverted_mix")
    assert single.note == "undefined: the judges were asked under one framing only"


@pytest.mark.parametrize("framing", ["positive", "negative"])
def test_probability_weighted(make_rows, grades, framing):
    """Expected digits a quarter below those written for x's own text: the same change on either scale, turned round."""
    expected = grades.copy()
    expected[:, 0, 0] -= 0.25
    written, meant = (cube if framing == "positive" else 6 - cube for cube in (grades, expected))
    table = table_of(make_rows, written, framing, expected_score=meant.ravel(), in_set_mass=0.9)
    found = one(mitigation.what_if(table, OWN, framing=framing, scale=(0, 6)), "probability_weighted")
    assert found.value == pytest.approx(-0.25)
    assert found.detail["in_set_mass"] == {"x": 0.9, "y": 0.9, "z": 0.9}


def test_segments_by_hand(make_rows, grades):
    """Headline and lead of x's own text one up and two down: S' = S - 1/2; a text whose lead was not read has no
    grade."""
    parts = []
    for name, shift in (("headline", 1), ("lead", -2)):
        cube = grades.copy()
        cube[:, 0, 0] += shift
        parts.append(table_of(make_rows, cube, segment=name))
    parts[1].loc[0, ["status", "score"]] = ["unparsed", np.nan]
    segments = pd.concat(parts, ignore_index=True)
    found = one(mitigation.what_if(table_of(make_rows, grades), OWN, segments=segments, scale=(-2, 9)), "segments")
    assert (found.value, found.n, found.n_excluded) == (pytest.approx(-0.5), 23, 1)
    assert found.detail["segments"] == ["headline", "lead"]


def test_segments_on_other_stories_are_no_help(make_rows, grades):
    elsewhere = table_of(make_rows, grades, segment="lead").assign(item="other")
    elsewhere = elsewhere.drop_duplicates(["judge", "target"])
    found = one(mitigation.what_if(table_of(make_rows, grades), OWN, segments=elsewhere), "segments")
    assert "before and after" in found.note


def test_what_is_not_there_is_said(ratings):
    found = mitigation.what_if(ratings, OWN)
    notes = {name: one(found, name).note for name in mitigation.MITIGATIONS if not one(found, name).defined}
    assert set(notes) == {"weighted_poll", "inverted_mix", "probability_weighted", "segments"}
    assert all(note.startswith("undefined: ") for note in notes.values())
    with pytest.raises(RecuseError, match="no ratings under framing negative; the table has positive"):
        mitigation.what_if(ratings, OWN, framing="negative")


def test_one_judge(make_rows, grades):
    alone = table_of(make_rows, grades).query("judge == 'x'")
    assert "a peer's" in one(mitigation.what_if(alone, {"x": "a"}), "poll").note


# --------------------------------------------------------------------------- duels


def test_position_calibration_by_hand(make_duels, make_pairs):
    """a is x's; y and z are neutral on a-c and a-b. x picks the first slot always; its peers stand by the better text,
    a on the first pair only. One order: a first in both pairs: 1 - 1 and 1 - 0, mean 1/2. Both orders: a tie, 1/2 - 1
    and 1/2 - 0, mean 0. Change -1/2 on each pair."""
    items = make_pairs(("1", "s1", "a", "c"), ("2", "s2", "a", "b"))
    ratings = make_duels({
        ("x", "1"): ("first", "first"), ("x", "2"): ("first", "first"), ("y", "1"): ("first", "second"),
        ("z", "2"): ("second", "first"), ("z", "1"): ("second", "first"),
    })  # fmt: skip
    found = mitigation.position_calibration(ratings, items, OWN).of(judge="x", mitigation="position_calibration")
    assert (found.value, found.n) == (-0.5, 2)
    assert (found.detail["before"]["value"], found.detail["after"]["value"]) == (0.5, 0.0)
    alone = ratings[ratings["judge"] == "x"]
    undefined = mitigation.position_calibration(alone, items, {"x": "a"}).of(
        judge="x", mitigation="position_calibration"
    )
    assert "neutral peer" in undefined.note
