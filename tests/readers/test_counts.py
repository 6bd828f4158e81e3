"""Files that hold how often each answer was given: read as the answers, checked line by line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from recuse.papers.indeterminacy.rated_options import answers_among_options, rated_options
from recuse.ratings import Nominal, ResponseSets
from recuse.readers import read_file
from recuse.schema import RecuseError

COUNTS = """item,rater,count_toxic,count_not toxic,count_unparsed,total
c1,gpt-4o,7,2,1,10
c1,people,1,2,0,3
c2,gpt-4o,1,9,0,10
c2,people,0,3,,3
"""


def test_counts_come_out_as_they_went_in(file):
    ratings = read_file(file("a.csv", COUNTS)).ratings
    assert ratings.scale == Nominal(("not toxic", "toxic"))
    rated = rated_options(ratings)
    np.testing.assert_allclose(rated.judge_choices[0], [[2 / 9, 7 / 9], [0.9, 0.1]])
    assert rated.people_counts.tolist() == [[2, 1], [3, 0]]
    assert rated.lost.tolist() == [1]
    assert ratings.judges == ("gpt-4o",)
    assert ratings.persons == ("people 1", "people 2", "people 3")


def test_counts_of_sets(file):
    text = (
        "item,rater,count_yes,count_no,count_no|yes\n1,gpt-4o,1,0,2\n1,people,0,3,1\n2,gpt-4o,3,0,0\n2,people,0,4,0\n"
    )
    ratings = read_file(file("a.csv", text)).ratings
    assert ratings.scale == ResponseSets(("no", "yes"))
    answers = answers_among_options(ratings)
    assert answers.options == ("no", "yes", "no|yes")
    np.testing.assert_allclose(answers.judge_shares[0], [[0, 1 / 3, 2 / 3], [0, 1, 0]])


def test_without_a_rater_they_are_peoples(file):
    read = read_file(file("a.csv", "item,count_yes,count_no\n1,2,1\n2,0,3\n"))
    assert read.ratings.judges == ()
    assert len(read.ratings.persons) == 3


def test_no_person_of_a_count_is_always_the_one_who_says_the_first_option(file):
    """A hundred items, two against two: dealt out in the order of the options, person 1 would always say yes."""
    rows = "".join(f"{k},people,2,2\n" for k in range(100))
    table = read_file(file("a.csv", f"item,rater,count_yes,count_no\n{rows}")).ratings.table
    yes = table.assign(yes=table["response"].eq("yes")).groupby("rater")["yes"].sum()
    assert yes.between(30, 70).all()


def test_the_same_file_gives_the_same_table(file):
    first, second = (read_file(file(name, COUNTS)).ratings.table for name in ("a.csv", "b.csv"))
    pd.testing.assert_frame_equal(first, second)


def test_a_fault_names_the_line_of_the_file(file):
    read = read_file(file("a.csv", COUNTS.replace("count_unparsed", "count_rude")), scale="toxic,not toxic")
    (told,) = [fault.sentence() for fault in read.faults]
    assert told.startswith("1 answer(s) are none of toxic, not toxic: 'rude' (line 2,")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "7,2,1,10",
            "7,2,1,11",
            r"line 2: count_toxic, count_not toxic, count_unparsed add up to 7 \+ 2 \+ 1 = 10, and ",
        ),
        (
            "1,9,0,10",
            "1,9.5,0,10",
            r"line 4, column count_not toxic: '9.5' is no count; a count is a whole number from 0",
        ),
        ("1,9,0,10", "1,-9,0,10", r"line 4, column count_not toxic: '-9' is no count"),
        ("0,3,,3", "0,three,,3", r"line 5, column count_not toxic: 'three' is no count"),
        ("c2,gpt-4o,1,9,0,10", "c2,claude,0,0,10,10", r"'claude' gave no valid answer to any item"),
        ("1,9,0,10", "9999999999,9,0,9999999999", r"at most 10,000,000 can be read"),
    ],
)
def test_counts_that_cannot_be_are_told(file, old, new, said):
    with pytest.raises(RecuseError, match=said):
        read_file(file("a.csv", COUNTS.replace(old, new)))


@pytest.mark.parametrize(
    "header",
    ["item,count_words,count_links,gpt-4o", "item,count_words,count_links,score,rater", "item,count_words,gpt-4o,ann"],
)
def test_other_counts_beside_ratings_are_left_alone(file, header):
    rows = "".join(f"{k},{k},3,{1 + k % 5}{',gpt' if 'rater' in header else ''}\n" for k in range(12))
    read = read_file(file("a.csv", f"{header}\n{rows}"))
    assert not any("counted" in note for note in read.notes)
