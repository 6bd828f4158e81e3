"""Names say what is done to what: words that stand for half a sentence are no names of functions or of details."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import pytest
from imports import ENGINE, ROOT, nodes_of

FORBIDDEN = {"told", "said", "asked", "found", "mine", "met", "beside", "apart"}


def functions(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Line and name of every function with such a name, private ones too."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.strip("_") in FORBIDDEN:
            yield node.lineno, node.name


def details(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Line and name of every such key of a `detail`: where one is made, and where one is read."""
    for node in nodes:
        if isinstance(node, ast.keyword) and node.arg == "detail":
            keys = [key for made in ast.walk(node.value) if isinstance(made, ast.Dict) for key in made.keys]
        elif isinstance(node, ast.Subscript) and _is_detail(node.value):
            keys = [node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_detail(node.func.value):
            keys = node.args[:1]
        else:
            continue
        for key in keys:
            if isinstance(key, ast.Constant) and key.value in FORBIDDEN:
                yield key.lineno, str(key.value)


def _is_detail(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "detail"


@pytest.mark.parametrize("names", [functions, details])
def test_names_are_no_halves_of_sentences(names) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sorted(ENGINE.rglob("*.py"))
        for line, name in names(nodes_of(path))
    ]
    assert wrong == [], "name it by what it gives"


def test_such_names_are_noticed():
    module = ast.parse(
        """
def _told(): ...
class A:
    def beside(self): ...
estimated("m", detail={**more, "mine": 1})
n.detail["met"], n.detail.get("found")
detail = {"asked": 1}
"""
    )
    assert [name for _, name in functions(ast.walk(module))] == ["_told", "beside"]
    assert sorted(name for _, name in details(ast.walk(module))) == ["found", "met", "mine"]
