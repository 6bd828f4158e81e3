"""One run: the selection, its questions, its recordings and its gates. `Recordings` reads the cassettes of the selected
panels and records where answers are missing; `Suite` makes each panel's ratings once. One of each per process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from recuse.cassettes.cell_cassette import Coverage, MissingInteractionError, unused_lines
from recuse.cassettes.library import Library, Mode
from recuse.elicitation.chains import Chain
from recuse.elicitation.plan import Plan, digests, headers
from recuse.elicitation.replies import REMARKS, Elicited, explanations_of, panel_ratings, read_replies
from recuse.gates import Gates
from recuse.gates.baseline_file import BaselineError, gates_at, stated, with_former
from recuse.gates.baseline_file import load as load_baseline
from recuse.gates.gate_tables import Uses, uses_for
from recuse.git import BaseCommit, Unreadable, base_commit
from recuse.panels import Panel
from recuse.protocols import called, headline_of
from recuse.protocols import protocol as known_protocol
from recuse.references import BLINDED, blinded_people, said_by_people
from recuse.schema import Call, Exchange, RawResponse, RecuseError, Transcript
from recuse.schema.factors import level_words
from recuse.schema.plain_values import grouped
from recuse.schema.results import ChangedRow, Replayed, RepliesRow
from recuse.security.network import blocked_network
from recuse.suite.question_runner import Records, Respondents
from recuse.suite.questions import Elicitation, Selection
from recuse.tasks import Task

if TYPE_CHECKING:
    from recuse.metrics.upgrade import Upgrade
    from recuse.ratings import Ratings

__all__ = ["Elicitation", "Recordings", "Selection", "Suite"]

RECORD_MODES: Mapping[str, Mode] = {
    "none": "replay", "missing": "missing", "all": "all", "batch": "missing", "sample": "replay"
}  # fmt: skip
"""Values of the option --record, and what they mean for the cassettes."""
Headers = Mapping[str, Mapping[str, Any]]  # cell -> what opens its cassette
Keep = Callable[[Transcript], RepliesRow]  # what becomes of the replies beside the ratings made of them


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
            beside=cache(lambda kind: self._of_kind(elicitation, kind)),
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

    def answered(self, elicitation: Elicitation, judge: str, /, **levels: str) -> tuple[Any, Any, Any]:
        """The ratings, and, where the judge was recorded, how it was asked, by the names of `SETTINGS`, and `calls`; of
        a file, what those cost that were made at these levels of factors."""
        from recuse.metrics.upgrade import SETTINGS

        ratings = self.ratings(elicitation)
        if file := self.selection.files.get(elicitation.panel):
            calls = file.calls()
            own = calls[calls["rater"].eq(judge) & (calls.reindex(columns=[*levels]) == [*levels.values()]).all(axis=1)]
            return ratings, {}, {"calls": len(own), "the file's unit": float(own["cost"].mean())} if len(own) else {}
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


@dataclass
class Recordings:
    """`models`: where weights of local models are. `yes`: record even above the budget. `distributed`: one of several
    processes, which records nothing. `sample`: ask a part again and compare it. `texts`: prompts and replies show."""

    selection: Selection
    mode: Mode = "replay"
    models: Path = Path("models")
    yes: bool = False
    distributed: bool = False
    batch: bool = False
    sample: bool = False
    keep: Keep | None = None
    texts: bool = True
    sampled: list[ChangedRow] = field(default_factory=list)
    _libraries: dict[str, Library] = field(default_factory=dict)
    _unrecorded: dict[str, RecuseError] = field(default_factory=dict)  # panel -> why its recording ended early
    _judging: dict[Elicitation, Sequence[Call]] = field(default_factory=dict)  # whose replies give remarks

    def read(self, elicitation: Elicitation, plan: Plan) -> tuple[Elicited, Replayed]:
        """What the judges said, each reply read once, and an account of the cassettes it was read from. Records first
        what is missing, where that is wanted; `MissingInteractionError` where something stays missing."""
        panel, library = self.selection.panels[elicitation.panel], self._library(elicitation.panel)
        chain, coverage, opening = self._unfolded(elicitation, plan)
        shown = self.selection.shown
        wanted = [call for call in coverage.missing if not shown or call.judge in shown]
        if wanted and self.mode != "replay":
            if self.distributed:
                raise RecuseError(
                    f"{elicitation}: recording runs in one process (it is concurrent inside); leave out -n for the "
                    f"{len(wanted)} calls that are missing here"
                )
            if elicitation.panel not in self._unrecorded:  # else it was tried in vain
                self.record([elicitation])
            if elicitation.panel in self._unrecorded:
                raise self._unrecorded[elicitation.panel]
            chain, coverage, opening = self._unfolded(elicitation, plan)
        left_out = _not_recorded(coverage)
        if not coverage.complete and (not shown or left_out & shown or coverage.damaged or not left_out):
            because = f"{elicitation} cannot be replayed: {coverage.cause}."
            details = coverage.text(texts=self.texts)
            raise MissingInteractionError(f"{because}\n{details}\nRecord: {library.command}")
        if left_out:  # nobody asked for a verdict on them, so they may be missing from the reference, and it is said
            plan = plan.without(left_out)
            chain = Chain(plan)
            chain.unfold(library.answer)
        exchanges: list[Exchange] | None = None if self.keep is None else []
        elicited = read_replies(plan, library.replay(chain.final_calls), chain, exchanges)
        if any(hasattr(chain.how, kind) for kind in REMARKS):
            self._judging[elicitation] = chain.final_calls
        cells = {call.cell for call in chain.calls}
        unused = library.unused(cells)
        account: Any = {
            "files": len(cells), "interactions": len(chain.calls) + len(unused), "used": len(chain.calls),
            "unused": len(unused), "unused_lines": [line.strip() for line in unused_lines(unused)],
            "usage": elicited.usage, "excerpts": elicited.excerpts if self.texts else [],
            "source": digests(plan, {cell: opening[cell] for cell in cells}),
        }  # fmt: skip
        if self.keep is not None:
            task = self.selection.task_of(elicitation)
            account["replies"] = self.keep(_transcript(elicitation, panel, task, exchanges or []))
        return elicited, account

    def replies(self, elicitation: Elicitation, plan: Plan) -> Iterable[tuple[Call, RawResponse]]:
        """What `read`, here or in another worker, has read already, once more: for what is seldom asked of a reply."""
        if elicitation not in self._judging:
            chain, coverage, _ = self._unfolded(elicitation, plan)
            left_out = _not_recorded(coverage)
            self._judging[elicitation] = [call for call in chain.final_calls if call.judge not in left_out]
        return self._library(elicitation.panel).replay(self._judging[elicitation])

    def _unfolded(self, elicitation: Elicitation, plan: Plan) -> tuple[Chain, Coverage, Headers]:
        """The plan's calls, as far as the library has their replies, what it lacks, and what opens the cassettes."""
        library, chain = self._library(elicitation.panel), Chain(plan)
        calls = chain.unfold(library.answer)
        opening = headers(self.selection.panels[elicitation.panel], plan, calls)
        return chain, library.expect(calls, opening), opening

    def record(self, wanted: Iterable[Elicitation], *, stop_at_first: bool = False) -> None:
        """Ask what is missing for all of these, or a sample of what is there: one recording per panel, one budget over
        all of it. A panel that could not be recorded fails the tests that need it; an interruption ends everything."""
        from recuse.recording.panel_recording import Recorder, record_batches
        from recuse.recording.sample import not_sampled, sample_again

        recorded = [one for one in dict.fromkeys(wanted) if one.panel not in self.selection.files]
        for name, parts in grouped(recorded, attrgetter("panel")).items():
            try:
                panel, library = self.selection.panels[name], self._library(name)
                plans, shown = [self.selection.plan(elicitation) for elicitation in parts], self.selection.shown
                if shown:  # choosing judges chooses whom to pay
                    plans = [plan.without(set(plan.judges) - shown) for plan in plans]
                recorder = Recorder(panel, library, self.selection.root, self.models, self.yes)
                if self.sample:
                    self.sampled += sample_again(recorder, library, plans)
                elif self.batch:
                    record_batches(recorder, plans)
                else:
                    recorder.record(plans)
            except RecuseError as error:
                self._unrecorded[name] = error
                self.sampled += [not_sampled(name, error)] if self.sample else []
                if stop_at_first:
                    return

    def _library(self, name: str) -> Library:
        if name not in self._libraries:
            secrets: Iterable[str] = ()
            root, panel = self.selection.root, self.selection.panels[name]
            path = panel.path.relative_to(root) if panel.path.is_relative_to(root) else panel.path.name
            if self.mode != "replay":
                from recuse.judges.client import secrets_of  # with the HTTP client

                secrets = secrets_of(panel.judges).values()
            self._libraries[name] = Library(
                root / "cassettes", name, mode=self.mode, secrets=secrets,
                command=f"pytest evals/ --panel {path} --record=missing", texts=self.texts,
            )  # fmt: skip
        return self._libraries[name]


def _transcript(elicitation: Elicitation, panel: Panel, task: Task, exchanges: list[Exchange]) -> Transcript:
    how, labels = known_protocol(elicitation.protocol), {name: judge.label for name, judge in panel.judges.items()}
    levels = {
        factors: ", ".join(level_words(called(how, factor), called(how, factor, level)) for factor, level in factors)
        for factors in dict.fromkeys(exchange.call.factors for exchange in exchanges)
    }
    about = (elicitation.panel, elicitation.task, elicitation.protocol, elicitation.candidate)
    headline = headline_of(how, task)
    people = said_by_people(task, elicitation.protocol, headline)
    return Transcript(*about, panel.provenance, labels, levels, exchanges, people, headline)


def _not_recorded(coverage: Coverage) -> set[str]:
    missing = {call.judge for call in coverage.missing}
    return missing | {stale.cell.rpartition("/")[2].partition("~")[0] for stale in coverage.stale}
