"""One run: the selection, its questions, its recordings and its gates; makes each panel's ratings once."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from recuse import elicit
from recuse.gates import Gates
from recuse.network import blocked_network
from recuse.panel_ratings import panel_ratings
from recuse.plan import Plan
from recuse.protocols import protocol as known_protocol
from recuse.schema import RecuseError
from recuse.shared_replay import SharedReplay, content_hash
from recuse.suite.asked import Asked
from recuse.suite.questions import Questions
from recuse.suite.recordings import RECORD_MODES, Recordings
from recuse.suite.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recuse.ratings import Ratings

__all__ = ["Suite"]


@dataclass
class Suite:
    """Use as a context manager: closes cassettes and lifts the network block on the way out.

    `shared`: where the workers of one run share what they read; None in a process of its own."""

    selection: Selection
    gates: Gates
    recordings: Recordings
    shared: Path | None = None
    questions: Questions = field(init=False)
    _made: dict[Asked, Ratings | RecuseError] = field(default_factory=dict)
    _replayed: dict[str, Any] = field(default_factory=dict)
    _open: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        self.questions = Questions(self.selection)

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
        """From the options of the command line; `RecuseError` for any that is wrong."""
        selection = Selection.load(root, panels, ratings, judges)
        mode, batch = RECORD_MODES[record], record == "batch"
        recordings = Recordings(selection, mode, models, yes=yes, distributed=distributed, batch=batch)
        return cls(selection, Gates.load(gates, today=date.today()), recordings, shared)

    def __enter__(self) -> Self:
        if self.recordings.mode == "replay":
            self._open.enter_context(blocked_network())
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.recordings.close()
        self._open.close()

    def ratings(self, asked: Asked) -> Ratings:
        """The ratings, made once per process; a failure is kept and raised again at once."""
        if asked not in self._made:
            try:
                self._made[asked] = self._make(asked)
            except RecuseError as error:
                self._made[asked] = error
        made = self._made[asked]
        if isinstance(made, RecuseError):
            raise made
        return made

    def replayed(self) -> dict[str, Any]:
        """What was replayed, per "panel/task/protocol", as builtins: an xdist worker sends it to the controller."""
        return self._replayed

    def _make(self, asked: Asked) -> Ratings:
        if asked.panel in self.selection.files:
            return self.selection.files[asked.panel].by(asked.protocol)
        plan = self.selection.plan(asked)
        elicited, account = self._elicited(asked, plan)
        self._replayed[str(asked)] = account
        table = self.selection.panels[asked.panel].task(asked.task)
        kinds = {known_protocol(name).OFFERS: name for name in reversed(table.protocols)}

        def beside(kind: str) -> Ratings | None:
            name = kinds.get(kind)
            return None if name is None else self.ratings(Asked(asked.panel, asked.task, name))

        return panel_ratings(
            plan,
            elicited.table,
            authors=self.selection.authors(asked),
            paired=self.selection.panels[asked.panel].paired,
            beside=beside,
        )

    def _elicited(self, asked: Asked, plan: Plan) -> tuple[elicit.Elicited, dict[str, Any]]:
        """Read from the cassettes, here or by another worker of this run."""
        if self.shared is None or self.recordings.mode != "replay":
            return self.recordings.read(asked, plan)
        root = self.selection.root
        cassettes = root / "cassettes" / asked.panel / asked.task / asked.protocol
        sources = [self.selection.panels[asked.panel].path, root / "fixtures" / "tasks" / asked.task, cassettes]
        name = content_hash(sources, str(asked))
        return SharedReplay(self.shared).get(name, lambda: self.recordings.read(asked, plan))
