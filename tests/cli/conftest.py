"""Tables of judges whose fault is known, as files, and the command run on them."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from recuse.cli import main
from recuse.experiments import drawn_judges

ITEMS = 600


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def first(self) -> str:
        return self.out.splitlines()[0]


@pytest.fixture(autouse=True)
def no_chances(no_drawn_judges: None) -> None:
    """Judges like people are drawn where a test is about them: `recuse(..., most_drawn=200)`."""


@pytest.fixture(scope="session")
def recuse() -> Callable[..., Outcome]:
    def run(*arguments: object, most_drawn: int = 0) -> Outcome:
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.setattr(drawn_judges, "MOST_TEXTS", most_drawn)
            code = main([str(a) for a in arguments])
        return Outcome(code, out.getvalue(), err.getvalue())

    return run


@pytest.fixture
def tickets(tmp_path: Path) -> Callable[..., Path]:
    """`tickets(judge)`: a CSV of two people who are right nine times in ten, and of `judge(truth, rng)`."""
    return partial(write_tickets, tmp_path)


@pytest.fixture(scope="session")
def written_tickets() -> Callable[..., Path]:
    """The same, for what a module prepares once: `written_tickets(folder, judge)`."""
    return write_tickets


def write_tickets(
    folder: Path, judge: Callable[..., np.ndarray], *, items: int = ITEMS, passes: float = 0.6, name: str = "t.csv"
) -> Path:
    rng = np.random.default_rng(7)
    truth = rng.random(items) < passes
    columns = {"judge": judge(truth, rng)}
    columns |= {who: np.where(rng.random(items) < 0.9, truth, ~truth) for who in ("anna", "ben")}
    lines = ["ticket,judge,anna,ben"]
    for k in range(items):
        said = (columns[who][k] for who in ("judge", "anna", "ben"))
        lines.append(",".join([f"t{k}", *("" if v is None else "pass" if v else "fail" for v in said)]))
    path = folder / name
    path.write_text("\n".join(lines) + "\n")
    return path
