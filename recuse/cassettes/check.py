"""Is every committed cassette what it claims to be? Checksums, names, provenance, fingerprints, secrets, size."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from recuse.cassettes import record_format
from recuse.cassettes.cell_cassette import SUFFIX, check_distinct, checked_cell
from recuse.cassettes.index import CassetteError, CellIndex, index_of, read_requests
from recuse.cassettes.matching import request_key
from recuse.cassettes.response_filter import reason_to_drop
from recuse.cassettes.salvage import DAMAGED, salvaged
from recuse.cassettes.storage import SUPERSEDED, canonical_bytes
from recuse.cassettes.writer import replace_file
from recuse.key_shapes import key_shapes_in
from recuse.sanitize import visible
from recuse.schema import PROVENANCES, RecuseError, Request

LARGEST_MB = 50.0


@dataclass
class Checked:
    """What a check found. `faults` name file and line; `panels` count files, answers and bytes."""

    faults: list[str] = field(default_factory=list)
    files: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)
    bytes: Counter[str] = field(default_factory=Counter)

    def text(self) -> str:
        rows = [
            f"{panel}: {self.files[panel]} cassettes, {self.answers[panel]} answers, {self.bytes[panel] / 1e6:.2f} MB"
            for panel in sorted(self.files)
        ]
        total = f"{sum(self.files.values())} cassettes, {sum(self.answers.values())} answers, {self.megabytes:.2f} MB"
        found = (
            [f"{len(self.faults)} faults:", *(f"  {fault}" for fault in self.faults)] if self.faults else ["no faults"]
        )
        return visible("\n".join([*rows, f"all: {total}", *found]))

    @property
    def megabytes(self) -> float:
        return sum(self.bytes.values()) / 1e6


def check_cassettes(root: Path, largest_mb: float = LARGEST_MB) -> Checked:
    """Check every file below `root`. All faults are collected; none stops the check."""
    checked = Checked()
    if not root.is_dir():
        raise RecuseError(f"{root}: there is no such folder; name the folder that holds the cassettes")
    cells = []
    for path in sorted(p for p in root.rglob("*") if p.is_file() or p.is_symlink()):
        inside = path.relative_to(root)
        if inside.parts[0] == SUPERSEDED:
            continue
        if path.suffix == SUFFIX:
            cells.append(inside.as_posix().removesuffix(SUFFIX))
            _check_file(checked, path, cells[-1])
        else:
            checked.faults.append(f"{path}: not a cassette ({_leftover(path)})")
    _collect(checked, lambda: check_distinct(cells))
    if checked.megabytes > largest_mb:
        checked.faults.append(f"{root}: {checked.megabytes:.1f} MB of cassettes; at most {largest_mb:g} MB are allowed")
    return checked


def _check_file(checked: Checked, path: Path, cell: str) -> None:
    if path.is_symlink():
        checked.faults.append(f"{path}: a symbolic link; a cassette must be a file of its own")
        return
    _collect(checked, lambda: checked_cell(cell))
    data = path.read_bytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a torn last line is reported as a fault below
        index = index_of(path, data)
    panel = cell.split("/")[0]
    checked.files[panel] += 1
    checked.answers[panel] += len(index.answers)
    checked.bytes[panel] += len(data)
    checked.faults += index.faults
    if index.torn:
        checked.faults.append(f"{path}: the last line is unfinished; record again with --record=missing, or compact it")
    checked.faults += [f"{path}: contains what looks like {kind}" for kind in key_shapes_in(data)]
    if index.header is not None:
        checked.faults += [f"{path}:1: {fault}" for fault in _header_faults(index.header, cell)]
    checked.faults += _content_faults(path, index, data)


def _header_faults(header: dict[str, Any], cell: str) -> Iterator[str]:
    if header.get("cell") != cell:
        yield f"recorded as cell {header.get('cell')}; the file was moved or copied"
    if header.get("provenance") not in PROVENANCES:
        yield f"provenance is {header.get('provenance')!r}, not one of {', '.join(PROVENANCES)}"
    fingerprint = header.get("fingerprint")
    if not isinstance(fingerprint, dict) or not fingerprint.get("model"):
        yield "the fingerprint does not say which model answered"
    if not header.get("engine"):
        yield "the header does not say which engine recorded it"


def _content_faults(path: Path, index: CellIndex, data: bytes) -> Iterator[str]:
    provenance = (index.header or {}).get("provenance")
    answered = {key for key, _ in index.answers}
    for key, (method, url, body) in read_requests(index, data).items():
        if request_key(Request(url, body, method)) != key:
            yield f"{path}: request {key} has a key that its content does not hash to"
        if key not in answered:
            yield f"{path}: request {key} has no answer"
        host = urlsplit(url).hostname or ""
        if provenance in PROVENANCES and host.endswith(".invalid") == (provenance == "recorded"):
            yield f"{path}: provenance is {provenance}, but the server was {host} (only stand-ins end in .invalid)"
    for (key, repeat), (at, length) in index.answers.items():
        status, _, body = record_format.read_answer(data[at : at + length])
        if reason := reason_to_drop(status, body):
            yield f"{path}: request {key}, repeat {repeat} is not an answer: {reason}"


def _leftover(path: Path) -> str:
    if path.name.endswith((".new", ".tmp", ".damaged", ".ballast")):
        return "left over from an interrupted or repaired recording; finish it with --record, or delete the file"
    return "only cassettes belong here"


def _collect(checked: Checked, check: Any) -> None:
    try:
        check()
    except RecuseError as error:
        checked.faults.append(str(error))


def compact(path: Path, drop_damaged: bool = False) -> str:
    """Rewrite one cassette in order and without an unfinished last line; says what was done.

    Changed line endings are put back. A file with other damage is refused unless `drop_damaged`; it is then kept as
    FILE.damaged."""
    old = path.read_bytes()
    data, dropped = salvaged(old, str(path))
    index = index_of(path, data)
    if (dropped or index.faults) and not drop_damaged:
        raise CassetteError("\n  ".join((f"{path} is damaged and was left alone", *(dropped or index.faults)[:5])))
    if index.faults:
        raise CassetteError(f"{path}: nothing usable is left: {index.faults[0]}")
    if dropped:
        replace_file(path.with_name(path.name + DAMAGED), old)
    new = canonical_bytes(index, data, None, ())
    if new == old:
        return f"{path}: already in order, {len(index.answers)} answers"
    replace_file(path, new)
    gone = f", {len(dropped)} damaged lines left out" if dropped else ""
    return f"{path}: {len(index.answers)} answers, {len(old):,} -> {len(new):,} bytes{gone}"
