"""Every point of a paper has a test that exists, and where it is asked an eval, or a reason why it has none."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import illusion_requirements
import indeterminacy_requirements
import merchant_risk_requirements
import pytest
import self_preference_requirements

TESTS = Path(__file__).parents[1]
EVALS = TESTS.parent / "evals"
LISTS = {
    "merchant risk": merchant_risk_requirements.ROWS,
    "illusion": illusion_requirements.ROWS,
    "self-preference": self_preference_requirements.ROWS,
    "indeterminacy": indeterminacy_requirements.ROWS,
}
"""Rows of (where, what, ..., tests, why it is open)."""
COUNT = {"merchant risk": 26, "illusion": 97, "self-preference": 30, "indeterminacy": 106}
OPEN = {
    "merchant risk": ["A step E", "3.5", "5.1", "7.4"],
    "illusion": ["2b", "13", "42", "46", "51", "65b", "71", "82", "87", "89", "90"],
    "indeterminacy": ["2.2.2", "Fig 1", "Fig 9", "E", "7", "3, 6"],
}


@cache
def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("paper", OPEN)
def test_every_point_is_closed_or_open_with_a_reason(paper):
    rows = LISTS[paper]
    assert len(rows) == COUNT[paper]
    assert [row[0] for row in rows if bool(row[-2]) == bool(row[-1])] == []
    assert [row[0] for row in rows if row[-1]] == OPEN[paper]


def test_every_row_of_the_thesis_is_held_by_a_test():
    rows = LISTS["self-preference"]
    assert len(rows) == COUNT["self-preference"]
    assert [row[1] for row in rows if not row[-2]] == []


def test_the_points_of_paper_002_are_numbered_as_the_pages_do():
    assert len({where for where, *_ in LISTS["illusion"]}) == COUNT["illusion"]


@pytest.mark.parametrize("paper", LISTS)
@pytest.mark.parametrize(("folder", "column"), [(TESTS, -2), (EVALS, 2)], ids=["tests", "evals"])
def test_what_a_row_names_exists(paper, folder, column):
    named = {one for row in LISTS[paper] if column < 0 or len(row) == 5 for one in row[column]}
    for file, _, name in (one.partition("::") for one in sorted(named)):
        assert name in functions(folder / file) | {""}, f"{file}::{name}"
