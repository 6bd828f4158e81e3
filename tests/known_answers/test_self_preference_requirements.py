"""Every row of the thesis has an eval and a test that exist, or a reason why it has none."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def rows():
    path = Path(__file__).with_name("self_preference_requirements.py")
    spec = importlib.util.spec_from_file_location("self_preference_requirements", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ROWS


def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_row_is_held_by_a_test():
    assert len(rows()) == 30
    assert [what for _, what, _, tests, _ in rows() if not tests] == []


@pytest.mark.parametrize("test", sorted({test for _, _, _, tests, _ in rows() for test in tests}))
def test_a_named_test_exists(test):
    file, _, name = test.partition("::")
    assert name in functions(ROOT / "tests" / file) | {""}


@pytest.mark.parametrize("question", sorted({question for _, _, evals, _, _ in rows() for question in evals}))
def test_a_named_question_is_asked(question):
    file, _, name = question.partition("::")
    assert name in functions(ROOT / "evals" / file)
