"""The report's tables as CSV: every row of the results, the same files in every run, and no cell that is a formula."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
import samples
from page_reader import read

from recuse import report
from recuse.report.canonical_form import csv_tables, normalised

FILES = {f"{n}.csv" for n in ("verdicts", "measurements", "decision", "not_asked", "usage", "replies", "judges",
                              "changes")}  # fmt: skip


def rows(results: samples.Results, name: str) -> list[dict[str, Any]]:
    text = csv_tables(normalised(results))[f"{name}.csv"]
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def test_every_verdict_has_a_row_with_its_number_and_limit():
    results = samples.failing()
    found = rows(results, "verdicts")
    assert len(found) == len(results["verdicts"]) > 100
    told = {(row["gate"], row["judge"], row["names"]): row for row in found}
    row = told["self_bias", "grok-4", "shown"]
    assert (row["outcome"], float(row["value"])) == ("fail", 0.71)
    assert row["finding"] == "0.71 is above 0.50 by 0.21."


@pytest.mark.parametrize(
    ("name", "key"),
    [("measurements", "measurements"), ("usage", "usage"), ("replies", "excerpts"), ("not_asked", "not_asked")],
)
def test_every_row_of_the_results_is_there(name, key):
    results = samples.both()
    assert len(rows(results, name)) == len(results.get(key, []))


def test_every_word_on_a_judge_has_a_row():
    results = samples.failing()
    found = rows(results, "decision")
    assert [(row["judge"], row["use"], row["word"]) for row in found] == [
        (one["judge"], one["use"], one["word"]) for one in results["decision"]["judges"]
    ]
    assert (found[1]["gates"], found[1]["accepted"]) == ("human_offset; self_bias", "True")


def test_what_changed_against_the_baseline_is_a_table_too():
    found = [row for row in rows(samples.failing(), "changes") if row["field"] == "value"]
    assert ("self_bias", "grok-4", "0.61", "0.71") in [(r["what"], r["judge"], r["before"], r["after"]) for r in found]


def test_no_cell_is_a_formula_and_nothing_is_hidden():
    results = samples.hostile()
    results["excerpts"][0]["text"] = '=HYPERLINK("http://evil.example")'
    results["excerpts"][1]["text"] = "@SUM(A1)"
    csv.field_size_limit(1_000_000)  # one reply is longer than the reader takes by default
    for name, text in csv_tables(normalised(results)).items():
        cells = [cell for row in csv.reader(io.StringIO(text.removeprefix("\ufeff"))) for cell in row]
        assert [cell for cell in cells if re.match(r"[=@\t\r]|[+-](?![\d.])", cell)] == [], name
        assert "\u202e" not in text


def test_the_same_files_whatever_was_found(tmp_path):
    for number, results in enumerate((samples.both(), samples.invented(2))):
        report.write(results, tmp_path / str(number))
        assert {path.name for path in (tmp_path / str(number) / "tables").iterdir()} == FILES


def test_the_page_leads_to_every_table(tmp_path):
    report.write(samples.both(), tmp_path)
    links = {link.attributes["href"] for link in read((tmp_path / "index.html").read_text()).all("a")}
    assert {name for name in FILES if f"tables/{name}" in links} == FILES
