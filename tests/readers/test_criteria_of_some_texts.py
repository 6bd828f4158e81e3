"""A criterion that nobody answered on a text does not apply to it; one that the judge alone left out is unanswered."""

import numpy as np
import pandas as pd
import pytest

from recuse.readers.file_ratings import read_file

ITEMS = 40
RATERS = ("anna", "ben", "gpt")


def ratings() -> pd.DataFrame:
    """A row for each rater, item and criterion, all answered."""
    rows = [(item, criterion, rater) for item in range(ITEMS) for criterion in ("tone", "facts") for rater in RATERS]
    table = pd.DataFrame(rows, columns=["item", "criterion", "rater"])
    return table.assign(score=(1 + np.random.default_rng(3).integers(0, 5, len(table))).astype(str))


def long(table: pd.DataFrame) -> pd.DataFrame:
    return table


def a_row_per_rater(table: pd.DataFrame) -> pd.DataFrame:
    return table.pivot(index=["item", "rater"], columns="criterion", values="score").reset_index()


def wide(table: pd.DataFrame) -> pd.DataFrame:
    named = table.assign(column=table["rater"] + "_" + table["criterion"])
    return named.pivot(index="item", columns="column", values="score").reset_index()


def emptied(table: pd.DataFrame, below: int, *raters: str) -> pd.DataFrame:
    there = table["criterion"].eq("tone") & table["item"].lt(below) & table["rater"].isin(raters)
    return table.assign(score=table["score"].mask(there, ""))


def judged(file, shape, table):
    read = read_file(file("a.csv", shape(table).to_csv(index=False)))
    of_judge = read.ratings.table[read.ratings.table["kind"] == "judge"]
    return of_judge[of_judge["criterion"] == "tone"]["status"].value_counts().to_dict(), "; ".join(read.notes)


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("shape", [wide, long, a_row_per_rater])
def test_what_neither_people_nor_judges_answered_was_not_asked(file, shape):
    statuses, notes = judged(file, shape, emptied(ratings(), 12, *RATERS))
    assert statuses == {"ok": ITEMS - 12}
    assert "tone: on texts where neither people nor judges answered it, it was not asked" in notes


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("shape", [a_row_per_rater, long, wide])
def test_what_the_judge_alone_left_out_is_unanswered(file, shape):
    table = emptied(emptied(ratings(), 12, *RATERS), 15, "gpt")
    assert judged(file, shape, table)[0] == {"ok": ITEMS - 15, "unparsed": 3}


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("shape", [long, a_row_per_rater, wide])
def test_an_answer_where_people_left_it_out_stays(file, shape):
    table = emptied(emptied(ratings(), 12, "anna", "ben"), 9, "gpt")
    assert judged(file, shape, table)[0] == {"ok": ITEMS - 9}


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("shape", [wide, long, a_row_per_rater])
def test_where_people_rated_a_part_of_the_texts_the_judge_is_asked_about_all(file, shape):
    table = emptied(emptied(ratings(), 5, "gpt"), 12, "anna", "ben")  # the judge answers 7 of the 12 that people left
    statuses, notes = judged(file, shape, table)
    assert statuses == {"ok": ITEMS - 5, "unparsed": 5}
    assert "not asked" not in notes


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("shape", [a_row_per_rater, long, wide])
def test_a_text_on_which_people_answered_nothing_says_nothing_of_what_applies(file, shape):
    table = ratings()
    table["score"] = table["score"].mask(table["item"].lt(12) & table["rater"].isin(["anna", "ben"]), "")
    assert judged(file, shape, emptied(table, 12, "gpt"))[0] == {"ok": ITEMS - 12, "unparsed": 12}
