"""One cell of a library: what the plan wants of it, what its cassette holds, what has been used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recuse.cassettes import lines
from recuse.cassettes.coverage import Stale, Unused, fingerprint_differences
from recuse.cassettes.index import CassetteError, Interaction, read_index
from recuse.cassettes.misses import Recorded, nearest, request_differences
from recuse.cassettes.names import SUFFIX
from recuse.schema import PROVENANCES, Call, RecuseError

SIDE = ".new"  # a cell is recorded anew beside its old cassette, which stays until the new one is complete
SERVED = "served"
"""Fingerprint table of what stands behind the address and shows in no request (weights, server build, prompt cache):
when it changes, every answer of the cell is asked for anew, not only those whose request changed."""


class Shelf:
    """A cell. `anew` cells are recorded into a side file; all others are read from and appended to their cassette."""

    def __init__(self, root: Path, cell: str, anew: bool = False) -> None:
        self.cell = cell
        self.main = root / f"{cell}{SUFFIX}"
        self.header: Mapping[str, Any] | None = None
        self.planned: dict[Interaction, Call] = {}
        self.used: set[Interaction] = set()
        self.touched = False
        self.load(anew)

    def load(self, anew: bool = False) -> None:
        """Read the file again: after it was mended or replaced, or to turn to recording anew."""
        main = read_index(self.main)
        self.anew, self.touched = anew, False
        self.recorded_header = main.header
        self.index = read_index(self.main.with_name(self.main.name + SIDE)) if anew else main
        self.faults = [*self.index.faults, *self._misplaced()]

    def plan(self, call: Call) -> None:
        other = self.planned.setdefault((call.key, call.repeat), call)
        if other is not call and other != call:
            raise RecuseError(
                f"cell {self.cell}: item {other.item} and item {call.item} ask word for word the same in repeat "
                f"{call.repeat}; one answer cannot serve both. Make the items differ, or put them in different cells"
            )

    def expect_header(self, header: Mapping[str, Any]) -> None:
        if header.get("provenance") not in PROVENANCES or not isinstance(header.get("fingerprint"), Mapping):
            raise RecuseError(
                f"cell {self.cell}: a cassette header needs a `provenance` (one of {', '.join(PROVENANCES)}) "
                "and a `fingerprint` table"
            )
        self.header = header

    @property
    def missing(self) -> list[Call]:
        return [call for interaction, call in self.planned.items() if interaction not in self.index.answers]

    def _misplaced(self) -> list[str]:
        stored = (self.index.header or {}).get("cell", self.cell)
        if stored == self.cell:
            return []
        return [f"{self.index.path}:1: recorded as cell {stored}; the file was moved or copied from there"]

    def check(self) -> None:
        """Raise `CassetteError` if the file is damaged: none of it is served then."""
        if self.faults:
            raise CassetteError(
                "\n  ".join((f"cassette of cell {self.cell} is damaged", *self.faults[:5]))
                + f"\n  restore {self.index.path} from version control, or record what is missing with --record=missing"
            )

    def stale(self) -> list[Stale]:
        """How the recorded fingerprint differs from the expected one, with the words that changed where that shows."""
        if self.header is None or self.recorded_header is None:
            return []
        old, new = (_identity(header) for header in (self.recorded_header, self.header))
        found = fingerprint_differences(old, new)
        words = self._changed_words() if found else ""
        return [Stale(self.cell, name, a, b, words if i == 0 else "") for i, (name, a, b) in enumerate(found)]

    def served_differently(self) -> bool:
        return any(s.field.split(".")[0] == SERVED for s in self.stale())

    def unplanned(self) -> list[Unused]:
        return [Unused(self.cell, key, run) for key, run in self.index.answers if (key, run) not in self.planned]

    def unused(self) -> Iterator[Unused]:
        for key, run in self.index.answers:
            if (key, run) not in self.used:
                yield Unused(self.cell, key, run, self.planned.get((key, run)))

    def superseded(self) -> set[str]:
        """Keys the plan no longer asks for, once the fingerprint has changed and all it asks for now is there."""
        if self.missing or not self.stale():
            return set()
        return set(self.index.requests) - {key for key, _ in self.planned}

    def recorded_requests(self) -> list[Recorded]:
        if not self.index.requests:
            return []
        data = self.index.path.read_bytes()
        return [lines.read_request(data[at : at + length]) for at, length in self.index.requests.values()]

    def _changed_words(self) -> str:
        changed = next((c for c in self.missing if c.key not in self.index.requests), None)
        if changed is None:
            return ""
        found = nearest(self.recorded_requests(), changed.request)
        return "\n".join(request_differences(found, changed.request)) if found else ""


def _identity(header: Mapping[str, Any]) -> dict[str, Any]:
    return {**header["fingerprint"], "provenance": header["provenance"]}
