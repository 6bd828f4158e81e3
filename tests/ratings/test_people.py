"""People who rated item by item join a panel's table: once under every level, and on whichever way the scale stands."""

from __future__ import annotations

import pandas as pd

from recuse.elicitation.replies import with_people
from recuse.metrics import human_alignment
from recuse.ratings import Numeric, Ratings
from recuse.ratings.ratings_table import completed

SCALES = {"rating": Numeric(1, 5)}


def test_people_agree_with_a_judge_that_agrees_with_them_in_both_directions() -> None:
    """The judge gives 5 where high is best and 1 where 1 is best; ann gave 5, on the ascending scale."""
    rows = [("i", "ascending", 5.0), ("j", "ascending", 2.0), ("i", "reversed", 1.0), ("j", "reversed", 4.0)]
    judge = completed(pd.DataFrame(rows, columns=["item", "direction", "score"]).assign(rater="x", target="t"))
    ann = pd.DataFrame({"rater": "ann", "item": ["i", "j", "never asked"], "target": "t", "score": [5.0, 2.0, 3.0]})
    ratings = Ratings.of(with_people(judge, ann, ["direction"], ["rating"], SCALES), scales=SCALES)
    assert ratings.persons == ("ann",)
    found = human_alignment.human_offset(ratings)
    assert {key: e.value for key, e in found.items()} == {("x", "ascending"): 0.0, ("x", "reversed"): 0.0}


def test_without_factors_they_are_rows_like_any_other() -> None:
    judge = completed(pd.DataFrame({"rater": ["x"], "item": ["i"], "target": ["t"], "score": [4.0]}))
    ann = pd.DataFrame({"rater": ["ann"], "item": ["i"], "target": ["t"], "score": [3.0]})
    joined = with_people(judge, ann, [], ["rating"], SCALES)
    assert joined[["rater", "kind", "score"]].to_numpy().tolist() == [["x", "judge", 4.0], ["ann", "person", 3.0]]
