"""`recuse init` from arguments to files: what is written, what is left as it is, what to do next."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path

from recuse.readers.file_panel import load_file_panel
from recuse.readers.mapping import saved_path
from recuse.schema import RecuseError
from recuse.shipped import shipped_evals
from recuse.starting import adopting, texts

__all__ = ["init"]

READABLE = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".eval", ".gz", ".bz2", ".xz", ".zip")
ACCEPTED_FOR = timedelta(days=90)


def init(
    folder: Path, *, ratings: Path | None = None, endpoint: str = "", model: str = "", action: str = "",
    adopt: bool = False,
) -> int:  # fmt: skip
    """Write a repository into `folder` and return 0. Without `ratings`, the one file of ratings in the folder is taken,
    or made-up ones. `action`: where Recuse's action can be reached, for the workflow. `RecuseError` where a file would
    be overwritten (with `adopt` it is left as it is, and what to add to it is said) and for ratings that cannot be
    read; then nothing is written."""
    folder.mkdir(parents=True, exist_ok=True)
    source = ratings or _only_ratings(folder)
    name = f"fixtures/{source.name if source else 'example.csv'}"
    files = _shipped() | (_ratings(source) if source else {name: texts.example_ratings().encode()}) | {
        "conftest.py": texts.CONFTEST.encode(), ".gitignore": texts.IGNORED.encode(),
        "pyproject.toml": texts.pyproject([name]).encode(),
        ".github/workflows/evals.yml": texts.workflow(action).encode(),
        "cassettes/.gitkeep": b"", "reports/.gitkeep": b"",
    }  # fmt: skip
    if endpoint:
        files["fixtures/panels/ours.toml"] = texts.panel(endpoint, model or "MODEL").encode()
        files |= {path: text.encode() for path, text in texts.EXAMPLE_TASK.items()}
    settings = adopting.settings_file(folder)
    if settings != "pyproject.toml":  # pytest reads one file, and theirs is another
        del files["pyproject.toml"]
    written = dict.fromkeys((*files, "README.md", settings))
    there = [path for path in written if (folder / path).exists()]
    if there and not adopt:
        raise RecuseError(
            f"{folder / there[0]} is there already; start in an empty folder, or add to this one with --adopt, which "
            "overwrites nothing"
        )
    for path, data in files.items():
        _write(folder / path, data, kept=path in there)
    accepted = 0 if "evals/gates.toml" in there else _accept_what_is_red(folder / "evals/gates.toml", folder / name)
    readme = texts.readme([name], accepted, endpoint=bool(endpoint))
    _write(folder / "README.md", readme.encode(), kept="README.md" in there)
    print("\n".join(_told(folder, name, source, there, accepted, endpoint)))
    return 0


def _only_ratings(folder: Path) -> Path | None:
    paths = [path for path in sorted(folder.iterdir()) if path.is_file() and path.suffix.lower() in READABLE]
    if len(paths) > 1:
        raise RecuseError(
            f"{folder} holds {len(paths)} files that may be ratings; name one: recuse init --ratings {paths[0].name}"
        )
    return paths[0] if paths else None


def _ratings(source: Path) -> dict[str, bytes]:
    """The file, with what `recuse check --save` keeps beside it. `RecuseError` where it cannot be read as ratings."""
    if not source.is_file():
        raise RecuseError(f"{source} is not there")
    try:
        load_file_panel(source)
    except RecuseError as error:
        raise RecuseError(
            f"{error}\nNothing was written. `recuse check {source}` tries it, its options say what is what, and --save "
            "keeps that for `recuse init`"
        ) from error
    beside = [path for path in (source, saved_path(source)) if path.is_file()]
    return {f"fixtures/{path.name}": path.read_bytes() for path in beside}


def _shipped() -> dict[str, bytes]:
    """The shipped questions and gates; accepted faults are about the panels of their own repository and stay there."""
    evals = shipped_evals()
    files = {f"evals/{path.name}": path.read_bytes() for path in sorted(evals.glob("test_*.py"))}
    gates = (evals / "gates.toml").read_text(encoding="utf-8")
    return {**files, "evals/gates.toml": gates.partition("\n[[accepted]]")[0].rstrip().encode() + b"\n"}


def _accept_what_is_red(gates: Path, ratings: Path) -> int:
    """What is red on the first day is written down as known, until a date: from then on a run is red when something
    gets worse. Returns how many verdicts that are. Only shipped questions are asked: what else `evals/` holds is
    somebody's own, and is not run here."""
    from recuse.check.answers import ask_file

    today = date.today()
    answers = ask_file(load_file_panel(ratings), shipped_evals(), today)
    red = [
        v for v in answers.results["verdicts"] if v["outcome"] != "pass" and not v["allowed"] and v["remedy"]["paste"]
    ]
    lines = []
    for verdict in red:
        reason = f"known when this repository began, {today.isoformat()}: {_plain(verdict['remedy']['finding'])}"
        accepted = verdict["remedy"]["paste"].replace('"YYYY-MM-DD"', (today + ACCEPTED_FOR).isoformat())
        lines.append(accepted.replace('reason = ""', f'reason = "{reason}"'))
    if lines:
        gates.write_text(gates.read_text(encoding="utf-8") + "\n" + "\n\n".join(lines) + "\n", encoding="utf-8")
    return len(red)


def _plain(text: str) -> str:
    return re.sub(r'["\\\n]', " ", text).strip()


def _write(path: Path, data: bytes, *, kept: bool) -> None:
    if not kept:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _told(
    folder: Path, name: str, source: Path | None, there: list[str], accepted: int, endpoint: str
) -> list[str]:  # fmt: skip
    at = "" if folder == Path(".") else f"cd {folder} && "
    lines = [
        f"Started in {folder.resolve().name}: {'your ' + source.name if source else 'a made-up example'} is {name}."
    ]
    if there:
        lines += [f"Left as they were: {', '.join(there)}.", *adopting.to_add(folder, there, name)]
    if accepted:
        lines.append(
            f"{accepted} verdicts are red today. They are accepted in evals/gates.toml for 90 days: a run is green "
            "until something gets worse; a judge with an accepted fault is not cleared."
        )
    lines += ["Next:", f"  {at}pytest evals/", f"  {at}recuse check {name}"]
    if endpoint:
        lines += [
            "  put your texts into fixtures/tasks/replies, say in fixtures/panels/ours.toml what the judge costs",
            "  (price, or free = true), set JUDGE_API_KEY, then",
            f"  {at}pytest evals/ --panel fixtures/panels/ours.toml --record=missing",
        ]
    elif not source:
        lines.append("  put your own ratings into fixtures/ and name them in recuse_panels (pyproject.toml)")
    return lines
