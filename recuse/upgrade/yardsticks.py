"""What a change brings to be measured by: panels, tasks, ratings, evals, pytest's settings, templates, workflows, code.

    for row in changed_yardsticks(root, commit, gates=Path("evals/gates.toml")):
        row["cause"]        # "evals/test_score_stability.py is other code"

None of it is compared with itself: what stands at the base commit is what holds, and each difference is a row. How
judges are asked (model, prompt, rubric) is no row here: that is an upgrade (`recuse.upgrade.in_place`).
"""

from __future__ import annotations

import ast
import csv
import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.metadata import packages_distributions
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from recuse.cassettes.cell_cassette import SIDE
from recuse.elicitation.plan import UNTOLD
from recuse.git.commits import BaseCommit
from recuse.schema.results import ChangedRow

IN_PLACE = frozenset((
    "model", "wire", "parameters", "structured", "seeded", "headers", "query", "rename", "omit", "prompts",
    "rubric", "replaces", "change",
))  # fmt: skip
"""Keys of a judge that make it another judge: compared as an upgrade."""
WORDS = frozenset((
    "description", "title", "label", "price", "budget_usd", "free", "markers", "concurrency",
    "timeout_s", "requests_per_minute", "tokens_per_minute",
))  # fmt: skip
"""Keys that decide nothing."""
SETTINGS = {"pyproject.toml", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini", "setup.cfg"}
INSTALLS = re.compile(
    r"(^|/)((requirements|constraints)([^/]*|/[^/]+)\.(txt|in)|(uv|poetry|pdm|pixi|Pipfile)\.lock|pylock[^/]*\.toml|"
    r"(uv|pixi)\.toml|Pipfile|pip\.conf|environment\.ya?ml)$"
)
RECUSE = re.compile(r'^name = "recuse"\n(?:.+\n?)*|.*\brecuse\b.*', re.M)
"""A line that names it; of a lock file all that follows of it: version, source and digests."""
INSTALLED = re.compile(r"^\s*-(?:-extra-index-url|-index-url|-find-links|[if])\b.*|^(?:name = \")?pytest[\w-]*|"
                       r"^\s*(?:extra-)?index(?:-url)?\b.*|\b(?:registry|url|git) = \"https?://[^/\"]+",
                       re.M)  # fmt: skip
"""What else runs with the evals: plugins of pytest by name, and whatever comes from another index."""
INSTALLING = re.compile(
    r"tool\.pytest|build-system|project\.entry-points|tool\.poetry\.plugins|tool\.(uv|pdm|poetry)\.[\w.-]*(index|source)"
)
"""Keys of pyproject.toml that say what is installed and run."""
PLUGINS = re.compile(r"^setup\.py$|\.(egg|dist)-info/")
"""What runs when something is installed, and where Python finds plugins of what it takes for installed."""
RUNS = re.compile(r"\bpytest\b[^\n]*\bevals\b|\brecuse (check|compare|comment|show)\b|-m recuse\b")
"""A line of a Makefile or script that asks the questions."""
SETS = re.compile(r"^\[(tool:)?pytest\]|\b(pytest11|setup_requires|cmdclass)\b", re.M)
"""In tox.ini and setup.cfg: settings of pytest, its plugins, and what runs when something is installed."""
REVIEWED = {
    "CODEOWNERS": (re.compile(r"^\s*(\*|/?(evals|fixtures|cassettes|reports|\.github)\b)"), "who must review what"),
    ".gitattributes": (
        re.compile(r"^\s*(\*\*?(/\*)?|/?(\*\*/)?(evals|fixtures|cassettes|reports)\b\S*|\*\.(py|toml|csv|jsonl?|j2|gz))\s"
                   r".*(-diff|-text|binary|linguist-|diff=|filter=|working-tree-encoding)"),
        "what reviewers are shown",
    ),
}  # fmt: skip
"""Files that decide who sees a change: lines of them, and what they say."""
ITEM = re.compile(r'"id": *"([^"]+)"')
GROWING = ("recuse_panels", "protocols", "recuse_drawings")
"""Lists that may grow without anything being measured otherwise."""
DOTTED = re.compile(r"""(?<=["'\s])[A-Za-z_]\w*(?:\.\w+)*(?=(?::\w+)?["'\s])""")
LONGEST = 120
Key = tuple[str, ...]


def changed_yardsticks(root: Path, commit: BaseCommit, gates: Path) -> Iterator[ChangedRow]:
    """A row per difference to the base commit, in the order of paths; `gates`: relative to `root`, compared by its
    limits elsewhere (`recuse.gates.limit_changes`)."""
    differing = commit.differing()
    evals = gates.parent.as_posix()
    if moved := commit.moved(evals, "fixtures"):
        more = f" and {len(moved) - 1} more" if moved[1:] else ""
        cause = f"the base branch has changed {moved[0]}{more} since this branch began; merge it into this branch"
        yield _row("the base branch", cause)
    ours = commit.text("recuse/__init__.py") is not None
    code = _code(root, commit, evals, differing, ours=ours)
    for path, status in sorted(differing.items()):
        parts = (*PurePosixPath(path).parts, "")
        what = {"A": "is new", "M": "is changed", "D": "is gone"}[status]
        if parts[0] == "cassettes" and path.endswith(SIDE) and status != "D":
            yield _row(path, f"{path}, a recording that may be served in place of the one before, {what}")
        if parts[0] == "cassettes" or parts[-2].endswith(".md") or parts[-2] == "MANIFEST.toml":
            continue
        sides = partial(_sides, root, commit, path)
        watched = parts[0] in (evals, "fixtures", "cassettes", "reports", "recuse") or _is_settings(path, evals)
        if (root / path).is_symlink() and (watched or path in code):
            yield _row(path, f"{path} is a link now: what it holds changes elsewhere")
        elif PLUGINS.search(path):
            yield _row(path, f"{path}, which runs where this is installed, {what}", *_lines(*sides()))
        elif path in code:
            yield _row(path, f"{path}, {code[path]}, {what}", *_lines(*sides()))
        elif _is_settings(path, evals) or INSTALLS.search(path):
            yield from _settings(path, *sides())
        elif parts[:2] == ("reports", "templates"):
            yield _row(path, f"{path}, which draws the report, {what}", *_lines(*sides()))
        elif parts[-2] in REVIEWED:
            lines, decides = REVIEWED[parts[-2]]
            before, now = (set((side or "").splitlines()) for side in sides())
            if any(map(lines.search, before ^ now)):
                yield _row(path, f"{path}, {decides}, {what}", *_lines(*sides()))
        elif parts[0] in (".github", ".gitlab-ci.yml"):
            words = r"\b(recuse|evals)\b" if status == "A" else "recuse|pytest|evals"
            if re.search(words, "".join(filter(None, sides()))):
                yield _row(path, f"{path}, which runs the evals, {what}", *_lines(*sides()))
        elif parts[:2] == ("fixtures", "panels") and path.endswith(".toml"):
            yield from _panel(path, *sides())
        elif parts[:2] == ("fixtures", "tasks") and parts[3:]:
            if differing.get(f"fixtures/tasks/{parts[2]}/task.toml") != "A":
                yield from _task(root, commit, path, status)
        elif parts[0] == "fixtures":
            if status != "A" and parts[1] not in ("standins", "makers"):
                yield _row(path, f"{path}, ratings or data, {what}", *_lines(*sides()))
        elif status != "A" and not (ours and path.endswith(".py")) and RUNS.search("".join(filter(None, sides()))):
            yield _row(path, f"{path}, which runs the evals, {what}", *_lines(*sides()))


def _row(
    what: str, cause: str, before: str | None = None, after: str | None = None, *,
    word: Literal["merge", "decide"] = "decide", **place: str,
) -> ChangedRow:  # fmt: skip
    return {"kind": "yardstick", "what": what, "before": before, "after": after, "word": word, "cause": cause,
            "place": place}  # fmt: skip


def _sides(root: Path, commit: BaseCommit, path: str) -> tuple[str | None, str | None]:
    return commit.text(path), _text(root / path)


# --------------------------------------------------------------------------- files of the project


def _panel(path: str, before: str | None, now: str | None) -> Iterator[ChangedRow]:
    if before is None or now is None:
        gone = now is None
        yield _row(path, f"the panel file {path} is {'gone' if gone else 'new'}", word="decide" if gone else "merge")
        return
    old, new = _tables(before), _tables(now)
    place = {"panel": str(new.get(("name",)) or "")}
    judges = [{key[1] for key in side if key[0] == "judge" and key[1:]} for side in (old, new)]
    for judge in sorted(judges[0] ^ judges[1]):
        gone = judge in judges[0]
        cause = f"the judge {judge} is {'gone from' if gone else 'new in'} {path}"
        yield _row(f"judge {judge} of {path}", cause, word="decide" if gone else "merge", **place)
    for key in sorted(old.keys() | new.keys()):
        asked = key[0] == "judge" and ((key[2:3] and key[2] in IN_PLACE) or key[1] not in judges[0] & judges[1])
        if not asked:
            yield from _key(path, key, old.get(key), new.get(key), **place)


def _task(root: Path, commit: BaseCommit, path: str, status: str) -> Iterator[ChangedRow]:
    _, _, task, name = path.split("/", 3)
    before, now = _sides(root, commit, path)
    if name == "task.toml":
        old, new = _tables(before), _tables(now)
        for key in sorted(old.keys() | new.keys()):
            if key[0] in UNTOLD:
                yield from _key(path, key, old.get(key), new.get(key), task=task)
    elif status != "A" and not name.startswith("prompts"):
        what = "texts" if name.endswith(".jsonl") else "ratings by people or true values"
        if before and now and (new_lines := _added(root, commit, task, before, now)):
            yield _row(path, f"{new_lines} lines on new texts in {path}", word="merge", task=task)
            return
        cause = f"{path}, {what} that judges are compared by, is {'gone' if status == 'D' else 'changed'}"
        yield _row(path, cause, *_lines(before, now), task=task)


def _added(root: Path, commit: BaseCommit, task: str, before: str, now: str) -> int:
    """How many lines a file of a task has more, where it keeps all others and these are about texts that are new."""
    folder = f"fixtures/tasks/{task}"
    files = [path for path in commit.files(folder) if path.endswith(".jsonl")]
    known = {name for path in files for name in ITEM.findall(commit.text(path) or "")}
    new = {name for path in (root / folder).glob("*.jsonl") for name in ITEM.findall(_text(path) or "")} - known
    lines, kept = Counter(now.splitlines()), Counter(before.splitlines())
    added = [line for line in (lines - kept).elements() if line.strip()]
    cells = [{*map(str.strip, next(csv.reader([line]))), *ITEM.findall(line)} for line in added]
    about_new = all(one & new and not one & known for one in cells)
    return len(added) if kept <= lines and about_new else 0


def _settings(path: str, before: str | None, now: str | None) -> Iterator[ChangedRow]:
    if INSTALLS.search(path):
        for what, of in {"another recuse": RECUSE, "another plugin of pytest, or from elsewhere": INSTALLED}.items():
            was, is_ = ("\n".join(dict.fromkeys(of.findall(text or ""))) for text in (before, now))
            if was != is_:
                yield _row(path, f"{path} installs {what}", *_lines(was, is_))
    elif not path.endswith("pyproject.toml"):
        if "pytest" in path or any(SETS.search(text or "") for text in (before, now)):
            yield _row(path, f"{path}, settings of pytest, is changed", *_lines(before, now))
    else:
        old, new = _tables(before), _tables(now)
        for key in sorted(old.keys() | new.keys()):
            values = old.get(key), new.get(key)
            tools = key[0] != "tool" or {*key[1:2]} & {"uv", "pdm", "poetry", "hatch"}
            if INSTALLING.match(".".join(key)) or (tools and re.search(r"\brecuse\b", f"{key} {values}")):
                yield from _key(path, key, *values)


def _key(path: str, key: Key, was: object, now: object, **place: str) -> Iterator[ChangedRow]:
    """A key of a TOML file that says something else; that words alone differ is no row."""
    if was == now or key[-1] in WORDS:
        return
    grown = key[-1] in GROWING and isinstance(was, list) and isinstance(now, list) and all(one in now for one in was)
    shown = [None if value is None else json.dumps(value, ensure_ascii=False, default=str)[:LONGEST]
             for value in (was, now)]  # fmt: skip
    word: Literal["merge", "decide"] = "merge" if grown else "decide"
    what = f"{'.'.join(key).removeprefix('tool.pytest.ini_options.')} of {path}"
    yield _row(what, f"{what}: {shown[0] or 'nothing'} -> {shown[1] or 'nothing'}", *shown, word=word, **place)


def _tables(text: str | None) -> dict[Key, Any]:
    """The keys of a TOML text with their values, tables in lists under their names; {} of what is no TOML."""
    try:
        return dict(_flat(tomllib.loads(text or ""), ()))
    except tomllib.TOMLDecodeError:
        return {}


def _flat(value: Any, at: Key) -> Iterator[tuple[Key, Any]]:
    if isinstance(value, Mapping):
        for name, part in value.items():
            yield from _flat(part, (*at, name))
    elif isinstance(value, list) and value and all(isinstance(part, Mapping) for part in value):
        for n, part in enumerate(value):
            yield from _flat(part, (*at, str(part.get("name") or part.get("id") or n)))
    else:
        yield at, value


def _text(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return None


def _lines(before: str | None, now: str | None) -> tuple[str | None, str | None]:
    sides = [(text or "").splitlines() for text in (before, now)]
    gone, come = (next((line.strip()[:LONGEST] for line in one if line.strip() and line not in other), None)
                  for one, other in ((sides[0], set(sides[1])), (sides[1], set(sides[0]))))  # fmt: skip
    return gone, come


# --------------------------------------------------------------------------- code


def _is_settings(path: str, evals: str) -> bool:
    """Whether pytest may read its settings there: at the root, or beside the evals, which makes that the root."""
    return PurePosixPath(path).name in SETTINGS and PurePosixPath(path).parent.as_posix() in (".", evals)


def _code(
    root: Path, commit: BaseCommit, evals: str, differing: Mapping[str, str], *, ours: bool
) -> dict[str, str]:  # fmt: skip
    """The differing files that a run executes, or reads by name: evals, every conftest.py above and beside them,
    modules that a panel, a task, the gates or pytest's settings name, what these import, compiled files, and new ones
    in the place of an installed package. Recuse itself is none of them where the base commit has it (`ours`)."""
    python = {path for path in differing if path.endswith((".py", ".pth", ".so", ".pyd", ".pyc"))}
    if ours:
        python = {path for path in python if not path.startswith("recuse/")}
    tops = {path: path.removeprefix("src/").partition("/")[0].partition(".")[0] for path in python}
    new = {top for path, top in tops.items() if differing[path] == "A"}
    hiding = new & (sys.stdlib_module_names | packages_distributions().keys()) if new else set()
    hiding = {top for top in hiding if not commit.files(top, f"{top}.py", f"src/{top}", f"src/{top}.py")}
    above = {(folder / "conftest.py").as_posix() for folder in PurePosixPath(evals, "x").parents}
    always = "sitecustomize.py", "usercustomize.py", ".pth", ".pyc", ".so", ".pyd"
    reached = {path for path in python if PurePosixPath(path).is_relative_to(evals) or path in above
               or path.endswith(always) or tops[path] in hiding}  # fmt: skip
    data = {path for path in differing if path not in python and not path.endswith(".md")
            and path.partition("/")[0] not in ("cassettes", "fixtures", "reports", ".github")
            and not _is_settings(path, evals)}  # fmt: skip
    executed = dict.fromkeys(reached, "code that the run executes")
    if not python - reached and not data:
        return executed
    patterns = ("fixtures/panels/*.toml", "fixtures/tasks/*/*.toml", f"{evals}/*.toml", *SETTINGS)
    tables = [path for pattern in patterns for path in root.glob(pattern)]
    named = {name for path in tables for name in DOTTED.findall(_text(path) or "")}
    pending = [*(root / evals).rglob("*.py"), *root.glob("conftest.py"), *_files(root, root, named)]
    seen: set[Path] = set()
    while pending:
        path = pending.pop()
        if path in seen or (ours and path.is_relative_to(root / "recuse")):
            continue
        seen.add(path)
        for folder, names in _imports(path):
            pending += _files(root, folder or root, names)
    executed |= {path: "code that the run executes" for path in python
                 if root / path in seen or (root / path).parent / "__init__.py" in seen
                 or (differing[path] == "D" and _module(path) in named)}  # fmt: skip
    source = "\n".join(_text(path) or "" for path in seen) if data else ""
    folders = {path.parent for path in seen}
    return executed | {path: "which code of the run names" for path in data if PurePosixPath(path).name in source
                       and (differing[path] != "A" or (root / path).parent in folders or path in source)}  # fmt: skip


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").removeprefix("src/").replace("/", ".")


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


def _files(root: Path, base: Path, names: set[str]) -> list[Path]:
    """Where modules of these names, and the packages around them, stand in the repository."""
    parts = {tuple(name.split(".")[:n]) for name in names for n in range(1, name.count(".") + 2)}
    every = [folder.joinpath(*part) for part in parts for folder in dict.fromkeys((base, root, root / "src"))]
    files = [file for stem in every for file in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py")]
    return [file for file in files if file.is_file()]
