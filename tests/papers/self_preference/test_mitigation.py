"""Mitigations: identities, hand arithmetic before and after, what is missing is said, not guessed."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from recuse.papers.self_preference import mitigation, published_tests
from recuse.papers.self_preference.mitigation import peer_rank
from recuse.ratings import Numeric, Ratings
from recuse.ratings.pair_array import CHOICES
from recuse.schema import RecuseError

OWN = {"x": "a", "y": "b", "z": "c"}
JUDGES = ("x", "y", "z")
OPEN = Numeric(-9, 9)
PERPLEXITY = Numeric(0, math.inf, reversed=True)


@pytest.fixture
def cube():
    """Scores of shape (items, judges, targets), x fond of its own."""
    drawn = np.clip(np.round(np.random.default_rng(1).normal(3.2, 0.9, (24, 3, 3))), 1, 5)
    drawn[:, 0, 0] = np.minimum(drawn[:, 0, 0] + 1, 5)
    return drawn


@pytest.fixture
def frame_of(make_scores_from):
    return lambda cube, **columns: make_scores_from(cube, JUDGES, "abc", **columns)


@pytest.fixture
def of(frame_of, rate):
    """Ratings from one array, authors and whatever else is known."""
    return lambda cube, scale=OPEN, **known: rate(frame_of(cube), scale=scale, authors=OWN, **known)


def one(family, name, judge="x", **levels):
    return family.of(judge=judge, mitigation=name, **levels)


# --------------------------------------------------------------------------- aggregation


def test_averaging_with_one_peer_against_the_other_leaves_half(of, cube):
    """(S + z) / 2 - y and (S + y) / 2 - z, on average (S + R) / 2 - R = (S - R) / 2 on every item, and the paired
    t-test is of -1/2 (S - R)."""
    ratings = of(cube)
    found = one(mitigation.self_preference_change(ratings), "poll")
    before = published_tests.self_minus_received(ratings).of(judge="x")
    assert found.detail["before"]["value"] == pytest.approx(before.value)
    assert found.detail["before"]["low"] == pytest.approx(before.low)
    assert found.detail["after"]["value"] == pytest.approx(before.value / 2)
    difference = cube[:, 0, 0] - cube[:, 1:, 0].mean(axis=1)
    theirs = stats.ttest_1samp(-1 / 2 * difference, 0)
    assert (found.low, found.high) == pytest.approx(tuple(theirs.confidence_interval()))
    assert found.detail["p"] == pytest.approx(theirs.pvalue)


def test_averaging_shrinks_the_controlled_measure_of_a_planted_judge(of):
    """Additive scores and 0.9 points on its own texts: D falls from 0.9 to 0.9 / 2 as it and one peer take its
    place."""
    rng = np.random.default_rng(2)
    cube = rng.normal(3, 0.3, (20, 1, 3)) + np.zeros((1, 3, 1)) + np.array([0.2, -0.1, 0.4])[None, :, None]
    cube[:, 0, 0] += 0.9
    found = one(mitigation.self_preference_change(of(cube)), "poll")
    assert found.detail["controlled_before"] == pytest.approx(0.9)
    assert found.detail["controlled_after"] == pytest.approx(0.45)


@pytest.fixture
def surprised(frame_of, rate):
    """Likelihoods from an array of perplexities."""

    def made(perplexity, scale=PERPLEXITY):
        return rate(frame_of(perplexity, criterion="perplexity"), scale=scale)

    return made


def test_weighted_poll_by_hand(of, surprised):
    """x's perplexities on the item's texts are 2, 8, 4, geometric mean 4: weights 1/2, 2, 1; peers' are all the same:
    1. a, against y and against z: (5 / 2 + 2) / 1.5 - 3 = 0 and (5 / 2 + 3) / 1.5 - 2 = 5/3; with equal weights
    (5 + 2) / 2 - 3 and (5 + 3) / 2 - 2."""
    cube = np.array([[[5, 3, 3], [3, 3, 3], [2, 3, 3]]] * 2, dtype=float)
    perplexity = np.array([[[2, 8, 4], [3, 3, 3], [9, 9, 9]]] * 2, dtype=float)
    found = mitigation.self_preference_change(of(cube, beside={"likelihoods": surprised(perplexity)}.get))
    assert one(found, "weighted_poll").detail["after"]["value"] == pytest.approx(5 / 6)
    assert one(found, "poll").detail["after"]["value"] == pytest.approx(1.25)
    assert one(found, "weighted_poll").detail["mean_weight"] == {"x": pytest.approx(3.5 / 3), "y": 1.0, "z": 1.0}
    ascending = mitigation.self_preference_change(
        of(cube, beside={"likelihoods": surprised(perplexity, Numeric(0, 99))}.get)
    )
    assert one(ascending, "weighted_poll").value == one(found, "weighted_poll").value
    perplexity[0, 0, 0] = math.nan  # x on a, item 0
    gap = mitigation.self_preference_change(of(cube, beside={"likelihoods": surprised(perplexity)}.get))
    assert one(gap, "weighted_poll").n_excluded == 1
    impossible = surprised(np.full(cube.shape, 0.5))
    with pytest.raises(RecuseError, match=r"1 or more; the ratings hold 0\.5"):
        mitigation.self_preference_change(of(cube, beside={"likelihoods": impossible}.get))


def test_peer_rank_from_scores(of, cube):
    found = one(mitigation.self_preference_change(of(cube)), "peer_rank")
    less = cube[:, :, :, None] - cube[:, :, None, :]
    credit = (np.sign(less) + 1) / 2 * ~np.eye(3, dtype=bool)
    expected, _ = peer_rank(credit.sum(axis=(0, 3)) / (24 * 2), [0, 1, 2])
    assert found.detail["weights"] == {j: pytest.approx(w) for j, w in zip(JUDGES, expected, strict=True)}
    wins, after = credit.sum(axis=(0, 3)) / (24 * 2), []
    for peer, seated in ((1, [0, 2]), (2, [0, 1])):  # who is R, and who sits in the jury
        joint = cube[:, seated, 0] @ peer_rank(wins[seated], seated)[0]
        after.append((joint - cube[:, peer, 0]).mean())
    assert found.detail["after"]["value"] == pytest.approx(np.mean(after))


def test_peer_rank_from_choices(of, cube, rate):
    """All judges choose a over b, a over c and b over c, in either order: a wins all, b half, c none of its battles."""
    met = [("ab", "a", "b"), ("ac", "a", "c"), ("bc", "b", "c")]
    rows = [(judge, item, a, order, {"ab": "first", "ba": "second"}[order])
            for judge in JUDGES for item, a, _ in met for order in ("ab", "ba")]  # fmt: skip
    texts = pd.DataFrame(met, columns=["item", "a", "b"]).assign(target=lambda table: table["a"])
    frame = pd.DataFrame(rows, columns=["judge", "item", "target", "order", "response"])
    choices = Ratings.of(frame.assign(criterion="winner"), scales=CHOICES, texts=texts)
    fought = mitigation.self_preference_change(of(cube, beside={"choices": choices}.get))
    assert one(fought, "peer_rank_battles").detail["weights"] == {
        "x": pytest.approx(2 / 3),
        "y": pytest.approx(1 / 3),
        "z": 0.0,
    }
    without = one(mitigation.self_preference_change(of(cube)), "peer_rank_battles")
    assert without.note.startswith("undefined: no choices between two texts were asked for")


def test_peer_rank_needs_authors_alone(frame_of, rate, cube):
    """A judge that wrote nothing has no weight."""
    alone = one(mitigation.self_preference_change(rate(frame_of(cube), authors={"x": "a"})), "peer_rank")
    assert alone.note == "undefined: Peer Rank weighs judges by how their own texts win, and y wrote none"


# --------------------------------------------------------------------------- asked in another way


@pytest.fixture
def turned(frame_of, rate):
    """Ratings in both directions from two arrays on the ascending scale 0 to 6."""

    def made(up, down, *, columns=None, **known):
        frames = frame_of(up, direction="ascending"), frame_of(6 - down, direction="reversed")
        return rate(*frames, scale=Numeric(0, 6), authors=OWN, **known)

    return made


def test_inverted_mix_by_hand(turned, of, cube):
    """Scores a point lower with the scale reversed, for x's own text alone: S falls by 1/2, R by nothing."""
    down = cube.copy()
    down[:, 0, 0] -= 1
    both = mitigation.self_preference_change(turned(cube, down))
    assert both.by == ("judge", "mitigation", "direction")
    for direction, change in (("ascending", -0.5), ("reversed", 0.5)):
        found = one(both, "inverted_mix", direction=direction)
        assert found.value == pytest.approx(change)
        assert math.isnan(found.low)  # the same on every item
    single = one(mitigation.self_preference_change(of(cube)), "inverted_mix")
    assert single.note == "undefined: the judges were asked in one direction of the scale only"


