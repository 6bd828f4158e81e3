"""What a run is about: the selected panels with their tasks, cassettes and gates; makes each panel's ratings once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from recuse import elicit, offers
from recuse.cassettes.coverage import Coverage, MissingInteractionError, unused_lines
from recuse.cassettes.library import Library, Mode
from recuse.cassettes.matching import request_key
from recuse.cassettes.network import blocked_network
from recuse.file_panels import FilePanel, is_ratings_file, load_file_panel
from recuse.fingerprints import headers
from recuse.gates import Gates
from recuse.panel_ratings import headline_of, panel_ratings, scales_of
from recuse.panels import Panel, load_panel
from recuse.plan import Plan, levels_asked, make_plan
from recuse.protocols import called
from recuse.protocols import protocol as known_protocol
from recuse.protocols.facts import facts_of
from recuse.references import people_of, persons_of
from recuse.schema import RecuseError
from recuse.shared_replay import SharedReplay, content_hash
from recuse.tasks import Task, load_task

if TYPE_CHECKING:
    from recuse.ratings import Ratings

MODES: Mapping[str, Mode] = {"none": "replay", "missing": "missing", "all": "all", "batch": "missing"}


@dataclass(frozen=True, slots=True, order=True)
class Asked:
    """Whom a question is asked of: the ratings of one panel, task and protocol."""

    panel: str
    task: str
    protocol: str

    def __str__(self) -> str:
        return f"{self.panel}/{self.task}/{self.protocol}"


@dataclass(frozen=True, slots=True)
class NotAsked:
    """A panel and task that a question could not be asked of, and what is missing for it."""

    panel: str
    task: str
    protocol: str
    missing: tuple[str, ...]

    def record(self) -> dict[str, Any]:
        return {
            "panel": self.panel, "task": self.task, "protocol": self.protocol, "missing": list(self.missing),
            "unlock": [offers.unlock(need) for need in self.missing],
        }  # fmt: skip


@dataclass
class Suite:
    """Use as a context manager: closes cassettes and lifts the network block on the way out.

    `shown`: the judges that verdicts are wanted on, all where empty. The reference is always the whole panel, so
    choosing judges never changes a number."""

    root: Path
    panels: Mapping[str, Panel]
    mode: Mode
    gates: Gates
    models: Path
    yes: bool = False
    distributed: bool = False
    batch: bool = False  # what is missing is handed in as files
    shared: Path | None = None  # where the workers of one run share what they read
    shown: frozenset[str] = frozenset()
    files: Mapping[str, FilePanel] = field(default_factory=dict)  # panels whose ratings come from a file
    _made: dict[Asked, Ratings | RecuseError] = field(default_factory=dict)
    _replayed: dict[str, Any] = field(default_factory=dict)
    _tasks: dict[str, Task] = field(default_factory=dict)
    _asked_about: dict[tuple[str, str | None], Task] = field(default_factory=dict)
    _designs: dict[Asked, offers.Design] = field(default_factory=dict)
    _libraries: dict[str, Library] = field(default_factory=dict)
    _unrecorded: dict[str, RecuseError] = field(default_factory=dict)  # panel -> why its recording ended early
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
        shared: Path | None = None,
        ratings: Sequence[str] = (),
    ) -> Self:
        files = _load_files(root, [*ratings, *(given for given in panels if is_ratings_file(given))])
        panels = [given for given in panels if not is_ratings_file(given)]
        if not panels and not files:
            raise RecuseError(
                "no panel to examine: give --panel fixtures/panels/<name>.toml, or set recuse_panels in the pytest "
                "configuration; ratings you already have: --ratings FILE"
            )
        loaded = [load_panel(_panel_path(root, given)) for given in panels]
        names = [*(panel.name for panel in loaded), *(file.name for file in files)]
        if len(set(names)) != len(names):
            raise RecuseError(f"two of the selected panels have the same name: {', '.join(names)}")
        if judges:
            _check_judges(judges, {n for p in loaded for n in p.judges} | {n for file in files for n in file.judges})
            files = [file for file in files if any(judge in file.judges for judge in judges)]
            loaded = [panel for panel in loaded if any(judge in panel.judges for judge in judges)]
        suite = cls(
            root=root,
            panels={panel.name: panel for panel in loaded},
            mode=MODES[record],
            gates=Gates.load(gates, today=date.today()),
            models=models,
            yes=yes,
            distributed=distributed,
            batch=record == "batch",
            shared=shared,
            shown=frozenset(judges),
            files={file.name: file for file in files},
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

    def task_of(self, asked: Asked) -> Task:
        """The task with the items that this panel is asked about by this protocol."""
        if asked.panel in self.files:
            raise RecuseError(f"{asked}: ratings from a file have no task; ask for the fixture ratings alone")
        file = self.panels[asked.panel].task(asked.task).items.get(asked.protocol)
        if (asked.task, file) not in self._asked_about:
            self._asked_about[asked.task, file] = self.task(asked.task).with_items(file)
        return self._asked_about[asked.task, file]

    def asked(
        self, needs: Sequence[str], *, task: str | None = None, protocol: str | None = None
    ) -> tuple[list[Asked], list[NotAsked]]:
        """Who offers all of `needs`, and who lacks what. `task` and `protocol` narrow it down; `RecuseError` for one
        that does not exist at all."""
        from_files = [file for file in self.files.values() if task in (None, file.task) and protocol in (None, "file")]
        if task is not None and not from_files:
            self.task(task)
        if protocol not in (None, "file"):
            known_protocol(protocol)
        kind = offers.kind_of(needs)
        found: list[Asked] = []
        lacking: list[NotAsked] = []
        for panel, table in ((p, t) for p in self.panels.values() for t in p.tasks.values()):
            if task not in (None, table.name):
                continue
            named = [name for name in table.protocols if protocol in (None, name)]
            fitting = [name for name in named if kind == known_protocol(name).OFFERS or protocol is not None]
            for name in fitting:
                here = Asked(panel.name, table.name, name)
                if wanting := offers.missing(needs, offers.offered(self.design(here))):
                    lacking.append(NotAsked(*_parts(here), tuple(wanting)))
                else:
                    found.append(here)
            if not fitting:
                lacking.append(NotAsked(panel.name, table.name, "", (kind,)))
        for file in from_files:
            here = Asked(file.name, file.task, file.protocol)
            if wanting := offers.missing(needs, offers.offered(file.design)):
                lacking.append(NotAsked(*_parts(here), tuple(wanting)))
            else:
                found.append(here)
        return found, lacking

    def beside(self, asked: Asked, needs: Iterable[str]) -> list[Asked]:
        """The same panel's and task's other protocols that offer a kind among `needs`."""
        if asked.panel in self.files:
            return []
        kinds = {name for name in needs if name in offers.KINDS}
        others = [name for name in self.panels[asked.panel].task(asked.task).protocols if name != asked.protocol]
        return [Asked(asked.panel, asked.task, name) for name in others if known_protocol(name).OFFERS in kinds]

    def design(self, asked: Asked) -> offers.Design:
        """What the panel's ratings will offer, known before any is made; every question asks for it."""
        if asked not in self._designs:
            self._designs[asked] = self._design(asked)
        return self._designs[asked]

    def _design(self, asked: Asked) -> offers.Design:
        panel, task, how = self.panels[asked.panel], self.task_of(asked), known_protocol(asked.protocol)
        table = panel.task(asked.task)
        judges = panel.judges_of(asked.task)
        items = how.items(task, next(iter(judges.values()))) if judges else ()
        texts: dict[str, int] = {}
        sharing: dict[str, set[str]] = {}
        for item in items:
            texts[item.target] = texts.get(item.target, 0) + 1
            sharing.setdefault(item.id, set()).add(item.target)
        varied = levels_asked(how, asked.protocol, table.factors.get(asked.protocol, {}))
        wrote = panel.own(list(task.targets))
        people, persons = people_of(task, asked.protocol), persons_of(task, asked.protocol)
        return offers.Design(
            kind=how.OFFERS,
            judges=len(judges),
            texts_per_target=max(texts.values(), default=0),
            repeats=table.repeats.get(asked.protocol) or how.REPEATS,
            levels={called(how, factor): levels for factor, levels in varied.items()},
            authors=any(judge in wrote and (not self.shown or judge in self.shown) for judge in judges),
            common_items=any(len(targets) > 1 for targets in sharing.values()),
            neutral_texts=offers.has_neutral_texts(judges, texts, wrote),
            lengths=bool(items) and offers.has_lengths(facts_of(how, task, items[0])),
            parts=bool(getattr(how, "parts", lambda task: ())(task)),
            people=people is not None,
            people_items=persons is not None,
            two_people=persons is not None and offers.have_items_in_common(persons),
            reference="reference" in task.data,
            numbers=all(scales_of(how, task)[name].counts for name in headline_of(how, task)),
            beside=frozenset(known_protocol(name).OFFERS for name in table.protocols if name != asked.protocol),
        )

    def plan(self, asked: Asked) -> Plan:
        """The calls of one protocol; `RecuseError` if the panel does not have it."""
        panel = self.panels[asked.panel]
        table = panel.task(asked.task)
        if asked.protocol not in table.protocols:
            raise RecuseError(
                f"{panel.path}: panel {panel.name} does not elicit {asked.task} by {asked.protocol}; it has "
                f"{', '.join(table.protocols)}"
            )
        return make_plan(
            asked.panel,
            self.task_of(asked),
            asked.protocol,
            panel.judges_of(asked.task),
            identify=request_key,
            repeats=table.repeats.get(asked.protocol),
            targets=table.targets,
            factors=table.factors.get(asked.protocol),
        )

    def is_shown(self, subject: Mapping[str, str]) -> bool:
        """Whether a verdict on this subject is wanted."""
        return not self.shown or "judge" not in subject or subject["judge"] in self.shown

    def _check_authors(self, panel: Panel) -> None:
        """An author that is misspelled would leave its judge's self-bias unexamined, and green."""
        targets = {target for name in panel.tasks for target in self.task(name).targets}
        wrong = {name: j.author for name, j in panel.judges.items() if j.author is not None and j.author not in targets}
        if wrong:
            told = ", ".join(f"judge {name}: author {author!r}" for name, author in wrong.items())
            raise RecuseError(f"{panel.path}: {told} is no target of its tasks; known: {', '.join(sorted(targets))}")

    # ------------------------------------------------------------------ ratings

    def ratings(self, asked: Asked) -> Ratings:
        """The ratings, made once per process; a failure is kept and raised again at once."""
        if asked not in self._made:
            try:
                self._made[asked] = self._make(asked)
            except RecuseError as error:
                self._made[asked] = error
        found = self._made[asked]
        if isinstance(found, RecuseError):
            raise found
        return found

    def _make(self, asked: Asked) -> Ratings:
        if asked.panel in self.files:
            return self.files[asked.panel].ratings
        plan = self.plan(asked)
        elicited, account = self._elicited(asked, plan)
        self._replayed[str(asked)] = account
        table = self.panels[asked.panel].task(asked.task)
        kinds = {known_protocol(name).OFFERS: name for name in reversed(table.protocols)}

        def beside(kind: str) -> Ratings | None:
            name = kinds.get(kind)
            return None if name is None else self.ratings(Asked(asked.panel, asked.task, name))

        authors = self.panels[asked.panel].own(list(self.task(asked.task).targets))
        return panel_ratings(plan, elicited.table, authors=authors, beside=beside)

    def _elicited(self, asked: Asked, plan: Plan) -> tuple[elicit.Elicited, dict[str, Any]]:
        """Read from the cassettes, here or by another worker of this run."""
        if self.shared is None or self.mode != "replay":
            return self._read(asked, plan)
        cassettes = self.root / "cassettes" / asked.panel / asked.task / asked.protocol
        sources = [self.panels[asked.panel].path, self.root / "fixtures" / "tasks" / asked.task, cassettes]
        name = content_hash(sources, str(asked))
        return SharedReplay(self.shared).get(name, lambda: self._read(asked, plan))

    def _read(self, asked: Asked, plan: Plan) -> tuple[elicit.Elicited, dict[str, Any]]:
        library = self._library(asked.panel)
        coverage = library.expect(plan.calls, headers(self.panels[asked.panel], plan))
        if self.mode != "replay" and self._is_wanting(asked, coverage):
            self.record([asked])
            coverage = library.expect(plan.calls, headers(self.panels[asked.panel], plan))
            if asked.panel in self._unrecorded:
                raise self._unrecorded[asked.panel]
        left_out = _not_recorded(coverage)
        if not coverage.complete and (not self.shown or left_out & self.shown or coverage.damaged or not left_out):
            raise MissingInteractionError(f"{asked} cannot be replayed.\n{coverage.text()}\nRecord: {library.command}")
        if left_out:  # nobody asked for a verdict on them, so they may be missing from the reference, and it is said
            plan = plan.without(left_out)
        elicited = elicit.read(plan, library.replay(plan.calls))
        return elicited, self._account(plan, library, elicited, left_out)

    # ------------------------------------------------------------------ recording

    def record(self, wanted: Iterable[Asked], *, stop_at_first: bool = False) -> None:
        """Ask what is missing for all of these: one recording per panel, one budget over all its tasks and protocols.

        A panel that could not be recorded fails the tests that need it, in words; an interruption ends everything."""
        from recuse.recording.batches import record_batches
        from recuse.recording.session import Recorder

        by_panel: dict[str, list[Asked]] = {}
        for asked in (asked for asked in dict.fromkeys(wanted) if asked.panel not in self.files):
            by_panel.setdefault(asked.panel, []).append(asked)
        for panel, parts in by_panel.items():
            try:
                library, plans = self._library(panel), [self._to_record(asked) for asked in parts]
                for plan in plans:
                    library.expect(plan.calls, headers(self.panels[panel], plan))
                recorder = Recorder(self.panels[panel], library, self.root, self.models, self.yes)
                if self.batch:
                    record_batches(recorder, plans)
                else:
                    recorder.record(plans)
            except RecuseError as error:
                self._unrecorded[panel] = error
                if stop_at_first:
                    return

    def _to_record(self, asked: Asked) -> Plan:
        """The plan of the judges that are shown: choosing judges chooses whom to pay."""
        plan = self.plan(asked)
        return plan.without(set(plan.judges) - self.shown) if self.shown else plan

    def _is_wanting(self, asked: Asked, coverage: Coverage) -> bool:
        """Whether something must still be recorded; raises where it cannot be, or has been tried in vain."""
        wanted = [call for call in coverage.missing if not self.shown or call.judge in self.shown]
        if wanted and self.distributed:
            raise RecuseError(
                f"{asked}: recording runs in one process (it is concurrent inside); leave out -n for the {len(wanted)} "
                "calls that are missing here"
            )
        if wanted and asked.panel in self._unrecorded:
            raise self._unrecorded[asked.panel]
        return bool(wanted)

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
        self, plan: Plan, library: Library, elicited: elicit.Elicited, left_out: Iterable[str]
    ) -> dict[str, Any]:
        cells = {call.cell for call in plan.calls}
        unused = [found for found in library.unused() if found.cell in cells]
        return {
            "files": len(cells),
            "used": len(plan.calls),
            "unused": len(unused),
            "unused_lines": [line.strip() for line in unused_lines(unused)],
            "left_out": sorted(left_out),
            "usage": elicited.usage,
            "words": elicited.excerpts,
        }

    def replayed(self) -> dict[str, Any]:
        """What was replayed, per "panel/task/protocol", as builtins: an xdist worker sends it to the controller."""
        return self._replayed


