"""`recuse init` from arguments to files: what is written, what is left as it is, what to do next."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from recuse.gates import Gates
from recuse.gates.gate_tables import uses_for
from recuse.readers.file_panel import load_file_panel
from recuse.readers.mapping import saved_path
from recuse.schema import RecuseError
from recuse.security.sanitize import visible
from recuse.starting import FILES, rendered
from recuse.starting.stored_log import TASK, StoredLog, stored_log
from recuse.suite.question_runner import read_evals, shipped, shipped_evals

if TYPE_CHECKING:
    from recuse.gates import JudgeDecision
    from recuse.readers.file_ratings import FilePanel

PANEL = "fixtures/panels/ours.toml"
CONFTEST = b'"""Fixtures of your own for evals/ go here; the shipped questions need none."""\n'
IGNORED = (FILES / "gitignore").read_text(encoding="utf-8")
ENDPOINT = re.compile(r"https?://[^\s\"\\@?#/:][^\s\"\\@?#/]*(/[^\s\"\\@?#]*)?")
ACTION = re.compile(r"[\w.-]+(/[\w.-]+){2,}@[\w./-]+")
READABLE = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".eval", ".gz", ".bz2", ".xz", ".zip")


def init(
    folder: Path, *, ratings: Path | None = None, log: Path | None = None, endpoint: str = "", model: str = "",
    protocol: str = "", action: str = "", adopt: bool = False, use: str = "",
) -> int:  # fmt: skip
    """Write a repository into `folder` and return 0. Without `ratings`, the one file of ratings in the folder is taken,
    or made-up ones; with `log`, the judge at `endpoint` is asked about the texts of that file. `action`: where Recuse's
    action can be reached, for the workflow. `use`: what the judges are used for, or "none" for ratings that are only
    measured. `protocol`: by which the endpoint is asked, merg or, in general, rubric. Nothing is accepted: where a
    judge is not cleared, this says so and the first run is red. `RecuseError`, with nothing written, where a file would
    be overwritten (with `adopt` it stays, and what to add to it is said) and for ratings that cannot be read."""
    if endpoint and not ENDPOINT.fullmatch(endpoint):  # not shown: it may hold a secret
        raise RecuseError("--endpoint is http:// or https:// and a host, with or without a path, and nothing after it")
    if action and not ACTION.fullmatch(action):
        raise RecuseError(f"--action is OWNER/NAME/PATH@VERSION, as GitHub calls an action; got {action!r}")
    if (protocol or model) and not endpoint:
        raise RecuseError("--model and --protocol say how a judge is asked: name its address with --endpoint")
    if log and (ratings or protocol or not endpoint):
        raise RecuseError("--from LOG needs --endpoint URL, the judge to ask, and goes with no --ratings or --protocol")
    if folder.is_file():
        raise RecuseError(f"{folder} is a file: recuse init --ratings {folder} FOLDER starts with what it holds")
    if use:
        own = folder / "evals" / "gates.toml"
        gates = Gates.load(own if own.is_file() else shipped_evals() / "gates.toml", date.today())
        uses_for(use.split(","), (), gates.uses, "--use")
    stored = stored_log(_panel(log, use)) if log else None
    prompts = _prompts(protocol) if protocol else {}
    folder.mkdir(parents=True, exist_ok=True)
    readable = [path for path in sorted(folder.iterdir()) if path.is_file() and path.suffix.lower() in READABLE]
    if len(readable) > 1 and not (ratings or stored):
        many = f"{folder} holds {len(readable)} files that may be ratings"
        raise RecuseError(f"{many}; name one: recuse init --ratings {readable[0].name}")
    source = ratings or (None if stored else next(iter(readable), None))
    name = PANEL if stored else f"fixtures/{source.name if source else 'example.csv'}"
    files = _shipped() | {
        "conftest.py": CONFTEST, ".gitignore": IGNORED.encode(),
        "pyproject.toml": rendered("settings.toml", panels=name).encode(),
        ".github/workflows/evals.yml": rendered("workflow.yml", action=action).encode(),
        "cassettes/.gitkeep": b"", "reports/.gitkeep": b"",
    }  # fmt: skip
    protocol = stored.protocol if stored else protocol or "rubric"
    if stored:
        files |= stored.files
    else:
        files |= _ratings(source, use) if source else {name: _example_ratings()}
        if use and not source:
            files[saved_path(Path(name)).as_posix()] = f"use = {json.dumps(use.split(','))}\n".encode()
    if endpoint:
        uses = json.dumps(use.split(",")) if use else ""
        judge = {"endpoint": endpoint, "model": model or "MODEL", "protocol": protocol, "use": uses}
        files[PANEL] = rendered("panel.toml", **judge).encode()
    if endpoint and not stored:
        of = FILES / protocol  # a task that this protocol asks about
        example = (path for path in of.rglob("*.*") if path.is_file())
        files |= {f"{TASK}/{path.relative_to(of).as_posix()}": path.read_bytes() for path in example}
        files |= {f"{TASK}/prompts/{name}": template for name, template in prompts.items()}
    settings = settings_file(folder)
    if settings != "pyproject.toml":  # pytest reads one file, and theirs is another
        del files["pyproject.toml"]
    written = dict.fromkeys((*files, "README.md", settings))
    there = [path for path in written if (folder / path).exists()]
    if there and not adopt:
        raise RecuseError(
            f"{folder / there[0]} is there already; start in an empty folder, or add to this one with --adopt, which "
            "overwrites nothing"
        )
    new = [path for path in written if path not in there]
    _refuse_obstacles(folder, new)
    with _all_or_nothing() as write:
        for path in files.keys() & set(new):
            write(folder / path, files[path])
        judges = [] if stored or "evals/gates.toml" in there else _decided(folder / name)
        first = [one.sentence for one in judges]
        if "README.md" in new:
            readme = rendered("readme.md", panels=[name], first=first, endpoint=bool(endpoint))
            write(folder / "README.md", readme.encode())
    print("\n".join(map(visible, _summary(folder, name, source, there, judges, endpoint, stored))))
    return 0


def _panel(source: Path, use: str) -> FilePanel:
    """The file read. `RecuseError` where it cannot be read as ratings."""
    if not source.is_file():
        raise RecuseError(f"{source} is not there")
    try:
        return load_file_panel(source, use=use)
    except RecuseError as error:
        raise RecuseError(
            f"{error}\nNothing was written. `recuse check {source}` tries it, its options say what is what, and --save "
            "keeps that for `recuse init`"
        ) from error


def _ratings(source: Path, use: str) -> dict[str, bytes]:
    """The file, with what `recuse check --save` keeps beside it."""
    panel = _panel(source, use)
    beside = [path for path in (source, saved_path(source)) if path.is_file()]
    files = {f"fixtures/{path.name}": path.read_bytes() for path in beside}
    return files | ({f"fixtures/{saved_path(source).name}": panel.mapping.toml().encode()} if use else {})


def _example_ratings() -> bytes:
    """Made-up ratings of 400 replies, without chance: two people, and a judge that errs less often and is cleared."""
    lines = ["item,system,judge,anna,ben"]
    for k in range(400):
        passes = (k * 7) % 12 < 7
        wrong = {"judge": k % 29 == 4, "anna": k % 19 == 5, "ben": k % 13 == 6}
        answers = ("pass" if passes != wrong[name] else "fail" for name in ("judge", "anna", "ben"))
        lines.append(",".join([f"reply {k + 1}", "ab"[k % 2], *answers]))
    return "\n".join([*lines, ""]).encode()


def _shipped() -> dict[str, bytes]:
    """The shipped questions and gates; accepted failures are about panels of their own repository and stay there."""
    evals = shipped_evals()
    files = {f"evals/{path.name}": path.read_bytes() for path in sorted(evals.glob("test_*.py"))}
    gates = (evals / "gates.toml").read_text(encoding="utf-8")
    return {**files, "evals/gates.toml": gates.partition("\n[[accepted]]")[0].rstrip().encode() + b"\n"}


def _prompts(protocol: str) -> dict[str, bytes]:
    """File name -> template, of a protocol whose templates travel with the wheel."""
    if protocol != "merg":
        raise RecuseError(f"recuse init has prompts for the protocol merg; got {protocol!r}: write its templates")
    folder = shipped("merg", Path("fixtures", "tasks", "writing", "prompts"), "merg.rubric.user.j2", "prompts")
    return {path.name: path.read_bytes() for path in sorted(folder.glob("merg.*.j2"))}


def _decided(ratings: Path) -> list[JudgeDecision]:
    """The word on each judge for what it is used for. Only shipped questions are asked, nothing of somebody's own."""
    from recuse.run.run import ask_file

    decision = ask_file(load_file_panel(ratings), *read_evals(shipped_evals(), date.today())).decision
    return [one for one in decision.judges if one.stated]