@pytest.mark.parametrize("direction", ["ascending", "reversed"])
def test_probability_weighted(frame_of, cube, direction):
    """Expected scores a quarter below those written for x's own text: the same change in either direction."""
    expected = cube.copy()
    expected[:, 0, 0] -= 0.25
    written, meant = (part if direction == "ascending" else 6 - part for part in (cube, expected))
    rows = {"tone": written, "tone.expected": meant, "tone.mass": np.full(cube.shape, 0.9)}
    frame = pd.concat([frame_of(part, criterion=name, direction=direction) for name, part in rows.items()])
    scales = {"tone": Numeric(0, 6), "tone.expected": Numeric(0, 6), "tone.mass": Numeric(0, 1)}
    ratings = Ratings.of(frame, scales=scales, authors=OWN, headline=("tone",))
    found = one(mitigation.self_preference_change(ratings), "probability_weighted", direction=direction)
    assert found.value == pytest.approx(-0.25)
    assert found.detail["in_set_mass"] == {j: pytest.approx(0.9) for j in JUDGES}


def segments_of(frame_of, rate, cube, **columns):
    """The first part of x's own text one up and the other two down."""
    frames = []
    for name, shift in (("head", 1), ("tail", -2)):
        moved = cube.copy()
        moved[:, 0, 0] += shift
        frames.append(frame_of(moved, segment=name, **columns))
    frames[1].loc[0, "score"] = np.nan  # x on its own text of item 0
    return rate(*frames, scale=OPEN, factors=["segment", *(c for c in columns if c != "criterion")])


