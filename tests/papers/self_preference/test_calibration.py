"""Calibrated verdicts: hand arithmetic, a biased judge helped by balance, degenerate input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recuse.papers.self_preference import choice_changes
from recuse.ratings import Ratings

F, S, T = "first", "second", "tie"
NAMES = [(str(k), str(k), "a", "b") for k in range(4)]


def met(table, items, own=None):
    """Ratings of choices from a table of verdicts, who met whom by story, and who wrote what."""
    kinds = table["judge"].str.startswith("human:").map({True: "person", False: "judge"})
    texts = items.rename(columns={"story": "cluster"})
    return Ratings.of(table.assign(kind=kinds), texts=texts, authors=own)


def scored(rows):
    """{(judge, pair): (score of a, score of b)}: the texts one by one."""
    sides = [(who, item, side, two[k]) for (who, item), two in rows.items() for k, side in enumerate("ab")]
    return Ratings.of(pd.DataFrame(sides, columns=["judge", "item", "target", "score"]).astype({"score": float}))


PEERS = scored({
    (judge, str(k)): two for judge in "yz" for k, two in enumerate([(4, 2), (4, 2), (3, 3), (2, 4)])
})  # fmt: skip


def verdicts(judge, *given):
    return {(judge, name[0]): pair for name, pair in zip(NAMES, given, strict=False)}


@pytest.fixture
def table(make_comparisons, make_pairs):
    """Peers y and z score a, a, neither, b higher on the four pairs, and choose b always, which is no reference. x: a
    in both orders; first twice; first twice; first, then a tie."""
    peers = {k: v for j in "yz" for k, v in verdicts(j, (S, F), (S, F), (S, F), (S, F)).items()}
    return make_comparisons(verdicts("x", (F, S), (F, F), (F, F), (F, T)) | peers), make_pairs(*NAMES)


def test_by_hand(table):
    """Agreement in one order, both averaged: 1; (1 + 0) / 2; (1/2 + 1/2) / 2; a against b, then a tie: (0 + 1/2) / 2.
    Balanced: a 1; tie against a 1/2; tie against tie 1; a (it won 3/4) against b 0."""
    found = choice_changes.verdict_agreement(met(*table), scores=PEERS)
    assert found.of(judge="x", scoring="single").value == pytest.approx((1 + 0.5 + 0.5 + 0.25) / 4)
    balanced = found.of(judge="x", scoring="balanced")
    assert (balanced.value, balanced.n, balanced.detail["ties"]) == (pytest.approx(2.5 / 4), 4, 0.5)
    # winners on both sides: pairs 1 and 2 four times, three times right, and pair 4 once, wrong; balanced: 1 and 4
    single = found.of(judge="x", scoring="single").detail
    assert (single["ties"], single["of_decided"]) == (1 / 8, 3 / 5)
    assert balanced.detail["of_decided"] == 0.5
    gain = choice_changes.calibration_gain(met(*table), scores=PEERS)
    assert gain.of(judge="x", scoring="balanced").value == pytest.approx(0.25 / 4)
    assert {scoring for _, scoring in found} == {"single", "balanced"}  # nobody was asked for evidence


def test_evidence_runs_are_averaged_and_compared_on_the_same_pairs(table, make_comparisons):
    """With evidence, x finds a, a, tie, b on three of the four pairs, two runs each; all scorings drop the fourth."""
    ratings, items = table
    one = make_comparisons(verdicts("x", (F, S), (F, S), (T, T)), repeat=0).drop(columns="labels")
    two = make_comparisons(verdicts("x", (F, S), (F, F), (T, T)), repeat=1).drop(columns="labels")
    evidence = pd.concat([one, two], ignore_index=True)
    found = choice_changes.verdict_agreement(met(ratings, items), evidence=met(evidence, items), scores=PEERS)
    assert [found.of(judge="x", scoring=s).n for s in choice_changes.SCORINGS] == [3] * 4
    # pair 1, order ba: b wins one run, a the other: a tie
    assert found.of(judge="x", scoring="evidence").value == pytest.approx((1 + (1 + 0.5) / 2 + 1) / 3)
    assert found.of(judge="x", scoring="evidence_balanced").value == 1.0
    assert found.of(judge="x", scoring="single").value == pytest.approx((1 + 0.5 + 0.5) / 3)


def test_a_pair_with_evidence_in_one_order_alone_is_dropped_by_every_scoring(table, make_comparisons):
    ratings, items = table
    evidence = make_comparisons(verdicts("x", (F, S), (F, S), (T, T)), repeat=0).drop(columns="labels").iloc[:-1]
    found = choice_changes.verdict_agreement(met(ratings, items), evidence=met(evidence, items), scores=PEERS)
    assert [found.of(judge="x", scoring=s).n for s in choice_changes.SCORINGS] == [2] * 4


def test_people_come_before_peers_and_authors_are_no_reference(make_comparisons, make_pairs):
    """People say b; the peers a. Without people, y as the author of b is left out, and z decides."""
    ratings = make_comparisons(verdicts("x", (F, S), (F, S)) | {("human:1", "0"): (S,)})
    items = make_pairs(*NAMES[:2])
    peers = scored({(judge, item): two for judge, two in (("y", (2, 4)), ("z", (4, 2))) for item in "01"})
    found = choice_changes.verdict_agreement(met(ratings, items, {"y": "b"}), scores=peers).of(
        judge="x", scoring="balanced"
    )
    assert (found.value, found.detail["pairs_by_people"]) == (0.5, 1)
    both = choice_changes.verdict_agreement(met(ratings, items), scores=peers)
    assert both.of(judge="x", scoring="balanced").value == 0.25  # y and z: a tie


def test_balance_helps_a_judge_that_leans(make_comparisons, make_pairs):
    """It sees the texts as its peers do, and leans to the first slot by more than close texts differ."""
    rng = np.random.default_rng(1)
    names = [(str(k), str(k), "a", "b") for k in range(80)]
    given, peers = {}, {}
    for k, gap in enumerate(rng.normal(0, 1, 80)):
        seen = gap + rng.normal(0, 0.1, 2)
        given["x", str(k)] = tuple(F if sign * g + 0.7 > 0 else S for sign, g in zip((1, -1), seen, strict=True))
        peers |= {(judge, str(k)): (gap + rng.normal(0, 0.1), 0.0) for judge in "yz"}
    ratings, items, scores = make_comparisons(given), make_pairs(*names), scored(peers)
    found = choice_changes.verdict_agreement(met(ratings, items), scores=scores)
    single, balanced = (found.of(judge="x", scoring=name) for name in ("single", "balanced"))
    assert single.detail["of_decided"] < 0.8 < 0.95 < balanced.detail["of_decided"]
    assert single.detail["ties"] == 0
    assert 0.3 < balanced.detail["ties"] < 0.7
    assert (
        abs(choice_changes.calibration_gain(met(ratings, items), scores=scores).of(judge="x", scoring="balanced").value)
        < 0.05
    )


def test_nothing_to_compare_with(make_comparisons, make_pairs):
    """Peers' choices, which are made by one of the ways compared, are no reference."""
    ratings, items = (
        make_comparisons(verdicts("x", (F, S), (F, "")) | verdicts("y", (F, S), (F, S))),
        make_pairs(*NAMES),
    )
    for found in (
        choice_changes.verdict_agreement(met(ratings, items)),
        choice_changes.calibration_gain(met(ratings, items)),
    ):
        estimate = found.of(judge="x", scoring="balanced")
        assert "no pair has a usable verdict in both orders and a reference: people's choice, or" in estimate.note
        assert estimate.n_excluded == 2


