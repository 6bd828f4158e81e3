"""Counts of options and of response sets, by hand and against pandas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recuse.papers.indeterminacy.rated_options import answers_among_options
from recuse.ratings import Nominal, Numeric, Ratings, ResponseSets
from recuse.ratings.answers import answers_of
from recuse.schema import RecuseError

SETS = ResponseSets(("a", "b", "c"))


def ratings_of(rows: list[tuple[str, str, str, str | None]], scale: Nominal | ResponseSets | Numeric) -> Ratings:
    """(rater, kind, item, response); the n-th row of a rater about an item is its n-th repeat."""
    frame = pd.DataFrame(rows, columns=["rater", "kind", "item", "response"])
    frame["repeat"] = frame.groupby(["rater", "item"]).cumcount()
    return Ratings.of(frame, scales=scale)


def test_options_by_hand():
    rows = [("j", "judge", "1", "b"), ("j", "judge", "1", "b"), ("j", "judge", "2", None), ("p", "person", "2", "a")]
    found = answers_among_options(ratings_of([*rows, ("q", "person", "2", "c")], Nominal(("a", "b", "c"))))
    assert found.options == ("a", "b", "c")
    np.testing.assert_array_equal(found.judge_shares, [[[0, 1, 0], [np.nan] * 3]])
    assert found.lost.tolist() == [[0, 1]]
    np.testing.assert_array_equal(found.people_shares, [[np.nan] * 3, [0.5, 0, 0.5]])


def test_sets_by_hand_whatever_order_their_options_are_written_in():
    rows = [
        ("j", "judge", "1", "b|a"),
        ("j", "judge", "1", "a | b"),
        ("j", "judge", "1", "c"),
        ("j", "judge", "1", "c|b|a"),
    ]
    found = answers_among_options(ratings_of(rows, SETS))
    assert found.options == ("a", "b", "a|b", "c", "a|b|c")
    assert found.judge_shares[0, 0].tolist() == [0, 0, 0.5, 0.25, 0.25]


def test_the_same_as_a_cross_table_of_random_sets():
    rng = np.random.default_rng(5)
    names = ["|".join(s) for s in SETS.sets]
    rows = [(f"r{k % 4}", "judge", f"i{rng.integers(6)}", str(rng.choice(names))) for k in range(400)]
    found = answers_among_options(ratings_of(rows, SETS))
    table = pd.DataFrame(rows, columns=["rater", "kind", "item", "response"])
    crossed = pd.crosstab([table["rater"], table["item"]], table["response"])
    shares = crossed.div(crossed.sum(axis=1), axis=0)
    for r, rater in enumerate(found.judges):
        for i, item in enumerate(found.items):
            np.testing.assert_allclose(found.judge_shares[r, i], shares.loc[(rater, item)].reindex(found.options))


@pytest.mark.parametrize(("text", "said"), [("a|d", "one or more of a, b, c; got 'a|d'"), ("|", "got '|'")])
def test_what_is_no_admissible_set_is_told_with_its_row(text: str, said: str):
    with pytest.raises(RecuseError, match="row 1: a response set holds") as caught:
        answers_among_options(ratings_of([("j", "judge", "1", "a"), ("j", "judge", "2", text)], SETS))
    assert said in str(caught.value)


def test_numbers_have_no_options_to_count():
    frame = pd.DataFrame({"judge": "j", "item": ["1"], "score": [2.0]})
    with pytest.raises(RecuseError, match="rating has numbers, no options to count"):
        answers_among_options(Ratings.of(frame, scales=Numeric(1, 5)))


def test_levels_of_a_factor_are_not_pooled():
    frame = pd.DataFrame({"judge": "j", "item": "1", "response": ["a", "b"], "order": ["ab", "ba"]})
    with pytest.raises(RecuseError, match="order still vary"):
        answers_among_options(Ratings.of(frame, scales=Nominal(("a", "b"))))


def test_options_are_every_option_alone_and_the_sets_that_somebody_gave():
    """Of a dozen options, 4,095 sets are possible; where nobody gave any, there are options still, and no numbers."""
    names = tuple("abcdefghijkl")
    for response, more in (("a|b", ("a|b",)), (None, ())):
        rows = [(rater, kind, item, response) for rater, kind in (("j", "judge"), ("p", "person")) for item in "xyz"]
        frame = pd.DataFrame(rows, columns=["rater", "kind", "item", "response"])
        frame["status"] = "ok" if response else "unparsed"
        ratings = Ratings.of(frame, scales=ResponseSets(names))
        answers = answers_of(ratings, ratings)
        assert {*answers.options} == {*names, *more}
        assert not answers.ordered
