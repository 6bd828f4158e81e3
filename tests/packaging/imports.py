"""Which module of recuse/ imports what, read from the source: nothing is imported to find out.

python tests/packaging/imports.py        # brings the module table of docs/architecture.md up to date
"""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "recuse"
OPTIONAL = {"pyarrow", "duckdb", "fsspec", "brotli", "brotlicffi", "backports", "compression", "zstandard"}
"""Imported where they are installed: codecs a provider may answer in, and what reads Parquet."""


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """The syntax tree of a file, the module first: parsed once for all tests that look at the source."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imports_of(path: Path) -> set[str]:
    """Dotted names a file imports anywhere: at the top, inside functions, for types only."""
    found: set[str] = set()
    engine = path.is_relative_to(ENGINE)
    statements: list[ast.AST] = [nodes_of(path)[0] if engine else ast.parse(path.read_text(encoding="utf-8"))]
    for node in statements:  # which grows; an import is never inside an expression
        for name in ("body", "orelse", "finalbody", "handlers", "cases"):
            statements += getattr(node, name, ())
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= _imported_from(node, path)
    return found


def part_of(path: Path) -> str:
    """The part a file belongs to: `cassettes` for recuse/cassettes/matching.py, `cli` for recuse/cli.py."""
    return path.relative_to(ENGINE).with_suffix("").parts[0]


@cache
def engine_imports() -> tuple[tuple[Path, str, str], ...]:
    """(file, its part, imported dotted name) for every import of the engine."""
    files = sorted(ENGINE.rglob("*.py"))
    return tuple((path, part_of(path), name) for path in files for name in sorted(imports_of(path)))


def parts_used() -> dict[str, set[str]]:
    """Part -> the other parts of recuse it imports."""
    used: dict[str, set[str]] = {}
    for _, part, name in engine_imports():
        target = name.split(".")[1] if name.startswith("recuse.") else part
        used.setdefault(part, set()).update({target} - {part, "__version__"})
    return used


def packages_used() -> dict[str, set[str]]:
    """Part -> the top-level names of third-party packages it imports."""
    used: dict[str, set[str]] = {}
    for _, part, name in engine_imports():
        used.setdefault(part, set()).update({name.split(".")[0]} - sys.stdlib_module_names - {"recuse"})
    return used


def _imported_from(node: ast.ImportFrom, path: Path) -> set[str]:
    if node.level:
        raise AssertionError(f"{path}:{node.lineno}: import by the full name, `from recuse.x import y`")
    if node.module == "recuse":  # `from recuse import report` names a module, or recuse's version
        return {f"recuse.{alias.name}" for alias in node.names}
    return {str(node.module)} if node.module else set()


# --------------------------------------------------------------------------- the table of docs/architecture.md


def table_line(line: str) -> str:
    """A line of the module table with the parts and packages that the source uses today; any other line as it is."""
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    name = re.match(r"`([a-z_]+)(?:\.py|/)`", cells[0])
    if len(cells) != 4 or name is None:
        return line
    used = [", ".join(sorted(found.get(name[1], ()))) for found in (parts_used(), declared_packages())]
    return f"| {cells[0]} | {cells[1]} | {used[0]} | {used[1]} |"


def declared_packages() -> dict[str, set[str]]:
    """Part -> the packages it imports, without codecs that are used where they happen to be installed."""
    return {part: packages - OPTIONAL for part, packages in packages_used().items()}


if __name__ == "__main__":
    page = ROOT / "docs" / "architecture.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    page.write_text("\n".join(map(table_line, lines)) + "\n", encoding="utf-8")
