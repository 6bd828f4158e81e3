"""One recording of a panel: who answers, one budget for everything that is missing, asking it, and one stop for all."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from recuse.cassettes import call_headers
from recuse.cassettes.library import Library
from recuse.judges import read_response, wire
from recuse.judges.client import Client
from recuse.judges.credentials import Credentials, keys_from_environment, short_keys
from recuse.panels import Panel
from recuse.plan import Plan
from recuse.protocols import protocol
from recuse.recording.asking import Recording
from recuse.recording.budget import check_budget, cost_text, expected_costs, expected_dollars
from recuse.recording.form_check import Readable
from recuse.recording.progress import ProgressLine, Spending
from recuse.recording.rate_limit import Limits
from recuse.schema import Call, Judge, RawResponse, RecuseError, Reply


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
        """Return when every call of the plans is on disk; each plan must have been given to `Library.expect` before.

        The budget is asked once, before the first call, over everything that is missing. Local models are started one
        after the other, so that one machine can hold them; all others are asked at once. `readable` says why a reply
        cannot be read (default: what its protocol makes of it); a judge and protocol of which 5 of the first 5 or 8 of
        the first 10 replies cannot be read is not asked further.

        Raises `BudgetError` before anything is asked, `IncompleteRecordingError` if something is missing in the end,
        and `RecordingInterrupted` (a KeyboardInterrupt) after SIGINT or SIGTERM; all that was answered is then on disk.
        """
        with self.library.use():  # also without anything to ask: settles what a changed plan left behind
            calls = [call for plan in plans for call in plan.calls]
            if all(map(self.library.has, calls)):
                return
            if kept := self.library.resumed(calls):
                self.say(
                    f"{self.panel.name}: going on with a recording anew that was interrupted; {kept} of {len(calls)} "
                    "answers are from then (delete the files ending in .new to ask for all of them)"
                )
            recording = self._recording(calls, plans, readable)
            keys = {} if self.panel.stand_in else keys_from_environment(self._judges(recording.missing, plans))
            with recording.signals.installed():
                try:
                    for group in self._groups(recording.missing, plans):
                        self._ask(recording, group, plans, keys)
                except RecuseError:  # a local model that does not start: say what the others gave
                    self.say(recording.outcome().text())
                    raise
        report = recording.outcome()
        self.say(report.text())
        report.check()

    def _recording(self, calls: Sequence[Call], plans: Sequence[Plan], readable: Readable | None) -> Recording:
        """What will be asked and what it may cost; `BudgetError` if that is not allowed."""
        missing = [call for call in calls if not self.library.has(call)]
        judges = self._judges(missing, plans)
        costs = expected_costs(missing, judges, free=self._free(judges))
        self.say(f"{self.panel.name}: {cost_text(costs)}")
        if self.panel.stand_in is None and (warning := short_keys(judges)):
            self.say(warning)
        check_budget(costs, self.panel.budget_usd, self.yes)
        if readable is None and self.panel.stand_in is None:  # what stand-ins say costs nothing, and may be nonsense
            readable = _read_by_protocol(plans)
        replies = Replies(judges)
        return Recording(
            calls,
            self.library,
            spending=self.spending(judges, replies, expected_dollars(costs)),
            progress=ProgressLine(sys.stderr),
            readable=readable,
            text=lambda call, response: replies.reply(call, response).text,
        )

    def spending(
        self, judges: Mapping[str, Judge], replies: Replies, expected: float | None, *, share: float = 1.0
    ) -> Spending:
        """What counts the bill: `share` of the judges' prices, `expected` dollars at most."""
        prices = {
            name: (share * judge.input_usd_per_mtok, share * judge.output_usd_per_mtok)
            for name, judge in judges.items()
            if judge.input_usd_per_mtok is not None and judge.output_usd_per_mtok is not None
        }
        return Spending(
            prices={} if self.panel.stand_in else prices,
            usage_of=lambda call, response: replies.reply(call, response).usage,
            expected=expected,
            allowed=None if expected is None else max(self.panel.budget_usd, expected),
        )

    def _free(self, judges: Mapping[str, Judge]) -> set[str]:
        """Judges that nobody is paid for: stand-ins, models we serve ourselves, and where the panel file says so."""
        return set(judges if self.panel.stand_in or self.panel.free else self.panel.servers)

    def _judges(self, calls: Sequence[Call], plans: Sequence[Plan]) -> dict[str, Judge]:
        asked = {call.judge for call in calls}
        return {name: judge for plan in plans for name, judge in plan.judges.items() if name in asked}

    def _groups(self, missing: Sequence[Call], plans: Sequence[Plan]) -> list[dict[str, Judge]]:
        judges = self._judges(missing, plans)
        served = [{name: judge} for name, judge in judges.items() if name in self.panel.servers]
        others = {name: judge for name, judge in judges.items() if name not in self.panel.servers}
        return [*([others] if others else []), *served]

    def _ask(
        self, recording: Recording, judges: dict[str, Judge], plans: Sequence[Plan], keys: Mapping[str, Credentials]
    ) -> None:
        if recording.stopped:
            return
        calls = [call for call in recording.missing if call.judge in judges]
        with ExitStack() as answering:
            proxy = self._answerers(answering, judges, plans)
            own = {name: key for name, key in keys.items() if name in judges}

            async def ask() -> None:
                async with Client(judges, keys=own, identify=call_headers, proxy=proxy) as client:
                    await recording.ask(calls, client.send, _limits(judges))

            asyncio.run(ask())

    def _answerers(self, answering: ExitStack, judges: dict[str, Judge], plans: Sequence[Plan]) -> str | None:
        """Start what answers on this machine, if anything does; returns the stand-ins' address."""
        if self.panel.stand_in is not None:
            from recuse.recording.stand_ins import answer_for
            from recuse.standins.server import serve

            return answering.enter_context(serve(answer_for(self.panel, self.root, plans)))
        for name, judge in judges.items():
            if name in self.panel.servers:
                from recuse.local.serving import serving

                answering.enter_context(serving(name, judge.base_url, self.panel.servers[name], self.models, self.say))
        return None


class Replies:
    """Reads responses in the wire format of their judge; the last one is kept, because it is looked at twice."""

    def __init__(self, judges: Mapping[str, Judge]) -> None:
        self._judges = judges
        self._last: tuple[RawResponse, Reply] | None = None

    def reply(self, call: Call, response: RawResponse) -> Reply:
        if self._last is None or self._last[0] is not response:
            self._last = response, read_response(wire(self._judges[call.judge].wire), response)
        return self._last[1]


def _read_by_protocol(plans: Sequence[Plan]) -> Readable:
    """A reply can be read if its protocol finds anything in it; a refusal is an answer too."""
    by_form = {(plan.task.name, plan.protocol): plan for plan in plans}

    def why_not(call: Call, response: RawResponse) -> str | None:
        plan = by_form[call.task, call.protocol]
        reply = read_response(wire(plan.judges[call.judge].wire), response)
        item = plan.items[call.judge, call.item, call.target]
        try:
            found = protocol(plan.protocol).read(plan.task, item, dict(call.factors), reply)
        except RecuseError as error:
            return str(error)
        if not found or any(judgement.status not in ("unparsed", "error") for judgement in found):
            return None
        return next((judgement.why for judgement in found if judgement.why), "nothing in it could be read")

    return why_not


def _limits(judges: Mapping[str, Judge]) -> dict[str, Limits]:
    return {
        name: Limits(judge.concurrency, judge.requests_per_minute, judge.tokens_per_minute)
        for name, judge in judges.items()
    }
