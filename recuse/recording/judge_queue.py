"""The calls of one judge in the order in which they go out, and how fast: requests and tokens per minute."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from recuse.schema import Call, Judge, RawResponse
from recuse.schema.plain_values import grouped
from recuse.security.sanitize import shortened, visible

GIVE_UP_AFTER = 5  # failed calls in a row (each after the client's own retries) that end a judge's recording


class JudgeQueue:
    """The calls of one judge that are still to be asked, apart by form: one that cannot be read ends alone."""

    def __init__(self, judge: str, calls: Sequence[Call], checks: Mapping[Form, FormCheck]) -> None:
        self.judge = judge
        self.failures = 0  # calls in a row that failed
        self.closed = False  # no further call can succeed: a key that is not accepted, say
        self.changed = asyncio.Event()
        self._checks = checks
        self._calls = {form: deque(own) for form, own in grouped(calls, form_of).items()}

    def __len__(self) -> int:
        return sum(map(len, self._calls.values()))

    @property
    def ended(self) -> bool:
        """Whether no call is left that the judge should be asked."""
        return not any(waiting and self.wants(waiting[0]) for waiting in self._calls.values())

    def wants(self, call: Call) -> bool:
        """Whether the judge still answers, and in a form that can be read."""
        return not self.closed and self.failures < GIVE_UP_AFTER and not self._checks[form_of(call)].hopeless

    def take(self) -> Call | None:
        """The next call that may go out; None while the first replies of all forms that are left are on their way."""
        for form, waiting in self._calls.items():
            check = self._checks[form]
            if waiting and check.may_ask:
                check.in_flight += 1
                return waiting.popleft()
        return None

    def done(self, call: Call) -> None:
        """A call that `take` gave out has come back, with or without an answer."""
        self._checks[form_of(call)].in_flight -= 1
        self.changed.set()
        self.changed = asyncio.Event()


class RateLimit:
    """Hands out the next moment at which a request of so many tokens may start (virtual scheduling, no bursts)."""

    def __init__(
        self, limits: Judge, clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:  # fmt: skip
        self._limits, self._clock, self._sleep = limits, clock, sleep
        self._next = 0.0  # earliest start of the next request
        self.counts_tokens = limits.tokens_per_minute is not None

    async def wait(self, tokens: int) -> None:
        """Return when the request may start. Requests start in the order in which they asked."""
        now, limits = self._clock(), self._limits
        start = max(now, self._next)
        # Seconds that this request takes out of the minute, under whichever limit is tighter.
        by_count = 60.0 / limits.requests_per_minute if limits.requests_per_minute else 0.0
        by_tokens = tokens * 60.0 / limits.tokens_per_minute if limits.tokens_per_minute else 0.0
        self._next = start + max(by_count, by_tokens)
        if start > now:
            await self._sleep(start - now)


FIRST, ALL_OF_FIRST = 10, 5  # looked at; all of the first five unreadable is enough
TOO_MANY = 8  # of the first ten
EXCERPT = 300  # characters

Form = tuple[str, str, str, str]  # judge, task, protocol, stage
Readable = Callable[[Call, RawResponse], tuple[str, str] | None]  # why a reply cannot be read, and its words


def form_of(call: Call) -> Form:
    """What calls must share so that one readable reply speaks for the others."""
    return call.judge, call.task, call.protocol, call.stage


@dataclass
class FormCheck:
    """What became of the first replies of one judge by one protocol. Until they have been read, no more than five (then
    ten) of them are asked, so that a form nobody can read costs five calls whatever the concurrency is. It ends after 5
    of the first 5, or 8 of the first 10, cannot be read."""

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
        self._read.append(why is None)
        if why is not None:
            self.reasons[visible(why)] += 1
            self.excerpt = self.excerpt or visible(shortened(text, EXCERPT)[0]) or "(nothing)"

    def text(self, form: Form) -> str:
        """How many of the first replies cannot be read, why, the beginning of one, and what to change."""
        judge, task, protocol, stage = form
        reasons = "; ".join(f"{why} ({count}x)" for why, count in self.reasons.most_common(5))
        return (
            f"judge {judge}, {task}/{protocol}{stage and f', stage {stage}'}: {self._read.count(False)} of the first "
            f"{len(self._read)} replies "
            f"cannot be read, so no more were asked for. Reasons: {reasons}. One of them begins: {self.excerpt!r}. "
            "Change what the judge is sent (prompt, structured, parameters, max_tokens) or how it is read; then record "
            "again. These replies are kept: where only the server was mended, --record=all asks for others"
        )
