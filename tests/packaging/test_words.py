"""Names say what is done to what: words that stand for half a sentence are no names of functions or of details."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import pytest
from imports import ENGINE, ROOT, nodes_of

VARIABLES = {"told", "said", "asked", "found", "mine", "met"}
FORBIDDEN = {*VARIABLES, "beside", "apart"}


def functions(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Line and name of every function with such a name, private ones too."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.strip("_") in FORBIDDEN:
            yield node.lineno, node.name


def variables(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Line and name of every such variable, parameter and attribute that is made; a key of results.json, a member of a
    TypedDict, keeps its name."""
    keys: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.ClassDef) and any(isinstance(b, ast.Name) and b.id == "TypedDict" for b in node.bases):
            keys |= {made.target for made in node.body if isinstance(made, ast.AnnAssign)}
        elif isinstance(node, ast.arg) and node.arg in VARIABLES:
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store) and node not in keys:
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name in VARIABLES:
                yield node.lineno, name


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


@pytest.mark.parametrize("names", [functions, variables, details])
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
def f(mine, *, other=met): self.said = [found for found in mine]
class Row(TypedDict):
    told: str
class Other:
    told: str
"""
    )
    assert [name for _, name in functions(ast.walk(module))] == ["_told", "beside"]
    assert sorted(name for _, name in variables(ast.walk(module))) == ["found", "mine", "said", "told"]
    assert sorted(name for _, name in details(ast.walk(module))) == ["found", "met", "mine"]
