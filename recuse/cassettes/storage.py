"""Writing side of a library: mends cassettes before recording, stores each answer as it arrives, settles them after.

A cell that is recorded anew grows in a side file and takes its old cassette's place when it is complete. Complete cells
are put into the order of the plan, so that a recording made twice is the same file whatever order answers came in.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from pathlib import Path

from recuse import __version__
from recuse.cassettes import record_format
from recuse.cassettes.cell_cassette import SERVED, SUFFIX, CellCassette
from recuse.cassettes.index import CellIndex, Interaction, LineReader, read_requests
from recuse.cassettes.matching import canonical_body, public_url
from recuse.cassettes.record_format import Recorded, request_line
from recuse.cassettes.redaction import Secrets
from recuse.cassettes.writer import Writer, replace_file, sync_all
from recuse.schema import RawResponse, RecuseError, Request

DAMAGED = ".damaged"  # beside a cassette: the file as it was before its damaged lines were cut out
SUPERSEDED = ".superseded"  # below cassettes/: what a changed prompt or model made obsolete; not committed


class Storage:
    """Everything a recording writes below `root`/`panel`. Locked against other processes until closed."""

    def __init__(self, root: Path, panel: str, secrets: Secrets, reader: LineReader) -> None:
        self._root, self._secrets, self._reader = root, secrets, reader
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

    def mend(self, cassettes: Iterable[CellCassette]) -> None:
        """Before the first answer arrives: cut damage out of cassettes, keeping the damaged file beside."""
        for cassette in cassettes:
            if not cassette.index.size:
                continue
            if cassette.faults and not cassette.index.faults:
                cassette.check()  # somebody moved the file here: not for us to decide
            if cassette.index.faults:
                path, anew = cassette.index.path, cassette.anew
                replace_file(path.with_name(path.name + DAMAGED), path.read_bytes())
                replace_file(path, self._sound_part(cassette))
                self._reader.forget(path)
                cassette.load(anew)

    def store(self, cassette: CellCassette, interaction: Interaction, request: Request, answer: RawResponse) -> None:
        """One write for the answer, preceded by its request and the header where they are not in the file yet."""
        with self._lock:
            if interaction in cassette.index.answers:
                return
            new = self._new_lines(cassette, interaction, request, answer)
            index, data = cassette.index, b"".join(new)
            if self._secrets.found_in(data):
                raise RecuseError(
                    f"cell {cassette.cell}: an answer was not stored, a secret could not be taken out of it"
                )
            start = index.sound_size
            self._writer.append(index.path, (b"\n" if index.unended else b"") + data, start)
            _enter(cassette, interaction, new, start + index.unended)

    def settle(self, cassettes: Iterable[CellCassette]) -> None:
        """After the last answer: complete cells get their final order, header and place."""
        if self.full:
            return  # rewriting needs room; the next recording settles
        for cassette in cassettes:
            superseded = set() if cassette.anew else cassette.superseded()
            restamped = not cassette.missing and bool(cassette.stale())
            if not cassette.index.exists or (cassette.anew and cassette.missing):
                continue
            if cassette.touched or cassette.anew or superseded or restamped:
                self._rewrite(cassette, superseded, renew_header=cassette.anew or restamped)

    def _new_lines(
        self, cassette: CellCassette, interaction: Interaction, request: Request, answer: RawResponse
    ) -> list[bytes]:
        key, repeat = interaction
        clean, clean_text = self._secrets.clean, self._secrets.clean_text
        new = [] if cassette.index.sound_size else [self._header_line(cassette)]
        if key not in cassette.index.requests:
            body = clean(canonical_body(request.body))
            asked = (request.method, clean_text(public_url(request.url)), body)
            new.append(request_line(key, asked, cassette.base()))
        headers = {name: clean_text(value) for name, value in answer.headers.items()}
        new.append(record_format.answer_line(key, repeat, answer.status, headers, clean(answer.body)))
        return new

    def _header_line(self, cassette: CellCassette) -> bytes:
        if cassette.header is None:
            raise RecuseError(f"cell {cassette.cell} has no header: pass one to Library.expect before recording")
        fields = {"cell": cassette.cell, "engine": f"recuse {__version__}", **cassette.header}
        return record_format.header_line(
            json.loads(self._secrets.clean(json.dumps(fields, ensure_ascii=False).encode()))
        )

    def _sound_part(self, cassette: CellCassette) -> bytes:
        data, _ = salvaged(cassette.index.path.read_bytes(), str(cassette.index.path))
        if record_format.kind_of(data) == record_format.HEADER:
            return data
        header = self._header_line(cassette)  # without the old header nobody knows what was served then
        return header if SERVED in (cassette.header or {}).get("fingerprint", {}) else header + data

    def _rewrite(self, cassette: CellCassette, superseded: set[str], renew_header: bool) -> None:
        path = cassette.index.path
        self._writer.forget(path)
        header = self._header_line(cassette) if renew_header else None
        data = canonical_bytes(cassette.index, path.read_bytes(), header, _order(cassette), superseded)
        if superseded or (cassette.anew and cassette.main.exists()):
            self._set_aside(cassette)
        if cassette.anew or data != path.read_bytes():
            replace_file(cassette.main, data)
        if cassette.anew:
            path.unlink()
        self._reader.forget(path)
        self._reader.forget(cassette.main)
        cassette.load()

    def _set_aside(self, cassette: CellCassette) -> None:
        """Keep what a new recording replaces, outside version control."""
        aside = self._root / SUPERSEDED / f"{cassette.cell}{SUFFIX}"
        aside.parent.mkdir(parents=True, exist_ok=True)
        replace_file(aside, cassette.main.read_bytes())


def _order(cassette: CellCassette) -> list[Interaction]:
    return [(call.key, call.repeat) for call in cassette.calls]


def _enter(cassette: CellCassette, interaction: Interaction, new: list[bytes], at: int) -> None:
    """Enter freshly written lines, the first of which begins at byte `at`, into the index."""
    index = cassette.index
    for line in new:
        place = (at, len(line) - 1)
        at += len(line)
        kind = record_format.kind_of(line)
        if kind == record_format.ANSWER:
            index.answers[interaction] = place
        elif kind == record_format.REQUEST:
            index.requests[interaction[0]] = place
    index.size, index.torn, index.unended, index.stamp = at, 0, False, None
    cassette.touched = True


def canonical_bytes(
    index: CellIndex,
    data: bytes,
    header: bytes | None,
    order: Iterable[Interaction],
    without: AbstractSet[str] = frozenset(),
) -> bytes:
    """The file as it should be: header, then per request its line and its answers by repeat; planned requests first.

    `header` replaces the stored header line; requests with a key in `without` and their answers are left out.
    Independent of the order in which concurrent answers arrived, so a recording made twice gives the same file.
    """
    requests = read_requests(index, data)
    repeats: dict[str, list[int]] = {key: [] for key, _ in order if key in index.requests}
    repeats |= {key: [] for key in index.requests if key not in repeats}
    for key, repeat in index.answers:
        repeats[key].append(repeat)
    parts = [header if header is not None else data[: data.index(b"\n") + 1]]
    base: tuple[str, Recorded] | None = None
    for key, found in repeats.items():
        if key not in without and found:
            base = base or (key, requests[key])
            parts.append(request_line(key, requests[key], base if key != base[0] else None))
            parts += [_line(data, index.answers[key, repeat]) for repeat in sorted(found)]
    return b"".join(parts)


def salvaged(data: bytes, name: str) -> tuple[bytes, list[str]]:
    """The whole lines of a damaged cassette, in order, and what had to be left out (readable, with line numbers).

    Line endings changed by version control are put back. Of joined files only the first is kept."""
    kept, dropped, requests, answers = [], [], set[str](), set[Interaction]()
    pieces = data.split(b"\n")
    for number, raw in enumerate(pieces, 1):
        line = raw.removesuffix(b"\r")
        if not record_format.is_intact(line):
            if number < len(
                pieces
            ):  # the last piece is what follows the last line feed: nothing, or an unfinished line
                dropped.append(f"{name}:{number}: damaged")
            continue
        kind = record_format.kind_of(line)
        if kind == record_format.HEADER and number > 1:
            dropped.append(f"{name}:{number}: from here on another cassette was appended")
            break
        if kind == record_format.REQUEST and _is_new(line, requests):
            requests.add(record_format.request_key_of(line))
        elif (
            kind == record_format.ANSWER
            and (found := record_format.answer_key_of(line)) not in answers
            and found[0] in requests
        ):
            answers.add(found)
        elif kind != record_format.HEADER:
            dropped.append(f"{name}:{number}: repeated or without its request")
            continue
        kept.append(line + b"\n")
    return b"".join(kept), dropped


def _is_new(line: bytes, requests: AbstractSet[str]) -> bool:
    """Whether a request line is not there yet, and can be read from what is there."""
    like = record_format.like_of(line)
    return record_format.request_key_of(line) not in requests and (not like or like in requests)


def _line(data: bytes, place: tuple[int, int]) -> bytes:
    return data[place[0] : place[0] + place[1]] + b"\n"
