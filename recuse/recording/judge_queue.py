"""The calls of one judge in the order in which they go out, and how fast: requests and tokens per minute."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from recuse.recording.form_check import Form, FormCheck, form_of
from recuse.schema import Call

__all__ = ["GIVE_UP_AFTER", "JudgeQueue", "Limits", "RateLimit", "queues_by_judge"]

GIVE_UP_AFTER = 5
"""Failed calls in a row (each after the client's own retries) that end a judge's recording."""


def queues_by_judge(calls: Sequence[Call], form: Callable[[Form], FormCheck]) -> list[JudgeQueue]:
    """One queue per judge, prompts that begin alike in a row: prompt caches reuse the beginning."""
    by_judge: dict[str, list[Call]] = {}
    for call in sorted(calls, key=_words):
        by_judge.setdefault(call.judge, []).append(call)
    return [JudgeQueue(judge, judge_calls, form) for judge, judge_calls in by_judge.items()]


class JudgeQueue:
    """The calls of one judge that are still to be asked, apart by form: one that cannot be read ends alone."""

    def __init__(self, judge: str, calls: Sequence[Call], form: Callable[[Form], FormCheck]) -> None:
        self.judge = judge
        self.failures = 0  # calls in a row that failed
        self.closed = False  # no further call can succeed: a key that is not accepted, say
        self.changed = asyncio.Event()
        self._form = form
        self._calls: dict[Form, deque[Call]] = {}
        for call in calls:
            self._calls.setdefault(form_of(call), deque()).append(call)

    def __len__(self) -> int:
        return sum(map(len, self._calls.values()))

    @property
    def ended(self) -> bool:
        """Whether no call is left that the judge should be asked."""
        return not any(waiting and self.wants(waiting[0]) for waiting in self._calls.values())

    def wants(self, call: Call) -> bool:
        """Whether the judge still answers, and in a form that can be read."""
        return not self.closed and self.failures < GIVE_UP_AFTER and not self._form(form_of(call)).hopeless

    def take(self) -> Call | None:
        """The next call that may go out; None while the first replies of all forms that are left are on their way."""
        for form, waiting in self._calls.items():
            check = self._form(form)
            if waiting and check.may_ask:
                check.in_flight += 1
                return waiting.popleft()
        return None

    def done(self, call: Call) -> None:
        """A call that `take` gave out has come back, with or without an answer."""
        self._form(form_of(call)).in_flight -= 1
        self.changed.set()
        self.changed = asyncio.Event()


def _words(call: Call) -> tuple[str, ...]:
    return tuple(message.content for message in call.prompt.messages) if call.prompt else ()


@dataclass(frozen=True, slots=True)
class Limits:
    """What one judge allows. None: no limit of that kind."""

    concurrency: int = 4
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


class RateLimit:
    """Hands out the next moment at which a request of so many tokens may start (virtual scheduling, no bursts)."""

    def __init__(
        self,
        limits: Limits,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._limits, self._clock, self._sleep = limits, clock, sleep
        self._next = 0.0  # earliest start of the next request
        self.counts_tokens = limits.tokens_per_minute is not None

    async def wait(self, tokens: int) -> None:
        """Return when the request may start. Requests start in the order in which they asked."""
        now = self._clock()
        start = max(now, self._next)
        self._next = start + self._spacing(tokens)
        if start > now:
            await self._sleep(start - now)

    def _spacing(self, tokens: int) -> float:
        """Seconds that this request takes out of the minute, under whichever limit is tighter."""
        by_count = 60.0 / self._limits.requests_per_minute if self._limits.requests_per_minute else 0.0
        by_tokens = tokens * 60.0 / self._limits.tokens_per_minute if self._limits.tokens_per_minute else 0.0
        return max(by_count, by_tokens)
