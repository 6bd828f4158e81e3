"""What a plan finds in the cassettes: what is there, missing, stale, damaged or unused; as data and in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recuse.schema import Call


@dataclass(frozen=True, slots=True)
class Stale:
    """A field of a cell's fingerprint that is no longer what the cassette was recorded with."""

    cell: str
    field: str  # dotted: "model", "parameters.top_p"
    recorded: Any
    expected: Any
    explanation: str = ""  # e.g. what differs in the prompt's words
    items: tuple[str, ...] = ()  # what the cell's calls judge

    def __str__(self) -> str:
        items = f" (item {', '.join(self.items[:3])}{', ...' if len(self.items) > 3 else ''})" if self.items else ""
        line = f"{self.cell}{items}: {self.field} was {_short(self.recorded)}, is {_short(self.expected)}"
        return f"{line}\n{_indent(self.explanation)}" if self.explanation else line


@dataclass(frozen=True, slots=True)
class Unused:
    """A recorded interaction that nothing asked for."""

    cell: str
    key: str
    run: int
    call: Call | None = None  # None: the plan does not contain it


@dataclass(frozen=True)
class Coverage:
    """One plan against the cassettes. `complete` means every planned call can be replayed as it stands."""

    planned: int
    missing: tuple[Call, ...] = ()
    stale: tuple[Stale, ...] = ()
    damaged: tuple[str, ...] = ()
    unplanned: tuple[Unused, ...] = ()  # recorded in the plan's own cells, but for other requests or runs

    @property
    def present(self) -> int:
        return self.planned - len(self.missing)

    @property
    def complete(self) -> bool:
        return not (self.missing or self.stale or self.damaged)

    def text(self, limit: int = 12) -> str:
        """Readable summary by judge and protocol; at most `limit` lines per kind."""
        parts = [f"{self.present} of {self.planned} planned calls are recorded"]
        if self.missing:
            parts += [f"missing: {len(self.missing)}", *_capped(missing_lines(self.missing), limit)]
        if self.stale:
            parts += [
                f"stale: {len({s.cell for s in self.stale})} cassettes",
                *_capped([f"  {s}" for s in self.stale], limit),
            ]
        if self.damaged:
            parts += [f"damaged: {len(self.damaged)}", *_capped([f"  {fault}" for fault in self.damaged], limit)]
        if self.unplanned:
            parts += [
                f"recorded but not in the plan: {len(self.unplanned)}",
                *_capped(unused_lines(self.unplanned), limit),
            ]
        return "\n".join(parts)


def missing_lines(calls: Iterable[Call]) -> list[str]:
    """One line per judge, protocol, item and factors: which repeats are missing."""
    runs: dict[tuple[str, ...], list[int]] = {}
    for call in calls:
        runs.setdefault(_subject(call), []).append(call.repeat)
    return [f"  {', '.join(subject)}: {_runs(found)}" for subject, found in runs.items()]


def unused_lines(unused: Iterable[Unused]) -> list[str]:
    """One line per judge, protocol and item where the plan knows the call, else per cassette."""
    found: Counter[str] = Counter(
        ", ".join(_subject(u.call)) if u.call else f"{u.cell} (not in the plan)" for u in unused
    )
    return [
        f"  {subject}: {count} recorded {'answer' if count == 1 else 'answers'} not used"
        for subject, count in found.items()
    ]


def fingerprint_differences(recorded: Mapping[str, Any], expected: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Fields that differ, dotted, each with the recorded and the expected value (None: there is none)."""
    found: list[tuple[str, Any, Any]] = []
    for name in sorted({*recorded, *expected}):
        old, new = recorded.get(name), expected.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            found += [(f"{name}.{inner}", a, b) for inner, a, b in fingerprint_differences(old, new)]
        elif old != new:
            found.append((name, old, new))
    return found


def describe(call: Call) -> str:
    """ "judge x, protocol y, item z, target t, condition attributed, repeat 3"."""
    return ", ".join((*_subject(call), f"repeat {call.repeat}"))


def _subject(call: Call) -> tuple[str, ...]:
    where = (f"judge {call.judge}", f"protocol {call.protocol}", f"item {call.item}", f"target {call.target}")
    return (*where, *(f"{name} {level}" for name, level in call.factors))


def _runs(runs: Sequence[int]) -> str:
    shown = ", ".join(map(str, sorted(runs)[:12]))
    return f"{'repeat' if len(runs) == 1 else 'repeats'} {shown}{', ...' if len(runs) > 12 else ''}"


def _capped(found: list[str], limit: int) -> list[str]:
    return found if len(found) <= limit else [*found[:limit], f"  ... and {len(found) - limit} more"]


def _short(value: Any) -> str:
    text = "absent" if value is None else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
