"""What a change brings to be measured by: panels, tasks, ratings, evals, pytest's settings, templates, workflows, code.
None of it is compared with itself: what stands at the base commit is what holds, and each difference is a row. How
judges are asked (model, prompt, rubric) is no row here: that is an upgrade (`recuse.upgrade.in_place`)."""

from __future__ import annotations

import ast
import csv
import json
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from importlib.metadata import packages_distributions
from pathlib import Path, PurePosixPath
from typing import Any

from recuse.cassettes.cell_cassette import SIDE
from recuse.elicitation.plan import UNTOLD
from recuse.gates.records import yardstick
from recuse.git import BaseCommit
from recuse.readers.mapping import saved_path
from recuse.schema.results import ChangedRow
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
IN_PLACE = {"model", "wire", "parameters", "structured", "seeded", "headers", "query", "rename", "omit", "prompts",
            "rubric", "replaces", "change"}  # fmt: skip
"""Keys of a judge that make it another judge: compared as an upgrade."""
WORDS = {"description", "title", "label", "price", "budget_usd", "free", "markers", "concurrency", "timeout_s",
         "requests_per_minute", "tokens_per_minute"}  # fmt: skip
"""Keys that decide nothing."""
INSTALLS = re.compile(r"(^|/)((requirements|constraints)([^/]*|/[^/]+)\.(txt|in)|(uv|poetry|pdm|pixi|Pipfile)\.lock|"
                      r"pylock[^/]*\.toml|(uv|pixi)\.toml|Pipfile|pip\.conf|environment\.ya?ml)$")  # fmt: skip
RECUSE = re.compile(r'^name = "recuse"\n(?:.+\n?)*|^.*\brecuse\b.*', re.M)  # a line; of a lock file, all that follows
INSTALLED = re.compile(r"^\s*-(?:-extra-index-url|-index-url|-find-links|-editable|[ief])\b.*|"
                       r"^[\s-]*(?:name = \")?pytest[\w-]*|^\s*(?:extra-)?index(?:-url)?\b.*|"
                       r"^[\s-]*(?:[\w.,\[\]-]+ *@ *|\w+\+|https?:|file:|\.{0,2}/)\S+|"
                       r"\b(?:registry|url|git) = \"https?://[^/\"]+|\b(?:path|file) = \"[^\"]+",
                       re.M)  # fmt: skip
"""What else runs with the evals: plugins of pytest by name, and whatever comes from another index, server or folder."""
INSTALLING = re.compile(r"tool\.pytest|build-system|project\.entry-points|tool\.poetry\.plugins|"
                        r"tool\.(uv|pdm|poetry)\.[\w.-]*(index|source)")  # fmt: skip
"""Keys of pyproject.toml that say what is installed and run."""
DEPENDENCIES = re.compile(r"^(project\.(optional-)?dependencies|dependency-groups|tool\..*dependencies)")
PLUGINS = re.compile(r"^setup\.py$|\.(egg|dist)-info/")  # runs at an install, or names plugins
RUNS = re.compile(r"\bpytest\b[^\n]*(\bevals\b|--baseline\b|--panel\b)|"
                  r"\brecuse (check|compare|comment|show)\b|-m recuse\b")  # fmt: skip
"""A line of a Makefile or script that asks the questions."""
ENVIRONMENT = re.compile(r"\b(PYTEST_[A-Z_]+|RECUSE_[A-Z_]+|(?:PIP|UV)_[A-Z_]*INDEX[A-Z_]*)\b")
"""What changes every run of pytest, or what is installed, from outside of it."""
WORKFLOW = re.compile("recuse|pytest|evals")
NEW_WORKFLOW = re.compile(r"\b(recuse|evals|pull_request_target|statuses|check-runs|write-all|checks: *write)\b")
"""It runs the evals, may say that they are green, or has more rights than a pull request."""
PROSE = (".md", ".rst", ".adoc", ".html")
SETS = re.compile(r"^\[(tool:)?pytest\]|\b(pytest11|setup_requires|cmdclass)\b", re.M)  # in tox.ini and setup.cfg
REVIEWED = {
    "CODEOWNERS": ("who must review what", re.compile(r"\S")),
    ".gitattributes": ("what reviewers are shown", re.compile(
        r"\s(-diff|-text|binary|linguist-|diff=|filter=|merge=|working-tree-encoding)")),
    ".gitmodules": ("which repositories stand inside of this one", re.compile(r"\S")),
}  # fmt: skip
"""Files that decide who sees a change: what they say, and lines of them that do."""
RENAMED = re.compile(r"fixtures/panels/[^/]+\.toml|fixtures/tasks/[^/]+/[^/]+\.(csv|jsonl)|[^/]+/test_[^/]+\.py")
WATCHED = ("evals", "fixtures", "cassettes", "reports", ".github")
ITEM = re.compile(r'"id": *"([^"]+)"')
GROWING = ("recuse_panels", "protocols", "recuse_drawings")  # lists that may grow: nothing is measured otherwise
Key = tuple[str, ...]


