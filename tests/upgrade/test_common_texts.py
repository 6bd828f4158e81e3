"""Two judges that do not have all texts in common: what is compared, and that nobody passes by what he left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from simulated_judges import GATES, TENS, World, mirrored, same, shifted

from recuse.metrics.upgrade import Upgrade
from recuse.ratings import Ratings
from recuse.upgrade import judge_upgrade

ADOPTED = {"equivalent", "better"}


def ratings(world, keep=None, **judges):
    """Ratings by judges (items, repeats); `keep`: the texts that have rows at all."""
    kept = np.arange(world.items) if keep is None else np.flatnonzero(keep)
    rows = [
        (who, f"t{k}", repeat, given[k, repeat])
        for who, given in judges.items()
        for k in kept
        for repeat in range(given.shape[1])
    ]
    return Ratings.of(pd.DataFrame(rows, columns=["judge", "item", "repeat", "score"]), scales=TENS)


def verdict(before, after):
    return judge_upgrade(GATES, Upgrade(before, "old", after, "new"), {})


def answered(share, hard):
    """Which texts a candidate answers that leaves out a share of them: the hardest, or any."""

    def texts(world):
        if hard:
            return world.quality >= np.quantile(world.quality, share)
        return world.rng.permutation(world.items) >= share * world.items

    return texts


def words(seed, times, texts, candidate=same, items=120):
    rng, found = np.random.default_rng([seed, 20261123]), []
    for _ in range(times):
        world = World(rng, items=items)
        before = ratings(world, old=world.judge())
        found.append(verdict(before, ratings(world, texts(world), new=candidate(world))).word)
    return Counter(found)


@pytest.mark.slow("simulations", but_first=True)
@pytest.mark.parametrize("hard", [True, False])
@pytest.mark.parametrize("share", [0.1, *(pytest.param(share, marks=pytest.mark.slow) for share in (0.3, 0.8))])
def test_a_candidate_without_rows_for_some_texts_is_never_adopted(share, hard):
    """Nor is it called worse: it may never have been asked of them."""
    assert words(1, 8, answered(share, hard)) == {"undecided": 8}


@pytest.mark.slow
@pytest.mark.parametrize("hard", [True, False])
def test_not_once_in_a_hundred(hard):
    assert not ADOPTED & set(words(2, 100, answered(0.08, hard), items=200))


@pytest.mark.parametrize("candidate", [mirrored, shifted(1.5)], ids=["mirrored", "shifted"])
def test_what_differs_on_the_texts_of_both_differs(candidate):
    """Nobody rated these texts, so nobody knows who is right."""
    assert words(3, 4, answered(0.3, False), candidate) == {"different": 4}


def test_texts_of_the_candidate_alone_are_left_out():
    world = World(np.random.default_rng(4), items=200)
    old, new, first = world.judge(), world.judge(), np.arange(200) < 150
    all_of_it = verdict(ratings(world, first, old=old), ratings(world, new=new))
    same_texts = verdict(ratings(world, first, old=old), ratings(world, first, new=new))
    assert [row.estimate for row in all_of_it.rows] == [row.estimate for row in same_texts.rows]
    assert (all_of_it.word, all_of_it.sentence) == ("equivalent", same_texts.sentence)
    assert all_of_it.reasons == ("50 of 200 texts of new are left out: old has no answers to compare them with",)


def test_no_row_counts_as_a_row_without_an_answer():
    world = World(np.random.default_rng(5), items=300)
    old, new, lost = world.judge(), world.judge(), np.arange(300) < 2
    before = ratings(world, old=old)
    no_rows = verdict(before, ratings(world, ~lost, new=new))
    new[lost] = np.nan
    no_answers = verdict(before, ratings(world, new=new))
    assert (no_rows.word, no_answers.word) == ("equivalent", "equivalent")
    values = [{row.gate: (row.outcome, row.estimate.value) for row in found.rows} for found in (no_rows, no_answers)]
    assert values[0] == values[1]
    assert no_rows.reasons == (
        "new has no answer to 2 of 300 texts of old, first t0: counted as unanswered, which is no more than you allow",
    )


def test_what_keeps_it_undecided_is_said_with_the_remedy():
    world = World(np.random.default_rng(6), items=200)
    before = ratings(world, old=world.judge())
    found = verdict(before, ratings(world, np.arange(200) >= 40, new=world.judge()))
    assert found.sentence == "Whether new may replace old is undecided: 40 texts have no answer of new."
    assert (found.outcome, found.missing, found.more, found.items) == ("undecided", 40, 40, 160)
    assert found.reasons == (
        "new has no answer to 40 of 200 texts of old, first t0: more than you allow if they count as unanswered. Ask "
        "new of them; if it was never meant to answer them, take them out of the rows of old",
    )
    assert found.record()["missing"] == 40


@pytest.mark.parametrize("alone", [0, 150])
def test_thresholds_move_by_the_shift_on_the_texts_of_both(alone):
    """Exactly one and a half higher, whatever the candidate gives to texts that the judge in use never read, and
    however often either was asked of some."""
    world = World(np.random.default_rng(5), items=200)
    judged = world.judge().clip(0, 8.5)
    before, after = ratings(world, old=judged), ratings(world, new=judged + 1.5)
    often = before.table[before.table["item"].isin([f"t{k}" for k in np.argsort(judged[:, 0])[:60]])]
    twice = pd.concat([before.table, often.assign(repeat=often["repeat"] + judged.shape[1])], ignore_index=True)
    own = after.table.head(alone).assign(item=[f"own {k}" for k in range(alone)], score=9.5)
    more = pd.concat([after.table, own], ignore_index=True)
    found = verdict(replace(before, table=twice, _memory={}), replace(after, table=more, _memory={}))
    assert "move thresholds by +1.5: with its scores moved back by as much, new keeps every limit" in found.steps
