"""A row per rater and a column per text, as forms and matrices have them."""

from __future__ import annotations

import pytest

from recuse.readers import read_file


def matrix(columns, names=lambda k: f"item_{k}", header="rater"):
    rows = [",".join([header, *(names(k) for k in range(columns))])]
    rows += [f"{who}," + ",".join(str((k + s * (k % 3 == 0)) % 5 + 1) for k in range(columns))
             for s, who in enumerate(("anna", "ben", "gpt-4o"))]  # fmt: skip
    return "\n".join(rows)


@pytest.mark.parametrize(
    ("columns", "names"),
    [(300, lambda k: f"item_{k}"), (12, lambda k: f'"Answer {k}: how good is it? (1 = bad, 5 = good)"')],
)
def test_columns_of_marks_beside_one_row_a_rater_are_texts(file, columns, names):
    read = read_file(file("a.csv", matrix(columns, names)))
    assert read.ratings.raters == {"anna": "person", "ben": "person", "gpt-4o": "judge"}
    assert read.ratings.table["item"].nunique() == columns
    assert list(read.ratings.headline) == ["rating"]


def test_an_empty_cell_of_a_judge_is_unanswered(file):
    text = matrix(12).replace("gpt-4o,3", "gpt-4o,")
    table = read_file(file("a.csv", text)).ratings.table
    assert dict(table.loc[table["rater"] == "gpt-4o", "status"].value_counts()) == {"ok": 11, "unparsed": 1}


def test_several_rows_of_a_rater_are_about_several_texts(file):
    rows = ["rater,ticket," + ",".join(f"q{k}" for k in range(9))]
    rows += [
        f"{who},t{n}," + ",".join(str((n + k) % 5 + 1) for k in range(9)) for n in range(20) for who in ("anna", "gpt")
    ]
    assert read_file(file("a.csv", "\n".join(rows))).ratings.table["item"].nunique() == 20
