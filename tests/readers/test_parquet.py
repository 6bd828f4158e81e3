"""Parquet as pyarrow writes it: every type of column that a table of ratings may have."""

from __future__ import annotations

import builtins

import pandas as pd
import pytest

from recuse.readers import read_file
from recuse.schema import RecuseError

pytest.importorskip("pyarrow")

WIDE = pd.DataFrame(
    {
        "ticket_id": pd.array([11, 12, 13, 14], dtype="Int64"),
        "system": pd.Categorical(["a", "b", "a", "b"]),
        "judge": pd.array([True, False, True, None], dtype="boolean"),
        "anna": pd.array(["pass", "fail", "pass", "pass"], dtype="string"),
        "ben": ["pass", "fail", None, "fail"],
        "created_at": pd.to_datetime(["2026-01-01", "2026-01-02", None, "2026-01-04"]),
    }
)
SCORES = pd.DataFrame({"item": ["t1", "t2"] * 2, "judge": ["x", "x", "y", "y"], "score": [1.0, 2.5, 3.0, None]})


def written(tmp_path, frame, name="ratings.parquet", **more):
    path = tmp_path / name
    frame.to_parquet(path, **more)
    return path


@pytest.mark.parametrize("compression", ["snappy", "gzip", "zstd", None])
def test_a_long_table_is_read_as_the_csv_would_be(tmp_path, compression):
    SCORES.to_csv(tmp_path / "ratings.csv", index=False)
    one = read_file(written(tmp_path, SCORES, compression=compression)).ratings.table
    other = read_file(tmp_path / "ratings.csv").ratings.table
    columns = ["rater", "kind", "item", "criterion", "repeat", "score", "status"]
    pd.testing.assert_frame_equal(one[columns], other[columns])


def test_types_of_columns_do_not_matter(tmp_path):
    read = read_file(written(tmp_path, WIDE), judges="judge", people="anna,ben")
    table = read.ratings.table
    assert read.raw.notes[0] == "Parquet"
    assert (read.ratings.judges, read.ratings.persons) == (("judge",), ("anna", "ben"))
    assert set(table["item"]) == {"11", "12", "13", "14"}
    assert set(read.ratings.targets) == {"a", "b"}
    assert list(table.loc[table["rater"] == "judge", "status"]) == ["ok", "ok", "ok", "unparsed"]
    assert len(table[table["rater"] == "ben"]) == 3


def test_an_index_is_no_column(tmp_path):
    read = read_file(written(tmp_path, SCORES.set_index(pd.Index([5, 6, 7, 8]))))
    assert list(read.raw.frame.columns) == ["item", "judge", "score"]


def test_a_row_is_named_by_its_number(tmp_path):
    frame = SCORES.assign(score=["1", "2", "good", "5"])
    assert "row 3, column score: 'good'" in read_file(written(tmp_path, frame)).faults[0].sentence()


def test_a_damaged_file_is_an_error_in_one_sentence(tmp_path):
    path = written(tmp_path, SCORES)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(RecuseError, match=r"ratings\.parquet: it is no Parquet file that can be read"):
        read_file(path)


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    path, real = written(tmp_path, SCORES), builtins.__import__

    def without(name, *rest):
        if name.startswith(("pyarrow", "fastparquet")):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(RecuseError, match=r"pip install 'recuse\[parquet\]', or save it as CSV"):
        read_file(path)
