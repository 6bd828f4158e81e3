"""What the shipped questions come to for one file of ratings, asked without pytest's start, and read judge by judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from recuse.gates import Decision, Gates
from recuse.gates.uses import uses_for
from recuse.readers.file_panel import FilePanel
from recuse.run.run import Run
from recuse.schema.factors import VERSION
from recuse.schema.results import Results
from recuse.schema.verdict_rows import EstimateRow, VerdictRow
from recuse.suite import Selection
from recuse.suite.question_runner import Question, ask, read_evals

COMPARED = "unanswered"
"""The gate that decides wherever a judge is compared with people."""


@dataclass(frozen=True, eq=False)
class FileAnswers:
    """`results` as results.json holds them; `panel` the file that was asked; `criterion`: only what is about it; `at`:
    only what was measured at these factor levels, such as temperature 1.0."""

    panel: FilePanel
    results: Results
    decision: Decision
    criterion: str = ""
    at: Mapping[str, str] = field(default_factory=dict)

    def about(self, criterion: str, at: Mapping[str, str] | None = None) -> FileAnswers:
        """The answers on one criterion, and those on none in particular; at some factor levels, where any are given."""
        return replace(self, criterion=criterion, at=self.at if at is None else at)

    def parts(self) -> list[FileAnswers]:
        """Criterion by criterion where there are several, each at every combination of factor levels that a judge was
        compared with people at: what is true at one temperature need not be at another."""
        several = self.panel.ratings.headline
        by_criterion = [self.about(name) for name in several] if len(several) > 1 else [self]
        return [one.about(one.criterion, at) for one in by_criterion for at in one._compared_at() or [{}]]

    def _compared_at(self) -> list[dict[str, str]]:
        subjects = (v["subject"] for v in self.results["verdicts"] if v["gate"] == COMPARED)
        levels = [self.levels_of(s) for s in subjects if not self.criterion or s.get("criterion") == self.criterion]
        return [level for k, level in enumerate(levels) if level not in levels[:k]]

    def levels_of(self, subject: Mapping[str, str]) -> dict[str, str]:
        """What a subject says of factors, the version of the judges left out."""
        return {k: v for k, v in subject.items() if k in self.panel.ratings.factors and k != VERSION}

    @property
    def version(self) -> str:
        """The newest version of the judges; "" where the file has one."""
        return next(reversed(self.panel.ratings.levels(VERSION)), "")

    def title(self, metric: str) -> str:
        """What people call a measure."""
        described = self.results["measures"].get(metric)
        return described["title"] if described else metric

    def measured(self, metric: str, judge: str) -> EstimateRow | None:
        """The first estimate of a metric on a judge, gated or not; None where there is none."""
        return next(self.every(metric, judge), None)

    def every(self, metric: str, judge: str) -> Iterator[EstimateRow]:
        """Every estimate of a metric on a judge's newest version and on this criterion: gated ones first."""
        for record in (*self.results["verdicts"], *self.results["measurements"]):
            if record["estimate"]["metric"] == metric and self._is_on(record["subject"], judge):
                yield record["estimate"]

    def verdicts_on(self, judge: str) -> list[VerdictRow]:
        """The verdicts on a judge's newest version and on this criterion."""
        return [v for v in self.results["verdicts"] if self._is_on(v["subject"], judge)]

    def _is_on(self, subject: Mapping[str, str], judge: str) -> bool:
        about = subject.get("criterion", "")
        return (
            subject.get("judge") == judge
            and subject.get(VERSION, self.version) == self.version
            and all(subject.get(name, level) == level for name, level in self.at.items())
            and (not self.criterion or about in ("", self.criterion))
        )


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
