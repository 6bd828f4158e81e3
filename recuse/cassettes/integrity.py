"""Is a cassette what it claims to be (checksums, names, provenance, fingerprints, secrets, size), and what puts it
right: what can be saved of a damaged file, and the order its lines should have."""

from __future__ import annotations

import json
import os
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from recuse.cassettes import cell_file, pack_file, record_format
from recuse.cassettes.cell_cassette import SUPERSEDED, UNDER_WAY, check_distinct, checked_cell
from recuse.cassettes.cell_file import cell_of, contents, is_in_pack, is_packed, plain_path
from recuse.cassettes.matching import reason_to_drop, request_key
from recuse.cassettes.record_format import CellIndex, Interaction, Place, Recorded, read_requests
from recuse.judges import other_models
from recuse.schema import PROVENANCES, RecuseError, Request
from recuse.security.redaction import key_shapes_in
from recuse.security.sanitize import visible

DAMAGED = ".damaged"  # beside a cassette: the file as it was before its damaged lines were cut out
LARGEST_MB = 60.0


@dataclass
class Checked:
    """What a check found. `faults` name file and line; `panels` count files, packed, answers and bytes stored."""

    faults: list[str] = field(default_factory=list)
    panels: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    @property
    def total(self) -> Counter[str]:
        """The counts of all panels."""
        return sum(self.panels.values(), Counter())

    def text(self) -> str:
        """A line of counts per panel and one for all, then the faults."""
        rows = []
        for name, n in (*sorted(one for one in self.panels.items() if one[1]["files"]), ("all", self.total)):
            compressed = f" ({n['packed']} compressed)" if n["packed"] else ""
            rows.append(
                f"{name}: {n['files']} cassettes{compressed}, {n['answers']} answers, {n['bytes'] / 1e6:.2f} MB"
            )
        head = f"{len(self.faults)} fault{'s'[: len(self.faults) > 1]}:" if self.faults else "no faults"
        return visible("\n".join([*rows, head, *(f"  {fault}" for fault in self.faults)]))

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Whatever is raised inside is a fault."""
        try:
            yield
        except RecuseError as error:
            self.faults.append(str(error))


def check_cassettes(root: Path, largest_mb: float = LARGEST_MB) -> Checked:
    """Check every file below `root`. All faults are collected; none stops the check."""
    checked = Checked()
    if not root.is_dir():
        raise RecuseError(f"{root}: there is no such folder; name the folder that holds the cassettes")
    cells: list[str] = []
    for path in sorted(p for p in root.rglob("*") if p.is_symlink() or not p.is_dir()):
        inside = path.relative_to(root)
        if inside.parts[0] == pack_file.STORE:
            if path.name not in {*(pack.name for _, pack in pack_file.named_packs(root)), ".gitignore"}:
                checked.faults.append(f"{path}: no {pack_file.INDEX} names it; delete it")
            continue
        if inside.parts[0] in (SUPERSEDED, UNDER_WAY) or inside.as_posix() == ".gitkeep":
            continue
        if inside.parts[1:] == (pack_file.INDEX,):
            cells += _check_packs(checked, path.parent)
        elif (cell := cell_of(inside.as_posix())) is not None:
            cells.append(cell)
            _check_file(checked, path, cell)
        else:
            why = "only cassettes belong here"
            if path.name.endswith((".new", ".tmp", ".damaged", ".ballast")):
                why = "left over from an interrupted or repaired recording; finish it with --record, or delete the file"
            checked.faults.append(f"{path}: not a cassette ({why})")
    with checked.collecting():
        check_distinct(cells)
    if (megabytes := checked.total["bytes"] / 1e6) > largest_mb:
        checked.faults.append(f"{root}: {megabytes:.1f} MB of cassettes; at most {largest_mb:g} MB are allowed")
    return checked


def _check_packs(checked: Checked, folder: Path) -> Iterator[str]:
    """The cells that are in packs of a panel only. Bytes count where a pack travels with the repository."""
    with checked.collecting():
        counts = checked.panels[folder.name]
        counts["bytes"] += sum(pack.bytes for pack in pack_file.packs_of(folder) if not pack.url)
        for plain in pack_file.packed_cells(folder.parent):
            if plain.is_relative_to(folder) and is_in_pack(path := cell_file.stored_path(plain)):
                cell = plain.relative_to(folder.parent).as_posix().removesuffix(cell_file.SUFFIX)
                counts.update(files=1, packed=1)
                _check_cell(checked, path, cell)
                yield cell


def _check_file(checked: Checked, path: Path, cell: str) -> None:
    if path.is_symlink():
        checked.faults.append(f"{path}: a symbolic link; a cassette must be a file of its own")
        return
    counts = checked.panels[cell.split("/")[0]]
    counts.update(files=1, packed=is_packed(path), bytes=path.stat().st_size)
    if is_packed(path) and os.path.lexists(plain := plain_path(path)):
        with checked.collecting():
            cell_file.stored_path(plain)
            left = f"left over from an interrupted change of form; {plain.name} holds all of it: delete this one"
            checked.faults.append(f"{path}: {left}")
    if is_packed(path) and cell_file.has_foreign_header(path):
        foreign = "packed by another program, which may have put a name or a time into it; compact it with --gzip"
        checked.faults.append(f"{path}: {foreign}")
    _check_cell(checked, path, cell)


def _check_cell(checked: Checked, path: Path, cell: str) -> None:
    with checked.collecting():
        checked_cell(cell)
    with checked.collecting():
        data = contents(path)[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a torn last line is reported as a fault below
            index = record_format.index_of(path, data)
        checked.panels[cell.split("/")[0]]["answers"] += len(index.answers)
        checked.faults += index.faults
        if index.torn:
            torn = "the last line is unfinished; record again with --record=missing, or compact it"
            checked.faults.append(f"{path}: {torn}")
        checked.faults += [f"{path}: contains what looks like {kind}" for kind in key_shapes_in(data)]
        checked.faults += _content_faults(path, cell, index, data)


def _content_faults(path: Path, cell: str, index: CellIndex, data: bytes) -> Iterator[str]:
    header = index.header or {}
    provenance, fingerprint = header.get("provenance"), header.get("fingerprint")
    described = fingerprint if isinstance(fingerprint, dict) else {}
    if index.header is not None:
        wrong = {
            f"recorded as cell {header.get('cell')}; the file was moved or copied": header.get("cell") != cell,
            f"provenance is {provenance!r}, not one of {', '.join(PROVENANCES)}": provenance not in PROVENANCES,
            "the fingerprint does not say which model answered": not described.get("model"),
            "the header does not say which engine recorded it": not header.get("engine"),
        }
        yield from (f"{path}:1: {fault}" for fault, there in wrong.items() if there)
    answered = {key for key, _ in index.answers}
    for key, (method, url, body) in read_requests(index, data).items():
        if request_key(Request(url, body, method)) != key:
            yield f"{path}: request {key} has a key that its content does not hash to"
        if key not in answered:
            yield f"{path}: request {key} has no answer"
        host = urlsplit(url).hostname or ""
        if provenance in PROVENANCES and host.endswith(".invalid") == (provenance == "recorded"):
            yield f"{path}: provenance is {provenance}, but the server was {host} (only stand-ins end in .invalid)"
    models: Counter[str] = Counter()
    for (key, repeat), (at, length) in index.answers.items():
        response = record_format.read_answer(data, at, length)
        if reason := reason_to_drop(response.status, response.body):
            yield f"{path}: request {key}, repeat {repeat} is not an answer: {reason}"
        elif b'"model' in response.body:
            answer = json.loads(response.body)
            models[str(answer.get("model") or answer.get("modelVersion") or "")] += 1
    wire, requested = str(described.get("wire")), str(described.get("model"))
    for other in other_models(wire, requested, models) if provenance == "recorded" and described else ():
        yield f"{path}: {models[other]} answers are by {other}, and the model that was asked is {requested}"


def salvaged(data: bytes, name: str) -> tuple[bytes, list[str]]:
    """The whole lines of a damaged cassette, put back in order, and what had to be left out (with line numbers). Line
    endings changed by version control are put back, a header that slipped down goes to the top, and two cassettes of
    the same cell that were joined become one. What another cell's header precedes is left out."""
    header, foreign = b"", False  # whether the last header was that of another recording
    requests: dict[str, tuple[int, bytes, str]] = {}  # with the key of the request that it changes, if any
    answers: dict[Interaction, tuple[int, bytes]] = {}
    dropped: list[tuple[int, str]] = []
    pieces = data.split(b"\n")
    for number, line in enumerate((piece.removesuffix(b"\r") for piece in pieces), 1):
        if not record_format.is_intact(line):
            if number < len(pieces):  # the last is what follows the last line feed: nothing, or an unfinished line
                dropped.append((number, "damaged"))
            continue
        kind, key, repeat, like = record_format.head_of(line)
        if kind == record_format.HEADER:
            first, other = record_format.read_header(header or line), record_format.read_header(line)
            foreign = any(first.get(field) != other.get(field) for field in ("cell", "provenance", "fingerprint"))
            header = header or line
            if foreign:
                dropped.append((number, "from here on another cassette was appended"))
        elif kind == record_format.REQUEST and not foreign:
            requests.setdefault(key, (number, line, like))
        elif kind == record_format.ANSWER and not foreign:
            same = answers.setdefault((key, repeat), (number, line))[1] == line
            dropped += [] if same else [(number, "a second answer to the same repeat")]
    # Requests that are stored whole, then those that change one of them, then the answers; and what lacks another.
    kept = {key: line for key, (_, line, like) in requests.items() if not like}
    whole = frozenset(kept)
    kept |= {key: line for key, (_, line, like) in requests.items() if like in whole}
    lines = [*kept.values(), *(line for (key, _), (_, line) in answers.items() if key in kept)]
    dropped += [(number, "its base is missing") for key, (number, *_) in requests.items() if key not in kept]
    dropped += [(number, "without its request") for (key, _), (number, _) in answers.items() if key not in kept]
    faults = [f"{name}:{number}: {what}" for number, what in sorted(dropped)]
    return b"".join(line + b"\n" for line in ([header, *lines] if header else lines)), faults


