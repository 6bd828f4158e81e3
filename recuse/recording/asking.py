"""Recording: asks what the cassettes lack, concurrently and within limits; a stop at any moment loses nothing.

Storing is not done here: the answer is written by the library at the moment it arrives at the HTTP client's transport,
before the client sees it. This loop only decides what is asked when, and says what is missing in the end.
"""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from recuse.cassettes.coverage import describe, missing_lines
from recuse.cassettes.library import Library
from recuse.cassettes.writer import StorageError
from recuse.recording.budget import Progress, Report, tokens_of
from recuse.recording.rate_limit import Limits, RateLimit
from recuse.schema import Call, RawResponse, RecuseError

Send = Callable[[Call], Awaitable[RawResponse]]

GRACE_S = 30.0  # after a first signal, how long answers that are on their way may still arrive
GIVE_UP_AFTER = 5  # failed calls in a row (each after the client's own retries) end a judge's recording
SYNC_EVERY_S = 1.0


class IncompleteRecordingError(RecuseError):
    """Not everything that was asked for is recorded; the message says what is missing and why."""


@dataclass(frozen=True)
class RecordingReport:
    """What a recording did. Everything in `stored` is on disk."""

    planned: int  # calls of the plan that had no answer when recording began
    stored: int
    failed: tuple[tuple[Call, str], ...] = ()
    not_asked: tuple[Call, ...] = ()
    stopped: str = ""  # why it ended early: "SIGINT", "SIGTERM", or a storage error
    seconds: float = 0.0

    @property
    def complete(self) -> bool:
        return self.stored == self.planned

    def text(self, limit: int = 12) -> str:
        parts = [f"recorded {self.stored} of {self.planned} missing answers in {self.seconds:.0f} s"]
        if self.stopped:
            parts.append(f"stopped early: {self.stopped}")
        if self.failed:
            parts.append(f"failed: {len(self.failed)}")
            parts += [f"  {describe(call)}: {why}" for call, why in self.failed[:limit]]
        if self.not_asked:
            parts += [f"not asked: {len(self.not_asked)}", *missing_lines(self.not_asked)[:limit]]
        if not self.complete:
            parts.append("what was answered is on disk; the same command goes on where this one stopped")
        return "\n".join(parts)

    def check(self) -> None:
        """Raise `IncompleteRecordingError` unless everything was recorded."""
        if not self.complete:
            raise IncompleteRecordingError(self.text())


@dataclass
class _Run:
    """The state of one recording, shared by its workers."""

    library: Library
    total: int
    report: Report
    started: float = field(default_factory=time.monotonic)
    stored: int = 0
    failed: list[tuple[Call, str]] = field(default_factory=list)
    stopped: str = ""

    def progress(self) -> None:
        self.report(Progress(self.total, self.stored, len(self.failed), time.monotonic() - self.started))

    def stop(self, why: str) -> None:
        self.stopped = self.stopped or why


async def record(
    calls: Sequence[Call],
    send: Send,
    library: Library,
    *,
    limits: Mapping[str, Limits] | None = None,
    progress: Report | None = None,
    grace: float = GRACE_S,
) -> RecordingReport:
    """Ask every call that has no recorded answer; call inside `library.use()`.

    `send` puts one call through the patched HTTP client, with its own timeouts and retries. SIGINT and SIGTERM end the
    recording in order: nothing new is asked, answers on their way get `grace` seconds; a second signal cuts that short.
    Never raises for what a judge or the disk does: the report says it (`RecordingReport.check` raises).
    """
    missing = [call for call in calls if not library.has(call)]
    run = _Run(library, len(missing), progress or (lambda _: None))
    queues: dict[str, deque[Call]] = {}
    for call in missing:
        queues.setdefault(call.judge, deque()).append(call)
    workers = [
        asyncio.create_task(_work(run, queue, send, rate_limit, lane))
        for judge, queue in queues.items()
        for own in [(limits or {}).get(judge, Limits())]
        for rate_limit, lane in [(RateLimit(own), _Lane())]
        for _ in range(min(own.concurrency, len(queue)))
    ]
    with _signals(run, workers, grace):
        syncing = asyncio.create_task(_sync_regularly(library))
        try:
            await asyncio.gather(*workers, return_exceptions=True)
        finally:
            syncing.cancel()
            for worker in workers:
                worker.cancel()
    library.sync()
    _raise_bugs(workers)
    return _report(run, missing)


@dataclass
class _Lane:
    """One judge's luck: how many calls failed in a row."""

    failures: int = 0

    @property
    def given_up(self) -> bool:
        return self.failures >= GIVE_UP_AFTER


async def _work(run: _Run, queue: deque[Call], send: Send, rate_limit: RateLimit, lane: _Lane) -> None:
    while queue and not run.stopped and not lane.given_up:
        call = queue.popleft()
        await rate_limit.wait(sum(tokens_of(call.request)) if rate_limit.counts_tokens else 0)
        if run.stopped or lane.given_up:
            return
        why = await _ask(run, call, send)
        if why:
            run.failed.append((call, why))
            lane.failures += 1
        else:
            run.stored += 1
            lane.failures = 0
        run.progress()
        if run.library.disk_full:
            run.stop("the disk is full; what had been asked already was still written")


async def _ask(run: _Run, call: Call, send: Send) -> str:
    """Ask one call; returns why no answer was stored, or nothing."""
    try:
        await send(call)
    except StorageError as error:
        run.stop(str(error))
        return str(error)
    except Exception as error:
        if not run.library.has(call):  # the answer may be stored although the client did not like it
            return run.library.secrets.clean_text(
                f"{type(error).__name__}: {error}" if not isinstance(error, RecuseError) else str(error)
            )
    if run.library.has(call):
        return ""
    return run.library.dropped.get(
        (call.cell, call.key, call.repeat), "the answer did not come through the patched client"
    )


def _report(run: _Run, missing: Sequence[Call]) -> RecordingReport:
    failed = {id(call) for call, _ in run.failed}
    not_asked = tuple(call for call in missing if id(call) not in failed and not run.library.has(call))
    stored = sum(run.library.has(call) for call in missing)
    return RecordingReport(
        len(missing), stored, tuple(run.failed), not_asked, run.stopped, time.monotonic() - run.started
    )


def _raise_bugs(workers: Sequence[asyncio.Task[None]]) -> None:
    for worker in workers:
        if not worker.cancelled() and (error := worker.exception()):
            raise error


async def _sync_regularly(library: Library) -> None:
    while True:
        await asyncio.sleep(SYNC_EVERY_S)
        await asyncio.get_running_loop().run_in_executor(None, library.sync)


@contextmanager
def _signals(run: _Run, workers: Sequence[asyncio.Task[None]], grace: float) -> Iterator[None]:
    """While open, SIGINT and SIGTERM stop the recording instead of the process."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()

    def cut() -> None:
        for worker in workers:
            worker.cancel()

    def stop(name: str) -> None:
        if run.stopped:
            cut()
        else:
            run.stop(f"{name} received")
            loop.call_later(grace, cut)

    previous = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in previous:
        with suppress(NotImplementedError):  # Windows event loops know no signal handlers
            loop.add_signal_handler(number, stop, number.name)
    try:
        yield
    finally:
        for number, handler in previous.items():
            with suppress(NotImplementedError):
                loop.remove_signal_handler(number)
            if handler is not None:  # None: it was not set from Python, so it cannot be put back from there
                signal.signal(number, handler)
