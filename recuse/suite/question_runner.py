"""Asks questions: a test says what it needs of ratings, measures them and has gates decide; what comes of it is kept as
typed records. pytest's fixtures, `recuse check` and the simulations all ask through this module."""

from __future__ import annotations

import importlib.util
import inspect
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from recuse.gates import Gates, Verdicts
from recuse.gates.causes import EXPLAINING
from recuse.gates.gate_tables import Uses
from recuse.panels import LEVELS
from recuse.protocols import offered_kinds
from recuse.ratings.chosen_labels import WEIGHED, are_chosen
from recuse.ratings.needs import NEEDS, check_needs, kind_of
from recuse.readers.file_ratings import FilePanel
from recuse.schema import Estimate, Estimates, RecuseError, members
from recuse.schema.factors import VERSION
from recuse.schema.number_text import UNDEFINED
from recuse.schema.results import AskedRow, MeasureRow, NotAskedRow, Replayed, UpgradeVerdictRow
from recuse.schema.verdict_rows import MeasurementRow, QuestionWords, VerdictRow
from recuse.schema.vocabulary import FILE
from recuse.suite.questions import missing, not_asked

if TYPE_CHECKING:
    import pandas as pd

    from recuse.gates.upgrade_verdict import UpgradeVerdict
    from recuse.ratings import Ratings

ASKS = ("recuse_asks", "asks")  # names of the mark that says what a test needs of ratings: the second in a suite only
MODULE = "recuse_shipped_"
PEOPLE = frozenset(["people", "people_items", "two_people", "expert"])  # needs of questions that read people's labels


@dataclass
class Records:
    """What asking came to, as results.json holds it: builtins, so that it crosses processes."""

    verdicts: list[VerdictRow] = field(default_factory=list)
    measurements: list[MeasurementRow] = field(default_factory=list)
    upgrades: list[UpgradeVerdictRow] = field(default_factory=list)
    measures: dict[str, MeasureRow] = field(default_factory=dict)  # name -> its description
    not_asked: dict[str, list[NotAskedRow]] = field(default_factory=dict)  # test -> whom it could not be asked of
    due: list[AskedRow] = field(default_factory=list)  # gates that had to decide, with place and judges
    unmeasured: dict[str, str] = field(default_factory=dict)  # test -> why it ended without a verdict
    replayed: dict[str, Replayed] = field(default_factory=dict)  # place -> what its cassettes gave
    named: list[str] = field(default_factory=list)  # gates that a test names

    def add(self, records: Records | Mapping[str, Any]) -> None:
        """Take in what another part of the run came to, or its fields by name; parts may come in any order."""
        for name, kept in (records if isinstance(records, Mapping) else vars(records)).items():
            own = getattr(self, name)
            own.update(kept) if isinstance(kept, dict) else own.extend(kept)


class Respondents(NamedTuple):
    """Whom a question is asked of. `place`: task, panel and protocol; `uses`: what the judges are used for; `offers`:
    the needs that their ratings meet; `newest`: the version that verdicts are on, where several files are versions."""

    place: Mapping[str, str]
    judges: tuple[str, ...]
    uses: Uses
    offers: Collection[str]
    newest: str = ""

    def gates_to_ask(self, test: str, names: Iterable[str], gates: Gates) -> list[AskedRow]:
        """A record of each of the gates that a test names and that is in force here."""
        about = {"test": test, **self.place, "judges": list(self.judges)}
        rows = ({"gate": name, **about} for name in names if gates.in_force(name, self.uses, self.offers))
        return cast("list[AskedRow]", [*rows])


