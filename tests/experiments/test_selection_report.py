"""`recuse experiment selection`: what it prints and the page it writes."""

from __future__ import annotations

import re

import numpy as np
import pytest

from recuse.cli import main
from recuse.papers.indeterminacy.line_chart import line_chart
from recuse.papers.indeterminacy.selection_report import findings
from recuse.papers.indeterminacy.selection_study import BUDGETS, CHOOSING, SETTINGS, FewRatings, SelectionStudy


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("experiment")
    code = main(["experiment", "selection", "--trials", "1", "--workers", "1", "--html", str(folder / "page.html")])
    return code, (folder / "page.html").read_text(encoding="utf-8")


def test_the_page_has_every_figure_and_no_script_or_request(written):
    code, page = written
    assert code == 0
    figures = set(re.findall(r"Figure (\d+)", page))
    assert figures == {"4", "5", "6", "10", "11", "12", "13", "14", "15"}
    assert "<script" not in page
    assert "http" not in page
    assert page.count("<svg") > 40


def test_every_definition_stands_in_figure_14(written):
    assert all(f"<td>{each.name}</td>" in written[1] for each in CHOOSING)


def test_findings_progress_and_the_table_are_printed(capsys):
    assert main(["experiment", "selection", "--trials", "1", "--workers", "1"]) == 0
    out, err = capsys.readouterr()
    assert re.findall(r"Finding (\w+), (?:holds|does not hold) here", out) == ["1a", "1b", "2", "3", "4a", "4b"]
    assert all(setting in out for setting in SETTINGS)
    assert "1 of 1 trials" in err


def test_trials_are_1_or_more(capsys):
    assert main(["experiment", "selection", "--trials", "0"]) == 3
    assert "--trials is 1 or more; got 0" in capsys.readouterr().err


def test_a_finding_that_fails_is_told_to_fail():
    """A study in which nothing differs supports no claim of a difference."""
    count = len(CHOOSING)
    shape, pairs = (len(SETTINGS), 2, len(BUDGETS), count), (len(SETTINGS), 2, 2)
    sizes = (shape, shape, pairs, pairs, (len(SETTINGS), 2, count, 2))
    names = tuple(each.name for each in CHOOSING)
    flat = SelectionStudy(tuple(SETTINGS), BUDGETS, names, *(np.full(size, 0.5) for size in sizes))
    few = FewRatings((1,), np.full((1, 3), 0.95), np.zeros((1, 3)))
    found = {each.number: each.holds for each in findings(flat, few, {1.0: np.zeros(3)})}
    assert found == {"1a": False, "1b": True, "2": False, "3": False, "4a": False, "4b": False}


def test_a_chart_places_values_between_its_ends():
    chart = line_chart(
        "t", [1, 10, 100], {"a": [0.0, 0.5, 1.0], "b": [1.0, float("nan"), 0.0]}, "x", "y", logarithmic=True
    )
    (left, low), (middle, _), (right, high) = chart.lines[0].points
    assert left < middle < right
    assert middle - left == pytest.approx(right - middle, abs=0.2)
    assert low > high
    assert len(chart.lines[1].points) == 2
    assert [word for _, word in chart.y_ticks] == ["0.00", "0.25", "0.50", "0.75", "1.00"]