def _refuse_obstacles(folder: Path, files: Iterable[str]) -> None:
    for path in files:
        for place in [folder / path, *(folder / path).parents]:
            if folder in place.parents and place.is_symlink():
                raise RecuseError(f"{place} is a link, and init writes through none; put a file or folder in its place")
            if folder in place.parents and place != folder / path and place.exists() and not place.is_dir():
                raise RecuseError(f"{place} is a file, and {path} needs a folder there; move it away")


@contextmanager
def _all_or_nothing() -> Iterator[Callable[[Path, bytes], None]]:
    """`write(path, data)`; where anything fails, what was written goes again, with the folders made for it."""
    made: list[Path] = []

    def write(path: Path, data: bytes) -> None:
        for parent in reversed([parent for parent in path.parents if not parent.exists()]):
            parent.mkdir()
            made.append(parent)
        made.append(path)
        with path.open("xb") as stream:
            stream.write(data)

    try:
        yield write
    except BaseException as error:
        for path in reversed(made):
            path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise RecuseError(f"{error.filename or made[-1]}: {error.strerror}; nothing was written") from error
        raise


def _summary(
    folder: Path, name: str, source: Path | None, there: list[str], judges: Sequence[JudgeDecision], endpoint: str,
    stored: StoredLog | None,
) -> list[str]:  # fmt: skip
    at = "" if folder == Path(".") else f"cd {folder} && "
    what = "" if stored else f": {'your ' + source.name if source else 'a made-up example'} is {name}"
    lines = [f"Started in {folder.resolve().name}{what}.", *(stored.lines if stored else ())]
    if there:
        lines += [f"Left as they were: {', '.join(there)}.", *to_add(folder, there, name)]
    for one in judges:
        lines += [one.sentence, *([f"  next: {one.next}"] if one.next else [])]
    if any(one.word != "cleared" for one in judges):
        lines += [
            "So the first run is red, and nothing was accepted. Mend the judge, label more texts or leave it out; a",
            f'judge that is only measured has the line use = ["none"] in {saved_path(Path(name))}.',
        ]
    lines += ["Next:", *([] if stored else [f"  {at}pytest evals/", f"  {at}recuse check {name}"])]
    if endpoint:
        first = f"word the question in {TASK}/prompts" if stored else f"put your texts into {TASK}"
        lines += [
            f"  {first}, say in {PANEL} what the judge costs",
            "  (price, or free = true), set JUDGE_API_KEY, then",
            f"  {at}pytest evals/ {'' if stored else f'--panel {PANEL} '}--record=missing",
        ]
    elif not source:
        lines.append("  put your own ratings into fixtures/ and name them in recuse_panels (pyproject.toml)")
    return lines


