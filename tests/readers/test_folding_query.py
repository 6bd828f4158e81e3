"""`recuse sql`: the query folds a table where it lies, and `recuse check` of its result is that of the table."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest

from recuse.cli import main
from recuse.readers.engine_tables import DIALECTS, folding_query
from recuse.schema import RecuseError

sys.path.insert(0, str(Path(__file__).parent))
from folded_tables import differences, results_of, unfolded

RATERS = ["anna", "ben", "claude", "o'gpt"]
COLUMNS = {"table": "ratings", "items": ["item"], "rater": "rater", "value": "label"}


def long() -> pd.DataFrame:
    wide = unfolded(300)[["anna", "ben", "claude", "gpt"]].rename(columns={"gpt": "o'gpt"})
    wide = wide.sort_values(RATERS, ignore_index=True)
    table = wide.assign(item=[f"row {k + 1}" for k in range(300)]).melt("item", var_name="rater", value_name="label")
    return table[~(table["rater"].eq("ben") & table["item"].isin(["row 7", "row 8"]))]


@pytest.mark.slow("whole runs")
def test_duckdb_folds_the_table_and_check_comes_to_the_same(tmp_path, capsys):
    duckdb = pytest.importorskip("duckdb")
    whole, folded = tmp_path / "whole" / "r.csv", tmp_path / "folded" / "r.csv"
    for path in (whole, folded):
        path.parent.mkdir()
    long().to_csv(whole, index=False)
    assert main(["sql", str(whole)]) == 0
    query = capsys.readouterr().out
    base = duckdb.connect()
    base.register("ratings", long())
    patterns = base.execute(query).df().sort_values(RATERS, ignore_index=True)
    assert patterns["count"].sum() == 300
    patterns.to_csv(folded, index=False)
    one, other = (results_of(p, tmp_path / f"{p.parent.name}.json", "--people", "anna,ben") for p in (whole, folded))
    assert one[0] == other[0]
    texts = [v["estimate"] for v in one[1]["verdicts"]], [v["estimate"] for v in other[1]["verdicts"]]
    assert differences(*({e["metric"] + str(k): e["value"] for k, e in enumerate(side)} for side in texts)) == []


def test_items_with_several_rows_of_a_rater_are_left_out():
    duckdb = pytest.importorskip("duckdb")
    base = duckdb.connect()
    base.register("ratings", pd.concat([long(), long().iloc[[0]]]))
    assert base.execute(folding_query(RATERS, dialect="duckdb", **COLUMNS)).df()["count"].sum() == 299


def test_criteria_of_a_file_stay_apart_and_its_columns_are_its_own(tmp_path, capsys):
    duckdb = pytest.importorskip("duckdb")
    rows = [(f"t{k}", c, who, (k + k % 3 * (c == "tone") + (who == "gpt")) % 4 + 1)
            for k in range(40) for c in ("tone", "truth") for who in ("anna", "gpt")]  # fmt: skip
    table = pd.DataFrame(rows, columns=["ticket", "criterion", "annotator", "stars"])
    table.to_csv(tmp_path / "a.csv", index=False)
    assert main(["sql", str(tmp_path / "a.csv")]) == 0
    base = duckdb.connect()
    base.register("ratings", table)
    folded = base.execute(capsys.readouterr().out).df()
    wide = table.pivot(index=["ticket", "criterion"], columns="annotator", values="stars").reset_index()
    wanted = wide.groupby(["criterion", "anna", "gpt"]).size().rename("count").reset_index()
    assert folded.sort_values(["criterion", "anna", "gpt"]).to_numpy().tolist() == wanted.to_numpy().tolist()


@pytest.mark.slow("Spark on one machine")
def test_spark_folds_the_same():
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    duckdb, pyspark = pytest.importorskip("duckdb"), pytest.importorskip("pyspark")
    base = duckdb.connect()
    base.register("ratings", long())
    wanted = base.execute(folding_query(RATERS, dialect="duckdb", **COLUMNS)).df()
    builder = pyspark.sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    for name in ("spark.driver.bindAddress", "spark.driver.host"):
        builder = builder.config(name, "127.0.0.1")
    spark = builder.getOrCreate()
    try:
        rows = list(long().itertuples(index=False, name=None))
        spark.createDataFrame(rows, ["item", "rater", "label"]).createOrReplaceTempView("ratings")
        found = spark.sql(folding_query(RATERS, dialect="spark", **COLUMNS)).collect()
    finally:
        spark.stop()
    frame = pd.DataFrame([row.asDict() for row in found])
    one, other = (side.fillna("").sort_values(RATERS, ignore_index=True) for side in (wanted, frame))
    pd.testing.assert_frame_equal(one, other, check_dtype=False)


def test_dialects_quote_their_own_way():
    queries = {d: folding_query(["a", "it's"], dialect=d, **{**COLUMNS, "value": "the label"}) for d in DIALECTS}
    assert "rater = 'it''s' THEN \"the label\" END) AS \"it's\"" in queries["snowflake"]
    assert "rater = 'it\\'s' THEN `the label` END) AS `it's`" in queries["bigquery"] == queries["spark"]
    with pytest.raises(RecuseError, match="--dialect is one of duckdb, snowflake, bigquery, spark; got 'oracle'"):
        folding_query(["a", "b"], dialect="oracle", **COLUMNS)
    with pytest.raises(RecuseError, match="two raters or more, each once, whatever the case; got a, A"):
        folding_query(["a", "A"], dialect="duckdb", **COLUMNS)
