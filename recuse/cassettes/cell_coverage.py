"""What a plan finds in the cassettes: what is there, missing, stale, damaged or unused; and the message of a miss."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from recuse.cassettes.record_format import Recorded
from recuse.schema import Call, RecuseError, Request
from recuse.schema.number_text import counted
from recuse.schema.plain_values import grouped
from recuse.security.sanitize import visible


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
        was, now = ("absent" if v is None else _cut(repr(v), 80) for v in (self.recorded, self.expected))
        line = f"{self.cell}{items}: {self.field} was {was}, is {now}"
        return "\n    ".join((line, *self.explanation.splitlines()))


@dataclass(frozen=True, slots=True)
class Unused:
    """A recorded interaction that nothing asked for."""

    cell: str
    key: str
    repeat: int
    call: Call | None = None  # None: the plan does not contain it


@dataclass(frozen=True)
class Coverage:
    """One plan against the cassettes. `complete` means every planned call can be replayed as it stands."""

    planned: int
    missing: tuple[Call, ...] = ()
    stale: tuple[Stale, ...] = ()
    damaged: tuple[str, ...] = ()
    unplanned: tuple[Unused, ...] = ()  # recorded in the plan's own cells, but for other requests or repeats

    @property
    def present(self) -> int:
        """How many planned calls are recorded, whether or not they are stale."""
        return self.planned - len(self.missing)

    @property
    def complete(self) -> bool:
        """Whether every planned call can be replayed as it stands."""
        return not (self.missing or self.stale or self.damaged)

    @property
    def cause(self) -> str:
        """ "the prompt changed; 500 answers are not recorded": why it is not complete, once."""
        fields = dict.fromkeys(one.field.partition(".")[0] for one in self.stale)
        parts = [f"the {' and the '.join(fields)} changed"] if fields else []
        parts += [f"{len(self.missing):,} answers are not recorded"] if self.missing else []
        parts += [f"cassettes are damaged in {counted(len(self.damaged), 'place')}"] if self.damaged else []
        return "; ".join(parts)

    def text(self, limit: int = 12, texts: bool = True) -> str:
        """Summary by judge and protocol, with or without the `texts` of prompts; at most `limit` lines per kind."""
        shown = self.stale if texts else [replace(one, explanation="") for one in self.stale]
        # What changed alike in many is shown of the first.
        alike = grouped(shown, lambda one: (one.field, str(one.recorded), str(one.expected), one.explanation))
        stale = [f"  {same[0]}{f' (and {len(same) - 1} more)' if same[1:] else ''}" for same in alike.values()]
        kinds = {
            f"missing: {len(self.missing)}": missing_lines(self.missing),
            f"stale: {len({s.cell for s in self.stale})} cassettes": stale,
            f"damaged: {len(self.damaged)}": [f"  {fault}" for fault in self.damaged],
            f"recorded but not in the plan: {len(self.unplanned)}": unused_lines(self.unplanned),
        }
        parts = [line for kind, lines in kinds.items() if lines for line in (kind, *_capped(lines, limit, "  "))]
        return visible("\n".join([f"{self.present} of {self.planned} planned calls are recorded", *parts]))


def missing_lines(calls: Iterable[Call]) -> list[str]:
    """One line per judge, protocol, item and factors: which repeats are missing."""
    return [
        f"  {', '.join(subject)}: {'repeat' if len(alike) == 1 else 'repeats'} "
        f"{', '.join(map(str, sorted(call.repeat for call in alike)[:12]))}{', ...' if len(alike) > 12 else ''}"
        for subject, alike in grouped(calls, _subject).items()
    ]


def unused_lines(unused: Iterable[Unused]) -> list[str]:
    """One line per judge, protocol and item where the plan knows the call, else per cassette."""
    counts = Counter(", ".join(_subject(u.call)) if u.call else f"{u.cell} (not in the plan)" for u in unused)
    return [f"  {subject}: {count} recorded answer{'s'[: count != 1]} not used" for subject, count in counts.items()]


def fingerprint_differences(recorded: Mapping[str, Any], expected: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Fields that differ, dotted, each with the recorded and the expected value (None: there is none)."""
    differences: list[tuple[str, Any, Any]] = []
    for name in sorted({*recorded, *expected}):
        old, new = recorded.get(name), expected.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            differences += [(f"{name}.{inner}", a, b) for inner, a, b in fingerprint_differences(old, new)]
        elif old != new:
            differences.append((name, old, new))
    return differences


