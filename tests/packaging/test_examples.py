"""The examples in docstrings are true, and every public measure has one."""

from __future__ import annotations

import ast
import doctest
import re
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest
import written_ratings
from imports import ENGINE, nodes_of
from written_ratings import accepted, example, rated, table

from recuse.ratings import Numeric

NAMES = {"example": example, "table": table, "rated": rated, "accepted": accepted, "Numeric": Numeric, "pd": pd}
"""What every example has at hand, as `recuse.metrics.measure` says."""
WITH_EXAMPLES = sorted(path for path in ENGINE.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))


def measures() -> list[tuple[str, str]]:
    """(file and name, docstring) of every function that `@measure` describes."""
    return [
        (f"{path.name}:{node.name}", ast.get_docstring(node) or "")
        for path in ENGINE.rglob("*.py")
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(d, ast.Call) and ast.unparse(d.func) == "measure" for d in node.decorator_list)
    ]


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.relative_to(ENGINE).as_posix())
def test_the_examples_of_a_module_are_true(path: Path) -> None:
    module = import_module(".".join(path.relative_to(ENGINE.parent).with_suffix("").parts))
    done = doctest.testmod(module, globs={**vars(module), **NAMES})
    assert done.attempted
    assert not done.failed, "the output above says which example got what"


def test_the_ratings_of_examples_are_what_they_say() -> None:
    done = doctest.testmod(written_ratings)
    assert done.attempted
    assert not done.failed


def test_a_function_is_called_as_what_it_measures() -> None:
    wrong = [
        f"{path.name}:{node.name} measures {call.args[0].value}"
        for path in ENGINE.rglob("*.py")
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef)
        for call in node.decorator_list
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "measure"
        if isinstance(call.args[0], ast.Constant) and call.args[0].value != node.name
    ]
    assert wrong == []


def test_every_measure_has_an_example() -> None:
    found = measures()
    assert len(found) > 50
    assert [name for name, text in found if ">>>" not in text] == []


def test_the_code_of_the_page_on_indeterminacy_prints_what_stands_beside_it() -> None:
    page = (ENGINE.parent / "docs" / "indeterminacy.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    with redirect_stdout(StringIO()) as printed:
        exec(code, {})
    beside = re.findall(r"(?m)^print.*  # ([^:\n]+)", code)
    lines = printed.getvalue().splitlines()
    assert len(lines) == len(beside) == 2
    assert all(line.startswith(note.removesuffix(" ...")) for line, note in zip(lines, beside, strict=True))
