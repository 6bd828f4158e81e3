"""What a run is about: the selected panels with their tasks, cassettes and gates; elicits each ratings table once."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from recuse import elicit
from recuse.cassettes.coverage import unused_lines
from recuse.cassettes.matching import call_headers, request_key
from recuse.cassettes.library import Library, Mode
from recuse.cassettes.coverage import MissingInteractionError
from recuse.cassettes.network import blocked_network
from recuse.excerpts import usage_of, words_of
from recuse.fingerprints import headers
from recuse.gates import Gates
from recuse.judges.client import Client
from recuse.panels import Panel, load_panel
from recuse.protocols import protocol as known_protocol
from recuse.schema import Call, Estimate, Estimates, RawResponse, RecuseError, Verdict
from recuse.tasks import Task, load_task

if TYPE_CHECKING:
    import pandas as pd

MODES: Mapping[str, Mode] = {"none": "replay", "missing": "missing", "all": "all"}


@dataclass
class Suite:
    """Use as a context manager: closes cassettes and lifts the network block on the way out."""

    root: Path
    panels: Mapping[str, Panel]
    mode: Mode
    gates: Gates
    models: Path
    yes: bool = False
    _ratings: dict[tuple[str, str, str], Any] = field(default_factory=dict)
    _replayed: dict[str, Any] = field(default_factory=dict)
    _tasks: dict[str, Task] = field(default_factory=dict)
    _libraries: dict[str, Library] = field(default_factory=dict)
    _open: ExitStack = field(default_factory=ExitStack)

    @classmethod
    def from_options(
        cls,
        *,
        root: Path,
        panels: Sequence[str],
        judges: Sequence[str],
        record: str,
        yes: bool,
        models: Path,
        gates: Path,
        distributed: bool,
    ) -> Self:
        if record != "none" and distributed:
            raise RecuseError("recording runs in one process (it is concurrent inside): leave out -n with --record")
        if not panels:
            raise RecuseError(
                "no panel to examine: give --panel fixtures/panels/<name>.toml, or set recuse_panels in the pytest "
                "configuration"
            )
        loaded = [load_panel(_panel_path(root, given)) for given in panels]
        if len({panel.name for panel in loaded}) != len(loaded):
            raise RecuseError(f"two of the selected panels have the same name: {', '.join(p.name for p in loaded)}")
        if judges:
            _check_judges(judges, loaded)
            loaded = [
                p.only([j for j in judges if j in p.judges]) for p in loaded if any(j in p.judges for j in judges)
            ]
        suite = cls(
            root=root,
            panels={panel.name: panel for panel in loaded},
            mode=MODES[record],
            gates=Gates.load(gates, today=date.today()),
            models=models,
            yes=yes,
        )
        for panel in loaded:
            suite._check_authors(panel)
        return suite

    def __enter__(self) -> Self:
        if self.mode == "replay":
            self._open.enter_context(blocked_network())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for library in self._libraries.values():
            library.close()
        self._open.close()

    # ------------------------------------------------------------------ what there is

    def task(self, name: str) -> Task:
        if name not in self._tasks:
            self._tasks[name] = load_task(self.root / "fixtures" / "tasks" / name)
        return self._tasks[name]

    def subjects(self, task: str, protocol: str, *, authors: bool) -> dict[str, list[str]]:
        """Panel -> its judges, for the panels that elicit `task` by `protocol`; with `authors`, only judges that have a
        target of their own. `RecuseError` for a task or protocol that does not exist at all."""
        self.task(task)
        known_protocol(protocol)
        found: dict[str, list[str]] = {}
        for name, panel in self.panels.items():
            if task in panel.tasks and protocol in panel.tasks[task].protocols:
                asked = panel.judges_of(task)
                own = panel.own(list(self.task(task).targets)) if authors else asked
                if shown := [judge for judge in asked if judge in own]:
                    found[name] = shown
        return found

    def plan(self, panel: str, task: str, protocol: str) -> elicit.Plan:
        """The calls of one protocol; `RecuseError` if the panel does not have it."""
        table = self.panels[panel].task(task)
        if protocol not in table.protocols:
            raise RecuseError(
                f"{self.panels[panel].path}: panel {panel} does not elicit {task} by {protocol}; it has "
                f"{', '.join(table.protocols)}"
            )
        return elicit.plan(
            panel,
            self._asked_about(panel, task, protocol),
            protocol,
            self.panels[panel].judges_of(task),
            identify=request_key,
            repeats=table.repeats.get(protocol),
            targets=table.targets,
        )

    def items(self, panel: str, task: str, protocol: str) -> pd.DataFrame:
        """What the panel is asked about by a protocol: columns item, target and the fields of the items file."""
        return self._asked_about(panel, task, protocol).items_table()

    def _asked_about(self, panel: str, task: str, protocol: str) -> Task:
        return self.task(task).with_items(self.panels[panel].task(task).items.get(protocol))

    def _check_authors(self, panel: Panel) -> None:
        """An author that is misspelled would leave its judge's self-bias unexamined, and green."""
        targets = {target for name in panel.tasks for target in self.task(name).targets}
        wrong = {name: j.author for name, j in panel.judges.items() if j.author is not None and j.author not in targets}
        if wrong:
            told = ", ".join(f"judge {name}: author {author!r}" for name, author in wrong.items())
            raise RecuseError(f"{panel.path}: {told} is no target of its tasks; known: {', '.join(sorted(targets))}")

    # ------------------------------------------------------------------ ratings

    def ratings(self, panel: str, task: str, protocol: str) -> pd.DataFrame:
        """The checked ratings table; elicited once per process, later calls get a copy that costs nothing."""
        key = (panel, task, protocol)
        if key not in self._ratings:
            try:
                self._ratings[key] = self._elicit(*key)
            except RecuseError as error:
                self._ratings[key] = error  # the same table asked for again fails the same way, at once
        found = self._ratings[key]
        if isinstance(found, RecuseError):
            raise found
        table: pd.DataFrame = found
        return table.copy(deep=False)

    def _elicit(self, panel: str, task: str, protocol: str) -> pd.DataFrame:
        plan = self.plan(panel, task, protocol)
        library = self._library(panel)
        coverage = library.expect(plan.calls, headers(self.panels[panel], plan))
        if self.mode == "replay":
            if not coverage.complete:
                raise MissingInteractionError(
                    f"{panel}/{task}/{protocol} cannot be replayed.\n{coverage.text()}\nRecord: {library.command}"
                )
            answers = self._replay(plan, library)
        else:
            from recuse.recording.session import Recorder

            Recorder(self.panels[panel], library, self.root, self.models, self.yes).record(plan, coverage)
            answers = [(call, library.response(call)) for call in plan.calls]
        self._account(panel, task, protocol, plan, library, answers)
        return elicit.ratings(plan, answers)

    def _replay(self, plan: elicit.Plan, library: Library) -> list[tuple[Call, RawResponse]]:
        """Every call through the HTTP client, answered by the cassettes."""
        client = Client(plan.judges, keys={}, attempts=1, identify=call_headers)

        async def all_calls() -> list[tuple[Call, RawResponse]]:
            async with client:
                return [(call, await client.send(call)) for call in plan.calls]

        with library.use():
            return asyncio.run(all_calls())

    def _library(self, panel: str) -> Library:
        if panel not in self._libraries:
            path = self.panels[panel].path
            shown = path.relative_to(self.root) if path.is_relative_to(self.root) else path.name
            self._libraries[panel] = Library(
                self.root / "cassettes",
                panel,
                mode=self.mode,
                secrets=_secrets(self.panels[panel]) if self.mode != "replay" else (),
                command=f"pytest evals/ --panel {shown} --record=missing",
            )
        return self._libraries[panel]

    def _account(
        self,
        panel: str,
        task: str,
        protocol: str,
        plan: elicit.Plan,
        library: Library,
        answers: Sequence[tuple[Call, RawResponse]],
    ) -> None:
        cells = {call.cell for call in plan.calls}
        unused = [found for found in library.unused() if found.cell in cells]
        self._replayed[f"{panel}/{task}/{protocol}"] = {
            "files": len(cells),
            "used": len(plan.calls),
            "unused": len(unused),
            "unused_lines": [line.strip() for line in unused_lines(unused)],
            "usage": usage_of(panel, plan, answers),
            "words": words_of(panel, plan, answers),
        }

    def replayed(self) -> dict[str, Any]:
        """What was replayed, per "panel/task/protocol", as builtins: an xdist worker sends it to the controller."""
        return self._replayed

    # ------------------------------------------------------------------ records

    def verdict_record(self, verdict: Verdict) -> dict[str, Any]:
        return {
            "gate": verdict.gate,
            "label": self.gates[verdict.gate].label,
            "outcome": verdict.outcome,
            "allowed": verdict.allowed,
            "subject": dict(verdict.subject),
            "estimate": estimate_record(verdict.estimate),
            "rule": verdict.rule,
            "limit": builtins(verdict.limit),
            "reason": verdict.reason,
            "remedy": verdict.remedy,
            "accepted_fault": builtins(verdict.accepted_fault),
        }

    def measurement_records(
        self, measured: Estimate | Estimates, subject: Mapping[str, str]
    ) -> Iterator[dict[str, Any]]:
        if isinstance(measured, Estimate):
            yield {"subject": dict(subject), "estimate": estimate_record(measured)}
            return
        for key, estimate in measured.items():
            named = dict(zip(measured.by, key, strict=True))
            if all(subject.get(name, value) == value for name, value in named.items()):
                yield {"subject": {**subject, **named}, "estimate": estimate_record(estimate)}


def estimate_record(estimate: Estimate) -> dict[str, Any]:
    return {f.name: builtins(getattr(estimate, f.name)) for f in fields(estimate) if f.name != "distribution"}


def builtins(value: Any) -> Any:
    """The same value in builtins only, NaN as None: what pytest-xdist can carry and JSON can hold."""
    if isinstance(value, Mapping):
        return {str(k): builtins(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [builtins(v) for v in value]
    if hasattr(value, "item") and callable(value.item):  # a numpy scalar
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _panel_path(root: Path, given: str) -> Path:
    path = Path(given)
    if not path.suffix:
        path = Path("fixtures/panels") / f"{given}.toml"
    return path if path.is_absolute() else root / path


def _check_judges(names: Sequence[str], panels: Sequence[Panel]) -> None:
    known = {name for panel in panels for name in panel.judges}
    if unknown := [name for name in names if name not in known]:
        raise RecuseError(
            f"--judges: unknown judge {', '.join(unknown)}; the selected panels have {', '.join(sorted(known))}"
        )


def _secrets(panel: Panel) -> list[str]:
    import os

    variables = {judge.api_key_env for judge in panel.judges.values() if judge.api_key_env}
    return [os.environ[variable] for variable in sorted(variables) if os.environ.get(variable)]