@dataclass
class Asking:
    """One test, asked of some respondents, and the `records` of it. `wanted`: whether a conclusion on a subject is."""

    test: str
    words: QuestionWords
    of: Respondents
    gates: Gates
    wanted: Callable[[Mapping[str, str]], bool] = lambda subject: True
    records: Records = field(default_factory=Records)
    decided: list[Verdicts] = field(default_factory=list)
    by_group: bool = False  # people's labels were chosen by group, and the test reads them

    def gate(self, name: str, measured: Estimate | Estimates, **subject: str) -> Verdicts:
        """A verdict on every judge measured, on its newest version; the rest, or a gate not in force, is only shown."""
        of, measured = self.of, self._weighed(measured)
        if of.newest and isinstance(measured, Estimates) and VERSION in measured.by:
            sides: tuple[dict[tuple[str, ...], Estimate], ...] = {}, {}
            for key, one in measured.items():
                sides[key[measured.by.index(VERSION)] == of.newest][key] = one
            older, measured = (Estimates(measured.by, side) for side in sides)
            self.measure(older, **subject)
            if older and not measured:
                return Verdicts()
        if not self.gates.in_force(name, of.uses, of.offers):
            self.measure(measured, **subject)
            return Verdicts()
        for about, _ in members(measured):
            if self.wanted(about) and about.get("judge", "") not in ("", *of.judges):
                raise RecuseError(
                    f"gate {name}: {of.place['panel']} has no judge {about['judge']}; it has {', '.join(of.judges)}"
                )
        asserted = self.gates.is_asserted(name, of.uses)
        verdicts = self.gates.decide(name, measured, {**of.place, **subject}, asserted=asserted).only(self.wanted)
        self.decided.append(verdicts)
        self._keep(verdicts, of=len(verdicts))
        return verdicts

    def measure(self, measured: Estimate | Estimates, **subject: str) -> None:
        """Shown in the report, gated by nothing."""
        for names, estimate in members(self._weighed(measured)):
            about = {**self.of.place, **subject, **names}
            if self.wanted(about):
                row = {"subject": about, "estimate": estimate.record(), **self.words, "test": self.test}
                self.records.measurements.append(cast("MeasurementRow", row))
                self._describe(estimate.metric)

    def _weighed(self, measured: Estimate | Estimates) -> Estimate | Estimates:
        """The same; undefined where labels were chosen by group and the measure counts every text alike."""
        if not self.by_group:
            return measured
        why = f"{UNDEFINED}labels were chosen group by group, and this counts every text alike"
        nothing: dict[str, Any] = {"value": math.nan, "low": math.nan, "high": math.nan, "distribution": None}
        if isinstance(measured, Estimate):
            return measured if measured.metric in WEIGHED else replace(measured, **nothing, note=why)
        one_each = {key: self._weighed(one) for key, one in measured.items()}
        return Estimates(measured.by, cast("dict[tuple[str, ...], Estimate]", one_each))

    def upgrade(self, verdict: UpgradeVerdict) -> Verdicts:
        """The verdict on a candidate, and those on its components, kept for the report."""
        if self.wanted({"judge": verdict.candidate}):
            row = {**self.of.place, **verdict.record(), **self.words, "test": self.test}
            self.records.upgrades.append(cast("UpgradeVerdictRow", row))
        for metric in verdict.unmeasured:
            self._describe(metric)
        if len(verdict.rows):
            self.decided.append(verdict.rows)
            self._keep(verdict.rows)
        return verdict.rows

    def _keep(self, verdicts: Verdicts, **more: int) -> None:
        for verdict in verdicts:
            row = {**verdict.record(), **more, **self.words, "test": self.test}
            self.records.verdicts.append(cast("VerdictRow", row))
            self._describe(verdict.estimate.metric)

    def _describe(self, metric: str) -> None:
        """The measure's own description travels with its numbers."""
        from recuse.metrics.measure import described

        if metric not in self.records.measures:
            self.records.measures[metric] = described(metric)


@contextmanager
def unchanged(ratings: Ratings) -> Iterator[Ratings]:
    """The ratings for one test; `RecuseError` where it changes their table in place, which every later gate reads."""
    table, given = ratings.table, ratings.remember("as given", lambda: list[Any]())
    if not given:  # pandas 2 may write into the copy as well
        before = table.copy(deep=False)
        given += before, _bits(table), [(column.array, before[name]) for name, column in table.items()]
    try:
        yield ratings
    finally:
        before, bits, arrays = given
        alike = table.columns.equals(before.columns) and table.index.equals(before.index)
        columns = zip((column for _, column in table.items()), arrays, strict=True) if alike else ()
        same = (now.array is array  # what lies where it lay is not gone through
                or (isinstance(now.dtype, np.dtype) and np.may_share_memory(was.to_numpy(), now.to_numpy()))
                or now.equals(was) for now, (array, was) in columns)  # fmt: skip
        if not (alike and all(same) and bits == _bits(table)):
            given.clear()
            raise RecuseError(
                "this test changed ratings.table in place, and every later gate would read that: change a copy, "
                "ratings.table.copy()"
            )


def _bits(table: pd.DataFrame) -> int:
    return int(table["score"].to_numpy(dtype=float).view(np.int64).sum())


@dataclass(frozen=True, slots=True)
class Question:
    """A test that asks about judges: what it needs, and to which task and protocol it is narrowed down."""

    name: str
    function: Callable[..., Any]
    needs: tuple[str, ...]
    narrowed: Mapping[str, Any]
    words: QuestionWords

    def ask(self, ratings: Ratings, asking: Asking) -> None:
        """Call the test; why it came to no verdict is recorded. `RecuseError` beyond `ratings`, `gate`, `measure`."""
        given = {"ratings": ratings, "gate": asking.gate, "measure": asking.measure}
        if unknown := [name for name in inspect.signature(self.function).parameters if name not in given]:
            raise RecuseError(f"{self.name} needs {unknown[0]!r}, which only pytest can give; run pytest evals/")
        try:
            with unchanged(ratings):
                self.function(**{name: given[name] for name in inspect.signature(self.function).parameters})
        except AssertionError:
            pass  # a gate's answer, which is in its verdicts
        except RecuseError as error:
            asking.records.unmeasured[self.name] = str(error).strip().splitlines()[0]


def shipped_evals() -> Path:
    """The folder with the shipped `test_*.py` and `gates.toml`. `RecuseError` where a wheel was built without them."""
    return shipped("evals", Path("evals"), "gates.toml", "questions")


