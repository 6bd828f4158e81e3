"""Counts of options and of response sets, by hand and against pandas."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recuse.papers.indeterminacy.rated_options import option_counts
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
    found = option_counts(ratings_of([*rows, ("q", "person", "2", "c")], Nominal(("a", "b", "c"))))
    assert found.answers == (("a",), ("b",), ("c",))
    assert {name: counts.tolist() for name, counts in found.judged.items()} == {"j": [[0, 2, 0], [0, 0, 0]]}
    assert found.lost.tolist() == [[0, 1], [0, 0], [0, 0]]
    assert found.counts[found.people].sum(axis=0).tolist() == [[0, 0, 0], [1, 0, 1]]


def test_sets_by_hand_whatever_order_their_options_are_written_in():
    rows = [
        ("j", "judge", "1", "b|a"),
        ("j", "judge", "1", "a | b"),
        ("j", "judge", "1", "c"),
        ("j", "judge", "1", "c|b|a"),
    ]
    found = option_counts(ratings_of(rows, SETS))
    assert found.answers == (("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c"))
    assert found.counts[0, 0].tolist() == [0, 0, 1, 2, 0, 0, 1]


def test_the_same_as_a_cross_table_of_random_sets():
    rng = np.random.default_rng(5)
    names = ["|".join(s) for s in SETS.sets]
    rows = [(f"r{k % 4}", "judge", f"i{rng.integers(6)}", str(rng.choice(names))) for k in range(400)]
    found = option_counts(ratings_of(rows, SETS))
    table = pd.DataFrame(rows, columns=["rater", "kind", "item", "response"])
    crossed = pd.crosstab([table["rater"], table["item"]], table["response"])
    for r, rater in enumerate(found.raters):
        for i, item in enumerate(found.items):
            assert found.counts[r, i].tolist() == crossed.loc[(rater, item)].reindex(names).tolist()


@pytest.mark.parametrize(("text", "said"), [("a|d", "one or more of a, b, c; got 'a|d'"), ("|", "got '|'")])
def test_what_is_no_admissible_set_is_told_with_its_row(text: str, said: str):
    with pytest.raises(RecuseError, match="row 1: a response set holds") as caught:
        option_counts(ratings_of([("j", "judge", "1", "a"), ("j", "judge", "2", text)], SETS))
    assert said in str(caught.value)


def test_numbers_have_no_options_to_count():
    frame = pd.DataFrame({"judge": "j", "item": ["1"], "score": [2.0]})
    with pytest.raises(RecuseError, match="rating has numbers, no options to count"):
        option_counts(Ratings.of(frame, scales=Numeric(1, 5)))


def test_levels_of_a_factor_are_not_pooled():
    frame = pd.DataFrame({"judge": "j", "item": "1", "response": ["a", "b"], "order": ["ab", "ba"]})
    with pytest.raises(RecuseError, match="order still vary"):
        option_counts(Ratings.of(frame, scales=Nominal(("a", "b"))))


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
