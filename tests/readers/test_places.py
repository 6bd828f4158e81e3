"""Places in a ranking: the first is best, and sentences are the right way round."""

from __future__ import annotations

import pytest

from recuse.readers import read_file
from recuse.schema import RecuseError

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


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("form", ["long", "wide"])
@pytest.mark.parametrize("sign", [" > ", ">", " >> ", " -> ", ", ", "; "])
def test_a_ranking_in_a_cell_is_a_place_for_each_text(file, form, sign):
    def order(k, turn):
        names = ["A", "B", "C", "D"]
        cell = sign.join(names if k % 5 else names[turn:] + names[:turn])
        return f'"{cell}"'

    who = ("anna", "ben", "gpt-4o")
    if form == "long":
        rows = [
            "prompt_id,rater,ranking",
            *(f"{k},{name},{order(k, s)}" for k in range(40) for s, name in enumerate(who)),
        ]
    else:
        rows = [f"prompt_id,{','.join(who)}", *(f"{k}," + ",".join(order(k, s) for s in range(3)) for k in range(40))]
    read = read_file(file("a.csv", "\n".join(rows)))
    assert read.ratings.raters == {"anna": "person", "ben": "person", "gpt-4o": "judge"}
    assert read.ratings.targets == ("A", "B", "C", "D")
    assert read.ratings.scale.reversed
    means = read.ratings.array().means.mean(axis=(0, 1))
    assert list(means.argsort()[::-1]) == [0, 1, 2, 3]


def test_tied_texts_share_the_better_place(file):
    rows = ["prompt_id,anna,gpt-4o", *(f"{k},B > A = C,A > B > C" for k in range(20))]
    table = read_file(file("a.csv", "\n".join(rows))).ratings.table
    anna = table[table["rater"].eq("anna")].drop_duplicates("target")
    assert dict(zip(anna["target"], anna["score"], strict=True)) == {"B": 1, "A": 2, "C": 2}


def test_a_column_for_each_texts_place(file):
    who = ("anna", "ben", "gpt-4o")
    rows = [f"{k},{name},{'1,2,3' if k % 5 else '2,1,3'}" for k in range(40) for name in who]
    for texts in (
        ("A", "B", "C"),
        ("human", "gpt-4", "llama"),
    ):  # a row's places are one rater's, whatever the texts are called
        header = ",".join(["id,rater", *(f"rank_{text}" for text in texts)])
        read = read_file(file("a.csv", "\n".join([header, *rows])))
        assert {*read.ratings.targets} == {*texts}
        assert read.ratings.scale.reversed
        assert set(read.ratings.raters) == {*who}


@pytest.mark.parametrize(("scale", "reversed_"), [("1-4 lowest best", True), ("1-4", False)])
def test_places_in_a_column_of_another_name_are_asked_about(file, scale, reversed_):
    path = file("a.csv", ranked("position"))
    with pytest.raises(RecuseError, match='say which is best: --scale "1-4 lowest best" if 1 is'):
        read_file(path, value="position")
    assert read_file(path, value="position", scale=scale).ratings.scale.reversed == reversed_
