"""The best of a list: named where it is known, and kept when the list is turned."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from recuse.papers.self_preference.choice_changes import list_accuracy, list_consistency
from recuse.ratings import Ratings


def lists(answers: dict[str, list[str | None]], best: dict[str, str] | None = None, length: int = 4) -> Ratings:
    """`answers`: list -> what the judge names in each rotation, None where its answer could not be read."""
    rows = [
        {"judge": "j", "item": item, "criterion": "best", "rotation": str(turn), "response": said,
         "status": "unparsed" if said is None else "ok"}
        for item, given in answers.items() for turn, said in enumerate(given)
    ]  # fmt: skip
    texts = [
        {"item": item, "target": "a", "true_best": right, "length": length} for item, right in (best or {}).items()
    ]
    return Ratings.of(pd.DataFrame(rows), factors=["rotation"], texts=pd.DataFrame(texts) if texts else None)


def test_accuracy_is_the_mean_over_lists_of_the_share_of_rotations():
    found = list_accuracy(lists({"i": ["a", "a"], "k": ["a", "b"], "m": ["b", "b"]}, dict.fromkeys("ikm", "a")))
    one = found.of(judge="j")
    assert (one.value, one.n, one.unit) == (pytest.approx(0.5), 3, "share")
    assert one.detail["by_chance"] == 0.25
    assert 0 <= one.low < one.value < one.high <= 1


def test_a_list_whose_best_is_unknown_and_an_unread_answer_are_left_out():
    one = list_accuracy(lists({"i": ["a", None], "k": ["b", "b"]}, {"i": "a"})).of(judge="j")
    assert (one.value, one.n, one.n_excluded) == (1.0, 1, 1)
    nothing = list_accuracy(lists({"i": ["a", "a"]})).of(judge="j")
    assert math.isnan(nothing.value)
    assert nothing.note == "undefined: no list has a known best"


def test_consistency_is_the_share_of_lists_whose_best_stays():
    one = list_consistency(lists({"i": ["a", "a", "a"], "k": ["a", "a"], "m": ["a", "b"]})).of(judge="j")
    assert (one.value, one.n) == (pytest.approx(2 / 3), 3)


def test_one_usable_rotation_says_nothing_of_consistency():
    one = list_consistency(lists({"i": ["a", None], "k": ["b", "b"]})).of(judge="j")
    assert (one.value, one.n, one.n_excluded) == (1.0, 1, 1)
    assert not list_consistency(lists({"i": ["a"]})).of(judge="j").defined