def _not_recorded(coverage: Coverage) -> set[str]:
    """Judges with a call that no cassette answers, or that an outdated one does."""
    missing = {call.judge for call in coverage.missing}
    return missing | {stale.cell.rpartition("/")[2].partition("~")[0] for stale in coverage.stale}


def _parts(asked: Asked) -> tuple[str, str, str]:
    return asked.panel, asked.task, asked.protocol


def _panel_path(root: Path, given: str) -> Path:
    path = Path(given)
    if not path.suffix:
        path = Path("fixtures/panels") / f"{given}.toml"
    return path if path.is_absolute() else root / path


def _load_files(root: Path, given: Sequence[str]) -> list[FilePanel]:
    return [load_file_panel(root / name) for name in dict.fromkeys(given)]


def _check_judges(names: Sequence[str], known: Iterable[str]) -> None:
    if unknown := [name for name in names if name not in known]:
        raise RecuseError(
            f"--judges: unknown judge {', '.join(unknown)}; the selected panels have {', '.join(sorted(known))}"
        )


def _secrets(panel: Panel) -> list[str]:
    import os

    from recuse.judges.credentials import variables_of

    variables = {variable for judge in panel.judges.values() for variable in variables_of(judge)}
    return [os.environ[variable] for variable in sorted(variables) if os.environ.get(variable)]
