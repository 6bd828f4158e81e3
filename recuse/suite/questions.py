"""Whom a question can be asked of: what every panel, task and protocol will offer, known before any rating is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any, Self

import pandas as pd

from recuse.cassettes.matching import request_key
from recuse.elicitation.plan import Plan, make_plan, planned_items, planned_levels
from recuse.elicitation.replies import REMARKS, scales_of
from recuse.panels import LEVELS, UNLOCK, Panel, load_panel
from recuse.protocols import called, headline_of, parts_of
from recuse.protocols import protocol as known_protocol
from recuse.protocols.wording import facts_of
from recuse.ratings.needs import CANDIDATE, KINDS, kind_of, offered, unlock, unlock_by_column
from recuse.ratings.scale import PLACE, TRUE, Numeric, Scale, decisions_of
from recuse.ratings.text_slices import will_have_slices
from recuse.readers.file_panel import is_ratings_file, load_file_panels
from recuse.readers.file_ratings import FilePanel
from recuse.references import BLINDED, people_of, persons_of
from recuse.schema import RecuseError, SourceFixes
from recuse.schema.plain_values import grouped
from recuse.schema.results import Wanting
from recuse.schema.vocabulary import FILE
from recuse.tasks import Task, load_task

UPGRADED = ("scores", "choices")  # kinds of ratings on which a candidate is held against the judge in use


@dataclass(frozen=True, slots=True, order=True)
class Elicitation:
    """One panel, asked one task by one protocol: where ratings come from, and of whom a question is asked. With a
    `candidate`, about this judge alone, in the line-up with it in place of the judge that it would replace."""

    panel: str
    task: str
    protocol: str
    candidate: str = ""

    def __str__(self) -> str:
        return "/".join(part for part in (self.panel, self.task, self.protocol, self.candidate) if part)

    @property
    def place(self) -> dict[str, str]:
        """What every conclusion drawn from it is about."""
        return {"task": self.task, "panel": self.panel, "protocol": self.protocol}

    def is_about(self, subject: Mapping[str, str]) -> bool:
        """Whether a conclusion on this subject is one on the candidate; any is, where there is none."""
        return not self.candidate or self.candidate in (subject.get(name) for name in ("judge", "author", "model"))


def missing(needs: Iterable[str], offers: Iterable[str]) -> list[str]:
    """The needs that are not offered, in their order."""
    there = set(offers)
    return [name for name in needs if name not in there]


def not_asked(panel: str, task: str, protocol: str, wanting: Sequence[str]) -> Wanting:
    """A panel and task that a question could not be asked of, and what is missing for it, with a sentence per need that
    would unlock it; `unfixed`: what its source lets open."""
    unlocking = unlock_by_column if protocol == FILE else unlock
    return {
        "panel": panel, "task": task, "protocol": protocol, "missing": list(wanting),
        "unlock": [UNLOCK.get(need) or unlocking(need) for need in wanting],
        "unfixed": [need for need in wanting if need in UNLOCK],
    }  # fmt: skip


@dataclass
class Selection:
    """The panels of a run. `files` are panels whose ratings come from a file. `shown`: the judges that verdicts are
    wanted on, all where empty. The reference is always the whole panel, so choosing judges never changes a number."""

    root: Path
    panels: Mapping[str, Panel] = field(default_factory=dict)
    files: Mapping[str, FilePanel] = field(default_factory=dict)
    shown: frozenset[str] = frozenset()
    _tasks: dict[str, Task] = field(default_factory=dict)
    _task_variants: dict[tuple[str | None, ...], Task] = field(default_factory=dict)
    _offers: dict[Elicitation, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def load(cls, root: Path, panels: Sequence[str], ratings: Sequence[str] = (), judges: Sequence[str] = ()) -> Self:
        """Panels by name or path, files of ratings by path, and the judges that verdicts are wanted on. `RecuseError`
        where there is nothing to examine, two panels share a name, or a judge or author is unknown."""
        named = dict.fromkeys([*ratings, *(given for given in panels if is_ratings_file(given))])
        files = load_file_panels([root / name for name in named]) if named else []
        panels = [given for given in panels if not is_ratings_file(given)]
        if not panels and not files:
            raise RecuseError(
                "no panel to examine: give --panel fixtures/panels/<name>.toml, or set recuse_panels in the pytest "
                "configuration; ratings you already have: --ratings FILE"
            )
        loaded = [load_panel(panel_path(root, given)) for given in panels]
        names = [*(panel.name for panel in loaded), *(file.name for file in files)]
        if len(set(names)) != len(names):
            raise RecuseError(f"two of the selected panels have the same name: {', '.join(names)}")
        if judges:
            known = {n for p in loaded for n in p.judges} | {n for file in files for n in file.judges}
            if unknown := [name for name in judges if name not in known]:
                raise RecuseError(
                    f"--judges: unknown judge {', '.join(unknown)}; the selected panels have {', '.join(sorted(known))}"
                )
            files = [file for file in files if any(judge in file.judges for judge in judges)]
            loaded = [panel for panel in loaded if any(judge in panel.judges for judge in judges)]
        selection = cls(root, {p.name: p for p in loaded}, {file.name: file for file in files}, frozenset(judges))
        for panel in loaded:
            # An author that is misspelled would leave its judge's self-bias unexamined, and green.
            targets = {target for name in panel.tasks for target in selection.task(name).targets}
            authors = {name: judge.author for name, judge in panel.judges.items()}
            if wrong := [f"judge {n}: author {a!r}" for n, a in authors.items() if a not in (None, *targets)]:
                listed = f"{', '.join(wrong)} is no target of its tasks; known: {', '.join(sorted(targets))}"
                raise RecuseError(f"{panel.path}: {listed}")
            # Words that no task has would leave a candidate asked like the judge in use, and found equivalent.
            for name, words in panel.words.items():
                folders = [selection.task(task).folder for task in panel.tasks if name in panel.candidates_of(task)]
                for own in filter(None, words):
                    if folders and not any((folder / own).exists() for folder in folders):
                        listed = ", ".join(str(folder / own) for folder in folders)
                        wording = f"judge {name} is to be asked with {own}, and there is no {listed}"
                        raise RecuseError(f"{panel.path}: {wording}")
        return selection

    def task(self, name: str) -> Task:
        """The task below fixtures/tasks/; `RecuseError` where there is none or it is wrong."""
        if name not in self._tasks:
            self._tasks[name] = load_task(self.root / "fixtures" / "tasks" / name)
        return self._tasks[name]

    def task_of(self, elicitation: Elicitation) -> Task:
        """The task as this panel is asked it by this protocol: with its items, and with a candidate's own words."""
        if elicitation.panel in self.files:
            raise RecuseError(f"{elicitation}: ratings from a file have no task; ask for the fixture ratings alone")
        panel = self.panels[elicitation.panel]
        file = panel.task(elicitation.task).items.get(elicitation.protocol)
        words = panel.words.get(elicitation.candidate, (None, None))
        variant = elicitation.task, file, *words
        if variant not in self._task_variants:
            task = self.task(elicitation.task)
            self._task_variants[variant] = task.with_items(file).in_other_words(*words)
        return self._task_variants[variant]

    def plan(self, elicitation: Elicitation) -> Plan:
        """The calls of one protocol to the judges in use, or the candidate; `RecuseError` if the panel lacks it."""
        panel, protocol = self.panels[elicitation.panel], elicitation.protocol
        table = panel.task(elicitation.task)
        if protocol not in table.protocols:
            raise RecuseError(
                f"{panel.path}: panel {panel.name} does not elicit {elicitation.task} by {protocol}; it has "
                f"{', '.join(table.protocols)}"
            )
        candidate = elicitation.candidate
        return make_plan(
            elicitation.panel, self.task_of(elicitation), protocol,
            {candidate: panel.judges[candidate]} if candidate else panel.judges_of(elicitation.task),
            identify=request_key, repeats=table.repeats.get(protocol), targets=table.targets,
            factors=table.factors.get(protocol), first=table.first.get(protocol),
        )  # fmt: skip

    def task_rows(self) -> list[dict[str, Any]]:
        """Tasks, for results.json: criteria, headline ones first, points of the widest scale, and simulated people."""
        tables = [table for panel in self.panels.values() for table in panel.tasks.values()]
        rows: list[dict[str, Any]] = []
        for name, alike in grouped(tables, lambda table: table.name).items():
            task, protocols = self.task(name), [known_protocol(one) for table in alike for one in table.protocols]
            headline = [one for how in protocols if hasattr(how, "headline") for one in how.headline(task)]
            scales = (scale for how in protocols for scale in scales_of(how, task).values())
            rows.append(_task_row(name, list(dict.fromkeys((*headline, *task.criteria))), scales))
            if task.people_simulated:
                rows[-1]["people_simulated"] = True
        files = self.files.values()
        return rows + [_task_row(f.task, list(f.ratings.headline), f.ratings.scales.values()) for f in files]

    def authors(self, elicitation: Elicitation) -> dict[str, str]:
        """Judge -> the target of this task that it wrote."""
        return self.panels[elicitation.panel].own(list(self.task(elicitation.task).targets))

    def is_shown(self, subject: Mapping[str, str]) -> bool:
        """Whether a verdict on this subject is wanted."""
        return not self.shown or "judge" not in subject or subject["judge"] in self.shown

    def offering(
        self, needs: Sequence[str], *, task: str | None = None, protocol: str | None = None,
        rests_on: SourceFixes = "pairs",
    ) -> tuple[list[Elicitation], list[Wanting]]:  # fmt: skip
        """Who offers all of `needs`, and who lacks what. `task` and `protocol` narrow it down; `RecuseError` for one
        that does not exist at all. A panel whose source does not fix what the numbers rest on lacks that."""
        files, kind = [file for file in self.files.values() if task in (None, file.task)], kind_of(needs)
        if task is not None and not files:
            self.task(task)
        if protocol not in (None, FILE):
            known_protocol(protocol)
        places, offering, lacking = list[Elicitation](), list[Elicitation](), list[Wanting]()
        for panel, table in ((p, t) for p in self.panels.values() for t in p.tasks.values() if task in (None, t.name)):
            named = [name for name in table.protocols if protocol in (None, name)]
            fitting = [name for name in named if kind == known_protocol(name).OFFERS or protocol is not None]
            candidates = ("", *(c for c in panel.candidates_of(table.name) if self.is_shown({"judge": c})))
            only = candidates[1:] if CANDIDATE in needs and len(candidates) > 1 else candidates
            pairs = product(only, fitting) if fitting else [("", "")]  # no protocol where none fits
            places += [Elicitation(panel.name, table.name, name, candidate) for candidate, name in pairs]
        places += [Elicitation(file.name, file.task, file.protocol(kind)) for file in files if protocol in (None, FILE)]
        for one in places:
            source = self.panels.get(one.panel)  # none for a file, which holds the single ratings
            open_ones = (rests_on,) if source and LEVELS.index(rests_on) > LEVELS.index(source.source_fixes) else ()
            if wanting := (*missing(needs, self.offers(one)), *open_ones) if one.protocol else (kind,):
                lacking.append(not_asked(one.panel, one.task, one.protocol, wanting))
            else:
                offering.append(one)
        return offering, lacking

    def elicitations(self, panel: str) -> list[Elicitation]:
        """Everything that is asked of the judges in use of a panel, or the one of a file."""
        if file := self.files.get(panel):
            return [Elicitation(file.name, file.task, FILE)]
        tables = self.panels[panel].tasks.values()
        return [Elicitation(panel, table.name, protocol) for table in tables for protocol in table.protocols]

    def judges_of(self, elicitation: Elicitation) -> tuple[str, ...]:
        """The judges that a conclusion at this place is about, as far as verdicts on them are wanted."""
        file = self.files.get(elicitation.panel)
        every = file.judges if file else self.panels[elicitation.panel].judges_of(elicitation.task)
        about = [elicitation.candidate] if elicitation.candidate else every
        return tuple(judge for judge in about if self.is_shown({"judge": judge}))

    def other_protocols(self, elicitation: Elicitation, needs: Iterable[str]) -> list[Elicitation]:
        """The same panel's and task's other protocols that offer a kind among `needs`."""
        if elicitation.panel in self.files:
            return []
        kinds = {name for name in needs if name in KINDS}
        table = self.panels[elicitation.panel].task(elicitation.task)
        others = [name for name in table.protocols if name != elicitation.protocol]
        return [replace(elicitation, protocol=name) for name in others if known_protocol(name).OFFERS in kinds]

    def share_of(self, elicitation: Elicitation) -> float:
        """One over the number of tasks and protocols at which a candidate is held against the judge in use."""
        panel = self.panels[elicitation.panel]
        tables = [table for table in panel.tasks.values() if elicitation.candidate in panel.candidates_of(table.name)]
        kinds = [known_protocol(name).OFFERS for table in tables for name in table.protocols]
        return 1 / max(sum(kind in UPGRADED for kind in kinds), 1)

    def offers(self, elicitation: Elicitation) -> frozenset[str]:
        """The needs that its ratings meet; worked out once, since every question asks for it."""
        if elicitation.panel in self.files:
            return self.files[elicitation.panel].offers
        if elicitation not in self._offers:
            self._offers[elicitation] = self._offered(elicitation)
        return self._offers[elicitation]

    def _offered(self, elicitation: Elicitation) -> frozenset[str]:
        panel, task = self.panels[elicitation.panel], self.task_of(elicitation)
        protocol, table = known_protocol(elicitation.protocol), panel.task(elicitation.task)
        judges = panel.judges_of(elicitation.task)
        if elicitation.candidate:
            judges.pop(panel.replaces[elicitation.candidate])
            judges[elicitation.candidate] = panel.judges[elicitation.candidate]
        first = table.first.get(elicitation.protocol)
        items = planned_items(protocol, task, next(iter(judges.values())), first) if judges else ()
        varied = planned_levels(protocol, elicitation.protocol, table.factors.get(elicitation.protocol, {}))
        known = [{**facts_of(protocol, task, item), "item": item.id, "target": item.target} for item in items]
        scales, persons = scales_of(protocol, task), persons_of(task, elicitation.protocol)
        columns = [*dict.fromkeys(("item", "target", *(known[0] if known else ())))]
        texts = pd.DataFrame({(text["item"], text["target"]): None for text in known}.keys(), columns=columns[:2])
        headline = {name: (scales[name], "", task.thresholds) for name in headline_of(protocol, task) if name in scales}
        decided = decisions_of(headline, panel.uses or ()) if protocol.OFFERS == "scores" else {}
        return offered(
            kind=protocol.OFFERS, judges=judges, about=self.judges_of(elicitation), families=panel.families,
            wrote=panel.own(list(task.targets)), written=task.targets, persons=persons, truth=bool(task.truth),
            texts=texts, targets=set(texts["target"]),
            levels={called(protocol, factor): levels for factor, levels in varied.items()},
            scales=[(*decided[name], ()) if name in decided else known for name, known in headline.items()],
            facts=known[0] if known else (), flawed=((text["item"], text.get("flawed")) for text in known),
            needs={
                "repeats": (table.repeats.get(elicitation.protocol) or protocol.REPEATS) > 1,
                "shared_texts": len(judges) > 1,
                "people": people_of(task, elicitation.protocol) is not None,
                "parts": bool(parts_of(protocol, task)) and not decided,
                "tiers": len(task.tiers) > 1,
                "slices": persons is not None and will_have_slices(pd.DataFrame(known, columns=columns), persons),
                "ranking": PLACE in scales,
                "right_scores": any(TRUE + name in text for text in known for name in scales),
                "held_out_payloads": "payloads" in task.data,
                "reference": "reference" in task.data,
                CANDIDATE: bool(elicitation.candidate),
            },
            beside=frozenset(known_protocol(name).OFFERS for name in table.protocols if name != elicitation.protocol)
            | {kind for kind in REMARKS if hasattr(protocol, kind)}
            | ({BLINDED} if task.data.get("people", {}).get("single") else set()),
        )  # fmt: skip


def _task_row(name: str, criteria: list[str], scales: Iterable[Scale]) -> dict[str, Any]:
    widths = (scale.maximum - scale.minimum for scale in scales if isinstance(scale, Numeric))
    return {"name": name, "criteria": criteria, "points": max(widths, default=None)}


def panel_path(root: Path, given: str) -> Path:
    """The file of a panel, which may be named by its short name alone."""
    return root / (given if Path(given).suffix else Path("fixtures/panels") / f"{given}.toml")
