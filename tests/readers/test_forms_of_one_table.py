"""The same ratings are read from every form that they are kept in: delimited, JSON, Parquet, wide, long or nested."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from unicodedata import normalize

import numpy as np
import pandas as pd
import pytest

from recuse.ratings import Ordinal
from recuse.readers import read_file
from recuse.schema import RecuseError

PEOPLE, JUDGE = ("anna", "ben"), "gpt-4o"
RATERS = (*PEOPLE, JUDGE)


def wide(options, holes: float = 0.1, items: int = 60):
    rng = np.random.default_rng(5)
    quality = rng.random(items)
    said = {who: np.clip(quality + rng.normal(0, 0.2, items), 0, 0.999) for who in RATERS}
    options = np.array(options, dtype=object if isinstance(options[0], str) else None)
    frame = pd.DataFrame({who: options[(len(options) * own).astype(int)] for who, own in said.items()})
    frame = frame.mask(rng.random(frame.shape) < holes * np.array([1, 1, 0]))
    frame.insert(0, "item", [f"q{k // 2:02d}" for k in range(items)])
    frame.insert(1, "system", [("alpha", "beta")[k % 2] for k in range(items)])
    return frame


def said(source, **given):
    """What everybody says of each text, and on which scale."""
    table = (ratings := read_file(source, **given).ratings).table
    names = table["rater"].astype(str).str.rpartition(".")[2]
    columns = (table["item"], table["target"], names, table["score"], table["response"], table["status"])
    return sorted(map(str, zip(*columns, strict=True))), ratings.scales


def records(frame):
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def nested(frame):
    return [{"item": r["item"], "system": r["system"], "ratings": {w: r[w] for w in RATERS}} for r in records(frame)]


FORMS = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "decimal commas": lambda frame, path: frame.to_csv(path, index=False, sep=";", decimal=","),
    "json": lambda frame, path: path.write_text(json.dumps(records(frame))),
    "nested json": lambda frame, path: path.write_text(json.dumps(nested(frame))),
    "long csv": lambda frame, path: frame.melt(["item", "system"], var_name="rater").to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path),
    "parquet with an index": lambda frame, path: frame.set_index(["item", "system"]).to_parquet(path),
    "parquet of categories": lambda frame, path: frame.astype("category").to_parquet(path),
}  # fmt: skip


OPTIONS = [(0, 1), (1.0, 1.5, 2.0, 2.5, 3.0), ("fail", "pass"), (1, 2, 3, 4, 5)]


@pytest.mark.parametrize(("form", "options"), [*zip(FORMS, 2 * OPTIONS, strict=True)], ids=str)
def test_every_form_says_the_same(tmp_path, form, options):
    if "parquet" in form:
        pytest.importorskip("pyarrow")
    frame = wide(options)
    FORMS[form](frame, tmp_path / "ratings")
    assert said(tmp_path / "ratings") == said(frame)


@pytest.mark.parametrize("written", [("0.0", "1.0"), ("0", "1.0"), ("0,00", "1,00")])
def test_nought_and_one_are_fail_and_pass_however_they_are_written(tmp_path, written):
    path = tmp_path / "ratings.csv"
    wide(written).to_csv(path, index=False, sep=";")
    assert said(path)[1] == {"rating": Ordinal(("0", "1"))}


def test_what_parquet_holds_within_a_cell_is_read_as_in_json(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = records(wide((1, 2, 3, 4, 5), holes=0))
    about = [{"item": r["item"], "system": r["system"]} for r in rows]
    kinds = pa.map_(pa.string(), pa.int64())
    forms = {
        "an object": ([{**a, "ratings": {w: r[w] for w in RATERS}} for a, r in zip(about, rows, strict=True)], None),
        "an object of objects": ([{**a, "of": {"human": {w: r[w] for w in PEOPLE}, "llm": {JUDGE: r[JUDGE]}}}
                                  for a, r in zip(about, rows, strict=True)], None),
        "a map": ([{**a, "ratings": [(w, r[w]) for w in RATERS]} for a, r in zip(about, rows, strict=True)],
                  pa.schema([("item", pa.string()), ("system", pa.string()), ("ratings", kinds)])),
        "decimals and days": ([{**a, **{w: {"score": Decimal(r[w]), "at": dt.datetime(2026, 1, 2)} for w in RATERS}}
                               for a, r in zip(about, rows, strict=True)], None),
    }  # fmt: skip
    for name, (table, schema) in forms.items():
        pq.write_table(pa.Table.from_pylist(table, schema=schema), tmp_path / "ratings.parquet")
        assert said(tmp_path / "ratings.parquet") == said(wide((1, 2, 3, 4, 5), holes=0)), name


def test_a_list_of_numbers_in_parquet_is_several_peoples(tmp_path):
    pytest.importorskip("pyarrow")
    frame = wide((1, 2, 3, 4, 5), holes=0)
    lists = frame[["item", "system", JUDGE]].assign(scores=frame[[*PEOPLE]].to_numpy().tolist())
    lists.assign(when=[[dt.datetime(2026, 1, 2)]] * 60).to_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.json").write_text(lists.to_json(orient="records"))
    assert read_file(tmp_path / "a.parquet").ratings.persons == ("annotator1", "annotator2")
    assert said(tmp_path / "a.parquet") == said(tmp_path / "a.json")


@pytest.mark.parametrize("text", ["{}", "[{}, {}]", '[{"a": {}}, {}]'])
def test_records_without_a_value_are_no_table(file, text):
    with pytest.raises(RecuseError, match=r"no record|no column|no judge"):
        read_file(file("a.json", text))


@pytest.mark.parametrize("options", [("-", "+"), ("", "x")])
def test_answers_that_may_stand_for_none_are_asked_about(file, options):
    with pytest.raises(RecuseError, match=r"no column holds ratings .* --judge COLUMN"):
        read_file(file("a.csv", wide(options, holes=0).to_csv(index=False)))


def test_merged_cells_name_items_and_systems_of_wide_tables(file):
    frame = wide((1, 2, 3, 4, 5), holes=0)
    whole = said(frame)
    frame["item"] = frame["item"].mask(frame["item"].duplicated(), "")
    assert said(file("a.csv", frame.to_csv(index=False))) == whole
    by_system = wide((1, 2, 3, 4, 5), holes=0).sort_values("system", kind="stable")
    by_system["system"] = by_system["system"].mask(by_system["system"].duplicated(), "")
    assert said(file("b.csv", by_system.to_csv(index=False))) == whole
    # several rows of an item under each system, of judges, who alone are asked again
    again = by_system.assign(item=by_system["item"].str[:2]).drop(columns=[*PEOPLE])
    assert said(file("c.csv", again.to_csv(index=False))) == said(again.assign(system=["alpha"] * 30 + ["beta"] * 30))


@pytest.mark.parametrize("columns", [["item", *RATERS], ["item", "system", *RATERS]])
def test_rows_that_name_no_item_are_not_one_item(file, columns):
    items = [f"t{k}" if k % 5 else "" for k in range(60)]
    frame = wide((1, 2, 3, 4, 5), holes=0)[columns].assign(item=items)
    path = file("a.csv", frame.to_csv(index=False))
    with pytest.raises(RecuseError, match=r"12 rows name no item \(first line 2\).*--ignore item"):
        read_file(path)
    assert read_file(path, ignore="item").ratings.table["item"].nunique() == 60


@pytest.mark.parametrize("called", ["train", "q0"])
def test_several_lists_of_records_are_not_the_longest_of_them(file, called):
    rows = records(wide((1, 2, 3, 4, 5), holes=0))
    text = json.dumps({called: rows[:40], "test": rows[40:], "summary": [{"mean": 3}]})
    with pytest.raises(RecuseError, match=rf"2 lists of records .* '{called}' and 'test'; .* one list"):
        read_file(file("a.json", text))


def test_a_column_of_names_does_not_name_systems_where_a_judge_says_one_thing_of_each_item(file):
    frame = wide((1, 2, 3, 4, 5), holes=0).drop(columns="system").drop_duplicates("item")
    path = file("a.csv", frame.melt(["item", JUDGE], var_name="name", value_name="score").to_csv(index=False))
    with pytest.raises(RecuseError, match=r"gpt-4o is the same for every name of an item; .* say --rater name"):
        read_file(path)
    assert read_file(path, rater="name").ratings.persons == PEOPLE


@pytest.mark.slow("further cases", but_first=True)
@pytest.mark.parametrize("answer", ["", "error", "refused"])
def test_a_judge_without_an_answer_is_not_left_out_unasked(file, answer):
    frame = wide((1, 2, 3, 4, 5)).assign(claude=answer, gpt_error="", judge_model="", llm_notes="")
    path = file("a.csv", frame.to_csv(index=False))
    with pytest.raises(RecuseError, match=r"^\S+ claude: called as judges are, without one answer.* --judges claude"):
        read_file(path)
    assert read_file(path, judges="gpt-4o,claude").ratings.judges == (JUDGE, "claude")
    assert read_file(path, ignore="claude").ratings.judges == (JUDGE,)


SUMMARY = "mean,,3.1,3.2,3.3\nstd,,0.9,1.0,1.1\nN,,60,60,60\nmin,,1,1,1\nagreement,,0.7,0.7,0.8\nmax,,5,5,5\n"


@pytest.mark.parametrize("summary", [SUMMARY, "min,,1,1,1\nmax,,5,5,5\n"])
def test_what_sums_up_the_table_is_nobodys_rating(file, summary):
    frame = wide((1, 2, 3, 4, 5), holes=0)
    text = frame.to_csv(index=False)
    assert said(file("a.csv", f"{text}\n{summary}")) == said(frame)
    assert said(file("b.csv", text + text.splitlines()[0] + "\n" + text.replace("q", "r").partition("\n")[2])) == said(
        pd.concat([frame, frame.assign(item=frame["item"].str.replace("q", "r"))])
    )


@pytest.mark.parametrize("names", [("n", "mode", "zoe", "max"), ("mean", "tim", "zoe", "max")])
def test_what_is_called_as_a_sum_may_be_a_name(file, names):
    frame = wide((1, 2, 3, 4, 5), holes=0)
    frame.loc[[56, 57, 58, 59], "item"] = names
    assert said(file("a.csv", frame.to_csv(index=False))) == said(frame)


def test_an_accent_and_its_letter_are_one_character_in_names_and_answers(file):
    frame = wide(("gut", "schädlich"), holes=0).assign(item=lambda f: "ü" + f["item"])
    long = frame.melt(["item", "system"], var_name="rater")
    apart = pd.concat([long[::2].map(lambda cell: normalize("NFD", cell)), long[1::2]])
    assert said(file("a.csv", apart.to_csv(index=False))) == said(long)


def test_one_rater_in_two_spellings_is_asked_about(file):
    long = wide((1, 2, 3, 4, 5), holes=0).melt(["item", "system"], var_name="rater")
    long.loc[:9, "rater"] = "Anna "
    path = file("a.csv", long.to_csv(index=False))
    with pytest.raises(RecuseError, match=r"rater names 'Anna' and 'anna': write one name .* --judges Anna,anna"):
        read_file(path)
    assert read_file(path, people="Anna,anna,ben").ratings.persons == ("Anna", "anna", "ben")
