"""What is wrong in a file is named by line and column, counted, and never dropped in silence."""

from __future__ import annotations

import pytest

from recuse.readers import read_file
from recuse.schema import RecuseError

SCORES = "item,judge,anna\n" + "".join(f"{k},{1 + k % 5},{1 + k % 5}\n" for k in range(40))


def faults(path, **given):
    return [fault.sentence() for fault in read_file(path, **given).faults]


def test_what_is_no_number(file):
    path = file("a.csv", SCORES.replace("\n3,4,4\n", '\n3,"about\n4",4\n').replace("\n7,3,3\n", "\n7,good,3\n"))
    (told,) = faults(path)
    assert told.startswith(
        "2 answer(s) are not numbers (line 5, column judge: 'about 4'; line 10, column judge: 'good')"
    )
    table = read_file(path).ratings.table
    assert (table["status"] == "unparsed").sum() == 2
    assert len(table) == 80


def test_an_unknown_label(file):
    rows = "".join(f"{k},pass,fail\n" for k in range(20))
    (told,) = faults(file("a.csv", f"item,gpt,anna\n{rows}21,probably,pass\n"))
    assert "1 answer(s) are none of fail, pass: 'probably' (line 22, column gpt: 'probably')" in told


def test_numbers_outside_the_scale_that_was_said(file):
    (told,) = faults(file("a.csv", SCORES), scale="1-4")
    assert told.startswith("16 number(s) outside 1 to 4")
    table = read_file(file("a.csv", SCORES), scale="1-4").ratings.table
    assert (table["status"] == "out_of_scale").sum() == 16
    assert len(table) == 80


def test_a_judgement_that_is_there_twice(file):
    text = "item,rater,score,rep\n1,gpt,3,1\n1,gpt,3,1\n2,gpt,4,1\n2,gpt,5,1\n3,gpt,1,1\n4,gpt,2,1\n"
    same, differ = faults(file("a.csv", text))
    assert same.startswith("1 judgement(s) are there twice with the same answer (line 3, column score")
    assert differ.startswith("2 judgement(s) are there twice with different answers (line 4")
    table = read_file(file("a.csv", text)).ratings.table
    assert dict(zip(table["item"], table["status"], strict=True)) == {"1": "ok", "2": "error", "3": "ok", "4": "ok"}


def test_rows_without_a_number_are_repeats_and_it_is_said(file):
    read = read_file(file("a.csv", "item,rater,score\n1,gpt,3\n1,gpt,4\n2,gpt,4\n2,gpt,5\n"))
    assert list(read.ratings.table["repeat"]) == [0, 1, 0, 1]
    assert any("read as its repeats" in note for note in read.notes)


def test_raters_on_two_scales(file):
    rows = "".join(f"{k},{k * 3 % 101},{1 + k % 5}\n" for k in range(60))
    with pytest.raises(RecuseError, match=r"gpt gives numbers up to 99, anna only up to 5.*--scale=0-99"):
        read_file(file("a.csv", f"item,gpt,anna\n{rows}"))


def test_free_text_in_place_of_ratings(file):
    rows = "".join(f"{k},gpt,comment {k}\n" for k in range(80))
    with pytest.raises(RecuseError, match="free text"):
        read_file(file("a.csv", f"item,judge,result\n{rows}"), value="result")


def test_people_who_rated_few(file):
    rows = "".join(f"{k},{1 + k % 5},{1 + k % 5},{3 if k < 2 else ''}\n" for k in range(50))
    read = read_file(file("a.csv", f"item,judge,anna,human_2\n{rows}"))
    assert any("human_2 2" in note and "anna" not in note for note in read.notes)


def test_a_short_row_is_told(file):
    (told,) = faults(file("a.csv", "item,anna,gpt\n1,3,3\n2,4\n3,5,5\n"))
    assert told.startswith("1 row(s) have fewer cells than the header (line 3)")


def test_a_long_row_is_an_error_with_its_line(file):
    with pytest.raises(RecuseError, match="line 3 has 4 cells and the header 3"):
        read_file(file("a.csv", "item,anna,gpt\n1,3,3\n2,4,4,4\n"))


def test_two_columns_of_one_name(file):
    with pytest.raises(RecuseError, match="columns 2, 3 are all called 'gpt'"):
        read_file(file("a.csv", "item,gpt,gpt\n1,3,3\n"))


def test_a_mark_that_is_the_sum_of_the_two_above_it_is_no_total(file):
    """Between prose of a judge few cells are numbers: five of them and more make a sum."""
    prose = "The reply is polite and says what was asked for. Rating: {}"
    marks = (2, 2, 4, *(k % 5 + 1 for k in range(40)))
    each = [(("gpt-4o", prose.format(k % 5 + 1)), ("claude", prose.format(3)), ("human", one))
            for k, one in enumerate(marks)]  # fmt: skip
    rows = [f"t{k},0,{who},{mark}" for k, three in enumerate(each) for who, mark in three]
    read = read_file(file("a.csv", "\n".join(["item,is_test,rater,score", *rows])))
    assert read.faults == ()
    assert list(read.ratings.table.query("rater == 'human'")["score"][:3]) == [2, 2, 4]


@pytest.mark.parametrize("word", ["N/A", "none"])
def test_a_word_for_nothing_that_everybody_gives_is_asked_about(file, word):
    answers = ("fail", "pass", word)
    path = file("a.csv", "id,anna,ben,gpt\n" + "".join(
        f"t{k},{answers[k % 3]},{answers[k % 3]},{answers[(k + k % 7 // 6) % 3]}\n" for k in range(60)))  # fmt: skip
    with pytest.raises(RecuseError, match=f'often answer {word.lower()} .*--scale "fail,pass,{word.lower()}"'):
        read_file(path)
    assert {*read_file(path, scale=f"fail,pass,{word}").ratings.table["response"]} == {"fail", "pass", word.lower()}
    assert {*read_file(path, scale="fail<pass").ratings.table["status"]} == {"ok", "unparsed"}
