"""How a recording ended: what is stored, what failed, what was not asked, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recuse.cassettes.coverage import describe, missing_lines
from recuse.schema import Call, RecuseError


class IncompleteRecordingError(RecuseError):
    """Not everything that was asked for is recorded; the message says what is missing and why."""


class RecordingInterrupted(KeyboardInterrupt):
    """A signal ended the recording; everything answered is on disk. A KeyboardInterrupt, so that whatever called the
    recording ends too: pytest with exit code 2."""


@dataclass(frozen=True)
class RecordingReport:
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
        parts += [*self.unreadable, *_told_once(self.failed)[:limit]]
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


def _told_once(failed: Sequence[tuple[Call, str]]) -> list[str]:
    """One line per reason: what is wrong with a whole judge is said once, and not for each of its calls."""
    calls: dict[str, list[Call]] = {}
    for call, why in failed:
        calls.setdefault(why, []).append(call)
    return [
        f"{describe(same_reason[0]) if len(same_reason) == 1 else f'{len(same_reason)} calls failed'}: {why}"
        for why, same_reason in calls.items()
    ]
