"""How far a recording is, how it is stopped, and how it ended: what is stored, what failed, what was not asked."""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from operator import itemgetter
from types import FrameType
from typing import NamedTuple, TextIO, TypeVar

from recuse.cassettes.cell_cassette import describe, missing_lines
from recuse.schema import Call, RecuseError
from recuse.schema.plain_values import grouped

T = TypeVar("T")
GRACE_S = 30.0  # after a first signal, how long answers that are on their way may still arrive


class Progress(NamedTuple):
    """How far a recording is, or other long work. `seconds` since it started; `verb`: what is done to each."""

    total: int
    stored: int
    failed: int
    seconds: float
    spent: float | None = None  # dollars; None: no price is known
    expected: float | None = None  # dollars at most
    verb: str = "recorded"

    def __str__(self) -> str:
        rate = self.stored / self.seconds if self.seconds > 0 else 0.0
        left = self.total - self.stored - self.failed
        failed = f", {self.failed} failed" if self.failed else ""
        remaining = ""
        if rate > 0 and left:
            minutes = left / rate / 60
            span = f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
            remaining = f", about {span if minutes >= 1.5 else f'{left / rate:.0f} s'} left"
        speed = f"{rate:.1f} per second" if rate >= 1 else f"{rate * 60:.1f} per minute"
        money = spent_text(self.spent, self.expected, before=", ")
        return f"{self.verb} {self.stored} of {self.total}{failed}, {speed}{remaining}{money}"


def spent_text(spent: float | None, expected: float | None, before: str) -> str:
    """ "; $0.12 of at most $3.40 expected spent", after what stands `before`; nothing where no price is known."""
    if spent is None:
        return ""
    return f"{before}${spent:,.2f}{'' if expected is None else f' of at most ${expected:,.2f} expected'} spent"


class ProgressLine:
    """Writes progress to a stream: rewrites one line on a terminal, adds a line now and then elsewhere."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._terminal = stream.isatty()
        self._pause = 0.5 if self._terminal else 30.0
        self._last = -1e9

    def __call__(self, progress: Progress) -> None:
        now, ended = self._clock(), progress.stored + progress.failed >= progress.total
        if not ended and now - self._last < self._pause:
            return
        self._last = now
        start, end = ("\r\x1b[K", "\n" if ended else "") if self._terminal else ("", "\n")
        self._stream.write(f"{start}{progress}{end}")
        self._stream.flush()


def watched(parts: Iterable[T], total: int, verb: str, patience: float = 0.0) -> Iterator[T]:
    """The parts as they come; who waits at a terminal for longer than `patience` seconds is told how many are done."""
    line, start = ProgressLine(sys.stderr), time.monotonic()
    for done, part in enumerate(parts, 1):
        yield part
        seconds = time.monotonic() - start
        if sys.stderr.isatty() and seconds > patience:
            line(Progress(total, done, 0, seconds, verb=verb))


class IncompleteRecordingError(RecuseError):
    """Not everything that was asked for is recorded; the message says what is missing and why."""


class RecordingInterrupted(KeyboardInterrupt):
    """A signal ended the recording; everything answered is on disk. As a KeyboardInterrupt it ends pytest, code 2."""


class RecordingReport(NamedTuple):
    """What a recording did. Everything in `stored` is on disk."""

    planned: int  # calls of the plans that had no answer when recording began
    stored: int
    failed: tuple[tuple[Call, str], ...] = ()
    not_asked: tuple[Call, ...] = ()
    stopped: str = ""  # why it ended early
    signal: str = ""  # "SIGINT" or "SIGTERM" where that is the reason
    unreadable: tuple[str, ...] = ()  # judge and protocol whose replies cannot be read, with reasons and an excerpt
    seconds: float = 0.0
    spent: float | None = None  # dollars; None: a price is not known

    @property
    def complete(self) -> bool:
        """Whether every call that had no answer now has one."""
        return self.stored == self.planned

    def text(self, limit: int = 12) -> str:
        """Readable summary: why it is incomplete first; at most `limit` lines of failures, and of calls not asked."""
        money = f", ${self.spent:,.2f} spent" if self.spent else ""
        parts = [f"stopped early: {self.stopped}"] if self.stopped else []
        parts += self.unreadable
        reasons = sorted(grouped(self.failed, itemgetter(1)).items(), key=lambda reason: -len(reason[1]))
        for why, failed in reasons[:limit]:
            several = f"{len(failed)} calls failed ({', '.join(dict.fromkeys(call.judge for call, _ in failed))})"
            parts.append(f"{describe(failed[0][0]) if len(failed) == 1 else several}: {why}")
        if rest := reasons[limit:]:
            parts.append(f"... and {len(rest)} more reasons of {sum(len(failed) for _, failed in rest)} calls")
        parts.append(f"recorded {self.stored} of {self.planned} missing answers in {self.seconds:.0f} s{money}")
        if self.failed:
            parts.append(f"failed: {len(self.failed)}")
        if self.not_asked:
            parts += [f"not asked: {len(self.not_asked)}", *missing_lines(self.not_asked)[:limit]]
        if not self.complete:
            parts.append("what was answered is on disk; the same command goes on where this one stopped")
        return "\n".join(parts)

    def check(self) -> None:
        """Raise `RecordingInterrupted` after a signal, `IncompleteRecordingError` unless everything was recorded."""
        if self.signal:
            raise RecordingInterrupted(self.text())
        if not self.complete:
            raise IncompleteRecordingError(self.text())


class StopSignals:
    """SIGINT and SIGTERM end a recording in order. Installed once around all of it, so that one signal ends all. While
    calls are on their way, the first signal lets them finish within `grace` seconds and the second cancels them; at any
    other moment a signal raises `RecordingInterrupted` at once."""

    def __init__(self, grace: float = GRACE_S) -> None:
        self.received: list[str] = []
        self._grace = grace
        # While a loop asks: the loop, what to call on the first signal, and what on the second or after the grace.
        self.asking: tuple[asyncio.AbstractEventLoop, Callable[[], None], Callable[[], None]] | None = None

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Only the main thread can receive signals; elsewhere nothing is installed."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        previous = {number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler if handler is not None else signal.SIG_DFL)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.received.append(signal.Signals(number).name)
        if self.asking is None:
            raise RecordingInterrupted(f"{self.received[0]} received; what was answered is on disk")
        loop, stop, cut = self.asking
        if len(self.received) == 1:
            loop.call_soon_threadsafe(stop)
            loop.call_soon_threadsafe(loop.call_later, self._grace, cut)
        else:
            loop.call_soon_threadsafe(cut)
