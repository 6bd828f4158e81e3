"""Whom an upgrade is held against: all people and true answers that either file has, if they can be held against."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recuse import compare, read
from recuse.metrics.upgrade import Upgrade, measure_upgrade
from recuse.ratings import Ratings
from recuse.ratings.pair_array import CHOICES

TEXTS = 200
RNG = np.random.default_rng(7)
RIGHT = RNG.integers(1, 6, TEXTS)


def like(answers: np.ndarray, share: float) -> np.ndarray:
    """The answers, of which a share are drawn anew."""
    return np.where(RNG.random(TEXTS) < share, RNG.integers(1, 6, TEXTS), answers)


GOOD, POOR = like(RIGHT, 0.1), like(RIGHT, 0.7)


def table(**columns: np.ndarray) -> pd.DataFrame:
    named = {{"today": "gpt-4", "next": "gpt-5"}.get(name, name): answers for name, answers in columns.items()}
    return pd.DataFrame({"id": [f"t{k}" for k in range(TEXTS)], **named})


def test_what_is_true_counts_in_whichever_file_it_stands():
    """As in one file: people of the other one do not shut it out."""
    anna = like(POOR, 0.2)
    before, after = table(anna=anna, today=GOOD), table(gold=RIGHT, next=POOR)
    together = table(anna=anna, gold=RIGHT, today=GOOD, next=POOR)
    apart = compare(read(before), read(after))
    assert apart.word == compare(read(together), incumbent="gpt-4", candidate="gpt-5").word == "worse"
    assert compare(read(after), read(before)).word == "better"


def test_people_of_both_files_count():
    """Thirty labels in the first file shut out none of the second."""
    few = table(anna=RIGHT, today=GOOD)
    few.loc[30:, "anna"] = np.nan
    verdict = compare(read(few), read(table(anna=RIGHT, ben=like(RIGHT, 0.1), next=POOR)))
    assert verdict.word == "worse"
    assert next(row for row in verdict.rows if row.gate == "upgrade_agreement").estimate.n == TEXTS


@pytest.mark.parametrize("scale", ["1 to 5", "pass or fail"])
def test_labels_that_contradict_each_other_are_other_texts(scale):
    """Numbers of rows as names, the second file in another order."""
    labels = RIGHT if scale == "1 to 5" else np.where(RIGHT > 1, "pass", "fail")
    judged = GOOD if scale == "1 to 5" else np.where(GOOD > 1, "pass", "fail")
    order = np.random.default_rng(1).permutation(TEXTS)
    before, after = table(anna=labels, judge=judged), table(anna=labels[order], judge=judged[order])
    verdict = compare(read(before), read(after))
    assert verdict.word == "not comparable"
    assert "of anna in one" in verdict.sentence
    mended = labels.copy()
    mended[:10] = labels[order][:10]
    assert compare(read(before), read(table(anna=mended, judge=judged))).word != "not comparable"


@pytest.mark.parametrize("candidate", ["gpt-5", "gpt-4"])
def test_people_who_answer_in_reverse_of_each_other_decide_nothing(candidate):
    """As `recuse check` says of the same people: neither that the poor judge may replace the good one, nor that it may
    not."""
    other = {"gpt-5": "gpt-4", "gpt-4": "gpt-5"}[candidate]
    ratings = read(table(anna=like(RIGHT, 0.1), carl=6 - like(RIGHT, 0.1), today=GOOD, next=POOR))
    verdict = compare(ratings, incumbent=other, candidate=candidate)
    assert verdict.word == "undecided"
    assert "in reverse of each other" in verdict.sentence
    assert verdict.steps == (f"keep {other}", "mend or leave out the ratings that this names, and check again")


def test_people_at_chance_allow_no_exchange():
    ratings = read(table(anna=RNG.permutation(RIGHT), ben=RNG.permutation(RIGHT), today=GOOD, next=like(GOOD, 0.05)))
    verdict = compare(ratings, incumbent="gpt-4", candidate="gpt-5")
    assert verdict.word == "undecided"
    assert "your people hardly agree with each other" in verdict.sentence or "too close" in verdict.sentence


def test_what_people_did_not_decide_stays(capsys):
    """Losses are no matter of people."""
    lossy = POOR.astype(object)
    lossy[:90] = "no answer"
    ratings = read(table(anna=like(RIGHT, 0.1), carl=6 - like(RIGHT, 0.1), today=GOOD, next=lossy))
    verdict = compare(ratings, incumbent="gpt-4", candidate="gpt-5")
    assert (verdict.word, verdict.rows[0].gate) == ("worse", "upgrade_losses")


def test_people_who_chose_in_both_orders_do_not_contradict_themselves():
    """Another order is another answer: what stood first won, then what stood second."""
    wins = np.where(RIGHT > 2, "A", "B")
    rows = [
        {"id": f"t{k}", "first": a, "second": b, "anna": won, judge: won}
        for judge in ("gpt-4",) for k, win in enumerate(wins)
        for a, b, won in (("x", "y", win), ("y", "x", "B" if win == "A" else "A"))
    ]  # fmt: skip
    pairs = pd.DataFrame(rows)
    assert compare(read(pairs), read(pairs.copy())).word != "not comparable"


def asked_by_two_prompts(people: str, judges: dict[str, tuple[str, str]]) -> pd.DataFrame:
    """Long rows: each of `judges` with a judge's name and the prompt it was asked by; people's cell of it is theirs."""
    parts = [
        pd.DataFrame({"id": table()["id"], "rater": name, "prompt": prompt, "rating": answers})
        for answers, (name, prompt) in zip((GOOD, POOR), judges.values(), strict=True)
    ]
    return pd.concat([
        *parts,
        *(pd.DataFrame({"id": table()["id"], "rater": name, "prompt": people, "rating": like(RIGHT, 0.1)})
          for name in ("anna", "ben")),
    ])  # fmt: skip


TWO_PROMPTS = {"old": ("gpt-4", "short"), "new": ("gpt-4", "long")}
ONE_PROMPT = {"old": ("gpt-4", "short"), "new": ("gpt-5", "short")}


@pytest.mark.parametrize(
    ("people", "judges", "named"),
    [
        ("", TWO_PROMPTS, ("gpt-4,prompt=short", "gpt-4,prompt=long")),
        ("by hand", TWO_PROMPTS, ("gpt-4,prompt=short", "gpt-4,prompt=long")),
        ("", ONE_PROMPT, ("gpt-4,prompt=short", "gpt-5,prompt=short")),
        ("by hand", ONE_PROMPT, ("gpt-4", "gpt-5")),
    ],
)
def test_people_count_whatever_stands_in_their_cell_of_what_was_varied(people, judges, named):
    """A person rates texts; of what judges were asked under the cell is empty, or says something of its own."""
    given = read(asked_by_two_prompts(people, judges), factors="prompt")
    verdict = compare(given, incumbent=named[0], candidate=named[1])
    assert verdict.word == "worse"
    assert next(row for row in verdict.rows if row.gate == "upgrade_agreement").estimate.n == TEXTS


def test_people_who_rated_under_the_level_itself_are_not_joined_by_those_of_another():
    """Where each prompt made texts of its own, labels of the one say nothing of the other."""
    judged = asked_by_two_prompts("short", ONE_PROMPT)
    others = judged[judged["rater"].eq("anna")].assign(rater="carl", prompt="long", rating=6 - RIGHT)
    given = read(pd.concat([judged, others]), factors="prompt")
    verdict = compare(given, incumbent="gpt-4,prompt=short", candidate="gpt-5,prompt=short")
    assert verdict.word == "worse"


@pytest.mark.parametrize("column", ["gold", "anna"])
def test_labels_that_were_corrected_count_as_corrected(column):
    """The judge in use was fitted to the first labels, of which one in eight is wrong."""
    first = np.where(np.random.default_rng(3).random(TEXTS) < 0.15, RIGHT % 5 + 1, RIGHT)
    differ = int((first != RIGHT).sum())
    before, after = table(**{column: first}, today=first), table(**{column: RIGHT}, next=RIGHT)
    verdict = compare(read(before), read(after))
    assert verdict.word == "better"
    assert f"{differ} of {TEXTS} labels differ: those beside gpt-5 count" in verdict.reasons
    after.loc[:20, column] = None  # which takes no label away
    verdict = compare(read(before), read(after))
    assert next(row for row in verdict.rows if row.gate == "upgrade_agreement").estimate.n == TEXTS
    same = compare(read(before), read(table(**{column: first}, next=RIGHT)))
    assert not any("labels differ" in reason for reason in same.reasons)


def test_of_recordings_the_older_labels_count():
    """What a change is measured by is no part of the change."""
    before, after = read(table(anna=RIGHT, today=GOOD)), read(table(anna=like(RIGHT, 0.1), next=POOR))
    upgrade = Upgrade(before, "gpt-4", after, "gpt-5", calls=({"calls": 1.0}, {"calls": 1.0}))
    people = upgrade.both.table[upgrade.both.table["kind"] == "person"].set_index("item")["score"]
    assert [people[f"t{k}"] for k in range(TEXTS)] == [*RIGHT]
    assert upgrade.corrected.endswith("those beside gpt-4 count")


def test_who_rated_twice_under_levels_of_their_own_contradicts_no_file():
    """Two answers of one person, neither under a judge's prompt, are not those of two files."""
    judged = asked_by_two_prompts("first", TWO_PROMPTS)
    again = judged[judged["rater"].eq("anna")].assign(prompt="second", rating=RNG.permutation(RIGHT))
    verdict = compare(read(pd.concat([judged, again])), incumbent="gpt-4,prompt=short", candidate="gpt-4,prompt=long")
    assert verdict.word != "not comparable"
    assert not any("labels differ" in reason for reason in verdict.reasons)


