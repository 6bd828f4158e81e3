"""How a recording is told to stop: signals, and the signs of a lost connection."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from recuse.recording.progress import RecordingInterrupted

GRACE_S = 30.0  # after a first signal, how long answers that are on their way may still arrive


class StopSignals:
    """SIGINT and SIGTERM end a recording in order. Installed once around all of it, so that one signal ends all.

    While calls are on their way, the first signal lets them finish within `grace` seconds and the second cancels them;
    at any other moment a signal raises `RecordingInterrupted` at once.
    """

    def __init__(self, grace: float = GRACE_S) -> None:
        self.received: list[str] = []
        self._grace = grace
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: Callable[[], None] = lambda: None
        self._cut: Callable[[], None] = lambda: None

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

    @contextmanager
    def handled_by(self, stop: Callable[[], None], cut: Callable[[], None]) -> Iterator[None]:
        """While the running loop asks: `stop` is called on the first signal, `cut` on the second or after the grace."""
        self._loop, self._stop, self._cut = asyncio.get_running_loop(), stop, cut
        try:
            yield
        finally:
            self._loop = None

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.received.append(signal.Signals(number).name)
        if self._loop is None:
            raise RecordingInterrupted(f"{self.received[0]} received; what was answered is on disk")
        if len(self.received) == 1:
            self._loop.call_soon_threadsafe(self._begin_to_stop)
        else:
            self._loop.call_soon_threadsafe(self._cut)

    def _begin_to_stop(self) -> None:
        self._stop()
        asyncio.get_running_loop().call_later(self._grace, self._cut)


def is_connection_error(error: BaseException | None) -> bool:
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
