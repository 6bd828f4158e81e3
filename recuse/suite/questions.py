"""Whom a question can be asked of: what every panel, task and protocol will offer, known before any rating is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from recuse.elicitation.panel_ratings import REMARKS, headline_of, scales_of
from recuse.elicitation.plan import planned_items, planned_levels
from recuse.panels.loaded_panel import unfixed
from recuse.protocols import called
from recuse.protocols import protocol as known_protocol
from recuse.protocols.wording import facts_of
from recuse.ratings.criteria import PLACE, TRUE
from recuse.ratings.needs import CANDIDATE, KINDS, kind_of, missing
from recuse.ratings.offers import RatingFacts, offered
from recuse.references import BLINDED, people_of, persons_of
from recuse.schema import SourceFixes
from recuse.schema.vocabulary import FILE
from recuse.suite.panel_selection import Elicitation, NotAsked, Selection

UPGRADED = ("scores", "choices")
"""Kinds of ratings on which a candidate is held against the judge in use."""


@dataclass
class Questions:
    """Answers "who offers what this question needs?" for the panels of `selection`."""

    selection: Selection
    _offers: dict[Elicitation, frozenset[str]] = field(default_factory=dict)

    def offering(
        self, needs: Sequence[str], *, task: str | None = None, protocol: str | None = None,
        rests_on: SourceFixes = "pairs",
    ) -> tuple[list[Elicitation], list[NotAsked]]:  # fmt: skip
        """Who offers all of `needs`, and who lacks what. `task` and `protocol` narrow it down; `RecuseError` for one
        that does not exist at all. A panel whose source does not fix what the numbers rest on lacks that."""
        offering: list[Elicitation] = []
        lacking: list[NotAsked] = []
        for one in (*self._of_panels(needs, task, protocol), *self._of_files(needs, task, protocol)):
            if isinstance(one, NotAsked):
                lacking.append(one)
            elif wanting := self._wanting(one, needs, rests_on):
                lacking.append(NotAsked(one.panel, one.task, one.protocol, wanting))
            else:
                offering.append(one)
        return offering, lacking

    def _wanting(self, elicitation: Elicitation, needs: Sequence[str], rests_on: SourceFixes) -> tuple[str, ...]:
        panel = self.selection.panels.get(elicitation.panel)  # none for a file, which holds the single ratings
        absent = missing(needs, self.offers(elicitation))
        return (*absent, *(unfixed(panel.source_fixes, rests_on) if panel else ()))

    def _of_panels(
        self, needs: Sequence[str], task: str | None, protocol: str | None
    ) -> Iterator[Elicitation | NotAsked]:
        """Every panel and task, by each of its protocols that has rows of the kind that is needed."""
        if task is not None and not any(file.task == task for file in self.selection.files.values()):
            self.selection.task(task)
        if protocol not in (None, FILE):
            known_protocol(protocol)
        kind = kind_of(needs)
        for panel, table in ((p, t) for p in self.selection.panels.values() for t in p.tasks.values()):
            if task not in (None, table.name):
                continue
            named = [name for name in table.protocols if protocol in (None, name)]
            fitting = [name for name in named if kind == known_protocol(name).OFFERS or protocol is not None]
            candidates = ("", *panel.candidates_of(table.name))
            only = candidates[1:] if CANDIDATE in needs and len(candidates) > 1 else candidates
            yield from (Elicitation(panel.name, table.name, name, candidate) for candidate in only for name in fitting)
            if not fitting:
                yield NotAsked(panel.name, table.name, "", (kind,))

    def _of_files(self, needs: Sequence[str], task: str | None, protocol: str | None) -> Iterator[Elicitation]:
        for file in self.selection.files.values():
            if task in (None, file.task) and protocol in (None, FILE):
                yield Elicitation(file.name, file.task, file.protocol(kind_of(needs)))

    def elicitations(self, panel: str) -> list[Elicitation]:
        """Everything that is asked of the judges in use of a panel, or the one of a file."""
        if file := self.selection.files.get(panel):
            return [Elicitation(file.name, file.task, FILE)]
        tables = self.selection.panels[panel].tasks.values()
        return [Elicitation(panel, table.name, protocol) for table in tables for protocol in table.protocols]

    def judges_of(self, elicitation: Elicitation) -> tuple[str, ...]:
        """The judges that a conclusion at this place is about, as far as verdicts on them are wanted."""
        file, shown = self.selection.files.get(elicitation.panel), self.selection.shown
        every = file.judges if file else self.selection.panels[elicitation.panel].judges_of(elicitation.task)
        about = [elicitation.candidate] if elicitation.candidate else every
        return tuple(judge for judge in about if not shown or judge in shown)

    def other_protocols(self, elicitation: Elicitation, needs: Iterable[str]) -> list[Elicitation]:
        """The same panel's and task's other protocols that offer a kind among `needs`."""
        if elicitation.panel in self.selection.files:
            return []
        kinds = {name for name in needs if name in KINDS}
        table = self.selection.panels[elicitation.panel].task(elicitation.task)
        others = [name for name in table.protocols if name != elicitation.protocol]
        return [replace(elicitation, protocol=name) for name in others if known_protocol(name).OFFERS in kinds]

    def share_of(self, elicitation: Elicitation) -> float:
        """One over the number of tasks and protocols at which a candidate is held against the judge in use."""
        panel = self.selection.panels[elicitation.panel]
        places = sum(
            known_protocol(name).OFFERS in UPGRADED
            for table in panel.tasks.values()
            if elicitation.candidate in panel.candidates_of(table.name)
            for name in table.protocols
        )
        return 1 / max(places, 1)

    def offers(self, elicitation: Elicitation) -> frozenset[str]:
        """The needs that its ratings meet; worked out once, since every question asks for it."""
        if elicitation.panel in self.selection.files:
            return self.selection.files[elicitation.panel].offers
        if elicitation not in self._offers:
            self._offers[elicitation] = offered(self._facts(elicitation))
        return self._offers[elicitation]

    def _facts(self, elicitation: Elicitation) -> RatingFacts:
        panel, task = self.selection.panels[elicitation.panel], self.selection.task_of(elicitation)
        protocol, table = known_protocol(elicitation.protocol), panel.task(elicitation.task)
        judges = panel.judges_of(elicitation.task)
        if elicitation.candidate:
            judges.pop(panel.replaces[elicitation.candidate])
            judges[elicitation.candidate] = panel.judges[elicitation.candidate]
        first = table.first.get(elicitation.protocol)
        items = planned_items(protocol, task, next(iter(judges.values())), first) if judges else ()
        texts = pd.DataFrame([(item.id, item.target) for item in items], columns=["item", "target"])
        varied = planned_levels(protocol, elicitation.protocol, table.factors.get(elicitation.protocol, {}))
        known = [(item.id, facts_of(protocol, task, item)) for item in items]
        shown, scales = self.selection.shown, scales_of(protocol, task)
        about = [elicitation.candidate] if elicitation.candidate else [*judges]
        return RatingFacts(
            kind=protocol.OFFERS,
            judges=judges,
            about=[judge for judge in about if not shown or judge in shown],
            wrote=panel.own(list(task.targets)),
            families=panel.families,
            texts=texts.drop_duplicates(),
            targets=set(texts["target"]),
            written=task.targets,
            tiers=len(task.tiers),
            repeats=table.repeats.get(elicitation.protocol) or protocol.REPEATS,
            levels={called(protocol, factor): levels for factor, levels in varied.items()},
            scales=[(scales[name], "", ()) for name in headline_of(protocol, task) if name in scales],
            facts=known[0][1] if known else (),
            flawed=((item, facts.get("flawed")) for item, facts in known),
            persons=persons_of(task, elicitation.protocol),
            people=people_of(task, elicitation.protocol) is not None,
            truth=bool(task.truth),
            parts=bool(getattr(protocol, "parts", lambda task: ())(task)),
            ranking=PLACE in scales,
            right_scores=any(TRUE + name in facts for _, facts in known for name in scales),
            held_out_payloads="payloads" in task.data,
            reference="reference" in task.data,
            candidate=bool(elicitation.candidate),
            beside=frozenset(known_protocol(name).OFFERS for name in table.protocols if name != elicitation.protocol)
            | {kind for kind in REMARKS if hasattr(protocol, kind)}
            | ({BLINDED} if task.data.get("people", {}).get("single") else set()),
        )
