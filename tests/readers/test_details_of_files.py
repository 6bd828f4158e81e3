"""Small things that a file says and a wrong reading would turn round: authors, fields of JSON, what a message adds."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from recuse.readers import read_file
from recuse.readers.json_cells import FEWEST_TOLD, HELD, with_fields_of_json
from recuse.readers.raw_table import RawTable, cell_text
from recuse.schema import RecuseError


def long_table(rows: list[str]) -> str:
    return "item,system,author,judge,score\n" + "\n".join(rows)


def test_the_author_column_names_judges_and_nobody_else(file):
    rows = [
        f"t{k},{system},{author},{judge},{1 + k % 5}"
        for k in range(10)
        for system, author in (("s1", "gpt"), ("s2", "a novelist"))
        for judge in ("gpt", "claude")
    ]
    read = read_file(file("a.csv", long_table(rows)), author="author", rater="judge", target="system", value="score")
    assert read.ratings.authors == {"gpt": "s1"}


def test_without_one_a_judge_wrote_the_target_of_its_name(file):
    rows = [
        f"t{k},{system},x,{judge},{1 + k % 5}"
        for k in range(10)
        for system in ("gpt", "s2")
        for judge in ("gpt", "claude")
    ]
    read = read_file(file("a.csv", long_table(rows)), rater="judge", target="system", value="score", ignore="author")
    assert read.ratings.authors == {"gpt": "gpt"}


def fields_of(cells):
    """A column of judge's outputs taken apart."""
    frame = pd.DataFrame({"judge_output": [json.dumps(c) if isinstance(c, dict) else c for c in cells]}, dtype=object)
    return with_fields_of_json(RawTable("a.csv", frame, ()))


def test_beside_a_field_called_as_ratings_are_a_number_is_no_rating():
    raw = fields_of([{"confidence": k / 10, "score": 1 + k % 5, "why": "so"} for k in range(10)])
    assert list(raw.frame.columns) == ["judge_output.score", "judge_output.why"]
    assert list(raw.frame["judge_output.score"]) == [str(1 + k % 5) for k in range(10)]
    assert raw.notes[0].endswith("; not read: confidence")


@pytest.mark.parametrize(("objects", "taken_apart"), [(8, True), (7, False)])
def test_four_in_five_cells_must_hold_an_object(objects, taken_apart):
    assert HELD == 0.8
    raw = fields_of([{"score": 1 + k % 5} if k < objects else "cannot say" for k in range(10)])
    assert ("judge_output.score" in raw.frame) is taken_apart


@pytest.mark.parametrize(("told", "kept"), [(5, True), (4, False)])
def test_a_field_that_fewer_than_half_of_them_have_is_left_out(told, kept):
    assert FEWEST_TOLD == 0.5
    raw = fields_of([{"score": 1 + k % 5} | ({"why": "so"} if k < told else {}) for k in range(10)])
    assert ("judge_output.why" in raw.frame) is kept


def test_a_list_of_objects_is_left_as_it_is():
    raw = fields_of(['[{"score": 1}]'] * 10)
    assert (list(raw.frame.columns), raw.notes) == (["judge_output"], ())


def test_where_nothing_is_rated_lists_are_named_and_nothing_is_where_there_are_none(file):
    named = r"\. Of log, which hold lists, write a row for each entry first$"
    with pytest.raises(RecuseError, match="no column holds ratings") as plain:
        read_file(file("a.csv", "item,text\n" + "\n".join(f"t{k},a text of its own {k}" for k in range(10))))
    assert "which hold lists" not in str(plain.value)
    rows = "\n".join(f't{k},"[{{""turn"": {k}}}]"' for k in range(10))
    with pytest.raises(RecuseError, match=named):
        read_file(file("b.csv", f"item,log\n{rows}"))


def test_only_another_separator_than_the_comma_is_noted(file):
    rows = [("item", "judge", "anna"), *((f"t{k}", str(k % 5), str(k % 5)) for k in range(10))]
    comma, tab = (read_file(file(f"{n}.csv", "\n".join(map(s.join, rows)))) for n, s in enumerate((",", "\t")))
    assert not [note for note in comma.raw.notes if "separated" in note]
    assert [note for note in tab.raw.notes if "separated" in note]


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (None, ""),
        (True, "true"),
        (False, "false"),
        (2.0, "2"),
        (2.5, "2.5"),
        (float("nan"), ""),
        (1e15, "1000000000000000.0"),
        ("x", "x"),
        ([1], "[1]"),
        (7, "7"),
    ],
)
def test_a_value_of_json_as_a_cell(value, cell):
    assert cell_text(value) == cell


def test_a_broken_line_of_json_lines_is_named_by_its_number(file):
    lines = ['{"item": "a", "judge": "j", "score": 1}', "", '{"item": "b", "judge": "j", "score": 2}', '{"item": ']
    with pytest.raises(RecuseError, match=r"a\.jsonl: line 4: .*; a file of JSON lines has one object per line"):
        read_file(file("a.jsonl", "\n".join(lines)))


def test_why_a_column_was_not_used(file):
    rows = [f"t{k},x,run_1,{k % 5},{k % 5}" for k in range(30)]
    read = read_file(file("a.csv", "item,lang,id,judge,anna\n" + "\n".join(rows)))
    assert read.mapping.ignored["lang"] == "the same in every row"
    alone = read_file(file("b.csv", "lang,id,judge,anna\n" + "\n".join(row.partition(",")[2] for row in rows)))
    assert alone.mapping.ignored["lang"] == "the same in every row"
    assert alone.mapping.ignored["id"].startswith("the same in every row; each row is read as a text of its own")


def test_scores_that_are_places_by_their_name_only_are_no_places(file):
    """A column called rank holds a ranking where a rater's numbers of an item are 1, 2, ... without a gap."""
    ranked = [f"t{k},{s},gpt,{1 + (k + n) % 3}" for k in range(20) for n, s in enumerate("abc")]
    tied = [f"t{k},{s},gpt,{1 + n // 2}" for k in range(20) for n, s in enumerate("abc")]
    ends = []
    for name, rows in (("a.csv", ranked), ("b.csv", tied)):
        read = read_file(file(name, "item,system,judge,rank\n" + "\n".join(rows)), rater="judge", value="rank")
        ends.append(read.ratings.scales["rank" if "rank" in read.ratings.scales else "rating"])
    assert ends[0] != ends[1]
