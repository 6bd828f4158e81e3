"""What a column and its numbers are taken for, at the edges of each rule: just enough cells of a kind, one too few."""

from __future__ import annotations

import pandas as pd
import pytest

from recuse.readers.columns import FEW_LABELS, FEWEST_TEXTS, LONG, Column
from recuse.readers.values import is_empty, same_verdicts, scale_of_numbers


def column(*cells: str) -> Column:
    return Column("c", pd.Series(cells, dtype=object))


def numbers(*values: float) -> Column:
    return column(*map(str, values))


@pytest.mark.parametrize(("cells", "empty"), [
    (["", " N/A ", "nan", "good"], [True, True, True, False]),
    (["none", "minor", "major", "n/a"], [False, False, False, True]),  # no severity is an answer
    (["none", "minor", "n/a"], [True, False, True]), (["none", "n/a"], [True, True]),
    (["none", "minor", "major", "see below"], [True, False, False, False]),
    (["n/a, but " + "good " * 20, " " * 50], [False, True]), (["--", "k. A.", "n.a.", "5"], [True, True, True, False]),
])  # fmt: skip
def test_a_cell_that_says_nothing(cells, empty):
    assert [*is_empty(pd.Series(cells, dtype=object))] == empty


@pytest.mark.parametrize(("cells", "numeric"), [(("1", "x"), True), (("1", "x", "y"), False), (("", "n/a"), False)])
def test_half_of_the_filled_cells_must_be_numbers(cells, numeric):
    assert column(*cells).numeric is numeric
    assert column(*cells, "", "").numeric is numeric, "empty cells count for neither"


def test_texts_are_long_and_no_numbers():
    assert column("x" * (LONG + 1)).wordy
    assert not column("x" * LONG).wordy
    assert not column("1" * (LONG + 1)).wordy


def test_every_cell_of_a_column_of_days_is_a_day():
    assert column("2026-03-01", " 1.3.26").dated
    assert not column("2026-03-01", "pass").dated
    assert not column().dated
    assert not column("2026-03.01").dated, "one separator, twice"


def test_labels_are_known_ones_only():
    assert column("Pass", " fail").holds_labels
    assert not column("pass", "whatever").holds_labels
    assert not column().holds_labels


def test_what_is_nearly_never_repeated_is_a_text():
    texts = [f"said {k}" for k in range(FEWEST_TEXTS)]
    assert column(*texts).told_once
    assert not column(*texts[:-1]).told_once, "too few to tell"
    assert column(*texts, *texts[:2]).told_once, "eight of ten differ"
    assert not column(*texts, *texts[:3]).told_once
    assert not numbers(*range(FEWEST_TEXTS)).told_once


def test_ratings_are_numbers_or_few_short_labels_that_come_again():
    labels = [f"l{k}" for k in range(FEW_LABELS)]
    assert column(*labels, *labels).rating
    assert not column(*labels, *labels, "more", "more").rating
    assert column(*["x" * 30, "y" * 30] * 8).rating
    assert not column(*["x" * 31, "y" * 31] * 8).rating
    assert not column().rating


def test_a_numbering_of_the_rows_is_not_varied():
    assert not numbers(*range(21)).varied
    assert numbers(*range(20)).varied, "twenty may be marks"
    assert numbers(*range(20), 19).varied
    assert numbers(*(k + 0.5 for k in range(21))).varied


def test_what_looks_like_ratings_by_itself():
    assert column("x", "y", "x", "y").like_ratings, "each comes twice"
    assert not column("x", "y", "x").like_ratings
    assert not column("a", "a").like_ratings, "one answer for everything"
    assert numbers(1, 2).like_ratings


@pytest.mark.parametrize(
    ("values", "alike"),
    [
        ((1, 5), True),
        ((0, 5), True),
        ((-1, 5), False),
        ((1, 8), True),  # 1.6 times the best of the other
        ((1, 8.5), False),
    ],
)
def test_numbers_answer_alike_on_one_scale(values, alike):
    assert numbers(*values).answers_like(numbers(1, 5)) is alike


def test_near_nought_two_points_more_are_one_scale():
    assert numbers(0, 3).answers_like(numbers(0, 1))
    assert not numbers(0, 3.5).answers_like(numbers(0, 1))


def test_more_values_than_a_scale_of_a_hundred_are_no_answers():
    assert numbers(*range(101)).answers_like(numbers(0, 100))
    assert not numbers(*range(102)).answers_like(numbers(0, 100))


def test_beside_one_answer_for_everything_any_few_whole_ratings_fit():
    same = numbers(3, 3)
    assert numbers(9, 7, 9).answers_like(same)
    assert not numbers(9.5, 7, 9.5).answers_like(same)
    assert not numbers(7, 7).answers_like(same)


def test_labels_answer_alike_where_one_is_shared_and_only_so_where_all_are():
    known = column("pass", "fail", "pass", "fail")
    mixed, same = column("Pass", "unsure", "Pass", "unsure"), column("PASS", "PASS")
    assert mixed.answers_like(known)
    assert not mixed.only_answers_of(known)
    assert same.only_answers_of(known)
    assert not column("good", "bad").answers_like(known)
    assert not numbers(1, 2).answers_like(known)
    assert numbers(1, 2).only_answers_of(numbers(1, 3)), "numbers need not be the same ones"


@pytest.mark.parametrize(
    ("seen", "top", "ends", "step"),
    [
        ((2, 3), None, (1, 3), 1.0),
        ((0, 5), None, (0, 5), 1.0),
        ((0, 6), None, (0, 10), 1.0),
        ((0.5, 1), None, (0, 1), None),
        ((1, 5.5), None, (1, 6), 0.5),
        ((-1, 1), None, (-1, 1), 1.0),
        ((0, 50), None, (0, 50), 1.0),  # no more than half of the usual 0 to 100 is used
        ((0, 51), None, (0, 100), 1.0),
        ((1, 4), 5.0, (1, 5), 1.0),
        ((0, 4), 5.0, (0, 5), 1.0),
        ((3, 90), 100.0, (0, 100), 1.0),
        ((1, 6), 5.0, (1, 6), 1.0),  # above what the cells say they are out of
        ((*range(1, 101), 0), None, (0, 100), 1.0),  # seldom given, and no stray
        ((*range(1, 101), -1), None, (1, 100), 1.0),
        ((*[1, 2, 3, 4, 5] * 12, 99), None, (1, 5), 1.0),
    ],
)
def test_the_usual_scale_that_numbers_fit_into(seen, top, ends, step):
    scale = scale_of_numbers(pd.Series(seen, dtype=float), top)
    assert ((scale.minimum, scale.maximum), scale.step) == (ends, step)


def test_words_for_one_verdict_used_side_by_side():
    said = ["pass", "yes", "fail", "no"]
    assert same_verdicts(said) == {"pass": "pass", "yes": "pass", "fail": "fail", "no": "fail"}
    assert same_verdicts(["pass", "yes", "fail"]) == {"pass": "pass", "yes": "pass", "fail": "fail"}
    for others in (["pass", "fail"], ["pass", "yes"], [*said, "unsure"]):
        assert same_verdicts(others) == {}