def changed_yardsticks(root: Path, commit: BaseCommit, gates: Path, measured: Sequence[str]) -> Iterator[ChangedRow]:
    """A row per difference to the base commit, in the order of paths; `gates`: relative to `root`, compared by its
    limits elsewhere (`recuse.gates.baseline_changes`); `measured`: the panels and files of ratings that are asked
    about, relative to `root` as well; these may be patterns."""
    evals = gates.parent.as_posix()
    if moved := commit.moved(evals, "fixtures"):
        more = f" and {len(moved) - 1} more" if moved[1:] else ""
        cause = f"the base branch has changed {moved[0]}{more} since this branch began; merge it into this branch"
        yield yardstick("the base branch", cause)
    differing = commit.differing
    ours = commit.text("recuse/__init__.py") is not None
    named = [*measured, *(saved_path(Path(path)).as_posix() for path in measured)]
    files = _Files(root, commit, evals, ours, differing, executed_code(root, commit, evals, ours), named)
    for path in sorted(differing):
        if path.startswith("cassettes/"):
            if path.endswith(SIDE) and differing[path] != "D":
                served = f"{path}, a recording that may be served in place of the one before"
                yield yardstick(path, f"{served}, {files.how(path)}")
        elif path in files.read:
            yield from _of_file(files, path)


@dataclass(frozen=True)
class _Files:
    """What differs, by path. `named`: patterns of panels and ratings, and of how ratings are read."""

    root: Path
    commit: BaseCommit
    evals: str
    ours: bool
    differing: Mapping[str, str]
    code: Mapping[str, str]
    named: Sequence[str]

    @cached_property
    def read(self) -> set[str]:
        """Those that may decide something by what they hold."""
        return {path for path in self.differing if not path.startswith("cassettes/")
                and not path.endswith((*PROSE, "MANIFEST.toml"))}  # fmt: skip

    @cached_property
    def before(self) -> dict[str, str]:
        """What these held."""
        return self.commit.texts(self.read)

    def how(self, path: str) -> str:
        return {"A": "is new", "M": "is changed", "D": "is gone"}[self.differing[path]]

    @cached_property
    def renamed(self) -> dict[str, str]:
        """Panels, data of tasks and evals that have another name in the same folder, and are what they were."""
        gone, new = ([path for path, status in self.differing.items() if status == one and RENAMED.fullmatch(path)]
                     for one in "DA")  # fmt: skip
        return {old: one for old in gone for one in new if self.before.get(old) == text_of(self.root / one)
                and old.rpartition("/")[0] == one.rpartition("/")[0]
                and not (self.root / one).is_symlink()}  # fmt: skip

    @cached_property
    def watched(self) -> list[str]:
        """Files of the base commit that decide what is measured, and by what."""
        return self.commit.files(self.evals, *WATCHED, *SETTINGS)


def _of_file(files: _Files, path: str) -> Iterator[ChangedRow]:
    if path in files.renamed or path in files.renamed.values():
        if path in files.renamed:
            yield yardstick(path, f"{path} is called {files.renamed[path]} now", word="merge")
        return
    status, how = files.differing[path], files.how(path)
    parts, name = (*PurePosixPath(path).parts, ""), PurePosixPath(path).name
    before, now = files.before.get(path), text_of(files.root / path)
    both, lines = f"{before or ''}\n{now or ''}", _lines(before, now)
    changed = set((before or "").splitlines()) ^ set((now or "").splitlines())
    measured = any(fnmatch(path, pattern) for pattern in files.named)
    settings = is_settings(path, files.evals) or INSTALLS.search(path)
    decides = measured or settings or path in files.code or parts[0] in (*WATCHED, files.evals, "recuse")
    if decides and (files.root / path).is_symlink():
        yield yardstick(path, f"{path} is a link now: what it holds changes elsewhere")
    elif PLUGINS.search(path):
        yield yardstick(path, f"{path}, which runs where this is installed, {how}", *lines)
    elif path in files.code:
        yield yardstick(path, f"{path}, {files.code[path]}, {how}", *lines)
    elif settings:
        yield from _settings(files, path, before, now)
    elif parts[:2] == ("reports", "templates"):
        yield yardstick(path, f"{path}, which draws the report, {how}", *lines)
    elif name in REVIEWED:
        about, acts = REVIEWED[name]
        if any(acts.search(line) and (name == ".gitmodules" or _covers(line, path, files)) for line in changed):
            yield yardstick(path, f"{path}, {about}, {how}", *lines)
    elif parts[0] in (".github", ".gitlab-ci.yml"):
        if (NEW_WORKFLOW if status == "A" else WORKFLOW).search(both):
            yield yardstick(path, f"{path}, which runs the evals or speaks of them, {how}", *lines)
    elif path.endswith(".toml") and (parts[:2] == ("fixtures", "panels") or path in files.named[::2]):
        yield from _panel(files, path, before, now)
    elif parts[:2] == ("fixtures", "tasks") and parts[3:]:
        if files.differing.get(f"fixtures/tasks/{parts[2]}/task.toml") != "A":
            yield from _task(files, path, before, now)
    elif parts[0] == "fixtures" or measured:
        if (status != "A" or path.endswith(".recuse.toml")) and parts[1] not in ("standins", "makers"):
            yield yardstick(path, f"{path}, ratings or how they are read, {how}", *lines)
    elif not path.endswith(".py") and (sets := sorted({*ENVIRONMENT.findall("\n".join(changed))})):
        yield yardstick(path, f"{path}, which sets {' and '.join(sets)}, {how}", *lines)
    elif status != "A" and not (files.ours and path.endswith(".py")) and RUNS.search(both):
        yield yardstick(path, f"{path}, which runs the evals, {how}", *lines)