@pytest.mark.parametrize("seen", ["first", "second", "by lot"])
def test_what_people_chose_counts_in_both_orders_whichever_they_saw(seen):
    """A pair in both orders for judges, in one for people: what they prefer is no place in the other order. Read as a
    place there, it took from every judge what it gave, and no judge agreed with anybody."""
    rng = np.random.default_rng(3)
    better = rng.random(150) < 0.5  # whether a is, for judges and people who err by so much
    texts = pd.DataFrame({"item": [f"t{k}" for k in range(150)], "target": "", "a": "old", "b": "new"})
    rows = []
    for rater, error in (("today", 0.2), ("next", 0.05), ("anna", 0.1), ("ben", 0.1)):
        for order, turned in (("ab", False), ("ba", True)):
            person = rater in ("anna", "ben")
            won = better ^ (np.random.default_rng([ord(rater[0]), 0 if person else turned]).random(150) < error)
            answer = np.where(won != turned, "first", "second")
            rows.append(pd.DataFrame({"rater": rater, "kind": "person" if person else "judge", "item": texts["item"],
                                      "order": order, "response": answer}))  # fmt: skip
    every = pd.concat(rows, ignore_index=True)
    lot = rng.random(150) < 0.5
    one = {"first": np.full(150, True), "second": np.full(150, False), "by lot": lot}[seen]
    seen_in = np.where(np.tile(one, 8), "ab", "ba")
    few = every[every["kind"].eq("judge") | every["order"].eq(seen_in)]
    whole, part = (
        measure_upgrade(Upgrade.within(Ratings.of(table, scales=CHOICES, texts=texts), "today", "next"))
        for table in (every, few)
    )
    values = [{name: [(e.value, e.low, e.high) for e in found.values()] for name, found in measured}
              for measured in (whole, part)]  # fmt: skip
    assert values[0] == values[1]
    assert values[0]["upgrade_agreement"][0][0] > 0.1


