"""One run: the selection, its questions, its recordings and its gates; makes each panel's ratings once."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from recuse.elicitation.chains import Chain
from recuse.elicitation.panel_ratings import REMARKS, explanations_of, panel_ratings
from recuse.elicitation.plan import headers
from recuse.gates import Gates
from recuse.gates.baseline_file import BaselineError, gates_at, stated, with_former
from recuse.gates.baseline_file import load as load_baseline
from recuse.gates.gate_tables import Uses, uses_for
from recuse.git import BaseCommit, Unreadable, base_commit
from recuse.protocols import protocol as known_protocol
from recuse.references import BLINDED, blinded_people
from recuse.schema import RecuseError
from recuse.security.network import blocked_network
from recuse.suite.question_runner import Records, Respondents
from recuse.suite.questions import Elicitation, Selection
from recuse.suite.recordings import RECORD_MODES, Keep, Recordings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recuse.metrics.upgrade import Upgrade
    from recuse.ratings import Ratings

__all__ = ["Elicitation", "Selection", "Suite"]


@dataclass
class Suite:
    """Use as a context manager: closes cassettes and lifts the network block on the way out."""

    selection: Selection
    gates: Gates
    recordings: Recordings
    base: BaseCommit | Unreadable | None = None
    _made: dict[Elicitation, Ratings | RecuseError] = field(default_factory=dict)
    _uses: dict[str, Uses] = field(default_factory=dict)
    records: Records = field(default_factory=Records)  # of collecting and replaying, which xdist workers hand over
    _open: ExitStack = field(default_factory=ExitStack)

    @classmethod
    def from_options(
        cls, *, root: Path, panels: Sequence[str], judges: Sequence[str], record: str, yes: bool, models: Path,
        gates: Path, distributed: bool, ratings: Sequence[str] = (),
        baseline: Path | None = None, keep: Keep | None = None, texts: bool = True, base: str | None = None,
    ) -> Self:  # fmt: skip
        """From the options of the command line; `RecuseError` for any that is wrong. `base`: the commit whose gates
        these are compared with; where there is none, with those of `baseline`, if it is there. `keep`: what becomes of
        the replies beside the ratings; `texts`: whether records and messages quote prompts and replies."""
        selection = Selection.load(root, panels, ratings, judges)
        if record == "sample" and distributed:
            raise RecuseError("--record=sample asks in one process (it is concurrent inside); leave out -n")
        recordings = Recordings(
            selection, RECORD_MODES[record], models, yes=yes, distributed=distributed, batch=record == "batch",
            sample=record == "sample", keep=keep, texts=texts,
        )  # fmt: skip
        loaded = Gates.load(gates, today=date.today())
        commit = base_commit(root, base)
        before = None
        if isinstance(commit, BaseCommit) and gates.is_relative_to(root):
            before = gates_at(commit, gates.relative_to(root).as_posix(), loaded.today)
        if before is not None:
            loaded = with_former(loaded, stated(before))
        elif baseline is not None and baseline.is_file():
            with suppress(BaselineError):  # told once, when all is done
                loaded = with_former(loaded, load_baseline(baseline)["gates"])
        return cls(selection, loaded, recordings, commit)

    def __enter__(self) -> Self:
        if self.recordings.mode == "replay":
            self._open.enter_context(blocked_network())
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def respondents(self, elicitation: Elicitation) -> Respondents:
        """Whom a question is asked of there."""
        of, panel = self.selection, elicitation.panel
        newest = of.files[panel].newest if panel in of.files else ""
        judges, offers = of.judges_of(elicitation), of.offers(elicitation)
        return Respondents(elicitation.place, judges, self.uses(panel), offers, newest)

    def uses(self, panel: str) -> Uses:
        """What the panel's judges are used for, as it states or as its ratings suggest; nothing in a study."""
        if panel not in self._uses:
            selected = self.selection.panels.get(panel) or self.selection.files[panel]
            offered = map(self.selection.offers, self.selection.elicitations(panel))
            self._uses[panel] = uses_for(selected.uses, offered, self.gates.uses, str(selected.path))
        return self._uses[panel]

    def ratings(self, elicitation: Elicitation) -> Ratings:
        """The ratings, made once per process; a failure is kept and raised again at once."""
        if elicitation not in self._made:
            try:
                self._made[elicitation] = self._make(elicitation)
            except RecuseError as error:
                self._made[elicitation] = error
        made = self._made[elicitation]
        if isinstance(made, RecuseError):
            raise made
        return made

    def _make(self, elicitation: Elicitation) -> Ratings:
        if elicitation.panel in self.selection.files:
            return self.selection.files[elicitation.panel].by(elicitation.protocol)
        plan = self.selection.plan(elicitation)
        elicited, account = self.recordings.read(elicitation, plan)
        self.records.replayed[str(elicitation)] = account
        panel = self.selection.panels[elicitation.panel]
        made = panel_ratings(
            plan, elicited.table, authors=self.selection.authors(elicitation), families=panel.families,
            beside=lambda kind: self._of_kind(elicitation, kind),
        )  # fmt: skip
        if known_protocol(elicitation.protocol).OFFERS == "scores":
            made, _ = made.as_decisions(panel.uses or ())
        if not elicitation.candidate:
            return made
        # the line-up of the judges in use, with the candidate in the place of the one that it would replace
        in_use = self.ratings(replace(elicitation, candidate=""))
        return in_use.without(panel.replaces[elicitation.candidate]).joined_by(made)

    def _of_kind(self, elicitation: Elicitation, kind: str) -> Ratings | None:
        table = self.selection.panels[elicitation.panel].task(elicitation.task)
        if kind == BLINDED:
            return blinded_people(self.selection.task_of(elicitation))
        if kind in REMARKS:
            plan, authors = self.selection.plan(elicitation), self.selection.authors(elicitation)
            return explanations_of(plan, lambda: self.recordings.replies(elicitation, plan), authors, kind)
        name = next((name for name in table.protocols if kind == known_protocol(name).OFFERS), None)
        return None if name is None else self.ratings(replace(elicitation, protocol=name))

    def upgrade(self, elicitation: Elicitation) -> Upgrade:
        """The candidate of `elicitation` against the judge that it would replace."""
        from recuse.metrics.upgrade import Upgrade

        panel = self.selection.panels[elicitation.panel]
        incumbent, in_use = panel.replaces[elicitation.candidate], replace(elicitation, candidate="")
        sides = self.answered(in_use, incumbent), self.answered(elicitation, elicitation.candidate)
        (before, after), settings, calls = zip(*sides, strict=True)
        change = panel.changes[elicitation.candidate]
        return Upgrade(before, incumbent, after, elicitation.candidate, change, settings, calls)

    def answered(self, elicitation: Elicitation, judge: str) -> tuple[Any, Any, Any]:
        """The ratings, and, where the judge was recorded, how it was asked, by the names of `SETTINGS`, and `calls`."""
        from recuse.metrics.upgrade import SETTINGS

        ratings = self.ratings(elicitation)
        if elicitation.panel in self.selection.files:
            return ratings, {}, {}
        plan = self.selection.plan(elicitation)
        plan = plan.without(set(plan.judges) - {judge})
        header = headers(self.selection.panels[elicitation.panel], plan, Chain(plan).expected())  # of its cassettes
        first = next(iter(header.values()), {}).get("fingerprint", {})
        settings = {**{name: first[name] for name in SETTINGS if name in first}, "repeats": plan.repeats}
        return ratings, settings, self.calls(elicitation, judge)

    def calls(self, elicitation: Elicitation, judge: str) -> dict[str, float | None]:
        """Mean dollars, tokens and seconds per call of a judge, as recorded; None where a reply did not say."""
        there = self.records.replayed.get(str(elicitation))
        row = next((row for row in (there["usage"] if there else ()) if row["judge"] == judge), None)
        if row is None or not row["calls"]:
            return {}
        counts = row["input_tokens"], row["output_tokens"]
        per_call = {"dollars": row["dollars"], "tokens": None if None in counts else sum(counts),
                    "seconds": row["seconds"]}  # fmt: skip
        return {"calls": row["calls"], **{k: None if v is None else v / row["calls"] for k, v in per_call.items()}}