def _covers(line: str, path: str, files: _Files) -> bool:
    """Whether a line of CODEOWNERS or .gitattributes begins with a pattern of something that judges are measured by."""
    pattern = line.split("#")[0].strip().partition(" ")[0].removeprefix("**/").strip("/").removesuffix("/**")
    beside = PurePosixPath(path).parent if path.endswith(".gitattributes") else PurePosixPath()
    watched = map(PurePosixPath, files.watched)
    below = [one.relative_to(beside) for one in watched if one.is_relative_to(beside)]
    return bool(pattern) and any(
        fnmatch(one.name, pattern) or any(fnmatch(str(part), pattern) for part in (one, *one.parents)) for one in below
    )


def _panel(files: _Files, path: str, before: str | None, now: str | None) -> Iterator[ChangedRow]:
    if before is None or now is None:
        gone = now is None
        cause = f"the panel file {path} is {'gone' if gone else 'new'}"
        yield yardstick(path, cause, word="decide" if gone else "merge")
        return
    old, new = keys_of(before), keys_of(now)
    place = {"panel": str(new.get(("name",)) or "")}
    judges = [{key[1] for key in side if key[0] == "judge" and key[1:]} for side in (old, new)]
    for judge in sorted(judges[0] ^ judges[1]):
        gone = judge in judges[0]
        cause = f"the judge {judge} is {'gone from' if gone else 'new in'} {path}"
        yield yardstick(f"judge {judge} of {path}", cause, word="decide" if gone else "merge", **place)
    for key in sorted(old.keys() | new.keys()):
        in_both = {*key[1:2]} <= judges[0] & judges[1]
        expected = key[0] == "judge" and key[1:] and ((key[2:3] and key[2] in IN_PLACE) or not in_both)
        if not expected:
            yield from _key(files, path, key, old.get(key), new.get(key), **place)


def _task(files: _Files, path: str, before: str | None, now: str | None) -> Iterator[ChangedRow]:
    _, _, task, name = path.split("/", 3)
    if name == "task.toml":
        old, new = keys_of(before), keys_of(now)
        for key in sorted(old.keys() | new.keys()):
            if key[0] in UNTOLD:
                yield from _key(files, path, key, old.get(key), new.get(key), task=task)
    elif before is not None and not name.startswith("prompts"):
        what = "texts" if name.endswith(".jsonl") else "ratings by people or true values"
        texts = (files.root / f"fixtures/tasks/{task}").glob("*.jsonl")
        names = {name for one in texts for name in ITEM.findall(text_of(one) or "")}
        known = names & {cell for line in before.splitlines() for cell in _cells(line)}
        lines, kept = Counter((now or "").splitlines()), Counter(before.splitlines())
        added = [line for line in (lines - kept).elements() if line.strip()]
        about_new = all(_cells(line) & (names - known) and not _cells(line) & known for line in added)
        if before and added and kept <= lines and about_new:
            yield yardstick(path, f"{len(added)} lines on new texts in {path}", word="merge", task=task)
            return
        cause = f"{path}, {what} that judges are compared by, {files.how(path)}"
        yield yardstick(path, cause, *_lines(before, now), task=task)


