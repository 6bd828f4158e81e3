"""Recording: who answers (stand-ins, local models, hosted judges), what it will cost, asking only what is missing."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from recuse.cassettes import call_headers
from recuse.cassettes.coverage import Coverage
from recuse.cassettes.library import Library
from recuse.elicit import Plan
from recuse.judges.client import Client, keys_from_environment
from recuse.panels import Panel
from recuse.recording.asking import record as record_calls
from recuse.recording.budget import ProgressLine, check_budget, cost_text, expected_costs
from recuse.recording.rate_limit import Limits
from recuse.schema import Call, Judge


@dataclass(frozen=True)
class Recorder:
    """Fills a library with what a plan lacks. `say` gets one line of news at a time."""

    panel: Panel
    library: Library
    root: Path
    models: Path
    yes: bool = False
    say: Callable[[str], None] = lambda line: print(line, file=sys.stderr, flush=True)

    def record(self, plan: Plan, coverage: Coverage) -> None:
        """Return when every call of the plan is on disk; raise otherwise, with everything answered so far kept.

        Local models are started one after the other, so that one machine can hold them; all others are asked at once.
        """
        with self.library.use():  # also without anything to ask: settles what a changed plan left behind
            if not coverage.missing:
                return
            costs = expected_costs(coverage.missing, plan.judges)
            self.say(f"{self.panel.name}/{plan.task.name}/{plan.protocol}: {cost_text(costs)}")
            check_budget(costs, self.panel.budget_usd, self.yes)
            for judges in self._groups(coverage.missing, plan):
                self._ask([call for call in coverage.missing if call.judge in judges], plan)

    def _groups(self, missing: Sequence[Call], plan: Plan) -> list[set[str]]:
        asked = {call.judge for call in missing}
        served = [{name} for name in plan.judges if name in asked & set(self.panel.servers)]
        others = asked - set(self.panel.servers)
        return [*([others] if others else []), *served]

    def _ask(self, calls: Sequence[Call], plan: Plan) -> None:
        judges = {name: judge for name, judge in plan.judges.items() if any(call.judge == name for call in calls)}
        with ExitStack() as answering:
            proxy = self._answerers(answering, judges, plan)
            keys = {} if self.panel.stand_in else keys_from_environment(judges)

            async def ask() -> None:
                async with Client(judges, keys=keys, identify=call_headers, proxy=proxy) as client:
                    progress = ProgressLine(sys.stderr)
                    report = await record_calls(
                        calls, client.send, self.library, limits=_limits(judges), progress=progress
                    )
                self.say(report.text())
                report.check()

            asyncio.run(ask())

    def _answerers(self, answering: ExitStack, judges: dict[str, Judge], plan: Plan) -> str | None:
        """Start what answers on this machine, if anything does; returns the stand-ins' address."""
        if self.panel.stand_in is not None:
            from recuse.standins import open_source
            from recuse.standins.request_router import Desk
            from recuse.standins.server import serve

            fields = {place: item.fields for place, item in plan.items.items()}
            source = open_source(self.panel, self.root)
            return answering.enter_context(serve(Desk(plan.calls, judges, source, fields, self.panel.provenance)))
        for name, judge in judges.items():
            if name in self.panel.servers:
                from recuse.local.serving import serving

                answering.enter_context(serving(name, judge.base_url, self.panel.servers[name], self.models, self.say))
        return None


def _limits(judges: dict[str, Judge]) -> dict[str, Limits]:
    return {
        name: Limits(judge.concurrency, judge.requests_per_minute, judge.tokens_per_minute)
        for name, judge in judges.items()
    }
