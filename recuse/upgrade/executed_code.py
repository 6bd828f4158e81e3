"""Which files that differ from the base commit a run executes, or reads because its code names them."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import packages_distributions
from pathlib import Path, PurePosixPath

from recuse.git import BaseCommit
from recuse.security.files import text_of

SETTINGS = {"pyproject.toml", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg"}
DOTTED = re.compile(r"""(?<=["'\s])[A-Za-z_]\w*(?:\.\w+)*(?=(?::\w+)?["'\s])""")
LONGEST = 120
MODULE = re.compile(r"^src/|(/__init__)?\.py$")
STRAY = {"tests", "docs", "examples"}
"""Folders that wheels install by mistake, and that nothing imports from there: what a repository calls so hides
nothing."""
SOUGHT = {"backports", "bottleneck", "brotlicffi", "cython", "exceptiongroup", "h2", "numba", "numexpr", "org", "pytz",
          "sniffio", "socksio", "tomli", "trio", "zstandard"}  # fmt: skip
"""What installed packages import wherever it is there, and do without elsewhere (pandas: numexpr)."""


def is_settings(path: str, evals: str) -> bool:
    """Whether pytest may read its settings there: at the root, or beside the evals, which makes that the root."""
    return PurePosixPath(path).name in SETTINGS and PurePosixPath(path).parent.as_posix() in (".", evals)


def executed_code(root: Path, commit: BaseCommit, evals: str, ours: bool) -> dict[str, str]:
    """The differing files that a run executes, or reads by name: evals, conftest.py above and beside them, modules that
    a panel, task, gates or settings name, what these import, compiled files, and new ones in the place of an installed
    package; Recuse itself not where the base commit has it (`ours`)."""
    differing = {path: how for path, how in commit.differing.items() if not (ours and path.startswith("recuse/"))}
    python = {path for path in differing if path.endswith((".py", ".pth", ".so", ".pyd", ".pyc"))
              or (root / path).is_symlink()}  # fmt: skip
    above = {(folder / "conftest.py").as_posix() for folder in PurePosixPath(evals, "x").parents}
    always = "sitecustomize.py", "usercustomize.py", ".pth", ".pyc", ".so", ".pyd"
    reached = {path for path in python if PurePosixPath(path).is_relative_to(evals) or path in above
               or path.endswith(always)} | _hiding(root, commit, python, differing)  # fmt: skip
    data = {path for path in differing if path not in python and not path.endswith(".md")
            and path.partition("/")[0] not in ("cassettes", "fixtures", "reports", ".github")
            and not is_settings(path, evals)}  # fmt: skip
    executed = dict.fromkeys(reached, "code that the run executes")
    if not python - reached and not data:
        return executed
    patterns = ("fixtures/panels/*.toml", "fixtures/tasks/*/*.toml", f"{evals}/*.toml", *SETTINGS)
    tables = [path for pattern in patterns for path in root.glob(pattern)]
    named = {name for path in tables for name in DOTTED.findall(text_of(path) or "")}
    # an environment inside the repository is thousands of files: read only where a commit changes one
    roots = [place for place in _module_roots(root) if not place.is_relative_to(sys.prefix)
             or any((root / path).is_relative_to(place) for path in python)]  # fmt: skip
    pending = [*(root / evals).rglob("*.py"), *root.glob("conftest.py"), *_files(roots, root, named)]
    seen: set[Path] = set()
    while pending:
        path = pending.pop()
        if path in seen or (ours and path.is_relative_to(root / "recuse")):
            continue
        seen.add(path)
        for folder, names in _imports(path):
            pending += _files(roots, folder or root, names)
    executed |= {path: "code that the run executes" for path in python
                 if root / path in seen or (root / path).parent / "__init__.py" in seen
                 or (differing[path] == "D" and MODULE.sub("", path).replace("/", ".") in named)}  # fmt: skip
    source = "\n".join(text_of(path) or "" for path in seen) if data else ""
    folders = {path.parent for path in seen}
    return executed | {path: "named in code of the run" for path in data if PurePosixPath(path).name in source
                       and (differing[path] != "A" or (root / path).parent in folders or path in source)}  # fmt: skip


def _hiding(root: Path, commit: BaseCommit, python: Iterable[str], differing: Mapping[str, str]) -> set[str]:
    """New modules that Python finds before an installed package of that name, or that one imports if they are there."""
    places = [place.relative_to(root).as_posix() for place in _module_roots(root)]
    tops = {path: (place, PurePosixPath(path).relative_to(place).parts[0].partition(".")[0])
            for place in places for path in python
            if differing[path] == "A" and PurePosixPath(path).is_relative_to(place)}  # fmt: skip
    installed = sys.stdlib_module_names | packages_distributions().keys() | SOUGHT if tops else set()
    return {path for path, (place, top) in tops.items() if top in installed - STRAY
            and not commit.files(f"{place}/{top}", f"{place}/{top}.py")}  # fmt: skip


def _module_roots(root: Path) -> list[Path]:
    looked = (Path(place) for place in sys.path if place and Path(place).is_relative_to(root))
    return list(dict.fromkeys((root, root / "src", *looked)))


def _imports(path: Path) -> Iterator[tuple[Path | None, set[str]]]:
    """What a Python file imports, or names as a text: dotted names, and the folder that relative ones begin at."""
    try:
        nodes = list(ast.walk(ast.parse(path.read_bytes())))
    except (OSError, SyntaxError, ValueError):
        return
    for node in nodes:
        if isinstance(node, ast.Import):
            yield None, {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module or ''}.{alias.name}".strip(".") for alias in node.names}
            yield path.parents[node.level - 1] if node.level else None, names
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield None, set(DOTTED.findall(f'"{node.value}"'[:LONGEST]))


def _files(roots: list[Path], base: Path, names: set[str]) -> list[Path]:
    """Where modules of these names, and the packages around them, stand in the repository."""
    parts = {tuple(name.split(".")[:n]) for name in names for n in range(1, name.count(".") + 2)}
    every = [folder.joinpath(*part) for part in parts for folder in dict.fromkeys((base, *roots))]
    files = [file for stem in every for file in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py")]
    return [file for file in files if file.is_file()]
