"""Writing side of a library: mends cassettes before recording, stores each answer as it arrives, settles them after.

A cell that is recorded anew grows in a side file and takes its old cassette's place when it is complete. Complete cells
are put into the order of the plan, so that a recording made twice is the same file whatever order answers came in.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from pathlib import Path

from recuse import __version__
from recuse.cassettes import lines
from recuse.cassettes.compaction import DAMAGED, canonical_bytes, replace_file, salvaged
from recuse.cassettes.files import Slices
from recuse.cassettes.index import Interaction
from recuse.cassettes.key import canonical_body, public_url
from recuse.cassettes.names import SUFFIX
from recuse.cassettes.redaction import Secrets
from recuse.cassettes.shelf import SERVED, Shelf
from recuse.cassettes.stored_requests import request_line
from recuse.cassettes.writer import Writer, sync_all
from recuse.schema import RawResponse, RecuseError, Request

SUPERSEDED = ".superseded"  # below cassettes/: what a changed prompt or model made obsolete; not committed


class Storage:
    """Everything a recording writes below `root`/`panel`. Locked against other processes until closed."""

    def __init__(self, root: Path, panel: str, secrets: Secrets, slices: Slices) -> None:
        self._root, self._secrets, self._slices = root, secrets, slices
        self._writer = Writer(root / panel)
        self._lock = threading.Lock()

    @property
    def full(self) -> bool:
        return self._writer.full

    def close(self) -> None:
        self._writer.close()

    def sync(self) -> None:
        """Hand what was stored so far to the disk itself; answers keep being stored meanwhile."""
        with self._lock:
            written = self._writer.unsynced()
        sync_all(written)

    def mend(self, shelves: Iterable[Shelf]) -> None:
        """Before the first answer arrives: cut damage out of cassettes, keeping the damaged file beside."""
        for shelf in shelves:
            if not shelf.index.size:
                continue
            if shelf.faults and not shelf.index.faults:
                shelf.check()  # somebody moved the file here: not for us to decide
            if shelf.index.faults:
                path, anew = shelf.index.path, shelf.anew
                replace_file(path.with_name(path.name + DAMAGED), path.read_bytes())
                replace_file(path, self._sound_part(shelf))
                self._slices.forget(path)
                shelf.load(anew)

    def store(self, shelf: Shelf, interaction: Interaction, request: Request, answer: RawResponse) -> None:
        """One write for the answer, preceded by its request and the header where they are not in the file yet."""
        with self._lock:
            if interaction in shelf.index.answers:
                return
            new = self._new_lines(shelf, interaction, request, answer)
            index, data = shelf.index, b"".join(new)
            if self._secrets.found_in(data):
                raise RecuseError(f"cell {shelf.cell}: an answer was not stored, a secret could not be taken out of it")
            start = index.sound_size
            self._writer.append(index.path, (b"\n" if index.unended else b"") + data, start)
            _enter(shelf, interaction, new, start + index.unended)

    def settle(self, shelves: Iterable[Shelf]) -> None:
        """After the last answer: complete cells get their final order, header and place."""
        if self.full:
            return  # rewriting needs room; the next recording settles
        for shelf in shelves:
            superseded = set() if shelf.anew else shelf.superseded()
            restamped = not shelf.missing and bool(shelf.stale())
            if not shelf.index.exists or (shelf.anew and shelf.missing):
                continue
            if shelf.touched or shelf.anew or superseded or restamped:
                self._rewrite(shelf, superseded, renew_header=shelf.anew or restamped)

    def _new_lines(self, shelf: Shelf, interaction: Interaction, request: Request, answer: RawResponse) -> list[bytes]:
        key, run = interaction
        clean, clean_text = self._secrets.clean, self._secrets.clean_text
        new = [] if shelf.index.sound_size else [self._header_line(shelf)]
        if key not in shelf.index.requests:
            body = clean(canonical_body(request.body))
            asked = (request.method, clean_text(public_url(request.url)), body)
            new.append(request_line(key, asked, shelf.base()))
        headers = {name: clean_text(value) for name, value in answer.headers.items()}
        new.append(lines.answer_line(key, run, answer.status, headers, clean(answer.body)))
        return new

    def _header_line(self, shelf: Shelf) -> bytes:
        if shelf.header is None:
            raise RecuseError(f"cell {shelf.cell} has no header: pass one to Library.expect before recording")
        fields = {"cell": shelf.cell, "engine": f"recuse {__version__}", **shelf.header}
        return lines.header_line(json.loads(self._secrets.clean(json.dumps(fields, ensure_ascii=False).encode())))

    def _sound_part(self, shelf: Shelf) -> bytes:
        data, _ = salvaged(shelf.index.path.read_bytes(), str(shelf.index.path))
        if lines.kind_of(data) == lines.HEADER:
            return data
        header = self._header_line(shelf)  # without the old header nobody knows what was served then
        return header if SERVED in (shelf.header or {}).get("fingerprint", {}) else header + data

    def _rewrite(self, shelf: Shelf, superseded: set[str], renew_header: bool) -> None:
        path = shelf.index.path
        self._writer.forget(path)
        header = self._header_line(shelf) if renew_header else None
        data = canonical_bytes(shelf.index, path.read_bytes(), header, _order(shelf), superseded)
        if superseded or (shelf.anew and shelf.main.exists()):
            self._set_aside(shelf)
        if shelf.anew or data != path.read_bytes():
            replace_file(shelf.main, data)
        if shelf.anew:
            path.unlink()
        self._slices.forget(path)
        self._slices.forget(shelf.main)
        shelf.load()

    def _set_aside(self, shelf: Shelf) -> None:
        """Keep what a new recording replaces, outside version control."""
        aside = self._root / SUPERSEDED / f"{shelf.cell}{SUFFIX}"
        aside.parent.mkdir(parents=True, exist_ok=True)
        replace_file(aside, shelf.main.read_bytes())


def _order(shelf: Shelf) -> list[Interaction]:
    return [(call.key, call.repeat) for call in shelf.calls]


def _enter(shelf: Shelf, interaction: Interaction, new: list[bytes], at: int) -> None:
    """Enter freshly written lines, the first of which begins at byte `at`, into the index."""
    index = shelf.index
    for line in new:
        place = (at, len(line) - 1)
        at += len(line)
        kind = lines.kind_of(line)
        if kind == lines.ANSWER:
            index.answers[interaction] = place
        elif kind == lines.REQUEST:
            index.requests[interaction[0]] = place
    index.size, index.torn, index.unended, index.stamp = at, 0, False, None
    shelf.touched = True
