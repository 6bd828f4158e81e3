"""Where everything is in one cassette file: read once, verified line by line, never decoded."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recuse.cassettes import cell_file, record_format
from recuse.cassettes.cell_file import UnpackingError, is_in_pack, is_packed, stored_path
from recuse.cassettes.plain_file import CassetteError, CassetteWarning, Stamp, opened, stamp
from recuse.cassettes.record_format import Recorded, whole_body

Place = tuple[int, int]  # first byte and length of a line, line feed excluded
Interaction = tuple[str, int]  # key and repeat

HEAD = 160  # kind, keys and repeat stand in the first bytes of a line; bodies are not copied to index them
UNKNOWN = "a line of unknown kind; it was written by another version of Recuse"


@dataclass(slots=True)
class CellIndex:
    """One cassette file. `faults` are readable and name the line; a file with faults is not served."""

    path: Path
    stamp: Stamp | None  # inode, size, time of last change; None: there is no such file
    size: int = 0
    header: dict[str, Any] | None = None
    requests: dict[str, Place] = field(default_factory=dict)
    answers: dict[Interaction, Place] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    torn: int = 0  # bytes of an unfinished last line
    unended: bool = False  # the last line is whole but lacks its line feed

    @property
    def exists(self) -> bool:
        """Whether there is such a file, or bytes that stand for one."""
        return self.size > 0 or self.stamp is not None

    @property
    def sound_size(self) -> int:
        """Where the next line begins once an unfinished last line is cut off."""
        return self.size - self.torn


def read_index(path: Path) -> CellIndex:
    """Index the file of a cell, plain (`path`) or compressed, verifying the checksum of every line. A missing file
    gives an empty index; `CassetteError` where there are two that differ."""
    stored = stored_path(path)
    try:
        data, there = cell_file.contents(stored)
        return index_of(stored, data, stamp(there))
    except FileNotFoundError:  # unless its form was changed just now
        return CellIndex(path, None) if stored_path(path) == stored else read_index(path)
    except UnpackingError as error:
        return CellIndex(stored, cell_file.stamp_of(stored), faults=[str(error)])
    except CassetteError as error:
        return CellIndex(stored, None, faults=[str(error)])
    except OSError as error:
        return CellIndex(stored, None, faults=[f"{stored}: cannot be read ({error.strerror})"])


def read_indexed(index: CellIndex, place: Place | None = None) -> bytes:
    """The bytes of an indexed file, or its line at `place`. `CassetteError` where it is another by now, or shorter."""
    with suppress(FileNotFoundError):
        if place is None or is_packed(index.path):
            data, there = cell_file.contents(index.path)
            data = data if place is None else data[place[0] : sum(place)]
        else:
            descriptor, there = opened(index.path)
            with open(descriptor, "rb") as file:
                file.seek(place[0])
                data = file.read(place[1])
        if index.stamp in (None, stamp(there)):
            if place is not None and len(data) != place[1]:
                raise CassetteError(f"{index.path}: the file became shorter while it was in use")
            return data
    raise CassetteError(f"{index.path}: the file was changed by another program while it was in use; start again")


def index_of(path: Path, data: bytes, stamp: Stamp | None = None) -> CellIndex:
    """Index the bytes of a cassette file. Of a pack all bytes were verified at once: its lines are not, one by one."""
    index = CellIndex(path, stamp, len(data))
    verified = is_in_pack(path)
    if not data:
        index.faults.append(
            f"{path}: the file is empty; restore it from version control, or delete it and record again"
        )
        return index
    keys: dict[str, str] = {}  # one string per key, however many repeats it has
    view, number, start, size = memoryview(data), 0, 0, len(data)
    while start < size:
        end = data.find(b"\n", start)
        end = size if end < 0 else end
        number += 1
        if verified or record_format.is_intact(view, start, end):
            index.unended = end == size
            line = data[start : min(end, start + HEAD)]
            try:
                fault = _enter(index, keys, number, (start, end - start), line, data)
            except (ValueError, LookupError, TypeError, RecursionError):  # whoever made a pack may have put anything in
                fault = UNKNOWN
            if fault:
                index.faults.append(f"{index.path}:{number}: {fault}")
        elif end == size:
            index.torn = end - start
        else:
            index.faults.append(f"{index.path}:{number}: {_what_is_wrong(data[start:end])}")
        start = end + 1
    if index.header is None and not index.faults:
        index.faults.append(
            f"{path}:1: the file does not begin with a header line; restore it or delete it and record again"
        )
    if index.torn:
        warnings.warn(
            f"{path}: the last line is unfinished ({index.torn} bytes, an interrupted write) and was left out",
            CassetteWarning, stacklevel=2,
        )  # fmt: skip
    return index


def read_requests(index: CellIndex, data: bytes) -> dict[str, Recorded]:
    """Every request of a sound cassette, whole, by key, in the order of the file."""
    requests: dict[str, Recorded] = {}
    for key, (at, length) in index.requests.items():
        line = data[at : at + length]
        (method, url, body), like = record_format.read_request(line), record_format.head_of(line)[3]
        requests[key] = (method, url, whole_body(requests[like][2], body) if like else body)
    return requests


def _enter(index: CellIndex, keys: dict[str, str], number: int, place: Place, line: bytes, data: bytes) -> str:
    """Enter one intact line, of which `line` is the beginning; returns what is wrong with it here, if anything."""
    kind, key, repeat, like = record_format.head_of(line)
    key = keys.setdefault(key, key)
    if kind == record_format.ANSWER:
        if key not in index.requests:
            return f"an answer to request {key}, which is not in the file before it"
        if (key, repeat) in index.answers:
            return f"request {key}, repeat {repeat} is answered a second time"
        index.answers[key, repeat] = place
    elif kind == record_format.REQUEST:
        if key in index.requests:
            return f"request {key} is stored a second time"
        if like and like not in index.requests:
            return f"request {key} is stored as a change of request {like}, which is not in the file before it"
        index.requests[key] = place
    elif kind == record_format.HEADER:
        if number != 1:
            return "a second header: two cassettes were joined into one file"
        index.header = record_format.read_header(data[: place[1]])
        if index.header.get("schema") != record_format.SCHEMA:
            known = record_format.SCHEMA
            return f"cassette format {index.header.get('schema')}; this version of Recuse reads format {known}"
    else:
        return UNKNOWN
    return ""


def _what_is_wrong(line: bytes) -> str:
    if line.endswith(b"\r") and record_format.is_intact(line[:-1]):
        return (
            "the line ends in CR LF: version control changed the file. "
            "Set `cassettes/** -text` in .gitattributes and check it out again"
        )
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return f"the line is not UTF-8 (byte {error.start}) and does not match its checksum: the file was damaged"
    if not line.strip():
        return "an empty line"
    if line.startswith((b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")):
        return "a merge left its marks here: delete the lines of marks, and keep what both sides recorded"
    if b'"sum":"' not in line[:16]:
        return "the line bears no checksum: it was not written by Recuse"
    return "the line does not match its checksum: the file was damaged or edited"
