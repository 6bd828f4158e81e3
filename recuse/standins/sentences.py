"""The sentences stand-ins say beside a score, from a file of the task's own wording."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recuse.schema import RecuseError


@dataclass(frozen=True)
class Sentences:
    """Per criterion, bands of (lowest score, sentences), highest band first; and remarks by kind and criterion."""

    bands: Mapping[str, Sequence[tuple[float, Sequence[str]]]]
    remarks: Mapping[str, Mapping[str, Sequence[str]]]

    def why(self, criterion: str, score: float, *call: object) -> str:
        """One sentence that fits the score. The same `call` gets the same sentence, other calls likely another."""
        for at_least, say in self.bands[criterion]:
            if score >= at_least:
                return say[_hashed(criterion, *call) % len(say)]
        raise AssertionError("the last band starts at 0, which read_sentences checked")

    def remark(self, kind: str, criterion: str, *call: object) -> str:
        """One remark of a kind ("strengths", "weaknesses") on a criterion."""
        say = self.remarks[kind][criterion]
        return say[_hashed(kind, criterion, *call) % len(say)]


def read_sentences(path: Path) -> Sentences:
    """[[<criterion>]] tables (at_least, say) make the bands; [<kind>] tables (criterion -> list) the remarks."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    bands = {name: _bands(tables, name, path) for name, tables in data.items() if isinstance(tables, list)}
    remarks = {name: table for name, table in data.items() if isinstance(table, dict)}
    return Sentences(bands, remarks)


def _bands(tables: list[Mapping[str, Any]], name: str, path: Path) -> list[tuple[float, Sequence[str]]]:
    bands: list[tuple[float, Sequence[str]]] = [(float(table["at_least"]), tuple(table["say"])) for table in tables]
    floors = [floor for floor, _ in bands]
    if floors != sorted(set(floors), reverse=True) or floors[-1] != 0 or not all(say for _, say in bands):
        raise RecuseError(
            f"{path}: [[{name}]] needs bands from the highest down to at_least = 0, each with sentences; got {floors}"
        )
    return bands


def _hashed(*parts: object) -> int:
    text = "\0".join(map(str, parts))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest())