def shipped(name: str, source: Path, holds: str, what: str) -> Path:
    """A folder that travels with the wheel: in the package where it is installed, beside it in a checkout: `source`."""
    package = Path(__file__).parents[1]
    for folder in (package / "shipped" / name, package.parent / source):
        if (folder / holds).is_file():
            return folder
    raise RecuseError(f"this installation holds no shipped {what}; install the wheel of recuse again")


def read_evals(folder: Path, today: date) -> tuple[Gates, tuple[Question, ...]]:
    """The gates of a folder of evals, and its questions: tests that carry the mark."""
    questions = tuple(question for path in sorted(folder.glob("test_*.py")) for question in _questions(path))
    return Gates.load(folder / "gates.toml", today=today), questions


def _questions(path: Path) -> Iterator[Question]:
    spec = importlib.util.spec_from_file_location(f"{MODULE}{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name, function in vars(module).items():
        if name.startswith("test_") and inspect.isfunction(function):
            marked = (getattr(one, "pytestmark", ()) for one in (function, module))
            every = (mark for marks in marked for mark in (marks if isinstance(marks, list | tuple) else [marks]))
            named = (getattr(mark, "mark", mark) for mark in every)
            if marks := [mark for mark in named if mark.name in ASKS]:
                place = f"evals/{path.name}::{name}"
                yield Question(place, function, *needs_of(marks, place), words_of(path, module))


def words_of(path: Path, module: ModuleType) -> QuestionWords:
    """The question that a file's tests belong to, as records carry it: id, title, note, of its name and docstring."""
    title, _, note = (module.__doc__ or "").strip().partition("\n")
    return {"question": path.stem.removeprefix("test_"), "title": title, "note": " ".join(note.split())}


def needs_of(marks: Iterable[Any], place: str) -> tuple[tuple[str, ...], dict[str, Any]]:
    """What the `asks` marks of a test, its class and its module name together, the nearest first; of `task`, `protocol`
    and `rests_on` the nearest counts. `RecuseError` for a mark that names anything else, with the place."""
    needs: dict[str, None] = {}
    narrowed: dict[str, Any] = {}
    for mark in marks:
        needs |= dict.fromkeys(mark.args)
        narrowed = {**mark.kwargs, **narrowed}
    wrong = [name for name in needs if not isinstance(name, str)]
    if wrong or not set(narrowed) <= {"task", "protocol", "rests_on"}:
        got = ", ".join([*map(repr, needs), *(f"{name}={value!r}" for name, value in narrowed.items())])
        raise RecuseError(
            f'{place}: mark it @pytest.mark.asks("scores", "authors", ...), and task="..." or protocol="..." to narrow '
            f"it down; got ({got})"
        )
    if (level := narrowed.get("rests_on", "pairs")) not in LEVELS:
        raise RecuseError(f"{place}: rests_on is one of {', '.join(LEVELS)}; got {level!r}")
    if not needs.keys() <= NEEDS.keys():  # a protocol may offer a kind of its own
        check_needs(needs, place, offered_kinds())
    return tuple(needs), narrowed


def gates_named(function: Callable[..., Any], gates: Gates) -> list[str]:
    """The gates that a test names in its own body: what it has to ask, whether or not it comes to it."""
    code = function.__code__
    held = [*code.co_consts, *map(function.__globals__.get, code.co_names)]
    words = (word for one in held for word in (one if isinstance(one, tuple) else (one,)))
    return [*dict.fromkeys(word for word in words if isinstance(word, str) and word in gates)]


def ask(
    panel: FilePanel, gates: Gates, questions: Iterable[Question], uses: Uses, *, deciding: bool = False
) -> Records:
    """Ask every question that the file can answer; one that cannot be measured keeps nobody else's answer back.
    `deciding`: only those whose answer is a gate in force, or explains one: the same decision, sooner."""
    records = Records()
    for question in questions:
        task, protocol = question.narrowed.get("task"), question.narrowed.get("protocol")
        if task not in (None, panel.task) or protocol not in (None, FILE):
            continue
        if wanting := missing(question.needs, panel.offers):
            lacking = not_asked(panel.name, panel.task, FILE, wanting)
            records.not_asked[question.name] = [{**lacking, **question.words, "tests": []}]
            continue
        place = {"task": panel.task, "panel": panel.name, "protocol": panel.protocol(kind_of(question.needs))}
        of = Respondents(place, panel.judges, uses, panel.offers, panel.newest)
        names = gates_named(question.function, gates)
        rows = of.gates_to_ask(question.name, names, gates)
        if deciding and not rows and not EXPLAINING & set(question.function.__code__.co_names):
            continue
        records.due += rows
        by_group = are_chosen(panel.ratings) and not PEOPLE.isdisjoint(question.needs)
        asking = Asking(question.name, question.words, of, gates, records=records, by_group=by_group)
        question.ask(panel.by(place["protocol"]), asking)
    return records
