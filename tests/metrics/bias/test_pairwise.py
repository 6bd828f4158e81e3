"""Choices: read from places to texts, paired up over both orders, decided by scores, read from a stranger's file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recuse.ratings import Numeric, Ratings
from recuse.ratings.pair_array import both_orders, pair_array, verdicts_of
from recuse.schema import RatingsError
from tests.ratings.choices import read_choices

PAIRS = pd.DataFrame([("1", "s", "a", "b"), ("2", "s", "a", "c")], columns=["item", "cluster", "a", "b"])
BOTH = [("x", "1", "ab", "first"), ("x", "1", "ba", "first"), ("x", "2", "ab", "second"), ("x", "2", "ba", "tie")]


def choices(rows, texts=PAIRS, **more):
    frame = pd.DataFrame(rows, columns=["judge", "item", "order", "response"])
    return Ratings.of(frame, texts=texts, **more)


def scores_of(rows, **more):
    return Ratings.of(pd.DataFrame(rows, columns=["judge", "item", "target", "score"]), scales=Numeric(1, 5), **more)


# --------------------------------------------------------------------------- rows


def test_what_the_places_won_is_read_back_to_texts():
    """In order "ba" the first place holds b."""
    table = verdicts_of(choices(BOTH))
    assert table["slot"].tolist() == [1, 1, 0, 0.5]
    assert table["won"].tolist() == [1, 0, 0, 0.5]
    assert table[["cluster", "a", "b", "labels"]].drop_duplicates().to_numpy().tolist() == [
        ["s", "a", "b", "plain"], ["s", "a", "c", "plain"],
    ]  # fmt: skip
    assert both_orders(table)["won"].tolist() == [0.5, 0.25]


def test_one_order_alone_does_not_count_beside_pairs_with_both():
    assert both_orders(verdicts_of(choices(BOTH[:3])))["won"].isna().tolist() == [False, True]


def test_where_nothing_was_asked_twice_the_one_order_counts():
    rows = pd.DataFrame([("x", "1", "first"), ("x", "2", "second")], columns=["judge", "item", "response"])
    table = both_orders(verdicts_of(Ratings.of(rows, texts=PAIRS)))
    assert table["won"].tolist() == [1.0, 0.0]
    assert table["ba"].isna().all()


def test_an_array_of_who_won():
    """x: a ties b over both orders; y has one usable order of two. People count in whichever order they were asked."""
    rows = [*BOTH, ("y", "1", "ab", "first"), ("y", "1", "ba", None), ("p", "1", "ba", "second")]
    frame = pd.DataFrame(rows, columns=["rater", "item", "order", "response"])
    frame["kind"] = frame["rater"].map({"p": "person"}).fillna("judge")
    met = pair_array(Ratings.of(frame, texts=PAIRS))
    assert met.judges == ("x", "y")
    np.testing.assert_array_equal(met.won, [[0.5, 0.25], [np.nan, np.nan]])
    np.testing.assert_array_equal(met.requested, [[True, True], [True, False]])
    np.testing.assert_array_equal(met.people, [1.0, np.nan])
    assert met.credit("c").tolist() == [0, -1]


@pytest.mark.parametrize(("rows", "texts", "told"), [
    ([("x", "1", "ab", "A")], PAIRS, "one of first, tie, second; row 0 has 'A'"),
    ([("x", "9", "ab", "first")], PAIRS, "texts lack 1 item.*first 9"),
    ([("x", "1", "ab", "first")], None, "which two texts meet"),
    ([("x", "1", "ab", "first")], pd.concat([PAIRS, PAIRS.assign(b="z")]), "two pairs for item"),
])  # fmt: skip
def test_what_cannot_be_read_says_where(rows, texts, told):
    with pytest.raises(RatingsError, match=told):
        verdicts_of(choices(rows, texts))


def test_another_factor_must_be_fixed_first():
    rows = pd.DataFrame({"judge": "x", "item": "1", "response": "first", "heat": ["low", "high"]})
    made = Ratings.of(rows, factors=("heat",), texts=PAIRS)
    with pytest.raises(RatingsError, match="heat"):
        verdicts_of(made)
    assert [len(verdicts_of(part)) for _, part in made.each("order", "labels")] == [1, 1]


# --------------------------------------------------------------------------- decided by scores

THREE = [("x", "0", "a", 5), ("x", "0", "b", 3), ("x", "0", "c", 3), ("x", "1", "a", 2), ("x", "1", "b", 2),
         ("x", "1", "c", None)]  # fmt: skip


def test_the_better_score_wins():
    """Equal scores tie; c's score of item 1 could not be read, so its pairs have no winner."""
    met = pair_array(scores_of(THREE))
    won = dict(zip(met.items, met.won[0], strict=True))
    known = {name: won for name, won in won.items() if np.isfinite(won)}
    assert known == {"0.a~b": 1.0, "0.a~c": 1.0, "0.b~c": 0.5, "1.a~b": 0.5}
    assert len(won) == 6
    assert met.clusters.tolist() == [name[0] for name in met.items]


