"""Every public function says what it gives: in its docstring or, where each module of a kind must have it, in the
interface of that kind."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from imports import ENGINE

INTERFACES = {
    "judges": ("judges/__init__.py", "Wire"),
    "protocols": ("protocols/__init__.py", "ElicitationProtocol"),
    "batch": ("batch/interface.py", "BatchInterface"),
}
"""Folder -> the class that says once what its modules' functions do."""

IN_WORDS = {
    "protocols": {"headline", "parts", "scales", "facts"},  # optional: in the docstring of ElicitationProtocol
    "questions": {"draw"},  # in that of recuse.report.questions
}


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def documented_by_interface(folder: str) -> set[str]:
    """Names that modules of the folder must have, and whose contract stands in the interface."""
    names = set(IN_WORDS.get(folder, ()))
    if folder in INTERFACES:
        file, name = INTERFACES[folder]
        (interface,) = (n for n in parsed(ENGINE / file).body if isinstance(n, ast.ClassDef) and n.name == name)
        names |= {n.name for n in interface.body if isinstance(n, ast.FunctionDef) and ast.get_docstring(n)}
    return names


def undocumented(path: Path) -> list[str]:
    """Public functions of a module without a docstring and without an interface that speaks for them."""
    spared = documented_by_interface(path.parent.name)
    functions = [n for n in parsed(path).body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]
    return [n.name for n in functions if not ast.get_docstring(n) and n.name not in spared]


@pytest.mark.parametrize("path", sorted(ENGINE.rglob("*.py")), ids=lambda path: path.relative_to(ENGINE).as_posix())
def test_public_functions_say_what_they_give(path: Path) -> None:
    assert undocumented(path) == []


def test_one_without_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text('def one():\n    """Said."""\n\n\ndef two(): ...\n\n\ndef _three(): ...\n')
    assert undocumented(tmp_path / "module.py") == ["two"]


@pytest.mark.parametrize("folder", sorted(INTERFACES))
def test_the_interface_speaks_for_its_modules(folder: str) -> None:
    assert len(documented_by_interface(folder) - IN_WORDS.get(folder, set())) >= 3
