"""Side by side: the two sides of a comparison take turns, and their medians are compared.

What never waits is measured in CPU seconds, which other programs on the machine hardly disturb.
"""

from __future__ import annotations

import re
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One line of the table. `faster`: how many times faster than the other we must be; else how many times its cost
    we may take at most."""

    work: str
    against: str
    ours: float
    other: float
    wanted: float
    faster: bool
    unit: str = "s"
    note: str = ""

    @property
    def ratio(self) -> float:
        return self.other / self.ours if self.faster else self.ours / self.other

    @property
    def reached(self) -> bool:
        return self.ratio >= self.wanted if self.faster else self.ratio <= self.wanted

    def cells(self) -> list[str]:
        want = f"{self.wanted:g}x faster" if self.faster else f"at most {self.wanted:g}x"
        verdict = "yes" if self.reached else "NO"
        return [
            self.work,
            self.against,
            f"{self.ours:.3g} {self.unit}",
            f"{self.other:.3g} {self.unit}",
            f"{self.ratio:.3g}x",
            want,
            verdict + (f" ({self.note})" if self.note else ""),
        ]


HEADINGS = ["work", "against", "ours", "other", "ratio", "wanted", "reached"]


def table(rows: list[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [HEADINGS, ["---"] * len(HEADINGS), *(row.cells() for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def interleaved(rounds: int, *sides: Callable[[], float]) -> list[float]:
    """Median of each side's own figure over `rounds`, the sides taking turns, each first in turn."""
    found: list[list[float]] = [[] for _ in sides]
    for turn in range(rounds):
        order = list(range(len(sides)))
        for n in order[turn % len(sides) :] + order[: turn % len(sides)]:
            found[n].append(sides[n]())
    return [statistics.median(figures) for figures in found]


def wall(work: Callable[[], object]) -> Callable[[], float]:
    """Seconds on the clock: for work that waits."""

    def timed() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return timed


def children(work: Callable[[], object]) -> Callable[[], float]:
    """Seconds of work of the processes that `work` runs and waits for."""

    def timed() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        work()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return timed


def cpu(work: Callable[[], object]) -> Callable[[], float]:
    """Seconds of this process's own work: for what never waits, and hardly disturbed by other programs."""

    def timed() -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return timed


def peak_mb() -> int:
    """Peak memory in MB of this process: `ru_maxrss` would begin with what its parent had."""
    peak = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(peak[1]) // 1024 if peak else 0
