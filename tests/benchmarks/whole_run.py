"""`pytest evals/` of this repository: beside the first edition, in two processes, and what those cost with no work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from measuring import Row, children, interleaved, wall

__all__ = ["whole_run"]

FIRST_EDITION = "10a6e1c"
NOTHING = """import jinja2.sandbox
import pandas
import pydantic
import pytest
import scipy.special


@pytest.mark.parametrize("number", range(169))
def test_nothing(number):
    pass
"""
REPOSITORY = Path(__file__).resolve().parents[2]
ALIKE = ("--panel", "fixtures/panels/published.toml", "--panel", "fixtures/panels/thesis.toml")
"""The panels whose cassettes hold the same calls as in the first edition."""


def whole_run(work: Path, rounds: int) -> list[Row]:
    """`pytest evals/` of this repository, beside the first edition's commit, with the packages of this environment: the
    panels that are recorded as they were then, and all; and in two processes, beside one."""
    first = work / "first-edition"
    if not first.exists():
        command = ["git", "-C", str(REPOSITORY), "worktree", "add", "--detach", str(first), FIRST_EDITION]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            raise SystemExit(f"commit {FIRST_EDITION} is not in this clone; fetch the whole history and try again")
    try:
        alike, alike_then = interleaved(
            min(rounds, 3), children(lambda: _evals(REPOSITORY, *ALIKE)), children(lambda: _evals(first, *ALIKE))
        )
        same_calls = _extents(first)
        ours = children(lambda: _evals(REPOSITORY))
        mine, theirs, two = interleaved(
            min(rounds, 3), ours, children(lambda: _evals(first)), children(lambda: _evals(REPOSITORY, "-n", "2"))
        )
        all_calls = _extents(first)
        alone, floor = interleaved(
            min(rounds, 3), children(lambda: _nothing(work)), children(lambda: _nothing(work, "-n", "2"))
        )
        once, twice = interleaved(
            min(rounds, 3), wall(lambda: _evals(REPOSITORY)), wall(lambda: _evals(REPOSITORY, "-n", "2"))
        )
    finally:
        subprocess.run(["git", "-C", str(REPOSITORY), "worktree", "remove", "--force", str(first)], check=False)
    then = f"the first edition ({FIRST_EDITION})"
    return [
        Row("pytest evals/, panels published and thesis, CPU", then, alike, alike_then, 0.35, False, note=same_calls),
        Row("pytest evals/ of this repository, CPU", then, mine, theirs, 0.35, False, note=all_calls),
        Row("the same with -n 2, CPU", "in one process", two, mine, 1.15, False, note=_floor(floor - alone, mine)),
        Row("the same with -n 2, wall time", "in one process", twice, once, 1, False),
    ]


def _extents(first: Path) -> str:
    """What the last runs replayed and found, ours and then the first edition's."""
    return " against ".join(map(_extent, (REPOSITORY, first)))


def _extent(root: Path) -> str:
    results = json.loads((root / "reports" / "results.json").read_text(encoding="utf-8"))
    found = len(results["verdicts"]) + len(results["measurements"])
    return f"{results['cassettes']['used']:,} calls and {found:,} results"


def _floor(more: float, mine: float) -> str:
    return (
        f"an empty suite with the same plugins and imports takes {more:.2f} s more with -n 2 than without, which would "
        f"be {1 + more / mine:.3g}x"
    )


def _nothing(work: Path, *options: str) -> None:
    """As many tests that import the same packages and do nothing: what xdist's processes cost whoever starts them."""
    folder = work / "nothing"
    folder.mkdir(exist_ok=True)
    (folder / "pytest.ini").touch()
    (folder / "test_nothing.py").write_text(NOTHING)
    _run_pytest(folder, ".", *options)


def _evals(root: Path, *options: str) -> None:
    _run_pytest(root, "evals", *options)


def _run_pytest(root: Path, tests: str, *options: str) -> None:
    """Without the plugin of Hypothesis, which tests/ use and evals/ do not: at the end of every process it imports all
    of itself."""
    plugins = ["-p", "no:cacheprovider", "-p", "no:hypothesispytest"]
    command = [sys.executable, "-m", "pytest", tests, "-q", *plugins, *options]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTEST_ADDOPTS": ""}
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, env=environment, check=False)
    if done.returncode:
        raise SystemExit(f"pytest {tests} failed in {root}:\n{done.stdout[-4000:]}{done.stderr[-2000:]}")
