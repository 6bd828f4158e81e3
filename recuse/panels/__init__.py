"""Panels (fixtures/panels/*.toml), read and checked: which judges are examined, how they are reached, on what tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from recuse.configuration import checked_distinct, checked_name
from recuse.configuration.toml_files import ConfigurationError, parse, read_toml
from recuse.panels.panel_file import JudgeTable, LocalServer, PanelTable, StandIn, TaskTable
from recuse.protocols import protocol
from recuse.schema import Judge, Provenance, RecuseError, SourceFixes
from recuse.schema.results import JudgeRow, PanelRow


@dataclass(frozen=True)
class Panel:
    """A panel file, checked. `judges` keeps the order of the file."""

    name: str
    path: Path
    description: str
    provenance: Provenance
    source: str
    budget_usd: float
    free: bool
    source_fixes: SourceFixes
    judges: Mapping[str, Judge]
    tasks: Mapping[str, TaskTable]
    servers: Mapping[str, LocalServer]
    stand_in: StandIn | None
    behaviours: Mapping[str, str]
    replaces: Mapping[str, str]  # candidate -> the judge in use
    changes: Mapping[str, tuple[str, ...]]  # candidate -> what it changes
    words: Mapping[str, tuple[str | None, str | None]]  # candidate -> its prompts, its rubric; None: the task's
    families: Mapping[str, str]  # judge -> the family of its model
    uses: tuple[str, ...] | None  # as it states; None where its ratings say

    def judges_of(self, task: str) -> dict[str, Judge]:
        """The judges in use that are asked about a task, in the order of the file; a candidate is none of them."""
        named = self.task(task).judges
        wanted = self.judges if named is None else named
        return {name: judge for name, judge in self.judges.items() if name not in self.replaces and name in wanted}

    def candidates_of(self, task: str) -> dict[str, Judge]:
        """Candidates that are asked about a task for which the judge that they would replace is asked too."""
        named, in_use = self.task(task).judges, self.judges_of(task)
        in_question = [name for name, incumbent in self.replaces.items() if incumbent in in_use]
        return {name: self.judges[name] for name in in_question if named is None or name in named}

    def own(self, targets: Sequence[str]) -> dict[str, str]:
        """Judge -> the target that is its own work, for the judges that have one among `targets`."""
        return {name: j.author for name, j in self.judges.items() if j.author in targets and j.author is not None}

    def record(self) -> PanelRow:
        """As builtins, for results.json: its judges, candidates among them, without their addresses."""
        judges: list[JudgeRow] = [
            {"name": j.name, "label": j.label, "wire": j.wire, "model": j.model, "author": j.author}
            for j in self.judges.values()
        ]
        return {
            "name": self.name, "provenance": self.provenance, "description": self.description, "source": self.source,
            "judges": judges, "tasks": list(self.tasks),
        }  # fmt: skip

    def task(self, name: str) -> TaskTable:
        """What the panel is asked about a task. `RecuseError` where the panel does not have it."""
        if name not in self.tasks:
            raise RecuseError(f"{self.path}: panel {self.name} has no task {name!r}; it has {', '.join(self.tasks)}")
        return self.tasks[name]


def load_panel(path: Path) -> Panel:
    """Read and check one panel file. `ConfigurationError` with all faults of form at once, each with its line; then
    `RecuseError` for the first name that cannot be, or that names nothing."""
    table = parse(PanelTable, read_toml(path), path)
    where, judges = str(path), [judge.name for judge in table.judge]
    checked_name(table.name, "panel", where)
    for name in judges:
        checked_name(name, "judge", where)
    checked_distinct(judges, "judge", where)
    checked_distinct([t.name for t in table.task], "task", where)
    for task in table.task:
        checked_name(task.name, "task", where)
        checked_distinct(task.protocols, "protocol", where)
        for name in task.protocols:
            try:
                protocol(checked_name(name, "protocol", where))
            except RecuseError as error:
                raise ConfigurationError(f"{path}: task {task.name}: {error}") from error
        for key in ("repeats", "items", "first", "factors"):
            if unknown := [p for p in getattr(task, key) if p not in task.protocols]:
                raise ConfigurationError(
                    f"{path}: task {task.name}: {key} for {', '.join(unknown)}, which is not in protocols"
                )
        if unknown := [name for name in task.judges or () if name not in judges]:
            raise ConfigurationError(
                f"{path}: task {task.name}: unknown judge {', '.join(unknown)}; the panel has {', '.join(judges)}"
            )
    kept = ("name", "description", "provenance", "source", "budget_usd", "free", "source_fixes", "stand_in")
    candidates = [j for j in table.judge if j.replaces is not None]
    return Panel(
        path=path,
        **{name: getattr(table, name) for name in kept},
        judges={j.name: j.judge() for j in table.judge},
        tasks={t.name: t for t in table.task},
        servers={j.name: j.server for j in table.judge if j.server},
        behaviours={j.name: j.behaviour for j in table.judge if j.behaviour},
        replaces={j.name: str(j.replaces) for j in candidates},
        changes={j.name: _changes(j, table.judge) for j in candidates},
        words={j.name: (j.prompts, j.rubric) for j in table.judge if j.prompts or j.rubric},
        families={j.name: j.family for j in table.judge if j.family},
        uses=None if table.use is None else (table.use,) if isinstance(table.use, str) else tuple(table.use),
    )


def _changes(judge: JudgeTable, panel: Sequence[JudgeTable]) -> tuple[str, ...]:
    """What a candidate changes: what it says, or the model where that is another; and words of its own."""
    words = [kind for kind, own in (("prompt", judge.prompts), ("rubric", judge.rubric)) if own]
    incumbent = next(one for one in panel if one.name == judge.replaces)
    same = (judge.wire, judge.base_url, judge.model) == (incumbent.wire, incumbent.base_url, incumbent.model)
    kinds = [] if words and same and "change" not in judge.model_fields_set else judge.change
    return tuple(dict.fromkeys([*kinds, *words]))


LEVELS: tuple[SourceFixes, ...] = get_args(SourceFixes)
"""What the source of a panel fixes (`source_fixes` of its file), the least first; each includes those before it.
Replies that were drawn to carry a study's printed statistics carry nothing else of it, so a question that rests on more
(`pytest.mark.asks(..., rests_on="cells")`, "pairs" unless it says otherwise) is not asked of that panel.

    margins   totals of a judge over texts (what it gave its own, received for it, gave to others) and statistics as
              printed; nothing of a single author or text
    cells     mean and spread over repeats of what each judge gave each text, and what follows from these: deviations
              from peers and people, over texts or over repeats; nothing of a single reply
    pairs     the single replies: everything, what goes together within one, over texts, between judges and conditions
"""

UNLOCK: Mapping[str, str] = {
    "cells": "give each judge's score of each text: totals over texts or authors do not contain them",
    "pairs": "give each judge's single replies: published statistics do not say which scores belong to one reply",
}