def _cells(line: str) -> set[str]:
    with suppress(csv.Error):  # a cell that is too long: a line about no text that is known
        return {*map(str.strip, next(csv.reader([line]), [])), *ITEM.findall(line)}
    return set()


def _settings(files: _Files, path: str, before: str | None, now: str | None) -> Iterator[ChangedRow]:
    project = path.endswith("pyproject.toml")
    if project or INSTALLS.search(path) or path == "setup.cfg":
        wanted = [_requirements(text) if project else text or "" for text in (before, now)]
        for what, of in {"another recuse": RECUSE, "another plugin of pytest, or from elsewhere": INSTALLED}.items():
            was, is_ = ("\n".join(dict.fromkeys(of.findall(text))) for text in wanted)
            if was != is_:
                yield yardstick(path, f"{path} installs {what}", *_lines(was, is_))
    if project:
        old, new = keys_of(before), keys_of(now)
        for key in sorted(old.keys() | new.keys()):
            values = old.get(key), new.get(key)
            tools = key[0] != "tool" or {*key[1:2]} & {"uv", "pdm", "poetry", "hatch"}
            about = f"{key} {values}"
            if INSTALLING.match(".".join(key)) or RUNS.search(about) or (tools and re.search(r"\brecuse\b", about)):
                yield from _key(files, path, key, *values)
    elif "pytest" in path or any(of.search(text or "") for of in (SETS, RUNS) for text in (before, now)):
        yield yardstick(path, f"{path}, settings of pytest, is changed", *_lines(before, now))


def _requirements(project: str | None) -> str:
    """The dependencies of a pyproject.toml, in whichever table, a line each."""
    tables = [(key, value) for key, value in keys_of(project).items() if DEPENDENCIES.search(".".join(key))]
    lists = [str(one) for _, value in tables if isinstance(value, list) for one in value]
    return "\n".join([*lists, *(f"{'.'.join(key[-2:]).removeprefix('dependencies.')} = \"{value}\""
                                for key, value in tables if isinstance(value, str))])  # fmt: skip


def _key(files: _Files, path: str, key: Key, was: object, now: object, **place: str) -> Iterator[ChangedRow]:
    """A key of a TOML file that says something else; that words alone differ is no row."""
    if was == now or key[-1] in WORDS:
        return
    kept, there = (list(map(str, value)) if isinstance(value, list) else [str(value)] for value in (was, now))
    folder = f"{path.rpartition('/')[0]}/".lstrip("/")
    names = {old.removeprefix(folder): new.removeprefix(folder) for old, new in files.renamed.items()}
    grown = isinstance(was, str) or (isinstance(was, list) and key[-1] in GROWING)
    shown = [None if value is None else json.dumps(value, ensure_ascii=False, default=str)[:LONGEST]
             for value in (was, now)]  # fmt: skip
    same = grown and all(names.get(one, one) in there for one in kept)
    what = f"{'.'.join(key).removeprefix('tool.pytest.ini_options.')} of {path}"
    cause = f"{what}: {shown[0] or 'nothing'} -> {shown[1] or 'nothing'}"
    yield yardstick(what, cause, *shown, word="merge" if same else "decide", **place)


def keys_of(text: str | None) -> dict[Key, Any]:
    """The keys of a TOML text with their values, tables in lists under their names; {} of what is no TOML."""
    try:
        return dict(_flat(tomllib.loads(text or ""), ()))
    except (tomllib.TOMLDecodeError, RecursionError):
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


def _lines(before: str | None, now: str | None) -> tuple[str | None, str | None]:
    old, new = ((text or "").splitlines() for text in (before, now))
    gone, come = (next((line.strip()[:LONGEST] for line in one if line.strip() and line not in other), None)
                  for one, other in ((old, {*new}), (new, {*old})))  # fmt: skip
    return gone, come


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
    pending = [*(root / evals).rglob("*.py"), *root.glob("conftest.py"), *_module_files(roots, root, named)]
    seen: set[Path] = set()
    while pending:
        path = pending.pop()
        if path in seen or (ours and path.is_relative_to(root / "recuse")):
            continue
        seen.add(path)
        for folder, names in _imports(path):
            pending += _module_files(roots, folder or root, names)
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


def _module_files(roots: list[Path], base: Path, names: set[str]) -> list[Path]:
    """Where modules of these names, and the packages around them, stand in the repository."""
    parts = {tuple(name.split(".")[:n]) for name in names for n in range(1, name.count(".") + 2)}
    every = [folder.joinpath(*part) for part in parts for folder in dict.fromkeys((base, *roots))]
    files = [file for stem in every for file in (stem.with_name(f"{stem.name}.py"), stem / "__init__.py")]
    return [file for file in files if file.is_file()]
