"""Mean and SD of every criterion, judge by judge, in the report."""

from __future__ import annotations

from typing import Any

from recuse.papers.merchant_risk.merchant_risk_drawings import cell_tables
from recuse.report.canonical_form import normalised
from recuse.report.results_model import ResultsModel

JUDGES = ["a", "b", "c", "d", "e"]
CRITERIA = ["accuracy", "quality", "consistency", "completeness", "practicality", "total"]


def results(criteria: list[str], sd: bool = True) -> dict[str, Any]:
    values = [[float(i) + j / 10 for j in range(5)] for i in range(5)]
    detail = {"kind": "matrix", "rows": JUDGES, "columns": JUDGES, "values": values, "own": []}
    if sd:
        detail["sd"] = [[0.25] * 5] * 5
    estimate = {"metric": "score_matrix", "value": 1.0, "n": 10, "method": "mean", "detail": detail}
    about = {"panel": "p", "task": "t", "protocol": "rubric"}
    return {
        "panels": [{"name": "p", "provenance": "scripted", "judges": [{"name": name} for name in JUDGES]}],
        "questions": [{"id": "score_stability", "title": "?"}],
        "measurements": [
            {"question": "score_stability", "test": "t", "estimate": estimate,
             "subject": {**about, "criterion": name, "names": names}}
            for name in criteria for names in ("shown", "hidden")
        ],
    }  # fmt: skip


def tables(told: dict[str, Any]) -> list[Any]:
    view = ResultsModel(normalised(told))
    (question,) = view.questions
    (group,) = view.groups(question)
    return cell_tables(group)


def test_ten_tables_of_five_targets_and_six_criteria() -> None:
    found = tables(results(CRITERIA))
    assert len(found) == 10
    assert {len(table.rows) for table in found} == {5}
    assert {len(table.columns) for table in found} == {7}
    assert found[2].rows[3][1].text == "1.30 ± 0.25"
    assert {table.caption.partition(":")[0] for table in found[:2]} == {"a, names shown", "a, names hidden"}


def test_without_repeats_there_is_no_spread() -> None:
    assert tables(results(CRITERIA, sd=False))[0].rows[1][1].text == "0.10"


def test_a_single_criterion_needs_no_table() -> None:
    assert tables(results(["total"])) == []


def test_a_page_carries_a_few_thousand_numbers_at_most() -> None:
    told = results(CRITERIA)
    names = [f"judge {i}" for i in range(40)]
    for entry in told["measurements"]:
        entry["estimate"]["detail"] = {"kind": "matrix", "rows": names, "columns": names, "values": [[1.0] * 40] * 40}
    assert tables(told) == []
