"""Every point of a paper has a test that exists, or a reason why it has none."""

from __future__ import annotations

import ast
from pathlib import Path

import illusion_requirements
import indeterminacy_requirements
import pytest

TESTS = Path(__file__).parents[1]
LISTS = {"illusion": illusion_requirements.ROWS, "indeterminacy": indeterminacy_requirements.ROWS}
COUNT = {"illusion": 97, "indeterminacy": 106}
OPEN = {
    "illusion": ["2b", "13", "42", "46", "51", "65b", "71", "82", "87", "89", "90"],
    "indeterminacy": ["2.2.2", "Fig 1", "Fig 9", "E", "7", "3, 6"],
}


def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("paper", LISTS)
def test_every_point_is_closed_or_open_with_a_reason(paper):
    rows = LISTS[paper]
    assert len(rows) == COUNT[paper]
    assert [where for where, _, tests, why in rows if bool(tests) == bool(why)] == []
    assert [where for where, _, _, why in rows if why] == OPEN[paper]


def test_the_points_of_paper_002_are_numbered_as_the_pages_do():
    assert len({where for where, *_ in LISTS["illusion"]}) == COUNT["illusion"]


@pytest.mark.parametrize("test", sorted({test for rows in LISTS.values() for _, _, tests, _ in rows for test in tests}))
def test_a_named_test_exists(test):
    file, _, name = test.partition("::")
    assert name in functions(TESTS / file) | {""}
