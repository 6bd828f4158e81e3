"""How large the engine is, read from the source:

python tests/packaging/house.py        # lines, modules, names that stand twice, helpers that one place calls
"""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from itertools import groupby

from imports import ENGINE, nodes_of

SHORT = 4
"""Lines of a helper that its only caller could as well have said itself."""


@cache
def modules() -> dict[str, str]:
    """Path below recuse/ -> source."""
    return {path.relative_to(ENGINE).as_posix(): path.read_text(encoding="utf-8") for path in ENGINE.rglob("*.py")}


def lines(papers: bool) -> int:
    """Lines of everything, or of what is not a paper's."""
    return sum(len(text.splitlines()) for name, text in modules().items() if papers or not name.startswith("papers/"))


def engine_modules() -> int:
    """Modules that are not a paper's."""
    return sum(not name.startswith("papers/") for name in modules())


def twice() -> list[str]:
    """File names that stand in two rooms; every package has its `__init__.py`."""
    names = Counter(name.rpartition("/")[2] for name in modules())
    return sorted(name for name, count in names.items() if count > 1 and not name.startswith("__"))


def short_helpers_of_one_caller() -> list[str]:
    """Private functions of a module, of at most `SHORT` lines without docstring, whose name stands once beside their
    definition."""
    short = []
    for name in modules():
        nodes = nodes_of(ENGINE / name)
        used = Counter(node.id for node in nodes if isinstance(node, ast.Name))
        for node in nodes[0].body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("_") and used[node.name] == 1:
                body = node.body[1:] if ast.get_docstring(node) else node.body
                if body and (body[-1].end_lineno or 0) - body[0].lineno + 2 <= SHORT:
                    short.append(f"{name}:{node.name}")
    return sorted(short)


def rooms_on_the_way(module: str, function: str) -> list[str]:
    """Which packages of the engine a function calls into, in the order of the code; one after itself stands once."""
    nodes = nodes_of(ENGINE / module)
    room = {
        alias.asname or alias.name: (node.module or "").split(".")[1]
        for node in nodes if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("recuse.")
        for alias in node.names
    }  # fmt: skip
    [body] = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == function]
    calls = [node for node in ast.walk(body) if isinstance(node, ast.Call)]
    called = [one.func for one in sorted(calls, key=lambda one: (one.lineno, one.col_offset))]
    names = [one.value if isinstance(one, ast.Attribute) else one for one in called]
    entered = [room[one.id] for one in names if isinstance(one, ast.Name) and one.id in room]
    return [one for one, _ in groupby(entered)]


if __name__ == "__main__":
    print(f"lines          {lines(papers=True):,}, without papers/ {lines(papers=False):,}")
    print(f"modules        {len(modules())}, without papers/ {engine_modules()}")
    print(f"names twice    {len(twice())}: {', '.join(twice())}")
    print(f"short helpers  {len(short_helpers_of_one_caller())} of one caller and at most {SHORT} lines")
