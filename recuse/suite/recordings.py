"""The cassettes of the selected panels: read, and recorded where answers are missing. One per process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

from recuse.cassettes.cell_coverage import Coverage, MissingInteractionError, unused_lines
from recuse.cassettes.library import Library, Mode
from recuse.elicitation.chains import Chain
from recuse.elicitation.panel_ratings import REMARKS
from recuse.elicitation.plan import Plan, digests, headers
from recuse.elicitation.replies import Elicited, read_replies
from recuse.panels import Panel
from recuse.protocols import called, headline_of
from recuse.protocols import protocol as known_protocol
from recuse.references import said_by_people
from recuse.schema import Call, Exchange, RawResponse, RecuseError, Transcript
from recuse.schema.factors import level_words
from recuse.schema.plain_values import grouped
from recuse.schema.results import ChangedRow, Replayed, RepliesRow
from recuse.suite.questions import Elicitation, Selection
from recuse.tasks import Task

RECORD_MODES: Mapping[str, Mode] = {
    "none": "replay", "missing": "missing", "all": "all", "batch": "missing", "sample": "replay"
}  # fmt: skip
"""Values of the option --record, and what they mean for the cassettes."""
Keep = Callable[[Transcript], RepliesRow]  # what becomes of the replies beside the ratings made of them


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
    # the calls whose replies give remarks as well
    _judging: dict[Elicitation, Sequence[Call]] = field(default_factory=dict)

    def read(self, elicitation: Elicitation, plan: Plan) -> tuple[Elicited, Replayed]:
        """What the judges said, each reply read once, and an account of the cassettes it was read from. Records first
        what is missing, where that is wanted; `MissingInteractionError` where something stays missing."""
        panel, library = self.selection.panels[elicitation.panel], self._library(elicitation.panel)
        chain, coverage = self._unfolded(elicitation, plan)
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
            chain, coverage = self._unfolded(elicitation, plan)
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
        unused = [one for one in library.unused() if one.cell in cells]
        account: Any = {
            "files": len(cells), "used": len(chain.calls), "unused": len(unused),
            "unused_lines": [line.strip() for line in unused_lines(unused)], "left_out": sorted(left_out),
            "usage": elicited.usage, "excerpts": elicited.excerpts if self.texts else [],
            "source": digests(plan, headers(panel, plan, chain.calls)),
        }  # fmt: skip
        if self.keep is not None:
            task = self.selection.task_of(elicitation)
            account["replies"] = self.keep(_transcript(elicitation, panel, task, exchanges or []))
        return elicited, account

    def replies(self, elicitation: Elicitation, plan: Plan) -> Iterable[tuple[Call, RawResponse]]:
        """What `read`, here or in another worker, has read already, once more: for what is seldom asked of a reply."""
        if elicitation not in self._judging:
            chain, coverage = self._unfolded(elicitation, plan)
            left_out = _not_recorded(coverage)
            self._judging[elicitation] = [call for call in chain.final_calls if call.judge not in left_out]
        return self._library(elicitation.panel).replay(self._judging[elicitation])

    def _unfolded(self, elicitation: Elicitation, plan: Plan) -> tuple[Chain, Coverage]:
        """The plan's calls, as far as the library has the replies they are made from, and what it lacks."""
        library, chain = self._library(elicitation.panel), Chain(plan)
        calls = chain.unfold(library.answer)
        return chain, library.expect(calls, headers(self.selection.panels[elicitation.panel], plan, calls))

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