def canonical_bytes(
    index: CellIndex, data: bytes, header: bytes | None, order: Iterable[Interaction],
    without: AbstractSet[str] = frozenset(),
) -> bytes:  # fmt: skip
    """The file as it should be, in whatever order concurrent answers arrived: `header`, or the stored one, then per
    request its line and its answers by repeat; planned requests first, those with a key in `without` not at all."""
    requests = read_requests(index, data)
    parts = [header if header is not None else data[: data.index(b"\n") + 1]]
    base: tuple[str, Recorded] | None = None
    for key, repeats in _canonical_order(index, order).items():
        if key not in without and repeats:
            base = base or (key, requests[key])
            parts.append(record_format.request_line(key, requests[key], base if key != base[0] else None))
            places = (index.answers[key, repeat] for repeat in repeats)
            parts += [data[at : at + length] + b"\n" for at, length in places]
    return b"".join(parts)


def is_in_order(index: CellIndex, order: Iterable[Interaction]) -> bool:
    """Whether the file has the order of `canonical_bytes`."""
    places: list[Place] = []
    for key, repeats in _canonical_order(index, order).items():
        places += [index.requests[key], *(index.answers[key, repeat] for repeat in repeats)]
    return places == sorted(places)


def _canonical_order(index: CellIndex, order: Iterable[Interaction]) -> dict[str, list[int]]:
    """Key -> its repeats in order; the keys as planned, then the others as they stand in the file."""
    repeats: dict[str, list[int]] = {key: [] for key, _ in order if key in index.requests}
    repeats |= {key: [] for key in index.requests if key not in repeats}
    for key, repeat in index.answers:
        repeats[key].append(repeat)
    return {key: sorted(numbers) for key, numbers in repeats.items()}
