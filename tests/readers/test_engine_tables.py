"""Tables that stay in an engine: few rows are read as a data frame of them is, many are folded there, to the same
numbers."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recuse
from recuse.readers import engine_tables
from recuse.schema import RecuseError

sys.path.insert(0, str(Path(__file__).parent))
from folded_tables import unfolded

RATERS = ["anna", "ben", "claude", "gpt"]


def long(rows: int = 300) -> pd.DataFrame:
    wide = unfolded(rows)[RATERS].sort_values(RATERS, ignore_index=True)
    return wide.assign(item=[f"t{k:03}" for k in range(rows)]).melt("item", var_name="rater", value_name="label")


@pytest.fixture(scope="module")
def ibis():
    return pytest.importorskip("ibis")


@pytest.fixture(params=["sqlite", "duckdb"])
def engine(request, ibis):
    """`engine(frame)`: the frame as a table of an engine."""
    if request.param == "duckdb":
        pytest.importorskip("duckdb")
    base = getattr(ibis, request.param).connect()
    return lambda frame: base.create_table("scores", frame)


@pytest.fixture
def large(monkeypatch):
    """Every table is so large that it is folded."""
    monkeypatch.setattr(engine_tables, "FOLDED_FROM", 0)


def values(ratings: recuse.Ratings) -> dict[str, object]:
    ceilings = recuse.measures.human_ceiling(ratings).items()
    judges = {(one.judge, one.use): (one.word, one.sentence) for one in recuse.check(ratings).judges}
    return {"judges": judges, "ceilings": {k: round(e.value, 12) for k, e in ceilings}}


def test_a_small_table_is_read_as_a_data_frame_of_it_is(engine):
    table = recuse.read(engine(long())).table.sort_values(["item", "rater"], ignore_index=True)
    wanted = recuse.read(long()).table.sort_values(["item", "rater"], ignore_index=True)
    pd.testing.assert_frame_equal(table, wanted)


def is_folded(ratings: recuse.Ratings, frame: pd.DataFrame) -> bool:
    """Whether items lost their names."""
    return not {*ratings.table["item"]} & {*frame["item"].astype(str)}


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("people", ["", "anna,reviews"])
def test_a_large_table_is_folded_where_it_lies_and_comes_to_the_same(engine, large, people):
    name = people.partition(",")[2] or "annotator 1"
    frame = long().replace({"rater": {"ben": name}})
    frame = frame[~(frame["rater"].eq(name) & frame["item"].isin(["t006", "t007"]))]  # a person rated some only
    frame.loc[frame["rater"].eq("gpt") & frame["item"].eq("t003"), "label"] = None  # a reply that was lost
    folded, whole = recuse.read(engine(frame), people=people), recuse.read(frame, people=people)
    assert is_folded(folded, frame)
    assert values(folded) == values(whole)
    assert len(folded.table) == len(whole.table)
    assert set(folded.raters.items()) == set(whole.raters.items())


def test_a_table_with_a_row_for_each_text_is_folded_too(engine, large):
    frame = unfolded(300).sort_values(RATERS, ignore_index=True).assign(item=[f"t{k}" for k in range(300)])
    assert is_folded(folded := recuse.read(engine(frame)), frame)
    assert values(folded) == values(recuse.read(frame))


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("value", [[1, 2, 3, 4, 5, 3], [True, False, True, True, False, False], [0.5, 1.0, 2.5] * 2])
def test_answers_that_are_no_texts(engine, large, value):
    frame = pd.DataFrame({"item": [*range(6)] * 40, "rater": ["anna"] * 240, "score": [*value] * 40})
    frame["item"] = range(240)
    both = pd.concat([frame, frame.assign(rater="gpt")], ignore_index=True)
    folded, whole = recuse.read(engine(both)), recuse.read(both)
    for column in ("score", "response"):
        assert folded.table[column].value_counts().to_dict() == whole.table[column].value_counts().to_dict()


def test_scores_in_a_tiny_unit_are_not_rounded_away(engine, large):
    frame = pd.DataFrame({"item": range(60), **{name: [1e-11, 2e-11, 3e-11] * 20 for name in ("anna", "gpt")}})
    folded = recuse.read(engine(frame), people="anna", judges="gpt")
    assert sorted(folded.table["score"].unique()) == pytest.approx([1e-11, 2e-11, 3e-11], abs=1e-15)


def spoiled(what: str) -> pd.DataFrame:
    """A table that holds more than answers, each rater once on an item."""
    frame = long(60)
    if what == "twice":
        return pd.concat([frame, frame.iloc[[-1]]], ignore_index=True)
    if what == "texts":
        return frame.assign(text=[f"a reply about case {k}" for k in frame["item"]])
    if what == "a column more":
        return frame.assign(language=["de", "en"] * 120)
    if what == "nobody is named":
        return frame.assign(rater=frame["rater"].mask(frame.index == 0))
    wide = unfolded(60)[RATERS].assign(item=[f"t{k}" for k in range(60)])
    if what == "many answers":
        return wide.assign(notes=[f"note {k}" for k in range(60)])
    if what == "an item again":
        return wide.assign(item=[f"t{k % 30}" for k in range(60)], system=["old"] * 30 + ["new"] * 30)
    return frame.iloc[:-1] if what == "a judge lacks some" else frame


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize(
    "what",
    ["twice", "texts", "a column more", "a judge lacks some", "nobody is named", "many answers", "an item again",
     "patterns"],
)  # fmt: skip
def test_what_cannot_be_folded_is_fetched_and_too_much_of_it_refused(engine, large, monkeypatch, what):
    frame = spoiled(what)
    monkeypatch.setattr(engine_tables, "MOST_LEVELS", 40)
    monkeypatch.setattr(engine_tables, "MOST_PATTERNS", 3 if what == "patterns" else 100)
    table = engine(frame)
    if what != "nobody is named":
        read = recuse.read(table, people="anna,ben").table
        assert {*read["item"]} == {*frame["item"]} or what == "twice"
        assert len(read) == {"an item again": 240, "twice": 241}.get(what, 240)
    monkeypatch.setattr(engine_tables, "MOST_ROWS", 50)
    with pytest.raises(RecuseError) as error:
        recuse.read(table, people="anna,ben")
    assert ("--people anna,ben,gpt" if what == "a judge lacks some" else "table.select(...)") in str(error.value)


@pytest.mark.parametrize("shape", ["a row for each rating", "a row for each text"])
def test_scores_of_too_many_rows_are_rounded(engine, large, monkeypatch, shape):
    rng = np.random.default_rng(9)
    true = rng.random(600)
    wide = pd.DataFrame({n: np.clip(true + rng.normal(0, 0.1, 600), 0, 1) for n in ("anna", "gpt")})
    wide["item"] = [f"t{k}" for k in range(600)]
    long = wide.melt("item", var_name="rater", value_name="score")
    table = engine(wide if shape == "a row for each text" else long)
    monkeypatch.setattr(engine_tables, "MOST_LEVELS", 200)
    monkeypatch.setattr(engine_tables, "MOST_ROWS", 100)
    monkeypatch.setattr(engine_tables, "MOST_PATTERNS", 400)
    ratings = recuse.read(table, people="anna", judges="gpt")
    assert is_folded(ratings, wide)
    for name in ("anna", "gpt"):
        rounded = np.sort(ratings.table[ratings.table["rater"] == name]["score"])
        assert np.abs(rounded - np.sort(wide[name])).max() <= 0.025 + 1e-9
        assert len(set(rounded)) == 21


def test_columns_that_are_ignored_are_not_asked_for(engine, large):
    frame = long(60).assign(text=[f"a reply about case {k}" for k in range(240)])
    assert is_folded(recuse.read(engine(frame), ignore="text"), frame)


def test_every_engine_gives_the_same_bytes(large, ibis):
    pytest.importorskip("duckdb")
    tables = [getattr(ibis, name).connect().create_table("scores", long()) for name in ("sqlite", "duckdb")]
    one, other = (recuse.read(table) for table in tables)
    pd.testing.assert_frame_equal(one.table, other.table)
    assert one.times == other.times


@pytest.mark.slow("Spark on one machine")
def test_spark_folds_the_same(large, ibis):
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    pyspark = pytest.importorskip("pyspark")
    builder = pyspark.sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    for name in ("spark.driver.bindAddress", "spark.driver.host"):
        builder = builder.config(name, "127.0.0.1")
    spark = builder.getOrCreate()
    try:
        rows = list(long().itertuples(index=False, name=None))
        spark.createDataFrame(rows, [*long()]).createOrReplaceTempView("scores")
        ratings = recuse.read(ibis.pyspark.connect(spark).table("scores"))
    finally:
        spark.stop()
    assert values(ratings) == values(recuse.read(long()))


def test_a_sample_that_every_judge_was_asked_about_is_folded_as_well(engine, large):
    frame = long().replace({"rater": {"ben": "annotator 1"}})
    folded = recuse.read(engine(frame), sampled=True)
    assert is_folded(folded, frame)
    assert values(folded) == values(recuse.read(frame, sampled=True))
