"""The cassette of one cell: its name and file, what the plan wants of it, what it holds and what was used. What a plan
finds in all its cassettes: what is there, missing, stale, damaged or unused; and the message of a miss."""

from __future__ import annotations

import difflib
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from recuse.cassettes.cell_file import SUFFIX, cell_of, contents, stamp_of, stored_path
from recuse.cassettes.matching import reason_to_drop
from recuse.cassettes.plain_file import CassetteError
from recuse.cassettes.record_format import CellIndex, Interaction, Recorded, read_answer, read_index, read_requests
from recuse.configuration import checked_name
from recuse.schema import PROVENANCES, Call, RecuseError, Request
from recuse.schema.number_text import counted
from recuse.schema.plain_values import grouped, leaves
from recuse.security.sanitize import visible

SUPERSEDED = ".superseded"  # below cassettes/: what a changed prompt or model made obsolete; not committed
UNDER_WAY = ".batches"  # below cassettes/: which batches are under way; not committed
SIDE = ".new"  # a cell is recorded anew beside its old cassette, which stays until the new one is complete
SERVED = "served"
"""Fingerprint table of what stands behind the address and shows in no request (weights, server build, prompt cache):
when it changes, every answer of the cell is asked for anew, not only those whose request changed."""

JOIN = "~"  # joins the parts of a cell name, hence not allowed inside one
LONGEST_FILE = 200  # leaves room for suffixes of side files below the 255 bytes most file systems allow


class CellCassette:
    """A cell. `anew` cells are recorded into a side file; all others are read from and appended to their cassette.
    In mode "missing", what an earlier version stored and is no answer counts as missing: `no_answers`."""

    def __init__(self, root: Path, cell: str, mode: str = "replay", complete: bool = False) -> None:
        self.cell, self._doubting = cell, mode == "missing"
        self.plain = root / f"{cell}{SUFFIX}"
        self._complete = complete
        self.header: Mapping[str, Any] | None = None
        self.calls: tuple[Call, ...] = ()
        self._used: dict[str, int] = {}  # key -> bit n: repeat n was used. Ten times smaller than pairs
        self.load(mode == "all")

    def load(self, anew: bool = False) -> None:
        """Read the file again: after it was mended or replaced, or to turn to recording anew. Of a cell that is part of
        a `complete` new recording, the side file counts as long as it has not taken the cassette's place."""
        main, side = read_index(self.plain), f"{self.plain}{SIDE}"
        complete = self._complete and os.path.exists(side)
        anew = complete or (anew and not self._complete)
        self.main = main.path
        self.anew, self.touched, self.obsolete_side = anew, False, False
        self.base: tuple[str, Recorded] | None = None
        self.index = read_index(Path(side)) if anew else main
        self.recorded_header: Mapping[str, Any] | None = (self.index if complete else main).header
        self._side_header = self.index.header if anew and not complete else None
        stored = (self.index.header or {}).get("cell", self.cell)
        self.index.header = None  # read; what is needed of it later is in `recorded_header`
        misplaced = f"{self.index.path}:1: recorded as cell {stored}; the file was moved or copied from there"
        self.faults = self.index.faults if stored == self.cell else [*self.index.faults, misplaced]
        self.no_answers: dict[Interaction, str] = {}
        if self._doubting and self.index.answers and not self.faults:
            data = contents(self.index.path)[0]
            for interaction, (at, length) in list(self.index.answers.items()):
                answer = read_answer(data, at, length)
                if why := reason_to_drop(answer.status, answer.body):
                    self.no_answers[interaction] = why
                    del self.index.answers[interaction]

    def refresh(self) -> None:
        """Read the file again if it is not the one that was read."""
        if self.index.stamp != stamp_of(self.index.path) or self.main != stored_path(self.plain):
            self.load(self.anew)
            if self.header is not None:
                self.expect_header(self.header)

    def plan(self, calls: Iterable[Call]) -> None:
        """Add calls to those that this cell is asked for. A list that repeats all that was known gives the order: calls
        of a chain become known as replies come. `RecuseError` where two calls send the same request in one repeat."""
        planned, calls = dict[Interaction, Call](), tuple(calls)
        named = {(call.key, call.repeat) for call in calls} if self.calls else set()
        repeated = named.issuperset((call.key, call.repeat) for call in self.calls)
        for call in (*calls, *self.calls) if repeated else (*self.calls, *calls):
            other = planned.setdefault((call.key, call.repeat), call)
            if other is not call and other != call:
                same = f"item {other.item} and item {call.item} ask word for word the same in repeat {call.repeat}"
                remedy = "Make the items differ, or use different cells"
                raise RecuseError(f"cell {self.cell}: {same}; one answer cannot serve both. {remedy}")
        self.calls = tuple(planned.values())

    def expect_header(self, header: Mapping[str, Any]) -> None:
        """What the header says if the cassette is of the judge and the words of today: `stale` compares. `RecuseError`
        without provenance or fingerprint. A side file that was begun for another header is obsolete from here on."""
        if header.get("provenance") not in PROVENANCES or not isinstance(header.get("fingerprint"), Mapping):
            what = f"a `provenance` (one of {', '.join(PROVENANCES)}) and a `fingerprint` table"
            raise RecuseError(f"cell {self.cell}: a cassette header needs {what}")
        self.header = header
        if self._side_header is not None and _identity(self._side_header) != _identity(header):
            self.obsolete_side, self.index = True, CellIndex(self.index.path, None)
        if self.recorded_header is not None and _identity(self.recorded_header) == _identity(header):
            self.recorded_header = header  # thousands of cells share one

    def planned(self, key: str, repeat: int) -> Call | None:
        """The planned call of a request key and repeat; None where the plan has none."""
        return next((call for call in self.calls if call.key == key and call.repeat == repeat), None)

    @property
    def missing(self) -> list[Call]:
        """Planned calls without a recorded answer, in the order of the plan."""
        answers = self.index.answers
        return [call for call in self.calls if (call.key, call.repeat) not in answers]

    def unplanned(self) -> list[Unused]:
        """Recorded answers that no planned call asks for, in the order of the file."""
        planned = {(call.key, call.repeat) for call in self.calls}
        return [Unused(self.cell, *answer) for answer in self.index.answers if answer not in planned]

    def stale(self) -> list[Stale]:
        """How the recorded fingerprint differs from the expected one, with the words that changed where that shows."""
        if self.header is None or self.recorded_header is None or self.recorded_header is self.header:
            return []
        differences = fingerprint_differences(_identity(self.recorded_header), _identity(self.header))
        words = ""
        if differences and (changed := next((c for c in self.missing if c.key not in self.index.requests), None)):
            closest = nearest(self.recorded_requests().values(), changed.request)
            words = "\n".join(request_differences(closest, changed.request)) if closest else ""
        items = tuple(dict.fromkeys(call.item for call in self.calls))
        return [Stale(self.cell, *one, "" if i else words, items) for i, one in enumerate(differences)]

    def check(self) -> None:
        """Raise `CassetteError` if the file is damaged: none of it is served then."""
        if self.faults:
            faults = visible("\n  ".join((f"cassette of cell {self.cell} is damaged", *self.faults[:5])))
            remedy = f"restore {self.index.path} from version control, or record what is missing with --record=missing"
            raise CassetteError(f"{faults}\n  {remedy}")

    def recorded_requests(self) -> dict[str, Recorded]:
        """Every request of the file as it was recorded, by key, in its order."""
        return read_requests(self.index, contents(self.index.path)[0]) if self.index.requests else {}

    def use(self, interactions: Iterable[Interaction]) -> None:
        """Note that answers were used, for `unused`."""
        used = self._used
        for key, repeat in interactions:
            used[key] = used.get(key, 0) | 1 << repeat

    def unused(self) -> Iterator[Unused]:
        """Recorded answers that nothing has used so far, with their call where the plan knows it."""
        for key, repeat in self.index.answers:
            if not self._used.get(key, 0) >> repeat & 1:
                yield Unused(self.cell, key, repeat, self.planned(key, repeat))


