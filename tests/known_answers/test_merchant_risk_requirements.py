"""Every point of the paper has an eval or a test that exists, or a reason why it has none."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from merchant_risk_requirements import ROWS

TESTS = Path(__file__).parents[1]
EVALS = TESTS.parent / "evals"


def functions(path: Path) -> set[str]:
    return {node.name for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.FunctionDef)}


def test_each_row_is_closed_or_says_why_it_is_open():
    assert [where for where, _, _, tests, why in ROWS if bool(tests) == bool(why)] == []
    assert [where for where, *_, why in ROWS if why] == ["A step E", "3.5", "5.1", "7.4"]


@pytest.mark.parametrize("name", sorted({name for _, _, evals, _, _ in ROWS for name in evals}))
def test_a_named_eval_exists(name):
    file, _, function = name.partition("::")
    assert function in functions(EVALS / file)


@pytest.mark.parametrize("name", sorted({name for *_, tests, _ in ROWS for name in tests}))
def test_a_named_test_exists(name):
    file, _, function = name.partition("::")
    assert function in functions(TESTS / file)
