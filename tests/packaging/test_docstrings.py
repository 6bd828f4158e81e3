"""Every public function and method says what it gives."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from imports import ENGINE, nodes_of

OF_DISTRIBUTIONS = {"interval", "p_value", "half_width_at", "undefined"}
"""Methods that every sampling distribution has: `recuse.schema.Distribution` says what they do."""


def public(node: ast.Module | ast.ClassDef, within: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Dotted name and definition of every public function, and of every method of a public class."""
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and not one.name.startswith("_"):
            yield within + one.name, one
        elif isinstance(one, ast.ClassDef) and not one.name.startswith("_"):
            yield from public(one, f"{within}{one.name}.")


def undocumented(path: Path) -> list[str]:
    """Public functions and methods of a module without a docstring and without another place that speaks for them."""
    module = nodes_of(path)[0]
    assert isinstance(module, ast.Module)
    silent = [name for name, function in public(module) if not ast.get_docstring(function)]
    return [name for name in silent if "." not in name or name.rpartition(".")[2] not in OF_DISTRIBUTIONS]


def test_public_functions_say_what_they_give() -> None:
    silent = {path.relative_to(ENGINE).as_posix(): undocumented(path) for path in sorted(ENGINE.rglob("*.py"))}
    assert {name: found for name, found in silent.items() if found} == {}


def test_one_without_is_noticed(tmp_path: Path) -> None:
    source = '''
def one():
    """Said."""

def two(): ...

def _three(): ...

class Four:
    def five(self): ...

    def _six(self): ...

    def interval(self, level): ...
'''
    (tmp_path / "module.py").write_text(source)
    assert undocumented(tmp_path / "module.py") == ["two", "Four.five"]


def test_what_is_said_once_is_said() -> None:
    places = (ENGINE / "schema" / "estimate_types.py", ENGINE / "metrics" / "estimates.py")
    said = {
        method.rpartition(".")[2]
        for place in places
        for method, function in public(ast.parse(place.read_text(encoding="utf-8")))
        if "Distribution." in method and ast.get_docstring(function)
    }
    assert said >= OF_DISTRIBUTIONS
