"""Every point of the paper has a test that exists, or a reason why it has none."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def requirements():
    path = Path(__file__).with_name("indeterminacy_requirements.py")
    spec = importlib.util.spec_from_file_location("indeterminacy_requirements", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.ROWS


def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_there_are_106_and_six_stay_open():
    rows = requirements()
    assert len(rows) == 106
    assert [place for place, (_, _, tests, why) in enumerate(rows, 1) if bool(tests) == bool(why)] == []
    assert [where for where, _, _, why in rows if why] == ["2.2.2", "Fig 1", "Fig 9", "E", "7", "3, 6"]


@pytest.mark.parametrize("test", sorted({test for _, _, tests, _ in requirements() for test in tests}))
def test_a_named_test_exists(test):
    file, _, name = test.partition("::")
    assert name in functions(TESTS / file) | {""}