def _identity(header: Mapping[str, Any]) -> dict[str, Any]:
    return {**header.get("fingerprint", {}), "provenance": header.get("provenance")}


def checked_cell(cell: str) -> str:
    """The cell's name without file suffix if every part of it is a safe file name; `RecuseError` otherwise."""
    cell = cell_of(cell) or cell
    parts = cell.split("/")
    if len(parts) != 4:
        raise RecuseError(f"cassette {cell!r} is not of the form <panel>/<task>/<protocol>/<cell>")
    for part, what in zip(parts, ("panel", "task", "protocol"), strict=False):
        checked_name(part, what, f"cassette {cell!r}")
    for part in parts[3].split(JOIN):
        checked_name(part, "part of a cell", f"cassette {cell!r}")
    if (length := len(parts[3])) > LONGEST_FILE:
        most = f"at most {LONGEST_FILE} fit. Shorten the ids"
        raise RecuseError(f"the cell name {parts[3]!r} has {length} characters; {most}")
    return cell


def check_distinct(cells: Iterable[str]) -> None:
    """`RecuseError` if two cells differ only in case: some file systems would make them one file."""
    seen: dict[str, str] = {}
    for cell in cells:
        other = seen.setdefault(cell.casefold(), cell)
        if other != cell:
            raise RecuseError(f"cells {other!r} and {cell!r} differ only in case: one file on some systems. Rename one")


class Stale(NamedTuple):
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


class Unused(NamedTuple):
    """A recorded interaction that nothing asked for."""

    cell: str
    key: str
    repeat: int
    call: Call | None = None  # None: the plan does not contain it


class Coverage(NamedTuple):
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
        shown = self.stale if texts else [one._replace(explanation="") for one in self.stale]
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

    def shared(one: str, other: str) -> int:  # the length of the common beginning
        alike = (a == b for a, b in zip(one, other, strict=False))
        return next((i for i, same in enumerate(alike) if not same), min(len(one), len(other)))

    def distance(recorded: Recorded) -> tuple[int, int]:
        old = _leaves(recorded[2])
        paths = [path for path in {*old, *new} if old.get(path) != new.get(path)]
        size = 0  # of what is left after the common beginning and end are taken away
        for one, other in ((str(old.get(path, "")), str(new.get(path, ""))) for path in paths):
            start = shared(one, other)
            size += max(len(one), len(other)) - start - shared(one[start:][::-1], other[start:][::-1])
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


def _leaves(body: bytes) -> dict[str, Any]:
    """Every value of a JSON body that holds no other, by its path."""
    try:
        return {path or "body": value for path, value in leaves(json.loads(body))}
    except (ValueError, RecursionError):
        return {"body": body.decode("utf-8", "replace")}


def _cut(text: str, width: int = 120) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."
