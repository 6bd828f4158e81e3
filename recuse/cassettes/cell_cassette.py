"""The cassette of one cell: its name and file, what the plan wants of it, what it holds, what has been used."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from recuse.cassettes import cell_coverage
from recuse.cassettes.cell_coverage import Stale, Unused
from recuse.cassettes.cell_file import SUFFIX, cell_of, contents, stamp_of, stored_path
from recuse.cassettes.matching import reason_to_drop
from recuse.cassettes.plain_file import CassetteError
from recuse.cassettes.record_format import CellIndex, Interaction, Recorded, read_answer, read_index, read_requests
from recuse.configuration import checked_name
from recuse.schema import PROVENANCES, Call, RecuseError
from recuse.security.sanitize import visible

SUPERSEDED = ".superseded"  # below cassettes/: what a changed prompt or model made obsolete; not committed
UNDER_WAY = ".batches"  # below cassettes/: which batches are under way; not committed
SIDE = ".new"  # a cell is recorded anew beside its old cassette, which stays until the new one is complete
SERVED = "served"
"""Fingerprint table of what stands behind the address and shows in no request (weights, server build, prompt cache):
when it changes, every answer of the cell is asked for anew, not only those whose request changed."""


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
                raise RecuseError(
                    f"cell {self.cell}: item {other.item} and item {call.item} ask word for word the same in repeat "
                    f"{call.repeat}; one answer cannot serve both. Make the items differ, or use different cells"
                )
        self.calls = tuple(planned.values())

    def expect_header(self, header: Mapping[str, Any]) -> None:
        """What the header says if the cassette is of the judge and the words of today: `stale` compares. `RecuseError`
        without provenance or fingerprint. A side file that was begun for another header is obsolete from here on."""
        if header.get("provenance") not in PROVENANCES or not isinstance(header.get("fingerprint"), Mapping):
            raise RecuseError(
                f"cell {self.cell}: a cassette header needs a `provenance` (one of {', '.join(PROVENANCES)}) "
                "and a `fingerprint` table"
            )
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
        differences = cell_coverage.fingerprint_differences(_identity(self.recorded_header), _identity(self.header))
        words = ""
        if differences and (changed := next((c for c in self.missing if c.key not in self.index.requests), None)):
            closest = cell_coverage.nearest(self.recorded_requests().values(), changed.request)
            words = "\n".join(cell_coverage.request_differences(closest, changed.request)) if closest else ""
        items = tuple(dict.fromkeys(call.item for call in self.calls))
        return [
            Stale(self.cell, name, a, b, words if i == 0 else "", items) for i, (name, a, b) in enumerate(differences)
        ]

    def check(self) -> None:
        """Raise `CassetteError` if the file is damaged: none of it is served then."""
        if self.faults:
            raise CassetteError(
                visible("\n  ".join((f"cassette of cell {self.cell} is damaged", *self.faults[:5])))
                + f"\n  restore {self.index.path} from version control, or record what is missing with --record=missing"
            )

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


JOIN = "~"  # joins the parts of a cell name, hence not allowed inside one
LONGEST_FILE = 200  # leaves room for suffixes of side files below the 255 bytes most file systems allow


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
    if len(parts[3]) > LONGEST_FILE:
        raise RecuseError(
            f"the cell name {parts[3]!r} has {len(parts[3])} characters; at most {LONGEST_FILE} fit. Shorten the ids"
        )
    return cell


def check_distinct(cells: Iterable[str]) -> None:
    """`RecuseError` if two cells differ only in case: some file systems would make them one file."""
    seen: dict[str, str] = {}
    for cell in cells:
        other = seen.setdefault(cell.casefold(), cell)
        if other != cell:
            raise RecuseError(f"cells {other!r} and {cell!r} differ only in case: one file on some systems. Rename one")
