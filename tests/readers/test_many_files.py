"""Files that a pattern names are one table; large ones are folded by DuckDB, and come to the same numbers."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from recuse import check, read
from recuse.cli import main
from recuse.readers import engine_tables, formats, read_file
from recuse.schema import RecuseError

sys.path.insert(0, str(Path(__file__).parent))
from folded_tables import differences, results_of, unfolded


@pytest.fixture
def scores(tmp_path):
    """`scores(frame)`: the frame in three files of a folder, and the pattern that names them."""

    def write(frame: pd.DataFrame, ending: str = "csv"):
        folder = tmp_path / "scores" / "more"
        folder.mkdir(parents=True, exist_ok=True)
        for k, rows in enumerate(np.array_split(np.arange(len(frame)), 3)):
            part = frame.iloc[rows]
            path = (folder if k else folder.parent) / f"{k}.{ending}"
            part.to_csv(path, index=False) if ending == "csv" else part.to_parquet(path, index=False)
        return folder.parent / "**" / f"*.{ending}"

    return write


RATERS = ["anna", "ben", "claude", "gpt"]


def long(rows: int = 200) -> pd.DataFrame:
    """In the order and with the names that patterns have: what is resampled depends on the order of the items."""
    wide = unfolded(rows)[RATERS].sort_values(RATERS, ignore_index=True)
    return wide.assign(item=[f"row {k + 1}" for k in range(rows)]).melt("item", var_name="rater", value_name="label")


def test_files_of_a_pattern_are_one_table(scores, tmp_path, capsys):
    pattern, whole = scores(long()), tmp_path / "whole.csv"
    long().to_csv(whole, index=False)
    several = read(str(pattern)).table.sort_values(["item", "rater"], ignore_index=True)
    pd.testing.assert_frame_equal(several, read(whole).table.sort_values(["item", "rater"], ignore_index=True))
    assert main(["check", str(pattern)]) == check(whole).exit_code
    assert f"'{pattern}'" in capsys.readouterr().out


def test_what_is_saved_lies_in_their_folder(scores, tmp_path):
    pattern = scores(long())
    main(["check", str(pattern), "--people", "anna,ben,claude", "--save"])
    assert (tmp_path / "scores" / "scores.recuse.toml").is_file()
    assert read_file(pattern).ratings.judges == ("gpt",)
    assert read_file(pattern).name == "scores"


def test_a_fault_names_the_file(scores):
    table = pd.DataFrame(
        {"item": range(9), "gpt": [1, 2, 3, 4, 5, "odd", 3, 2, 1], "anna": [1, 2, 3, 4, 5, 4, 3, 2, 1]}
    )
    (fault,) = read_file(scores(table)).faults
    assert "line 4 of 1.csv, column gpt: 'odd'" in fault.sentence()


def test_files_with_other_columns_are_refused(scores, tmp_path):
    pattern = scores(long())
    (tmp_path / "scores" / "9.csv").write_text("item,rater,score\nt1,gpt,pass\n")
    with pytest.raises(RecuseError, match=r"9\.csv and 1\.csv do not have the same columns|9\.csv and 0\.csv do not"):
        read_file(pattern)


def test_no_file_is_said(tmp_path, capsys):
    assert main(["check", str(tmp_path / "*.csv")]) == 3
    assert "no file matches" in capsys.readouterr().err


@pytest.fixture
def folding(monkeypatch):
    """Small files are folded as well."""
    pytest.importorskip("duckdb")
    monkeypatch.setattr(formats, "FOLDED_FROM", 0)


@pytest.mark.parametrize(
    ("ending", "shape"), [("csv", "long"), pytest.param("parquet", "wide", marks=pytest.mark.slow("whole runs"))]
)
def test_folded_files_come_to_the_same(scores, folding, monkeypatch, tmp_path, ending, shape):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    table = long()
    if shape == "wide":
        table = table.pivot(index="item", columns="rater", values="label").reset_index().sort_values(RATERS)
    pattern = scores(table, ending)
    as_patterns = read_file(pattern)
    assert "folded by DuckDB into" in as_patterns.notes[0]
    assert as_patterns.raw.made_by == "DuckDB"
    folded = results_of(pattern, tmp_path / "folded.json")
    monkeypatch.setattr(formats, "FOLDED_FROM", 1 << 40)
    plain = results_of(pattern, tmp_path / "plain.json")
    assert folded[0] == plain[0]
    assert differences(plain[1], folded[1]) == []


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize(
    "change",
    [
        {"text": [f"a text of its own, number {k}" for k in range(800)]},
        {"item": [f"t{k % 100}" for k in range(800)], "repeat": [k // 100 % 2 for k in range(800)]},
        {"rater": ["gpt"] * 100 + ["anna"] * 700, "item": [f"t{k}" for k in range(800)]},
    ],
    ids=["texts", "repeats", "not every judge has every item"],
)
def test_what_is_more_than_answers_is_read_whole(scores, folding, change):
    few = pd.DataFrame({**long().to_dict("list"), **change})
    assert read_file(scores(few)).raw.made_by != "DuckDB"


def test_who_rated_some_of_many_items_is_asked_about(scores, folding, monkeypatch):
    """A judge that left items out, or a person: nothing says so, and too many rows to look at."""
    table = long()
    few = table[~(table["rater"].eq("gpt") & table["item"].isin(["row 1", "row 2"]))]
    assert read_file(scores(few)).raw.made_by != "DuckDB"
    monkeypatch.setattr(engine_tables, "MOST_ROWS", 100)
    with pytest.raises(RecuseError, match=r"gpt rated some of the items only, and 798 rows .*--people gpt"):
        read_file(scores(few))
    patterns = read_file(scores(few), people="anna,ben,gpt").raw
    assert (patterns.made_by, len(patterns.frame)) == ("DuckDB", 200)


def test_many_raters_and_answers_take_several_numbers(scores, folding):
    """Twelve raters on a scale to 100, an answer that is missing, and a quote: every cell comes back."""
    rng = np.random.default_rng(4)
    wide = pd.DataFrame({f"person_{k}": rng.integers(0, 101, 300).astype(str) for k in range(11)})
    wide["it's"] = [None, *rng.integers(0, 101, 299).astype(str)]
    table = wide.assign(item=range(300)).melt("item", var_name="rater", value_name="score")
    raw = read_file(scores(table), judges="it's").raw
    assert raw.made_by == "DuckDB"
    names = [*wide.columns]
    one, other = (frame[names].sort_values(names, ignore_index=True) for frame in (wide.fillna(""), raw.frame))
    pd.testing.assert_frame_equal(one, other, check_dtype=False, check_index_type=False)


def test_lists_of_texts_are_refused_where_texts_have_no_names(scores, folding, tmp_path, capsys):
    assert main(["check", str(scores(long())), "--disagreements", str(tmp_path / "d.csv")]) == 3
    assert "are counted by their answers and have no names" in capsys.readouterr().err


@pytest.mark.parametrize(("shape", "ending"), [("long", "csv"), ("wide", "parquet")])
def test_scores_of_too_many_rows_are_rounded(scores, folding, monkeypatch, shape, ending):
    """As finely as there are few enough patterns, and told; a lost reply stays one."""
    rng = np.random.default_rng(9)
    true = rng.random(900)
    wide = pd.DataFrame({n: np.round(np.clip(true + rng.normal(0, 0.1, 900), 0, 1), 4) for n in ("anna", "gpt")})
    wide["gpt"] = wide["gpt"].astype(str).mask(wide.index == 5, "unparsed")
    wide = wide.assign(item=range(900))
    table = wide if shape == "wide" else wide.melt("item", var_name="rater", value_name="score")
    pattern = scores(table.astype(str), ending)
    monkeypatch.setattr(engine_tables, "MOST_LEVELS", 200)
    assert read_file(pattern, people="anna").raw.made_by != "DuckDB"
    monkeypatch.setattr(engine_tables, "MOST_ROWS", 100)
    monkeypatch.setattr(engine_tables, "MOST_PATTERNS", 450)
    panel = read_file(pattern, people="anna")
    assert panel.raw.made_by == "DuckDB"
    named = "score" if shape == "long" else "anna, gpt"
    assert f"read with scores rounded: {named} to steps of 0.05" in panel.notes[1]
    assert len(panel.raw.frame) == 900
    ratings = panel.ratings
    assert (ratings.table["status"] != "ok").sum() == 1
    for name in ("anna", "gpt"):
        exact = np.sort(pd.to_numeric(wide[name], errors="coerce").dropna())
        rounded = np.sort(ratings.table[ratings.table["rater"] == name]["score"].dropna())
        assert np.abs(rounded - exact).max() <= 0.025 + 1e-9
        assert len(set(rounded)) == 21


def test_steps_are_round_numbers():
    """Of 1, 2 and 5; what has few different values, and no numbers, stays as it is."""
    columns = {
        "share": (5000, 0.0, 1.0), "percent": (101, 0.0, 100.0), "logit": (500, -3.0, 4.0), "grade": (90, 0.0, 9.0),
        "reason": (500, None, None), "constant": (500, 2.0, 2.0),
    }  # fmt: skip
    fine, coarse = (engine_tables.steps_of(columns, parts) for parts in (100, 50))
    assert fine == {"share": (2, 0.01), "percent": (0, 1.0), "logit": (1, 0.1)}
    assert coarse == {"share": (2, 0.02), "percent": (0, 2.0), "logit": (1, 0.2), "grade": (1, 0.2)}
    words = "share to steps of 0.02, logit, grade to steps of 0.2, percent to steps of 2"
    assert engine_tables.rounded_words(coarse) == words
