"""Tables of judges whose fault is known, as files, and the command run on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from recuse.cli import main

ITEMS = 600


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def first(self) -> str:
        return self.out.splitlines()[0]


@pytest.fixture
def recuse(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    def run(*arguments: object) -> Outcome:
        code = main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.fixture
def tickets(tmp_path: Path) -> Callable[..., Path]:
    """`tickets(judge)`: a CSV of two people who are right nine times in ten, and of `judge(truth, rng)`."""

    def write(
        judge: Callable[..., np.ndarray], *, items: int = ITEMS, passes: float = 0.6, name: str = "t.csv"
    ) -> Path:
        rng = np.random.default_rng(7)
        truth = rng.random(items) < passes
        columns = {"judge": judge(truth, rng)}
        columns |= {who: np.where(rng.random(items) < 0.9, truth, ~truth) for who in ("anna", "ben")}
        lines = ["ticket,judge,anna,ben"]
        for k in range(items):
            said = (columns[who][k] for who in ("judge", "anna", "ben"))
            lines.append(",".join([f"t{k}", *("" if v is None else "pass" if v else "fail" for v in said)]))
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        return path

    return write
