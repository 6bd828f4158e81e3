"""What was not asked is listed in all three outputs, with what would unlock it."""

from __future__ import annotations

from typing import Any

import samples
from page_reader import page, read

from recuse.report.canonical_form import normalised
from recuse.report.page import summary
from recuse.report.results_model import ResultsModel
from recuse.report.sections.about_the_run import in_one_line, not_asked
from recuse.report.terminal_text import terminal

PEOPLE = "add ratings by people (task.toml, [people])"


def entry(question: str, task: str, *missing: str, unlock: str = PEOPLE) -> dict[str, Any]:
    where = {"panel": "published", "task": task, "protocol": "rubric"}
    title = f"Does {question} hold?"
    return {**where, "question": question, "title": title, "missing": list(missing), "unlock": [unlock], "tests": []}


def results() -> samples.Results:
    again = "record more repeats of the same question"
    listed = [
        entry("b", "headlines", "people"),
        entry("b", "merchant_risk", "people"),
        entry("a", "x", "repeats", unlock=again),
    ]
    return {**samples.published(), "not_asked": listed}


def rows(results: samples.Results) -> list[list[str]]:
    return [[cell.text for cell in row] for row in not_asked(ResultsModel(normalised(results))).rows]


def test_what_unlocks_most_comes_first_with_its_questions_and_places() -> None:
    where = "(published: headlines, rubric; published: merchant risk, rubric)"
    assert rows(results()) == [
        [PEOPLE, "people", "2", f"Does b hold?\n{where}"],
        ["record more repeats of the same question", "repeats", "1", "Does a hold?\n(published: x, rubric)"],
    ]


def test_questions_with_the_same_places_are_told_together() -> None:
    listed = [entry("b", "x", "people"), entry("a", "x", "people"), entry("c", "y", "people")]
    [[*_, wanting]] = rows({**samples.published(), "not_asked": listed})
    assert wanting == "Does a hold?\nDoes b hold?\n(published: x, rubric)\nDoes c hold?\n(published: y, rubric)"


def test_what_the_source_does_not_fix_is_said_in_a_sentence() -> None:
    listed = [
        {**entry("a", "x", "pairs"), "unfixed": ["pairs"]},
        {**entry("b", "x", "temperature", "cells"), "unfixed": ["cells"]},
    ]
    assert [missing for _, missing, *_ in rows({**samples.published(), "not_asked": listed})] == [
        "not measured: the source gives no pairs", "temperature; not measured: the source gives no cells",
    ]  # fmt: skip


def test_one_line_counts_what_is_wanted_most_first() -> None:
    line = in_one_line(ResultsModel(normalised(results())))
    assert line == "3 questions (counted per task) for lack of people (2) and repeats (1)"
    assert in_one_line(ResultsModel(normalised(samples.published()))) == ""


def test_many_wants_are_cut() -> None:
    listed = [entry("a", "x", f"need_{k}") for k in range(9)]
    text = in_one_line(ResultsModel(normalised({**samples.published(), "not_asked": listed})))
    assert text.endswith("for lack of need 0 (1), need 1 (1), need 2 (1), need 3 (1), need 4 (1) and 4 more")


def test_terminal_has_one_line() -> None:
    lines = terminal(results(), 120).splitlines()
    assert "not asked: 3 questions (counted per task) for lack of people (2) and repeats (1); see the report" in lines
    assert "not asked:" not in terminal(samples.published(), 120)


def test_summary_folds_the_list() -> None:
    text = summary(normalised(results()))
    assert "<summary>Not asked: 3 questions (counted per task) for lack of people (2) and repeats (1)</summary>" in text
    assert "| add ratings by people (task.toml, \\[people\\]) | people | 2 | Does b hold? (published: " in text


def test_page_folds_the_list() -> None:
    section = next(
        s for s in read(page(normalised(results()), "h")).all("section") if s.attributes["id"] == "not-asked"
    )
    assert section.one("summary").text == (
        "What was not asked, and what would unlock it? "
        "3 questions (counted per task) for lack of people (2) and repeats (1)"
    )
    cells = [[cell.text for cell in row.all() if cell.tag in ("th", "td")] for row in section.one("tbody").all("tr")]
    again = "record more repeats of the same question"
    assert cells[1] == [again, "repeats", "1", "Does a hold?\n(published: x, rubric)"]


def test_the_page_lists_what_unlocks_most() -> None:
    """Of 60 remedies the 40 that unlock most questions; the table beside it has all."""
    many = {**results(), "not_asked": [
        entry("a", f"task {k}", f"need {n:02d}", unlock=f"give {n:02d}") for n in range(60) for k in range(60 - n)
    ]}  # fmt: skip
    section = next(s for s in read(page(normalised(many), "h")).all("section") if s.attributes["id"] == "not-asked")
    firsts = [next(tr.all("th")).text for tr in section.one("tbody").all("tr")]
    assert firsts == [f"give {n:02d}" for n in range(40)]
    assert "20 more in results.json" in section.text
