"""The shipped questions, asked of one panel without pytest: each test is called with what it names.

An eval is a plain function of `ratings`, `gate` and `measure`; its marks say what it needs. Here they are called in
turn, which spares pytest's start; verdicts and measurements are the records that a run of pytest would hold.
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from recuse.gates.causes import EXPLAINING
from recuse.ratings.factors import VERSION
from recuse.ratings.needs import kind_of, missing
from recuse.ratings.offers import offered
from recuse.readers.file_panel import FILE, FilePanel
from recuse.schema import Estimate, Estimates, RecuseError, members
from recuse.schema.results import EstimateRow, QuestionWords, Results, VerdictRow, Wanting

if TYPE_CHECKING:
    from recuse.gates import Decision, Gates
    from recuse.gates.uses import Uses
    from recuse.run import Run

__all__ = ["Answers", "Question", "ask", "ask_file", "questions", "read_evals"]

NAME = "recuse_shipped_"
COMPARED = "unanswered"
"""The gate that decides wherever a judge is compared with people."""


@dataclass(frozen=True, eq=False)
class Answers:
    """`results` as results.json holds them; `panel` the file that was asked; `criterion`: only what is about it; `at`:
    only what was measured at these factor levels, such as temperature 1.0."""

    panel: FilePanel
    results: Results
    decision: Decision
    criterion: str = ""
    at: Mapping[str, str] = field(default_factory=dict)

    def about(self, criterion: str, at: Mapping[str, str] | None = None) -> Answers:
        """The answers on one criterion, and those on none in particular; at some factor levels, where any are given."""
        return replace(self, criterion=criterion, at=self.at if at is None else at)

    def apart(self) -> list[Answers]:
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


def ask_file(panel: FilePanel, folder: Path, today: date) -> Answers:
    """Ask every question of `folder` that the file can answer. A question that cannot be measured is listed as such,
    and keeps nobody else's answer back."""
    return ask(panel, *read_evals(folder, today))


def read_evals(folder: Path, today: date) -> tuple[Gates, tuple[Question, ...]]:
    """The gates of a folder of evals, and its questions."""
    from recuse.gates import Gates

    every = tuple(question for path in sorted(folder.glob("test_*.py")) for question in questions(path))
    return Gates.load(folder / "gates.toml", today=today), every


def ask(panel: FilePanel, gates: Gates, every: Iterable[Question], *, deciding: bool = False) -> Answers:
    """The same of questions and gates that were read before. `deciding`: only those whose answer is a gate in force, or
    explains one (`EXPLAINING`), so that whoever asks thousands of files comes to the same decision sooner."""
    from recuse.gates.uses import uses_for
    from recuse.run import Run
    from recuse.suite import Selection
    from recuse.suite.gating import asked_record, gates_named

    there = offered(panel.design)
    uses = uses_for(panel.uses, [there], gates.uses, str(panel.path))
    run = Run(uses={panel.name: uses})
    for question in every:
        if wanting := missing(question.needs, there):
            run.not_asked[question.name] = [{**_not_asked(panel, wanting), **question.words, "tests": []}]
            continue
        names = gates_named(question.function, gates)
        decides = any(gates.in_force(name, uses, there) for name in names)
        if deciding and not decides and not EXPLAINING & set(question.function.__code__.co_names):
            continue
        place = _place(question, panel)
        run.asked += asked_record(gates, question.name, names, place, panel.judges, uses, there)
        _ask(question, panel, gates, run, uses, there)
    results = run.conclude(Selection(panel.path.parent, files={panel.name: panel}), gates)
    assert run.decision is not None
    return Answers(panel, results, run.decision)


def _place(question: Question, panel: FilePanel) -> dict[str, str]:
    return {"task": panel.task, "panel": panel.name, "protocol": panel.protocol(kind_of(question.needs))}


@dataclass(frozen=True, slots=True)
class Question:
    """A test that asks about judges, and what it asks for."""

    name: str
    function: Callable[..., Any]
    module: ModuleType
    needs: tuple[str, ...]
    words: QuestionWords

    def ask(self, **known: Any) -> None:
        """Call the test with what it names: `ratings`, `gate`, `measure`, and fixtures of its own module."""
        self.function(**_arguments(self.function, self.module, known))


def questions(path: Path) -> Iterator[Question]:
    """The tests of one eval file that say what they ask for."""
    module = _imported(path)
    title, _, note = (module.__doc__ or "").strip().partition("\n")
    words: QuestionWords = {"question": path.stem.removeprefix("test_"), "title": title, "note": " ".join(note.split())}
    for name, function in vars(module).items():
        if name.startswith("test_") and inspect.isfunction(function):
            marks = [*getattr(function, "pytestmark", ()), *_marks(getattr(module, "pytestmark", ()))]
            needs = tuple(dict.fromkeys(need for mark in marks if mark.name == "asks" for need in mark.args))
            if needs:
                yield Question(f"evals/{path.name}::{name}", function, module, needs, words)


def _marks(marks: Any) -> list[Any]:
    every = marks if isinstance(marks, list | tuple) else [marks]
    return [getattr(mark, "mark", mark) for mark in every]


def _imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"{NAME}{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _ask(
    question: Question, panel: FilePanel, gates: Gates, run: Run, uses: Uses, there: frozenset[str]
) -> None:
    from recuse.metrics.measure import described
    from recuse.run.record_kinds import MEASURE, MEASUREMENT, VERDICT
    from recuse.suite.gating import verdicts_of

    subject = _place(question, panel)
    protocol = subject["protocol"]
    words = {**question.words, "test": question.name}

    def gate(name: str, measured: Estimate | Estimates, **more: str) -> Any:
        verdicts = verdicts_of(gates, name, measured, {**subject, **more}, uses, there)
        if verdicts is None:
            measure(measured, **more)
            return True
        for verdict in verdicts:
            run.add(
                [(VERDICT, {**verdict.record(), **words, "of": len(verdicts)}),
                 (MEASURE, dict(described(verdict.estimate.metric).record()))]
            )  # fmt: skip
        return verdicts

    def measure(measured: Estimate | Estimates, **more: str) -> None:
        for names, estimate in members(measured):
            record = {"subject": {**subject, **more, **names}, "estimate": estimate.record(), **words}
            run.add([(MEASUREMENT, record), (MEASURE, dict(described(estimate.metric).record()))])

    try:
        question.ask(ratings=panel.by(protocol), gate=gate, measure=measure)
    except AssertionError:
        pass  # a gate's answer, which is in its verdicts
    except RecuseError as error:
        run.unmeasured[question.name] = str(error).strip().splitlines()[0]


def _arguments(function: Callable[..., Any], module: ModuleType, known: Mapping[str, object]) -> dict[str, object]:
    """What a function names: the three fixtures, and fixtures of its own module."""
    arguments: dict[str, object] = {}
    for name in inspect.signature(function).parameters:
        if name in known:
            arguments[name] = known[name]
            continue
        fixture = getattr(module, name, None)
        made = getattr(fixture, "_fixture_function", None) or getattr(
            getattr(fixture, "__pytest_wrapped__", None), "obj", None
        )
        if made is None:
            raise RecuseError(f"{module.__name__}: {function.__name__} needs {name!r}, which only pytest can give")
        arguments[name] = made(**_arguments(made, module, known))
    return arguments


def _not_asked(panel: FilePanel, wanting: list[str]) -> Wanting:
    from recuse.suite import NotAsked

    return NotAsked(panel.name, panel.task, FILE, tuple(wanting)).record()
