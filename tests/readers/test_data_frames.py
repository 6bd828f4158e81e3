"""Data frames as pandas leaves them: read as the CSV file that they came from would be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import recuse
from recuse.readers import read_file

RATERS, ITEMS = ["anna", "ben", "gpt-4o"], 60
MEANS, REMARK = ("Average", 3.1, 2.9, 3.3), ("note: see the wiki", None, None, None)


def long(*criteria: str) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    rows = [(f"t{k}", who, name) for name in criteria or ("tone",) for k in range(ITEMS) for who in RATERS]
    return pd.DataFrame(rows, columns=["item", "rater", "criterion"]).assign(score=rng.integers(1, 6, len(rows)))


def values(ratings: recuse.Ratings) -> pd.DataFrame:
    """Who gave what to which text: of one criterion whatever it is called, as a table beside raters cannot say it."""
    about = ["criterion", "item", "rater"] if len(ratings.criteria) > 1 else ["item", "rater"]
    return ratings.table.set_index(about)["score"].sort_index()


def unnamed(frame: pd.DataFrame, *names: str) -> pd.DataFrame:
    return frame.set_index([*names]).rename_axis([None] * len(names))


@pytest.mark.parametrize(
    ("criteria", "shape"),
    [
        ("tone", lambda t: t[["item", "rater", "score"]].set_index(["item", "rater"]).unstack()),
        ("tone", lambda t: t.pivot(index="item", columns="rater", values=["score"]).reset_index()),
        ("tone", lambda t: t.groupby(["item", "rater"]).agg({"score": ["mean"]}).reset_index()),
        ("tone", lambda t: unnamed(t[["item", "rater", "score"]], "item")),
        ("tone", lambda t: t.pivot(index="item", columns="rater", values="score").rename_axis(None).T),
        ("tone clarity", lambda t: t.pivot(index="item", columns=["rater", "criterion"], values="score")),
        ("tone clarity", lambda t: t.pivot(index="item", columns=["criterion", "rater"], values="score").reset_index()),
    ],
    ids=["unstack", "pivot", "agg", "unnamed", "transposed", "rater over criterion", "criterion over rater"],
)
def test_what_labels_rows_and_columns_is_read(criteria, shape, tmp_path):
    table = long(*criteria.split())
    wanted = values(recuse.read(table))
    (frame := shape(table)).to_parquet(tmp_path / "ratings.parquet")
    for source in (frame, tmp_path / "ratings.parquet"):
        read = recuse.read(source)
        assert (set(read.persons), read.judges) == ({"anna", "ben"}, ("gpt-4o",))
        pd.testing.assert_series_equal(values(read), wanted, check_names=False)


def test_an_empty_cell_of_a_header_is_no_name(tmp_path):
    """As `pandas.read_csv(header=[0, 1])` calls it."""
    frame = long("tone", "clarity").pivot(index="item", columns=["criterion", "rater"], values="score").reset_index()
    frame.columns = pd.MultiIndex.from_tuples([("Unnamed: 0_level_0", "item"), *frame.columns[1:]])
    assert recuse.read(frame).criteria == ("tone", "clarity")


def test_numbers_that_only_count_the_rows_are_no_column():
    frame = long().iloc[::-1]
    assert "column 1" not in read_file(frame).raw.frame


@pytest.mark.parametrize("name", [None, float("nan"), "", " "])
def test_a_column_without_a_name_is_called_by_its_place(name):
    """Its rater was called nan."""
    wide = long().pivot(index="item", columns="rater", values="score").reset_index().rename(columns={"anna": name})
    assert recuse.read(wide, judges="gpt-4o").persons == ("column 2", "ben")


@pytest.mark.parametrize(("kind", "form"), [
    ("float32", "parquet"), ("float16", "frame"), ("Float32", "frame"), ("float[pyarrow]", "frame"),
    ("float32", "lists"),
])  # fmt: skip
def test_a_score_of_fewer_bytes_reaches_the_threshold_that_it_is(kind, form, tmp_path):
    """0.7 in four bytes, taken for eight, is 0.699999988: below 0.7, in Parquet and in a frame, but not in CSV."""
    pytest.importorskip("pyarrow")
    wide = long().pivot(index="item", columns="rater", values="score").reset_index()
    wide[RATERS] = (2 * wide[RATERS] - 1) / 10
    frame = wide.astype({"gpt-4o": kind})
    if form == "lists":
        frame["people"] = [np.array(two, dtype=kind) for two in wide[["anna", "ben"]].to_numpy()]
        frame = frame.drop(columns=["anna", "ben"])
    if form == "parquet":
        frame.to_parquet(tmp_path / "ratings.parquet")
    read = recuse.read(tmp_path / "ratings.parquet" if form == "parquet" else frame, threshold=0.7, judges="gpt-4o")
    given, wanted = values(read), values(recuse.read(wide, threshold=0.7, judges="gpt-4o"))
    assert [*np.sort(given)] == [*np.sort(wanted)]


@pytest.mark.parametrize(("form", "last"), [
    ("frame", MEANS), ("frame", REMARK), ("parquet", MEANS), ("jsonl", REMARK), ("csv", MEANS), ("lists", REMARK),
])  # fmt: skip
def test_a_row_that_sums_up_is_no_text_in_any_form(last, form, tmp_path):
    wide = long().pivot(index="item", columns="rater", values="score").reset_index()
    frame = pd.concat([wide, pd.DataFrame([last], columns=wide.columns)], ignore_index=True)
    path = tmp_path / f"ratings.{form}"
    if form == "parquet":
        frame.to_parquet(path)
    elif form == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    elif form == "csv":
        frame.to_csv(path, index=False)
    elif form == "lists":
        frame["tags"] = [["a", "b"]] * ITEMS + [None]
    read = read_file(frame if form in ("frame", "lists") else path)
    assert read.ratings.table["item"].nunique() == ITEMS
    assert any("sum up or explain the others" in fault.what for fault in read.faults)


@pytest.mark.parametrize("form", ["frame", "csv"])
def test_an_answer_that_is_called_as_a_sum_is_no_sum(form, tmp_path):
    """A column of answers that stands first and ends in "average": 12 of these were left out."""
    table = long()[["score", "item", "rater"]].assign(score=lambda t: np.where(t["score"] > 3, "average", "poor"))
    table = table.sort_values("score", ascending=False, kind="stable")
    table.to_csv(tmp_path / "ratings.csv", index=False)
    read = read_file(table if form == "frame" else tmp_path / "ratings.csv", scale="poor<average")
    assert len(read.ratings.table) == len(table)


def test_half_of_a_character_is_refused_as_in_json():
    frame = long()
    frame["text"] = pd.Series(["\ud83d", *["fine"] * (len(frame) - 1)], dtype=object)
    with pytest.raises(recuse.RecuseError, match=r"DataFrame: half of a character \('\\ud83d'\) stands in it"):
        recuse.read(frame)