def test_position_calibration_by_hand(make_comparisons, make_pairs):
    """a is x's; y and z are neutral on a-c and a-b. x picks the first slot always; its peers stand by the better text,
    a on the first pair only. One order: a first in both pairs: 1 - 1 and 1 - 0, mean 1/2. Both orders: a tie, 1/2 - 1
    and 1/2 - 0, mean 0. Change -1/2 on each pair."""
    own = {"x": "a", "y": "b", "z": "c"}
    items = make_pairs(("1", "s1", "a", "c"), ("2", "s2", "a", "b"))
    ratings = make_comparisons({
        ("x", "1"): (F, F), ("x", "2"): (F, F), ("y", "1"): (F, S), ("z", "2"): (S, F), ("z", "1"): (S, F)
    })  # fmt: skip
    found = choice_changes.own_win_excess_change(met(ratings, items, own)).of(
        judge="x", mitigation="position_calibration"
    )
    assert (found.value, found.n) == (-0.5, 2)
    assert (found.detail["before"]["value"], found.detail["after"]["value"]) == (0.5, 0.0)
    alone = choice_changes.own_win_excess_change(met(ratings[ratings["judge"] == "x"], items, {"x": "a"}))
    assert "neutral peer" in alone.of(judge="x", mitigation="position_calibration").note
