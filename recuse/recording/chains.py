"""What a recording knows of its plans: every call that can be made now, told to the library as it is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recuse.cassettes.library import Library
from recuse.elicitation.chains import Chain
from recuse.elicitation.fingerprints import headers
from recuse.elicitation.plan import Plan
from recuse.panels import Panel
from recuse.schema import Call, Judge, RawResponse


class Chains:
    """The chains of several plans of one panel, unfolded with what the library has."""

    def __init__(self, panel: Panel, library: Library, plans: Sequence[Plan]) -> None:
        self._panel, self._library = panel, library
        self.chains = [Chain(plan) for plan in plans]
        # judges in use and each candidate have a chain of their own, by the same task and protocol
        self._chain_of = {
            (chain.plan.task.name, chain.plan.protocol, judge): chain for chain in self.chains for judge in chain.judges
        }

    def calls(self) -> list[Call]:
        """Every call whose prompt is known by now, recorded or not."""
        for chain in self.chains:
            if chain.stages:
                before = len(chain.calls)
                calls = chain.unfold(self._library.answer)
                if len(calls) != before:
                    self._library.expect(calls, headers(self._panel, chain.plan, calls))
        known = [call for chain in self.chains for call in chain.calls]
        self._library.more_to_come = not all(chain.complete for chain in self.chains)
        return known

    def expected(self) -> list[Call]:
        """Every call that may have to be made before all is there."""
        return [call for chain in self.chains for call in chain.expected(self._library.answer)]

    def judges(self, calls: Iterable[Call]) -> dict[str, Judge]:
        """Those who are asked these calls."""
        asked = {call.judge for call in calls}
        known = {name: judge for chain in self.chains for name, judge in chain.judges.items()}
        return {name: judge for name, judge in known.items() if name in asked}

    def why_unreadable(self, call: Call, response: RawResponse) -> str | None:
        """Why the reply to one of the calls cannot be read by its protocol."""
        return self._chain_of[call.task, call.protocol, call.judge].why_unreadable(call, response)