def test_on_a_scale_where_1_is_best_the_lower_score_wins():
    rows = [(*row, "reversed") for row in THREE[:2]]
    frame = pd.DataFrame(rows, columns=["judge", "item", "target", "score", "direction"])
    ((_, part),) = Ratings.of(frame, scales=Numeric(1, 5)).each()
    assert pair_array(part).won.tolist() == [[0.0]]


# --------------------------------------------------------------------------- a stranger's file


def read(rows, *columns, **more):
    return read_choices(pd.DataFrame(rows, columns=columns), **more)


def test_the_winner_by_place():
    ratings = read([("j", "q", "gpt", "bard", "first")], "judge", "item", "first", "second", "response")
    table = verdicts_of(ratings)
    assert table[["a", "b", "order", "slot", "won"]].to_numpy().tolist() == [["bard", "gpt", "ba", 1.0, 0.0]]


def test_without_an_order_nothing_is_claimed_of_it():
    columns = ("rater", "item", "a", "b", "response")
    once = read([("j", "q", "y", "x", "first"), ("j", "r", "x", "y", "x")], *columns)
    assert once.levels("order") == ()
    assert pair_array(once).won.tolist() == [[0.0, 1.0]]
    twice = read([("j", "q", "y", "x", "first"), ("j", "q", "x", "y", "first")], *columns)
    assert twice.levels("order") == ("ab", "ba")


def test_several_pairs_of_one_question_share_a_cluster():
    rows = [("j", "q", "x", "y", "x"), ("j", "q", "x", "z", "z"), ("j", "r", "x", "y", None)]
    ratings = read(rows, "rater", "item", "a", "b", "response")
    table = verdicts_of(ratings)
    assert table["item"].tolist() == ["q.x~y", "q.x~z", "r.x~y"]
    assert table["cluster"].tolist() == ["q", "q", "r"]
    assert table["won"].isna().tolist() == [False, False, True]


def test_people_authors_and_words():
    columns = ("rater", "item", "first", "second", "words_a", "words_b", "response")
    rows = [("y", "q", "y", "x", 2, 1, "y"), ("ann", "q", "x", "y", 1, 2, "x")]
    ratings = read(rows, *columns, people=["ann"])
    assert (ratings.judges, ratings.persons, ratings.own()) == (("y",), ("ann",), {"y": "y"})
    assert ratings.texts[["a", "words_a", "words_b"]].to_numpy().tolist() == [["x", 1, 2]]


def test_asked_again_counts_as_a_repeat():
    rows = [("j", "q", "x", "y", "x"), ("j", "q", "x", "y", "y")]
    assert pair_array(read(rows, "rater", "item", "a", "b", "response")).won.tolist() == [[0.5]]