def test_a_pair_that_all_saw_in_one_order_was_asked_in_no_other():
    """What people chose is given to a judge's orders, pair by pair: another pair's order leaves no answer out."""
    rng = np.random.default_rng(5)
    better, seen = rng.random(100) < 0.5, rng.random(100) < 0.5
    texts = pd.DataFrame({"item": [f"t{k}" for k in range(100)], "target": "", "a": "old", "b": "new"})
    rows = [
        pd.DataFrame({"rater": name, "kind": kind, "item": texts["item"], "order": np.where(seen, "ab", "ba"),
                      "response": np.where((better == seen) ^ (rng.random(100) < error), "first", "second")})
        for name, kind, error in (("today", "judge", 0.2), ("next", "judge", 0.1), ("anna", "person", 0.1))
    ]  # fmt: skip
    every = pd.concat(rows, ignore_index=True)
    some = every[every["kind"].eq("person") | every["item"].isin(texts["item"][:70])]
    for table, answered in ((every, 1.0), (some, 0.7)):  # of thirty pairs no judge has an answer, in either order
        ratings = Ratings.of(table, scales=CHOICES, texts=texts)
        [agreement] = dict(measure_upgrade(Upgrade.within(ratings, "today", "next")))["upgrade_agreement"].values()
        assert agreement.detail["answered"] == [answered, answered]
        assert agreement.detail["candidate"] > 0.4 * answered
