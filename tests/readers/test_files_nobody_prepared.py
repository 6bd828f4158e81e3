"""Layouts that public repositories have, in tables of our own: what was read as somebody's rating, as a repeat or as
nothing is read as meant, or is one question that names its answer."""

from __future__ import annotations

import pytest

from recuse.readers import read_file
from recuse.schema import RecuseError

NUMBER = 60


def mark(k, shift=0):
    """A mark from 1 to 5 that others agree with, but for some rows each."""
    return (k * 7 + (k % 11 == shift)) % 5 + 1


def read(file, header, cells, number=NUMBER, **options):
    lines = (",".join(map(str, cells(k))) for k in range(number))
    return read_file(file("a.csv", "\n".join([header, *lines])), **options)


def kinds(of):
    return dict(of.ratings.raters)


def test_several_answers_to_one_question_are_no_repeats_of_a_person(file):
    """Each row is a student's answer: the id that tells them apart is named as the remedy, and does it."""
    rows = ("question,id,grader_1,grader_2,gpt-4", lambda k: (f"q{k // 4}", f"s{k}", mark(k), mark(k, 1), mark(k, 2)))
    with pytest.raises(RecuseError, match=r"grader_1 has several rows on one text \('q0'\) .*--item id;"):
        read(file, *rows)
    assert read(file, *rows, item="id").ratings.table["item"].nunique() == NUMBER


def test_a_person_who_says_the_same_in_every_row_was_asked_once(file):
    found = read(file, "item,anna,ben,gpt-4", lambda k: (f"t{k // 4}", mark(k // 4), mark(k // 4, 1), mark(k)))
    assert found.ratings.table["repeat"].max() == 3


def test_rows_of_a_worker_on_one_text_that_nothing_tells_apart_are_asked_about(file):
    """A row for each span that somebody marked."""
    with pytest.raises(RecuseError, match=r"w0 has several rows on one text .* number them in a column repeat"):
        read(file, "item,worker_id,rating", lambda k: (f"t{k // 6}", f"w{k // 2 % 3}", mark(k)))
