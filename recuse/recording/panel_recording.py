"""One recording of a panel: who answers, one budget for everything that is missing, asking it, and one stop for all."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from recuse.batch.recording import PRICE, Batches, BatchReport, State, number_of
from recuse.cassettes.library import Library
from recuse.cassettes.matching import call_headers
from recuse.configuration import named
from recuse.elicitation.chains import Chain
from recuse.elicitation.plan import Plan, headers
from recuse.judges.client import Client, Credentials, keys_from_environment, short_keys
from recuse.panels import Panel
from recuse.recording.asking import Readable, Recording
from recuse.recording.budget import Cost, Spending, check_budget, cost_text, expected_costs, total
from recuse.recording.progress import IncompleteRecordingError, ProgressLine, RecordingReport, StopSignals, spent_text
from recuse.schema import Call, Judge, RawResponse, RecuseError
from recuse.standins import StandIns, open_source


@dataclass(frozen=True)
class Recorder:
    """Fills a library with what the plans of a panel lack. `say` gets one piece of news at a time."""

    panel: Panel
    library: Library
    root: Path
    models: Path
    yes: bool = False
    say: Callable[[str], None] = lambda line: print(line, file=sys.stderr, flush=True)

    def record(self, plans: Sequence[Plan], readable: Readable | None = None) -> None:
        """Return when every call of the plans is on disk. The budget is asked once, before the first call, over all
        that is missing. Local models are started one after the other, so that one machine can hold them, and go through
        all of their stages; all others are asked at once. `readable` says why a reply cannot be read (default: what its
        protocol makes of it); for which forms no more are asked then, `FormCheck` says. Raises `RecuseError` before
        anything is asked, `IncompleteRecordingError` if something is missing in the end, `RecordingInterrupted` (a
        KeyboardInterrupt) after SIGINT or SIGTERM; all that was answered is then on disk."""
        if report := self.attempt(Chains(self.panel, self.library, plans), readable):
            self.say(report.text())
            report.check()

    def attempt(self, chains: Chains, readable: Readable | None = None) -> RecordingReport | None:
        """`record`, whose outcome the caller says; None where nothing was missing."""
        with self.library.use():  # also without anything to ask: settles what a changed plan left behind
            calls = chains.calls()
            missing = [call for call in calls if not self.library.has(call)]
            if kept := self.library.resumed(calls):
                how = "delete the files ending in .new" if missing else "use --record=all once more"
                since = f"{kept} of {len(calls)} answers are from then ({how} to ask for all of them)"
                self.say(f"{self.panel.name}: going on with a recording anew that was interrupted; {since}")
            if not missing:
                return None
            state = State(self.library.root, self.panel.name)
            if waiting := len(state.under_way() & {number_of(call) for call in missing}) if state else 0:
                why = f"{waiting} of the {len(missing)} answers that are missing are under way in a batch"
                remedy = f"delete {state.path}, once the provider's console shows no batch, to ask for all of them now"
                first = "would be paid for twice. Collect them first, with --record=batch"
                raise RecuseError(f"{self.panel.name}: {why} and {first}; or {remedy}")
            missing = [call for call in chains.expected() if not self.library.has(call)]
            judges = chains.judges(missing)
            self.allow(missing, judges)
            recording = Recording(
                calls, self.library, spending=self.spending(missing, judges), progress=ProgressLine(sys.stderr),
                # stand-ins cost nothing, and may say nonsense
                readable=readable or (None if self.panel.stand_in else chains.why_unreadable), expected=len(missing),
            )  # fmt: skip
            keys = {} if self.panel.stand_in else keys_from_environment(chains.judges(recording.missing))
            with recording.signals.installed():
                try:
                    while groups := self._groups(recording, chains):
                        for group in groups:
                            self._ask(recording, group, chains, keys)
                except RecuseError:  # a local model that does not start: say what the others gave
                    self.say(recording.outcome().text())
                    raise
            recording.extend(chains.calls())  # what the last replies opened up and was not asked any more
        return recording.outcome()

    def allow(self, calls: Sequence[Call], judges: Mapping[str, Judge], *, share: float = 1.0, how: str = "") -> None:
        """Say what these calls cost at most, at a `share` of the prices; `RecuseError` if that is not allowed."""
        for why, count in self.library.no_answers(calls).items():
            self.say(f"{self.panel.name}: {count} stored answers are no reply of the model and are asked again: {why}")
        costs = self._costs(calls, judges, share)
        self.say(f"{self.panel.name}{how}: {cost_text(costs)}")
        if self.panel.stand_in is None and (warning := short_keys(judges)):
            self.say(warning)
        check_budget(costs, self.panel.budget_usd, self.yes)

    def spending(self, missing: Sequence[Call], judges: Mapping[str, Judge], *, share: float = 1.0) -> Spending:
        """What counts the bill of all that is missing, at a `share` of the judges' prices."""
        expected = total(cost.dollars for cost in self._costs(missing, judges, share))
        priced = {n: j for n, j in judges.items() if None not in (j.input_usd_per_mtok, j.output_usd_per_mtok)}
        allowed = None if expected is None else max(self.panel.budget_usd, expected)
        return Spending({} if self.panel.stand_in else priced, share, expected, allowed)

    def _costs(self, calls: Sequence[Call], judges: Mapping[str, Judge], share: float) -> list[Cost]:
        # Nobody is paid for stand-ins, for models we serve ourselves, and where the panel file says so.
        free = judges if self.panel.stand_in or self.panel.free else self.panel.servers
        return expected_costs(calls, judges, set(free), share)

    def _groups(self, recording: Recording, chains: Chains) -> list[dict[str, Judge]]:
        """The judges that can be asked something now: local models one by one, the others at once."""
        if recording.stopped:
            return []
        recording.extend(chains.calls())
        judges = chains.judges(recording.unasked)
        served = [{name: judges.pop(name)} for name in list(judges) if name in self.panel.servers]
        return [*([judges] if judges else []), *served]

    def _ask(
        self, recording: Recording, judges: dict[str, Judge], chains: Chains, keys: Mapping[str, Credentials]
    ) -> None:
        """Ask these judges all that can be asked, stage after stage."""
        if recording.stopped:
            return
        own = {name: key for name, key in keys.items() if name in judges}
        with ExitStack() as serving:
            for name, server in ((name, self.panel.servers[name]) for name in judges if name in self.panel.servers):
                if server.serve is None:
                    remedy = 'name a function of yours, serve = "our_judges.local_models.serving"'
                    why = f"judge {name}: [judge.server] does not say what serves the model"
                    raise RecuseError(f"{self.panel.path}: {why}; {remedy}")
                start = named(server.serve, what="server of a local model", package="recuse.servers")
                serving.enter_context(start(name, judges[name].base_url, server, self.models, self.say))
            while calls := [call for call in recording.unasked if call.judge in judges]:

                async def ask(calls: Sequence[Call] = calls) -> None:
                    known, texts = self.library.secrets, self.library.texts
                    both = ((chain, call) for chain in chains.chains for call in chain.calls)
                    planned = ((call, chain.judges[call.judge], chain.item(call).fields) for chain, call in both)
                    source = open_source(self.panel, self.root) if self.panel.stand_in else None
                    acted = StandIns(source, self.panel.provenance, planned) if source else None
                    async with Client(judges, own, call_headers, stand_ins=acted, secrets=known, texts=texts) as client:
                        await recording.ask(calls, client.send, judges)

                asyncio.run(ask())
                if recording.stopped:
                    return
                recording.extend(chains.calls())


