"""What the shipped questions come to for one file of ratings, asked without pytest's start."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from recuse.gates import Decision, Gates
from recuse.gates.uses import uses_for
from recuse.readers.file_panel import FilePanel
from recuse.run.run import Run
from recuse.schema.factors import VERSION
from recuse.schema.results import Results
from recuse.schema.verdict_rows import VerdictRow
from recuse.suite import Selection
from recuse.suite.question_runner import Question, ask, read_evals


@dataclass(frozen=True, eq=False)
class FileAnswers:
    """`results` as results.json holds them; `panel` the file that was asked."""

    panel: FilePanel
    results: Results
    decision: Decision

    def verdicts_on(self, judge: str) -> list[VerdictRow]:
        """The verdicts on a judge, of several versions on the newest."""
        newest = next(reversed(self.panel.ratings.levels(VERSION)), "")
        on = ((v, v["subject"]) for v in self.results["verdicts"])
        return [v for v, about in on if about.get("judge") == judge and about.get(VERSION, newest) == newest]


def ask_file(panel: FilePanel, folder: Path, today: date) -> FileAnswers:
    """Ask every question of a folder of evals that the file can answer."""
    return file_answers(panel, *read_evals(folder, today))


def file_answers(
    panel: FilePanel, gates: Gates, questions: Iterable[Question], *, deciding: bool = False
) -> FileAnswers:
    """The same of gates and questions that were read before, with the decision they come to. `deciding`: only of those
    that the decision rests on."""
    uses = uses_for(panel.uses, [panel.offers], gates.uses, str(panel.path))
    run = Run(uses={panel.name: uses})
    run.add(ask(panel, gates, questions, uses, deciding=deciding))
    results = run.conclude(Selection(panel.path.parent, files={panel.name: panel}), gates)
    assert run.decision is not None
    return FileAnswers(panel, results, run.decision)
