"""One line that says how a recording goes: done, rate, time left, failures."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a recording is. `seconds` since it started."""

    total: int
    stored: int
    failed: int
    seconds: float

    def __str__(self) -> str:
        rate = self.stored / self.seconds if self.seconds > 0 else 0.0
        left = self.total - self.stored - self.failed
        failed = f", {self.failed} failed" if self.failed else ""
        remaining = f", about {_span(left / rate)} left" if rate > 0 and left else ""
        return f"recorded {self.stored} of {self.total}{failed}, {_rate(rate)}{remaining}"


Report = Callable[[Progress], None]


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


def _rate(per_second: float) -> str:
    return f"{per_second:.1f} per second" if per_second >= 1 else f"{per_second * 60:.1f} per minute"


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