def record_batches(recorder: Recorder, plans: Sequence[Plan], *, sleep: Callable[[float], None] = time.sleep) -> None:
    """`Recorder.record` by batch: submits all protocols at once, then waits. A process that is ended while it waits
    loses nothing: the same plans take up what is under way, and only the rest is charged to the budget and submitted.
    Raises what `record` raises, `IncompleteRecordingError` also if a call ran out of time twice, or if the bill exceeds
    what was allowed; what is under way is then cancelled."""
    panel, library = recorder.panel, recorder.library
    if panel.stand_in is not None:
        raise RecuseError(f"{panel.path}: stand-ins answer at once; record this panel with --record=missing")
    with library.use(), StopSignals().installed():
        chains = Chains(panel, library, plans)
        missing = [call for call in chains.calls() if not library.has(call)]
        if not missing:
            return
        expected = [call for call in chains.expected() if not library.has(call)]
        judges = chains.judges(expected)
        spending = recorder.spending(expected, judges, share=PRICE)  # also of what is under way

        def spent() -> str:
            return spent_text(spending.spent, spending.expected, before="; ")

        batches = Batches(
            library, judges, keys_from_environment(judges), say=lambda line: recorder.say(f"{line}{spent()}"),
            must_stop=lambda: spending.exceeded, stored=spending.add,
        )  # fmt: skip
        if others := batches.others(chains.calls()):
            recorder.say(others)
        if unsubmitted := batches.unsubmitted(chains.expected()):
            recorder.allow(unsubmitted, judges, share=PRICE, how=", by batch at half the price")
        report = BatchReport()
        while missing and not report.stopped:  # once, unless replies open up further calls
            report += batches.wait(missing, sleep=sleep)
            tried = set(missing)
            missing = [call for call in chains.calls() if not library.has(call) and call not in tried]
        missing = [call for call in chains.calls() if not library.has(call)]
    recorder.say(f"{report.text()}{spent()}")
    if missing:
        rest = f"not recorded: {len(missing)}; what came back is on disk, the same command asks the rest anew"
        raise IncompleteRecordingError(f"{report.text()}\n{rest}")


class Chains:
    """The chains of several plans of one panel, unfolded with what the library has."""

    def __init__(self, panel: Panel, library: Library, plans: Sequence[Plan]) -> None:
        self.panel, self._library = panel, library
        self.chains = [Chain(plan) for plan in plans]
        for chain in self.chains:
            library.expect(calls := chain.unfold(library.answer), headers(panel, chain.plan, calls))
        # judges in use and each candidate have a chain of their own, by the same task and protocol
        self._chain_of = {(c.plan.task.name, c.plan.protocol, judge): c for c in self.chains for judge in c.judges}

    def calls(self) -> list[Call]:
        """Every call whose prompt is known by now, recorded or not."""
        for chain in self.chains:
            if chain.stages:
                before = len(chain.calls)
                calls = chain.unfold(self._library.answer)
                if len(calls) != before:
                    self._library.expect(calls, headers(self.panel, chain.plan, calls))
        known = [call for chain in self.chains for call in chain.calls]
        self._library.more_to_come = not all(chain.complete for chain in self.chains)
        return known

    def expected(self) -> list[Call]:
        """Every call that may have to be made before all is there."""
        return [call for chain in self.chains for call in chain.expected(self._library.answer)]

    def judges(self, calls: Iterable[Call]) -> dict[str, Judge]:
        """Those who are asked these calls."""
        names = {call.judge for call in calls}
        return {name: judge for chain in self.chains for name, judge in chain.judges.items() if name in names}

    def why_unreadable(self, call: Call, response: RawResponse) -> tuple[str, str] | None:
        """Why the reply to one of the calls cannot be read by its protocol, and its words."""
        return self.chain_of(call).why_unreadable(call, response)

    def chain_of(self, call: Call) -> Chain:
        """The chain that one of the calls belongs to."""
        return self._chain_of[call.task, call.protocol, call.judge]