def test_segments_by_hand(frame_of, rate, of, cube):
    """S' = S - 1/2; a text whose second part was not read has no score."""
    segments = segments_of(frame_of, rate, cube)
    found = one(mitigation.self_preference_change(of(cube, beside={"segment_scores": segments}.get)), "segments")
    assert (found.value, found.n, found.n_excluded) == (pytest.approx(-0.5), 23, 1)
    assert found.detail["segments"] == ["head", "tail"]


def test_segments_scored_in_the_usual_direction_say_nothing_of_the_other(frame_of, rate, turned, cube):
    beside = {"segment_scores": segments_of(frame_of, rate, cube)}.get
    found = mitigation.self_preference_change(turned(cube, cube, beside=beside))
    assert one(found, "segments", direction="ascending").value == pytest.approx(-0.5)
    note = one(found, "segments", direction="reversed").note
    assert note == "undefined: the parts of the texts were not scored one by one with low is best"


def test_segments_on_other_items_or_criteria_are_no_help(frame_of, rate, of, cube):
    elsewhere = rate(frame_of(cube[:1], segment="tail").assign(item="other"), factors=["segment"])
    found = one(mitigation.self_preference_change(of(cube, beside={"segment_scores": elsewhere}.get)), "segments")
    assert "before and after" in found.note
    other = segments_of(frame_of, rate, cube, criterion="length")
    found = one(mitigation.self_preference_change(of(cube, beside={"segment_scores": other}.get)), "segments")
    assert "not scored one by one" in found.note


# --------------------------------------------------------------------------- what is not there


def test_what_is_not_there_is_said(of, cube):
    found = mitigation.self_preference_change(of(cube))
    names = {name for _, name in found}
    notes = {name: one(found, name).note for name in names if not one(found, name).defined}
    assert set(notes) == {"weighted_poll", "peer_rank_battles", "inverted_mix", "probability_weighted", "segments"}
    assert all(note.startswith("undefined: ") for note in notes.values())


def test_one_judge(frame_of, rate, cube):
    alone = rate(frame_of(cube).query("judge == 'x'"), authors={"x": "a"})
    assert "take three judges" in one(mitigation.self_preference_change(alone), "poll").note


def test_the_reference_sits_outside_the_jury(of):
    """x and y give 4, z gives 2. x and y against z: still 2 too much; x and z against y: 1 too little."""
    cube = np.tile(np.array([[4.0], [4.0], [2.0]]), (5, 1, 3))
    found = one(mitigation.self_preference_change(of(cube)), "poll")
    assert (found.detail["before"]["value"], found.detail["after"]["value"]) == (1.0, 0.5)
    two = one(mitigation.self_preference_change(of(cube).without("y")), "poll")
    assert "take three judges" in two.note


def test_targets_with_items_of_their_own(frame_of, rate, cube):
    """Peers' scores of one's own text are there, so averaging can be tried; what compares texts cannot."""
    frame = frame_of(cube)
    nested = rate(frame.assign(item=frame["target"] + frame["item"]), authors=OWN)
    found = one(mitigation.self_preference_change(nested), "poll")
    assert (found.n, found.n_excluded) == (24, 48)
    assert found.detail["controlled_before"] is None
    assert not one(mitigation.self_preference_change(nested), "peer_rank").defined


def test_several_criteria_and_scales(frame_of, cube):
    """Each criterion by itself: on 0 to 100 all differences are twenty times those on 0 to 5."""
    frame = frame_of(cube)
    both = pd.concat([frame.assign(criterion="tone"), frame.assign(criterion="use", score=frame["score"] * 20)])
    ratings = Ratings.of(both, scales={"tone": Numeric(0, 5), "use": Numeric(0, 100)}, authors=OWN)
    found = mitigation.self_preference_change(ratings)
    tone, use = (one(found, "poll", criterion=name) for name in ("tone", "use"))
    assert (use.value, use.span) == (pytest.approx(20 * tone.value), 100)
