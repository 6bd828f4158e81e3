"""Writing side of a library: mends cassettes before recording, stores each answer as it arrives, settles them after. A
cell that is recorded anew grows in a side file and takes its old cassette's place when it is complete. Complete cells
are put into the order of the plan, so that a recording made twice is the same file whatever order answers came in."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from itertools import chain, count
from pathlib import Path

from recuse import __version__
from recuse.cassettes import cell_file, record_format
from recuse.cassettes.cell_cassette import SERVED, SIDE, SUPERSEDED, CellCassette
from recuse.cassettes.cell_file import contents, is_in_pack, is_packed, replace_contents
from recuse.cassettes.matching import public_request
from recuse.cassettes.plain_file import Writer, read_plain, remove_file, replace_file
from recuse.cassettes.record_format import CellIndex, Interaction, Place, Recorded, read_requests, request_line
from recuse.schema import RawResponse, RecuseError, Request
from recuse.security.redaction import Secrets

COMPLETE = f"complete{SIDE}"  # in the folder of a panel: `complete_cells`
DAMAGED = ".damaged"  # beside a cassette: the file as it was before its damaged lines were cut out


class Storage:
    """Everything a recording writes below `root`/`panel`. Locked against other processes until closed."""

    def __init__(self, root: Path, panel: str, secrets: Secrets) -> None:
        self._root, self._panel, self._secrets = root, panel, secrets
        self.writer = Writer(root / panel)
        self._lock = threading.Lock()
        self._begun: list[CellCassette] = []

    def prepare(self, cassettes: Iterable[CellCassette]) -> None:
        """Before the first answer arrives: cut damage out of cassettes, keeping the damaged file beside; unpack what is
        to be recorded into; and give every cell that lacks answers its file."""
        cassettes = list(cassettes)
        for cassette in cassettes:
            if cassette.obsolete_side:  # recorded for another prompt or model, and never finished
                cassette.index.path.unlink(missing_ok=True)
                cassette.load(anew=True)
            index = cassette.index
            packed = is_packed(index.path)
            if cassette.faults and (not index.faults or (packed and index.stamp is None) or is_in_pack(index.path)):
                cassette.check()  # somebody moved the file here, or it cannot be read at all: not for us to decide
            if index.faults and (index.size or packed):
                replace_file(index.path.with_name(index.path.name + DAMAGED), read_plain(index.path)[0])
                data, _ = salvaged(cell_file.readable_part(index.path), str(index.path))
                if record_format.head_of(data)[0] != record_format.HEADER:  # nobody knows what was served then
                    served = SERVED in (cassette.header or {}).get("fingerprint", {})
                    data = self._header_line(cassette) + (b"" if served else data)
                replace_contents(index.path, data)
                cassette.load(cassette.anew)
            # A file is compressed that will be appended to, or is there in both forms since its last unpacking.
            to_record = not cassette.anew and bool(cassette.missing)
            if to_record if is_packed(cassette.main) else Path(f"{cassette.main}{cell_file.PACKED}").exists():
                cell_file.make_plain(cassette.main)
                cassette.load(cassette.anew)
        for cassette in cassettes:
            if cassette.missing and not cassette.index.sound_size and cassette.header is not None:
                header = self._header_line(cassette)
                self.writer.create(cassette.index.path, header)
                cassette.index.size, cassette.index.torn, cassette.index.stamp = len(header), 0, None
                self._begun.append(cassette)
            if cassette.missing and cassette.base is None:
                # The first request of the file, in relation to which others are stored: read before anything is asked,
                # so that no answer depends on whether one more file can be opened.
                cassette.base = next(iter(cassette.recorded_requests().items()), None)

    def store(self, cassette: CellCassette, interaction: Interaction, request: Request, answer: RawResponse) -> None:
        """One write for the answer, preceded by its request and the header where they are not in the file yet."""
        with self._lock:
            if interaction in cassette.index.answers:
                return
            if cassette.no_answers:  # not before an answer is there: until then nothing is lost by asking in vain
                self._rewrite(cassette, set(), renew_header=False)
                cassette.base = next(iter(cassette.recorded_requests().items()), None)
            index, (key, repeat) = cassette.index, interaction
            clean, clean_text = self._secrets.clean, self._secrets.clean_text
            new = [] if index.sound_size else [self._header_line(cassette)]
            if key not in index.requests:
                public = public_request(request)
                stored = (public.method, clean_text(public.url), clean(public.body))
                new.append(request_line(key, stored, cassette.base))
                cassette.base = cassette.base or (key, stored)
            headers = {name: clean_text(value) for name, value in answer.headers.items()}
            real = (cassette.header or {}).get("provenance") == "recorded"  # a stand-in's time is nobody's
            seconds = answer.seconds if real else None
            new.append(record_format.answer_line(key, repeat, answer.status, headers, clean(answer.body), seconds))
            data = b"".join(new)
            if self._secrets.found_in(data):
                why = "a secret could not be taken out of it"
                raise RecuseError(f"cell {cassette.cell}: an answer was not stored, {why}")
            assert not is_packed(index.path)  # `prepare` has unpacked what lacks answers
            start = index.sound_size
            self.writer.append(index.path, (b"\n" if index.unended else b"") + data, start)
            at = start + index.unended
            for line in new:
                kind, place = record_format.head_of(line)[0], (at, len(line) - 1)
                at += len(line)
                if kind == record_format.ANSWER:
                    index.answers[interaction] = place
                elif kind == record_format.REQUEST:
                    index.requests[interaction[0]] = place
            index.size, index.torn, index.unended, index.stamp = at, 0, False, None
            cassette.touched = True

    def settle(self, cassettes: Iterable[CellCassette], together: bool = False, more_to_come: bool = False) -> None:
        """After the last answer: complete cells get their final order, header and place. With `together`, what was
        recorded anew takes the place of the old only when all of it is complete: a recording that was interrupted goes
        on where it stopped. `more_to_come`: not all cells are known yet."""
        cassettes = list(cassettes)
        for cassette in self._begun:
            if not cassette.index.answers:  # begun in vain
                cassette.index.path.unlink(missing_ok=True)
                cassette.load(cassette.anew)
        self._begun.clear()
        if self.writer.full:
            return  # rewriting needs room; the next recording settles
        waiting = together and (more_to_come or any(cassette.anew and cassette.missing for cassette in cassettes))
        complete = complete_cells(self._root, self._panel)
        if together and not waiting and (anew := {one.cell for one in cassettes if one.anew and one.index.exists}):
            complete |= anew  # from here on the new recording counts, even where it is not in its place yet
            replace_file(self._root / self._panel / COMPLETE, "\n".join(sorted(complete)).encode())
        for cassette in cassettes:
            restamped = not cassette.missing and bool(cassette.stale())  # all that the changed plan asks for is there
            superseded = set(cassette.index.requests) if cassette.anew or restamped else set[str]()
            superseded -= {call.key for call in cassette.calls}
            if not cassette.index.exists or (cassette.anew and (waiting or cassette.missing)):
                continue
            unordered = not cassette.missing and not is_in_order(cassette.index, _order(cassette))
            if cassette.touched or cassette.anew or superseded or restamped or unordered:
                self._rewrite(cassette, superseded, renew_header=cassette.anew or restamped)
        left = sorted(cell for cell in complete if (self._root / f"{cell}{cell_file.SUFFIX}{SIDE}").exists())
        if complete and left:
            replace_file(self._root / self._panel / COMPLETE, "\n".join(left).encode())
        elif complete:
            remove_file(self._root / self._panel / COMPLETE)

    def _header_line(self, cassette: CellCassette) -> bytes:
        if cassette.header is None:
            raise RecuseError(f"cell {cassette.cell} has no header: pass one to Library.expect before recording")
        fields = {"cell": cassette.cell, "engine": f"recuse {__version__}", **cassette.header}
        clean = self._secrets.clean(json.dumps(fields, ensure_ascii=False).encode())
        return record_format.header_line(json.loads(clean))

    def _rewrite(self, cassette: CellCassette, superseded: set[str], renew_header: bool) -> None:
        path = cassette.index.path
        header, old = self._header_line(cassette) if renew_header else None, contents(path)[0]
        data = canonical_bytes(cassette.index, old, header, _order(cassette), superseded)
        replaced = cassette.anew or superseded or cassette.no_answers
        if cassette.main.exists() and replaced and contents(cassette.main)[0] != data:
            aside, kept = self._root / SUPERSEDED / cassette.main.relative_to(self._root), read_plain(cassette.main)[0]
            aside.parent.mkdir(parents=True, exist_ok=True)
            names = chain([aside], (aside.with_name(f"{aside.name}.{number}") for number in count(2)))
            replace_file(next(name for name in names if not name.exists() or read_plain(name)[0] == kept), kept)
        if cassette.anew or data != old:
            replace_contents(cassette.main, data)
        if cassette.anew:
            path.unlink()
        cassette.load()


def complete_cells(root: Path, panel: str) -> set[str]:
    """The cells of a new recording that is complete and was being put in the place of the old one when its process
    ended: their side files count, so that what is replayed is all new, and never a mixture."""
    try:
        return set((root / panel / COMPLETE).read_text(encoding="utf-8").splitlines())
    except FileNotFoundError:
        return set()


def _order(cassette: CellCassette) -> list[Interaction]:
    return [(call.key, call.repeat) for call in cassette.calls]


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
            parts.append(request_line(key, requests[key], base if key != base[0] else None))
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