def describe(call: Call) -> str:
    """ "judge x, protocol y, item z, target t, condition attributed, repeat 3"."""
    return ", ".join((*_subject(call), f"repeat {call.repeat}"))


def _subject(call: Call) -> tuple[str, ...]:
    stage = ("stage",) if call.stage else ()
    target = ("target",) if call.target or not call.stage else ()
    where = (f"{what} {getattr(call, what)}" for what in ("judge", "protocol", *stage, "item", *target))
    return (*where, *(f"{name} {level}" for name, level in call.factors))


def _capped(lines: list[str], limit: int, indent: str = "") -> list[str]:
    return lines if len(lines) <= limit else [*lines[:limit], f"{indent}... and {len(lines) - limit} more"]


class MissingInteractionError(RecuseError):
    """Replay was asked for something that is not in the cassettes. Nothing went out."""


def missing_message(
    call: Call | None, request: Request, repeat: int, where: str, recorded: Iterable[Recorded], command: str
) -> str:
    """The message of a miss. `recorded`: the requests stored in the cell, among which the nearest is looked for."""
    who = describe(call) if call else f"{request.method} {request.url}, repeat {repeat}"
    closest = nearest(recorded, request)
    nearby = ["  nothing is recorded there"]
    if closest and (differences := request_differences(closest, request)):
        nearby = ["  the nearest recorded request differs in:", *(f"    {line}" for line in differences)]
    elif closest:
        nearby = ["  the same request is recorded, but not this repeat of it"]
    return "\n".join([f"no recorded answer for {who}", f"  looked in {where}", *nearby, f"  record it: {command}"])


def nearest(recorded: Iterable[Recorded], request: Request) -> Recorded | None:
    """The stored request with the fewest differing members, and among those the smallest difference in text."""
    new = _leaves(request.body)

    def distance(recorded: Recorded) -> tuple[int, int]:
        old = _leaves(recorded[2])
        paths = [path for path in {*old, *new} if old.get(path) != new.get(path)]
        size = 0  # of what is left after the common beginning and end are taken away
        for one, other in ((str(old.get(path, "")), str(new.get(path, ""))) for path in paths):
            start = _shared(one, other)
            size += max(len(one), len(other)) - start - _shared(one[start:][::-1], other[start:][::-1])
        return len(paths) + (recorded[1] != request.url), size

    return min(recorded, key=distance, default=None)


def request_differences(recorded: Recorded, request: Request) -> list[str]:
    """What differs between a stored and an asked request, member by member, long texts line by line."""
    plain = {"method": (recorded[0], request.method), "url": (recorded[1], request.url)}
    differences = [f"{what}: recorded {old}, asked {new}" for what, (old, new) in plain.items() if old != new]
    old, new = _leaves(recorded[2]), _leaves(request.body)
    for path in old | new:
        before, after = old.get(path), new.get(path)
        if isinstance(before, str) and isinstance(after, str) and max(len(before), len(after)) > 60:
            lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
            changed = [f"  {_cut(line)}" for line in lines if not line.startswith(("---", "+++", "@@"))]
            differences += [f"{path}: (- recorded, + asked)", *changed[:6]] if before != after else []
        elif before != after:
            was, now = ("nothing" if v is None else _cut(json.dumps(v, ensure_ascii=False)) for v in (before, after))
            differences.append(f"{path}: recorded {was}, asked {now}")
    return _capped(differences, 8)


def _shared(one: str, other: str) -> int:
    """Length of the common beginning."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _leaves(body: bytes) -> dict[str, Any]:
    """Every value of a JSON body that holds no other, by its path."""

    def walk(value: Any, path: str) -> Iterator[tuple[str, Any]]:
        if isinstance(value, dict):
            for name, member in value.items():
                yield from walk(member, f"{path}.{name}" if path else name)
        elif isinstance(value, list):
            for position, member in enumerate(value):
                yield from walk(member, f"{path}[{position}]")
        else:
            yield path or "body", value

    try:
        return dict(walk(json.loads(body), ""))
    except (ValueError, RecursionError):
        return {"body": body.decode("utf-8", "replace")}


def _cut(text: str, width: int = 120) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."
