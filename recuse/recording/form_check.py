"""Stops asking a judge by a protocol whose replies cannot be read, before all of them are paid for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from recuse.schema import Call, RawResponse
from recuse.security.sanitize import shortened, visible

FIRST, ALL_OF_FIRST = 10, 5  # looked at; all of the first five unreadable is enough
TOO_MANY = 8  # of the first ten
EXCERPT = 300  # characters

Form = tuple[str, str, str, str]  # judge, task, protocol, stage
Readable = Callable[[Call, RawResponse], str | None]
"""Why a reply cannot be read by its protocol, or None if it can (a refusal can)."""


def form_of(call: Call) -> Form:
    """What calls must share so that one readable reply speaks for the others."""
    return call.judge, call.task, call.protocol, call.stage


@dataclass
class FormCheck:
    """What became of the first replies of one judge by one protocol.

    Until they have been read, no more than five (then ten) of them are asked, so that a form nobody can read costs five
    calls whatever the concurrency is. It ends after 5 of the first 5, or 8 of the first 10, cannot be read.
    """

    form: Form
    checked: bool = True
    in_flight: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    excerpt: str = ""
    _read: list[bool] = field(default_factory=list)  # of the first replies, in the order of their arrival

    @property
    def decided(self) -> bool:
        """Whether enough replies were looked at: no later one changes `hopeless`."""
        return not self.checked or len(self._read) >= FIRST or sum(self._read) > FIRST - TOO_MANY

    @property
    def hopeless(self) -> bool:
        """Whether so many of the first replies cannot be read that no more are asked for."""
        first = self._read[:ALL_OF_FIRST]
        return self._read.count(False) >= TOO_MANY or (len(first) == ALL_OF_FIRST and not any(first))

    @property
    def may_ask(self) -> bool:
        """Whether one more call may go out now."""
        if self.decided:
            return not self.hopeless
        allowed = ALL_OF_FIRST if len(self._read) < ALL_OF_FIRST else FIRST
        return not self.hopeless and self.in_flight + len(self._read) < allowed

    def note(self, why: str | None, text: str) -> None:
        """One reply arrived: `why` it cannot be read, None if it can."""
        if self.decided:
            return
        self._read.append(why is None)
        if why is not None:
            self.reasons[visible(why)] += 1
            self.excerpt = self.excerpt or visible(shortened(text, EXCERPT)[0]) or "(nothing)"

    def text(self) -> str:
        """How many of the first replies cannot be read, why, the beginning of one, and what to change."""
        judge, task, protocol, stage = self.form
        reasons = "; ".join(f"{why} ({count}x)" for why, count in self.reasons.most_common(5))
        return (
            f"judge {judge}, {task}/{protocol}{stage and f', stage {stage}'}: {self._read.count(False)} of the first "
            f"{len(self._read)} replies "
            f"cannot be read, so no more were asked for. Reasons: {reasons}. One of them begins: {self.excerpt!r}. "
            "Change what the judge is sent (prompt, structured, parameters, max_tokens) or how it is read; then record "
            "again"
        )
