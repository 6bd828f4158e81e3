"""Asks what the cassettes lack, concurrently and within limits; a stop at any moment loses nothing: the library writes
an answer when it arrives at the HTTP client's transport, before the client sees it."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path

from recuse.cassettes.cell_cassette import describe
from recuse.cassettes.library import Library
from recuse.cassettes.plain_file import StorageError
from recuse.recording.budget import Spending, tokens_of
from recuse.recording.progress import GRACE_S, IncompleteRecordingError, Progress, RecordingReport, StopSignals
from recuse.schema import Call, Judge, JudgeClosedError, RawResponse, RecuseError
from recuse.schema.plain_values import grouped
from recuse.security.sanitize import shortened, visible

Send = Callable[[Call], Awaitable[RawResponse]]
Form = tuple[str, str, str, str]  # judge, task, protocol, stage
Readable = Callable[[Call, RawResponse], tuple[str, str] | None]  # why a reply cannot be read, and its words

SYNC_EVERY_S = 1.0
GIVE_UP_AFTER = 5  # failed calls in a row (each after the client's own retries) that end a judge's recording
FIRST, ALL_OF_FIRST = 10, 5  # looked at; all of the first five unreadable is enough
TOO_MANY = 8  # of the first ten
EXCERPT = 300  # characters


class Recording:
    """One recording, over all judges, tasks and protocols: every call that has no recorded answer, inside
    `library.use()`. `ask` may be called for one group of judges after another, until the recording was stopped. SIGINT
    and SIGTERM end it in order: nothing new is asked, answers on their way get `grace` seconds; a second signal cuts
    that short. What a judge or the disk does raises nothing: the report says it (`RecordingReport.check` raises). An
    exception of the code that reads a reply ends it for all judges, as `IncompleteRecordingError`."""

    def __init__(
        self, calls: Sequence[Call], library: Library, *, spending: Spending, grace: float = GRACE_S,
        progress: Callable[[Progress], None] = lambda _: None, readable: Readable | None = None, expected: int = 0,
    ) -> None:  # fmt: skip
        self.library, self.spending, self.signals = library, spending, StopSignals(grace)
        self.missing = [call for call in calls if not library.has(call)]
        self._expected = expected  # how many calls there will be, where not all are known yet
        self._tried: set[Call] = set()
        self.failed: list[tuple[Call, str]] = []
        self.stored = 0
        self._why_stopped = ""
        self._fault: Exception | None = None
        self._report, self._readable = progress, readable
        self._started = time.monotonic()
        self._unconnected = 0  # calls in a row, over all judges, that found no connection
        self._stop: asyncio.Event | None = None
        self._checks: dict[Form, FormCheck] = defaultdict(lambda: FormCheck(checked=readable is not None))
        # What was recorded before counts, so that trying again does not pay for five more of what nobody can read.
        wanted = {form_of(call) for call in self.missing}
        for call in calls:
            if form_of(call) in wanted and not self._checks[form_of(call)].decided and library.has(call):
                self._note_form(call, library.response(call))

    @property
    def stopped(self) -> str:
        """Why nothing more is asked, or nothing."""
        why = self._why_stopped or self.spending.exceeded  # which calls on their way still add to
        return why or (f"{self.signals.received[0]} received" if self.signals.received else "")

    def stop(self, why: str = "") -> None:
        """Ask nothing more, for the first reason given, else a bill too high; calls on their way are awaited."""
        self._why_stopped = self._why_stopped or why
        if self._stop is not None:
            self._stop.set()

    def extend(self, calls: Sequence[Call]) -> None:
        """Calls that became known from the replies so far; those that are known already change nothing."""
        known = set(self.missing)
        self.missing += [call for call in calls if call not in known and not self.library.has(call)]

    @property
    def unasked(self) -> list[Call]:
        """What is missing and was not tried yet."""
        return [call for call in self.missing if call not in self._tried]

    async def ask(self, calls: Sequence[Call], send: Send, judges: Mapping[str, Judge]) -> None:
        """Put these calls through `send`, each judge within its limits."""
        self._tried.update(calls)
        self._stop = asyncio.Event()  # belongs to the loop that runs now
        # Prompts that begin alike in a row: prompt caches reuse the beginning.
        alike = sorted(calls, key=lambda call: [m.content for m in call.prompt.messages] if call.prompt else [])
        workers = []
        for judge, own in grouped(alike, attrgetter("judge")).items():
            queue, rate_limit = JudgeQueue(own, self._checks), RateLimit(judges[judge], sleep=self._pause)
            for _ in range(min(judges[judge].concurrency, len(own))):
                workers.append(asyncio.create_task(self._work(queue, send, rate_limit)))

        def cut() -> None:
            for worker in workers:
                worker.cancel()

        async def sync_regularly() -> None:
            while True:
                await asyncio.sleep(SYNC_EVERY_S)
                await asyncio.to_thread(self.library.sync)

        self.signals.asking = asyncio.get_running_loop(), self._stop.set, cut
        syncing = asyncio.create_task(sync_regularly())
        try:
            await asyncio.gather(*workers, return_exceptions=True)
        finally:
            syncing.cancel()
            cut()
            self.signals.asking = None
        self.library.sync()
        if self._fault is not None:
            raise IncompleteRecordingError(self.stopped) from self._fault

    def outcome(self) -> RecordingReport:
        """What became of the calls, as of now."""
        failed = {id(call) for call, _ in self.failed}
        unstored = [call for call in self.missing if not self.library.has(call)]
        return RecordingReport(
            planned=len(self.missing), stored=len(self.missing) - len(unstored), failed=tuple(self.failed),
            not_asked=tuple(call for call in unstored if id(call) not in failed), stopped=self.stopped,
            signal=next(iter(self.signals.received), ""),
            unreadable=tuple(check.text(form) for form, check in self._checks.items() if check.hopeless),
            seconds=time.monotonic() - self._started, spent=self.spending.spent,
        )  # fmt: skip

    async def _work(self, queue: JudgeQueue, send: Send, rate_limit: RateLimit) -> None:
        while not self.stopped and not queue.ended:
            call = queue.take()
            if call is None:
                await queue.changed.wait()
                continue
            try:
                await rate_limit.wait(sum(n or 0 for n in tokens_of(call.request)) if rate_limit.counts_tokens else 0)
                if not self.stopped and queue.wants(call):
                    await self._ask(call, queue, send)
            except Exception as error:  # of our code, or of a protocol that reads the reply: ends it for all
                self._fault = self._fault or error
                at = traceback.extract_tb(error.__traceback__)[-1]
                where = f"({Path(at.filename).name}, line {at.lineno})"
                self.stop(f"{describe(call)}: {type(error).__name__}: {self.library.quoted(str(error))} {where}")
            finally:
                queue.done(call)  # whoever waits for this call must not wait for ever

    async def _ask(self, call: Call, queue: JudgeQueue, send: Send) -> None:
        why = await self._failure(call, queue, send)
        if why:
            self.failed.append((call, why))
            queue.failures += 1
        else:
            self.stored += 1
            queue.failures = self._unconnected = 0
            # What the new answer costs, and whether it can be read.
            if not self._checks[form_of(call)].decided or self.spending.judges:
                response = self.library.response(call)
                self.spending.add(call, response)
                if self.spending.exceeded:
                    self.stop()
                self._note_form(call, response)
        total, spending = max(len(self.missing), self._expected), self.spending
        seconds = time.monotonic() - self._started
        self._report(Progress(total, self.stored, len(self.failed), seconds, spending.spent, spending.expected))
        if self.library.trouble:
            self.stop(f"{self.library.trouble}; what had been asked already was still written")

    async def _failure(self, call: Call, queue: JudgeQueue, send: Send) -> str:
        """Ask one call; returns why no answer was stored, or nothing."""
        try:
            await send(call)
        except StorageError as error:
            self.stop(str(error))
            return str(error)
        except Exception as error:
            queue.closed = queue.closed or isinstance(error, JudgeClosedError)
            if not self.library.has(call):  # the answer may be stored although the client did not like it
                self._unconnected = self._unconnected + 1 if _is_connection_error(error) else 0
                if self._unconnected >= GIVE_UP_AFTER:
                    self.stop(f"no connection: {self._unconnected} calls in a row did not reach their server")
                name = "" if isinstance(error, RecuseError) else f"{type(error).__name__}: "
                return self.library.shown(f"{name}{error}")
        if self.library.has(call):
            return ""
        missed = "the answer did not come through the patched client"
        return self.library.dropped.get((call.cell, call.key, call.repeat), missed)

    def _note_form(self, call: Call, response: RawResponse) -> None:
        check = self._checks[form_of(call)]
        if not check.decided and self._readable is not None:
            why, text = self._readable(call, response) or (None, "")
            check.note(why and self.library.quoted(why), self.library.quoted(text))

    async def _pause(self, seconds: float) -> None:
        """Sleep, but not through a stop."""
        assert self._stop is not None
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)


def _is_connection_error(error: BaseException | None) -> bool:
    """Whether no connection could be made, or one was lost: not a slow answer, not an HTTP status."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, OSError) and not isinstance(error, TimeoutError):
            return True
        if type(error).__name__ in ("ConnectError", "ConnectTimeout"):
            return True
        error = error.__cause__ or error.__context__
    return False


class JudgeQueue:
    """The calls of one judge that are still to be asked, apart by form: one that cannot be read ends alone."""

    def __init__(self, calls: Sequence[Call], checks: Mapping[Form, FormCheck]) -> None:
        self.failures = 0  # calls in a row that failed
        self.closed = False  # no further call can succeed: a key that is not accepted, say
        self.changed = asyncio.Event()
        self._checks = checks
        self._calls = {form: deque(own) for form, own in grouped(calls, form_of).items()}

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
