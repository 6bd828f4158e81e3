"""The ratings table's one check: every broken rule is named with its rows, and all of them at once."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from recuse.ratings import COLUMNS, check_table, completed
from recuse.schema import RatingsError


def table(*changes: dict[str, Any]) -> pd.DataFrame:
    """One sound row per change, with the change made to it; rows differ in `repeat`, so none is a duplicate."""
    sound = {
        "task": "essays",
        "protocol": "rubric",
        "rater": "ann",
        "kind": "judge",
        "item": "alpha",
        "target": "alpha",
        "criterion": "depth",
        "score": 7.0,
        "response": None,
        "status": "ok",
        "request": "k",
        "names": "shown",
    }
    rows = [{**sound, "repeat": number, **change} for number, change in enumerate(changes)]
    return pd.DataFrame(rows, index=[f"row-{number}" for number in range(len(rows))]).astype({"response": object})


def fault_of(*changes: dict[str, Any]) -> str:
    with pytest.raises(RatingsError) as caught:
        check_table(table(*changes), ("names",))
    return str(caught.value)


def test_a_sound_table_comes_back_unchanged() -> None:
    ratings = table({}, {"score": None, "status": "refused"}, {"score": None, "response": "tie"})
    assert check_table(ratings, ("names",)) is ratings


@pytest.mark.parametrize("column", [*COLUMNS, "names"])
def test_a_missing_column_is_named(column: str) -> None:
    with pytest.raises(RatingsError, match=rf"lacks the column\(s\) {column}; it has "):
        check_table(table({}).drop(columns=column), ("names",))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"status": "fine", "score": None},
            "is not one of ok, unparsed, refused, out_of_scale, error: row row-1",
        ),
        ({"kind": "robot"}, "kind is not one of judge, person: row row-1"),
        ({"score": None}, "an ok row needs either a score or a response, not both and not neither: row row-1"),
        ({"response": "tie"}, "an ok row needs either a score or a response, not both and not neither: row row-1"),
        ({"status": "refused"}, "a row that is not ok carries a value; nothing is imputed: row row-1"),
        (
            {"status": "unparsed", "score": None, "response": "tie"},
            "a row that is not ok carries a value; nothing is imputed: row row-1",
        ),
        ({"score": math.inf}, "score is not a finite number: row row-1"),
        ({"score": "seven"}, "score is not a finite number: row row-1"),
        ({"repeat": -1}, "repeat is not a whole number from 0: row row-1"),
        ({"repeat": 0.5}, "repeat is not a whole number from 0: row row-1"),
        ({"repeat": None}, "repeat is not a whole number from 0: row row-1"),
    ],
)
def test_a_fault_is_named_with_its_row(change: dict[str, Any], said: str) -> None:
    assert said in fault_of({}, change)


def test_the_same_judgement_twice_names_both_rows_and_what_they_share() -> None:
    said = fault_of({}, {}, {"repeat": 0})
    assert "the same judgement appears more than once" in said
    assert "rows row-0, row-2" in said
    assert "repeat, names" in said


def test_the_same_judgement_under_another_level_is_another_judgement() -> None:
    check_table(table({}, {"repeat": 0, "names": "hidden"}), ("names",))


def test_all_faults_are_told_at_once_and_many_rows_are_counted() -> None:
    said = fault_of({"status": "odd", "score": None}, {"repeat": -1}, *[{"score": None}] * 7)
    assert len(said.splitlines()) == 4
    assert "rows row-2, row-3, row-4, row-5, row-6 and 2 more" in said


# --------------------------------------------------------------------------- a frame with only what varies


def test_a_frame_of_three_columns_is_completed() -> None:
    table = completed(pd.DataFrame({"judge": ["a", "b"], "item": ["i", "i"], "score": [3, None]}))
    check_table(table)
    assert table["rater"].tolist() == ["a", "b"]
    assert table["status"].tolist() == ["ok", "unparsed"]
    assert set(table["kind"]) == {"judge"}
    assert (table["repeat"] == 0).all()


def test_further_columns_are_kept_behind_the_core() -> None:
    frame = pd.DataFrame({"names": ["shown"], "rater": ["a"], "item": ["i"], "response": ["pass"]})
    assert list(completed(frame).columns) == [*COLUMNS, "names"]


@pytest.mark.parametrize("given", [{"rater": ["a"]}, [{"rater": "a"}], None])
def test_what_is_no_data_frame_is_called_by_its_type(given: Any) -> None:
    with pytest.raises(RatingsError, match=f"made of a pandas data frame, not of a {type(given).__name__}"):
        completed(given)


@pytest.mark.parametrize("lacking", ["rater", "item", "score"])
def test_what_every_frame_needs_is_said(lacking: str) -> None:
    frame = pd.DataFrame({"rater": ["a"], "item": ["i"], "score": [1.0]}).drop(columns=lacking)
    with pytest.raises(RatingsError, match="ratings need the columns rater, item, and score or response; there is "):
        completed(frame)


def test_words_in_place_of_a_score_are_a_fault_of_their_row() -> None:
    frame = pd.DataFrame({"rater": ["a", "a"], "item": ["i", "j"], "score": ["4", "four"]})
    with pytest.raises(RatingsError, match="needs either a score or a response, not both and not neither: row 1"):
        check_table(completed(frame))