OWN_FILES = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini")
SECTIONS = {"tox.ini": "[pytest]", "setup.cfg": "[tool:pytest]"}
"""Files that hold other settings too, and the section that makes pytest read them."""

TABLES = ("[tool.pytest.ini_options]", "[tool.pytest]")
ALL_REPORTS = re.compile(r"/?reports(/|/\*\*?)?")


def settings_file(folder: Path) -> str:
    """The file that pytest takes its settings from here: the first in pytest's own order, else "pyproject.toml"."""
    for name in OWN_FILES:
        if (folder / name).is_file():
            return name
    if not any(table in _text(folder / "pyproject.toml") for table in TABLES):
        for name, section in SECTIONS.items():
            if section in _text(folder / name):
                return name
    return "pyproject.toml"


def to_add(folder: Path, there: list[str], panel: str) -> Iterator[str]:
    """What the files that were left as they were need, so that the next commands work: lines for the terminal."""
    settings = settings_file(folder)
    text, toml = _text(folder / settings), settings.endswith(".toml")
    unnamed = settings in there and panel not in text
    if unnamed and "recuse_panels" in text:
        yield f"Add to recuse_panels in {settings}: {json.dumps(panel) if toml else panel}"
    elif unnamed:
        known = TABLES if settings == "pyproject.toml" else (SECTIONS.get(settings, "[pytest]"),)
        section = next((table for table in known if table in text), "")
        line = f"recuse_panels = {json.dumps([panel]) if toml else panel}"
        yield f"Add to {section or settings}{f' of {settings}' if section else ''}:"
        yield from (f"  {added}" for added in ([line] if section else [known[0], line]))
    if ".gitignore" in there:
        lines = _text(folder / ".gitignore").split()
        known_lines = {line.strip("/") for line in lines}
        if wanted := [line for line in IGNORED.split() if line.strip("/") not in known_lines]:
            yield "Add to .gitignore what runs and recordings leave behind:"
            yield from (f"  {line}" for line in wanted)
        if wholesale := [line for line in lines if ALL_REPORTS.fullmatch(line) and line != "/reports/*"]:
            yield f"  and take out {wholesale[0]}: it also hides reports/baseline.json, which is to be committed"
    if "conftest.py" in there and ".github/workflows/evals.yml" not in there:
        yield (
            ".github/workflows/evals.yml installs recuse alone: add what conftest.py and evals/ import to its line "
            "`pip install`."
        )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
