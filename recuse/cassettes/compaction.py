"""Rewriting a cassette in its canonical order, through a temporary file, so that the old one is there until the end."""

from __future__ import annotations

import os
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from pathlib import Path

from recuse.cassettes import lines
from recuse.cassettes.index import CassetteError, CellIndex, Interaction, index_of
from recuse.cassettes.stored_requests import Recorded, read_requests, request_line
from recuse.cassettes.writer import StorageError

TEMPORARY = ".tmp"
DAMAGED = ".damaged"  # beside a cassette: the file as it was before its damaged lines were cut out


def canonical_bytes(
    index: CellIndex,
    data: bytes,
    header: bytes | None,
    order: Iterable[Interaction],
    without: AbstractSet[str] = frozenset(),
) -> bytes:
    """The file as it should be: header, then per request its line and its answers by run; planned requests first.

    `header` replaces the stored header line; requests with a key in `without` and their answers are left out.
    Independent of the order in which concurrent answers arrived, so a recording made twice gives the same file.
    """
    requests = read_requests(index, data)
    runs: dict[str, list[int]] = {key: [] for key, _ in order if key in index.requests}
    runs |= {key: [] for key in index.requests if key not in runs}
    for key, run in index.answers:
        runs[key].append(run)
    parts = [header if header is not None else data[: data.index(b"\n") + 1]]
    base: tuple[str, Recorded] | None = None
    for key, found in runs.items():
        if key not in without and found:
            base = base or (key, requests[key])
            parts.append(request_line(key, requests[key], base if key != base[0] else None))
            parts += [_line(data, index.answers[key, run]) for run in sorted(found)]
    return b"".join(parts)


def replace_file(path: Path, data: bytes) -> None:
    """Put `data` in place of the file, whole or not at all, even if the machine dies."""
    temporary = path.with_name(path.name + TEMPORARY)
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StorageError(f"{path}: could not be rewritten ({error.strerror}); the file is unchanged") from error
    _sync_folder(path.parent)


def salvaged(data: bytes, name: str) -> tuple[bytes, list[str]]:
    """The whole lines of a damaged cassette, in order, and what had to be left out (readable, with line numbers).

    Line endings changed by version control are put back. Of joined files only the first is kept."""
    kept, dropped, requests, answers = [], [], set[str](), set[Interaction]()
    pieces = data.split(b"\n")
    for number, raw in enumerate(pieces, 1):
        line = raw.removesuffix(b"\r")
        if not lines.is_intact(line):
            if number < len(
                pieces
            ):  # the last piece is what follows the last line feed: nothing, or an unfinished line
                dropped.append(f"{name}:{number}: damaged")
            continue
        kind = lines.kind_of(line)
        if kind == lines.HEADER and number > 1:
            dropped.append(f"{name}:{number}: from here on another cassette was appended")
            break
        if kind == lines.REQUEST and _is_new(line, requests):
            requests.add(lines.request_key_of(line))
        elif kind == lines.ANSWER and (found := lines.answer_key_of(line)) not in answers and found[0] in requests:
            answers.add(found)
        elif kind != lines.HEADER:
            dropped.append(f"{name}:{number}: repeated or without its request")
            continue
        kept.append(line + b"\n")
    return b"".join(kept), dropped


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


def _is_new(line: bytes, requests: AbstractSet[str]) -> bool:
    """Whether a request line is not there yet, and can be read from what is there."""
    like = lines.like_of(line)
    return lines.request_key_of(line) not in requests and (not like or like in requests)


def _line(data: bytes, place: tuple[int, int]) -> bytes:
    return data[place[0] : place[0] + place[1]] + b"\n"


def _sync_folder(folder: Path) -> None:
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # pragma: no cover - Windows cannot open folders
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
