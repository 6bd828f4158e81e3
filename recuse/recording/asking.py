"""Asks what the cassettes lack, concurrently and within limits; a stop at any moment loses nothing: the library writes
an answer at the moment it arrives at the HTTP client's transport, before the client sees it. This loop only decides
what is asked when, and says what is missing in the end."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path

from recuse.cassettes.cell_coverage import describe
from recuse.cassettes.library import Library
from recuse.cassettes.plain_file import StorageError
from recuse.recording.budget import Spending, tokens_of
from recuse.recording.judge_queue import GIVE_UP_AFTER, Form, FormCheck, JudgeQueue, RateLimit, Readable, form_of
from recuse.recording.progress import GRACE_S, IncompleteRecordingError, Progress, RecordingReport, StopSignals
from recuse.schema import Call, Judge, JudgeClosedError, RawResponse, RecuseError
from recuse.schema.plain_values import grouped

Send = Callable[[Call], Awaitable[RawResponse]]

SYNC_EVERY_S = 1.0


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
        queues = [JudgeQueue(judge, own, self._checks) for judge, own in grouped(alike, attrgetter("judge")).items()]
        workers = [
            asyncio.create_task(self._work(queue, send, rate_limit))
            for queue in queues
            for rate_limit in [RateLimit(judges[queue.judge], sleep=self._pause)]
            for _ in range(min(judges[queue.judge].concurrency, len(queue)))
        ]

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
        return RecordingReport(
            planned=len(self.missing),
            stored=sum(self.library.has(call) for call in self.missing),
            failed=tuple(self.failed),
            not_asked=tuple(c for c in self.missing if id(c) not in failed and not self.library.has(c)),
            stopped=self.stopped,
            signal=next(iter(self.signals.received), ""),
            unreadable=tuple(check.text(form) for form, check in self._checks.items() if check.hopeless),
            seconds=time.monotonic() - self._started,
            spent=self.spending.spent,
        )

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
        return self.library.dropped.get(
            (call.cell, call.key, call.repeat), "the answer did not come through the patched client"
        )

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
