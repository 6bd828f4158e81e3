"""Places in a ranking: the first is best, and sentences are the right way round."""

from __future__ import annotations

import pytest

from recuse.readers import read_file

ENDS = ("1st", "2nd", "3rd", "4th")


def ranked(value="rank", write=str):
    rows = [f"prompt_id,rater,system,{value}"]
    for k in range(40):
        for who in ("anna", "ben", "gpt-4o"):
            rows += [f"{k},{who},model-{'ABCD'[s]},{write((s + (k % 5 == 0)) % 4 + 1)}" for s in range(4)]
    return "\n".join(rows)


@pytest.mark.parametrize(("value", "write"), [("rank", lambda n: ENDS[n - 1]), ("rank", str), ("place", str),
                                              ("score", lambda n: ENDS[n - 1])])  # fmt: skip
def test_the_first_place_is_the_best(file, value, write):
    read = read_file(file("a.csv", ranked(value, write)), value=value)
    assert read.ratings.scale.reversed
    means = read.ratings.array().means.mean(axis=(0, 1))
    assert list(means.argsort()[::-1]) == [0, 1, 2, 3]
    assert any("the lowest is best" in note for note in read.notes)


def test_what_is_said_of_the_scale_counts(file):
    assert not read_file(file("a.csv", ranked()), value="rank", scale="1-4").ratings.scale.reversed


def test_a_column_called_rank_that_holds_no_ranking_is_a_score(file):
    rows = [f"{k},{who},{(k + s) % 5 + 1}" for k in range(40) for s, who in enumerate(("anna", "gpt"))]
    assert not read_file(file("a.csv", "\n".join(["id,rater,rank", *rows])), value="rank").ratings.scale.reversed
