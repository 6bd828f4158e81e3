"""Questions asked of one file of ratings, without pytest's start."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from math import inf
from pathlib import Path

from recuse.gates import Gates
from recuse.gates.gate_tables import uses_for
from recuse.readers.file_ratings import FilePanel
from recuse.recording.progress import watched
from recuse.run.run import Run
from recuse.suite import Selection
from recuse.suite.question_runner import Question, ask, gates_named, read_evals, shipped_evals


@dataclass
class FileRun(Run):
    """What the questions found, and what is decided of it."""

    panel: FilePanel = field(kw_only=True)
    of_file = True


def ask_file(panel: FilePanel, gates: Gates, questions: Iterable[Question], *, deciding: bool = False) -> FileRun:
    """Every question that the file can answer, asked and decided. `deciding`: only those that the decision rests on."""
    uses = uses_for(panel.uses, [panel.offers], gates.uses, str(panel.path))
    run = FileRun(panel=panel, uses={panel.name: uses})
    questions = tuple(questions)
    run.named = [name for question in questions for name in gates_named(question.function, gates)]
    run.add(ask(panel, gates, questions, uses, deciding=deciding))
    run.conclude(Selection(panel.path.parent, files={panel.name: panel}), gates)
    return run


def ask_shipped(
    panel: FilePanel, limits: Path | str | None = None, *, patience: float = inf, deciding: bool = True
) -> tuple[FileRun, Gates, tuple[Question, ...]]:
    """The shipped questions, asked of the panel and held against the limits of a gates file; `deciding`: only those
    that the decision rests on. Who waits at a terminal for longer than `patience` seconds sees how many are asked."""
    gates, questions = read_evals(shipped_evals(), date.today())
    if limits is not None:
        gates = Gates.load(Path(limits), today=date.today())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a degenerate table is told in words, not by numpy
        shown = watched(questions, len(questions), "questions asked:", patience)
        return ask_file(panel, gates, shown, deciding=deciding), gates, questions
