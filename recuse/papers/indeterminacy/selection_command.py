"""`recuse experiment selection`: runs the studies, prints the findings, writes the page."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from recuse.schema import RecuseError

__all__ = ["selection"]


def selection(*, trials: int, seed: int, workers: int | None, html: Path | None) -> int:
    """Exit code 0. Progress goes to stderr, findings to stdout. `RecuseError` for fewer than one trial."""
    from recuse.papers.indeterminacy.selection_report import page, run, text

    if trials < 1:
        raise RecuseError(f"--trials is 1 or more; got {trials}")
    experiment = run(trials, seed=seed, workers=workers or min(2, os.cpu_count() or 1), progress=_print_progress)
    print(file=sys.stderr)
    print(text(experiment))
    if html is not None:
        html.write_text(page(experiment), encoding="utf-8")
        print(f"\nwrote {html}")
    return 0


def _print_progress(setting: str, done: int, trials: int) -> None:
    print(f"\r{setting}: {done} of {trials} trials {'':<20}", end="", file=sys.stderr, flush=True)
