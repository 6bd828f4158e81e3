"""Counts and shares of people beside a judge's own column: each answer that is counted is a person's."""

from __future__ import annotations

import pytest

from recuse.readers import read_file
from recuse.schema import RecuseError

YES = [k % 6 for k in range(60)]


def rows(header, *columns):
    cells = enumerate(zip(*columns, strict=True))
    return "\n".join([header, *(",".join(map(str, [f"c{k}", *row])) for k, row in cells)])


def check(read):
    people = read.ratings.table[read.ratings.table["kind"] == "person"]
    said = people[people["response"].isin(["toxic", "yes"])]
    assert [int((said["item"] == f"c{k}").sum()) for k in range(60)] == YES
    assert len(people) == 5 * 60
    assert read.ratings.judges == ("gpt-4o",)


def test_counts_beside_a_judges_column(file):
    judge = ["toxic" if n > 2 else "fine" for n in YES]
    check(read_file(file("a.csv", rows("id,count_toxic,count_fine,gpt-4o", YES, [5 - n for n in YES], judge))))


def test_a_judge_in_words_that_are_not_counted_is_asked_about(file):
    judge = ["bad" if n > 2 else "ok" for n in YES]
    path = file("a.csv", rows("id,count_toxic,count_fine,gpt-4o", YES, [5 - n for n in YES], judge))
    with pytest.raises(RecuseError, match="--same"):
        read_file(path)
    check(read_file(path, same="bad=toxic,ok=fine"))


def test_the_layout_of_civil_comments(file):
    share, judge = [n / 5 for n in YES], ["yes" if n > 2 else "no" for n in YES]
    check(read_file(file("a.csv", rows("id,toxicity,toxicity_annotator_count,gpt-4o", share, [5] * 60, judge))))


def test_a_share_beside_a_judges_scores_is_asked_about(file):
    share = [n / 5 for n in YES]
    path = file("a.csv", rows("id,toxicity,toxicity_annotator_count,gpt-4o", share, [5] * 60, [0.9 * s for s in share]))
    with pytest.raises(RecuseError, match="--people toxicity --judges gpt-4o"):
        read_file(path)
    read = read_file(path, people=("toxicity",), judges=("gpt-4o",))
    assert read.ratings.raters == {"toxicity": "person", "gpt-4o": "judge"}
