"""One line of a cassette, JSON whose first member is a checksum of all that follows it; and where the lines of a file
are: it is indexed once, verified line by line, never decoded.

    {"sum":"16 hex","kind":"header","schema":1,...}                               first line, once
    {"sum":"16 hex","kind":"request","key":"32 hex","method":..,"url":..,BODY}    once per key, before its answers
    {"sum":"16 hex","kind":"request","key":"32 hex","like":"32 hex",...}          BODY is what differs from that request
    {"sum":"16 hex","kind":"answer","key":"32 hex","run":0,"seconds":..,"status":..,"headers":{..},BODY}

BODY is the last member: "json" (the body itself, embedded as it came), "text" (any other UTF-8) or "base64". Sum, kind,
key and run begin at fixed offsets and BODY ends the line, so an index is built and an answer served by slicing bytes;
no JSON is decoded on the way. "run" is what this format calls the repeat of a request; "seconds", how long a real judge
took to answer, stands only where that was measured, and is no part of what is replayed."""

from __future__ import annotations

import base64
import json
import re
import warnings
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from recuse.cassettes import cell_file
from recuse.cassettes.cell_file import UnpackingError, is_in_pack, is_packed, stored_path
from recuse.cassettes.matching import canonical_json
from recuse.cassettes.plain_file import CassetteError, CassetteWarning, Stamp, opened, stamp
from recuse.judges.provider_responses import decoded
from recuse.schema import RawResponse

SCHEMA = 1
Recorded = tuple[str, str, bytes]  # method, URL and body of a request

_REST = 26  # the checksum covers the line from here to its end, line feed excluded
KIND_AT = _REST + len('"kind":"')
HEADER, REQUEST, ANSWER = b'header"', b'request"', b'answer"'
_REQUEST_KEY = KIND_AT + len('request","key":"')
_LIKE = b'","like":"'
_SECONDS = b'"seconds":'
_LIKE_AT = _REQUEST_KEY + 32 + len(_LIKE)
_ANSWER_KEY = KIND_AT + len('answer","key":"')
_REPEAT_AT = _ANSWER_KEY + 32 + len('","run":')
_LINE_BREAK = re.compile(rb"[\r\n]+[ \t\r\n]*")
Place = tuple[int, int]  # first byte and length of a line, line feed excluded
Interaction = tuple[str, int]  # key and repeat
UNKNOWN = "a line of unknown kind; it was written by another version of Recuse"


def header_line(fields: Mapping[str, Any]) -> bytes:
    """The line that opens a cassette, line feed included."""
    return _seal(b'"kind":"header","schema":%d,%b}' % (SCHEMA, _members(fields)))


def request_line(key: str, request: Recorded, base: tuple[str, Recorded] | None = None) -> bytes:
    """The line that stores a request: what differs from `base` (a key and its request), where that says it all. A judge
    that is given a seed gets another request in every repeat, although only the seed differs."""
    method, url, body = request
    members = _difference(base[1][2], body) if base is not None and base[1][:2] == (method, url) else None
    like = {"like": base[0]} if base is not None and members is not None else {}
    place = _members({**like, "method": method, "url": url})
    stored = _body(body if members is None else members)
    return _seal(b'"kind":"request","key":"%b",%b,%b}' % (key.encode(), place, stored))


def answer_line(
    key: str, repeat: int, status: int, headers: Mapping[str, str], body: bytes, seconds: float | None = None
) -> bytes:
    """The line that stores one answer, line feed included."""
    timed = {} if seconds is None else {"seconds": round(seconds, 3)}
    kept = _members({**timed, "status": status, "headers": dict(headers)})
    return _seal(b'"kind":"answer","key":"%b","run":%d,%b,%b}' % (key.encode(), repeat, kept, _body(body)))


def is_intact(data: bytes | memoryview, start: int = 0, end: int | None = None) -> bool:
    """Whether the line at data[start:end] (without line feed) still has the checksum it was written with."""
    rest = start + _REST
    return data[start:rest] == b'{"sum":"%b",' % blake2b(data[rest:end], digest_size=8).hexdigest().encode()


def head_of(data: bytes, start: int = 0, end: int | None = None) -> tuple[bytes, str, int, str]:
    """What the line at data[start:end] is: kind (b"" for anything else), key, the repeat of an answer, and the key of
    the request from which a request stores only the difference, if any."""
    kind_at = start + KIND_AT
    if data.startswith(ANSWER, kind_at, end):
        key_at, repeat_at = start + _ANSWER_KEY, start + _REPEAT_AT
        return ANSWER, data[key_at : key_at + 32].decode(), int(data[repeat_at : data.index(b",", repeat_at, end)]), ""
    if data.startswith(REQUEST, kind_at, end):
        key_at, like_at = start + _REQUEST_KEY, start + _LIKE_AT
        like = data[like_at : like_at + 32].decode() if data.startswith(_LIKE, key_at + 32, end) else ""
        return REQUEST, data[key_at : key_at + 32].decode(), 0, like
    return HEADER if data.startswith(HEADER, kind_at, end) else b"", "", 0, ""


def read_answer(data: bytes, start: int = 0, length: int | None = None) -> RawResponse:
    """The answer line at data[start:start + length]."""
    end = len(data) if length is None else start + length
    members, seconds = data.index(b",", start + _REPEAT_AT) + 1, None
    if data.startswith(_SECONDS, members):
        after = data.index(b",", members)
        seconds, members = float(data[members + len(_SECONDS) : after]), after + 1
    at, body = _body_of(data, members, end)
    status, headers = _status_and_headers(data[members:at])
    return RawResponse(status, dict(headers), body, seconds)


@lru_cache(maxsize=256)
def _status_and_headers(members: bytes) -> tuple[int, dict[str, str]]:
    """Nearly all answers of a judge have the same."""
    kept = json.loads(b"{" + members + b"}")
    return kept["status"], kept["headers"]


def read_request(line: bytes) -> tuple[str, str, bytes]:
    """Method, URL and body of a request line (of one that is `like` another: only the members that differ)."""
    members = _REQUEST_KEY + 34
    at, body = _body_of(line, members, len(line))
    kept = json.loads(b"{" + line[members:at] + b"}")
    return kept["method"], kept["url"], body


def whole_body(base: bytes, members: bytes) -> bytes:
    """The body of a request that stores only its difference from the body `base`."""
    return canonical_json({**json.loads(base), **json.loads(members)})


def read_header(line: bytes) -> dict[str, Any]:
    """The fields of a header line, without checksum and kind."""
    fields: dict[str, Any] = decoded(line)
    del fields["sum"], fields["kind"]
    return fields


def _seal(rest: bytes) -> bytes:
    return b'{"sum":"%b",%b\n' % (blake2b(rest, digest_size=8).hexdigest().encode(), rest)


def _members(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")[1:-1]


def _body(body: bytes) -> bytes:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    with suppress(ValueError, RecursionError):
        json.loads(body.decode(), parse_constant=refuse)
        # As it came, without blanks around it and after line breaks: inside a JSON string these are always escaped.
        return b'"json":' + _LINE_BREAK.sub(b"", body.strip(b" \t\r\n"))
    try:
        return b'"text":' + json.dumps(body.decode(), ensure_ascii=False).encode()
    except UnicodeDecodeError:
        return b'"base64":"' + base64.b64encode(body) + b'"'


def _body_of(data: bytes, start: int, end: int) -> tuple[int, bytes]:
    """Where the body's member begins in the line that ends at `end`, and the body."""
    # A quotation mark inside a JSON string is escaped: these byte patterns can only be the member itself, and the
    # members before it (status, allowed headers, method, url) never bear these names.
    if (at := data.find(b',"json":', start, end)) >= 0:
        return at, data[at + 8 : end - 1]
    if (at := data.find(b',"text":', start, end)) >= 0:
        return at, json.loads(data[at + 8 : end - 1]).encode("utf-8", "surrogatepass")
    at = data.index(b',"base64":"', start, end)
    return at, base64.b64decode(data[at + 11 : end - 2])


def _difference(base: bytes, body: bytes) -> bytes | None:
    """The members of `body` that `base` has not, or has with another value; None where that is no saving or not all."""
    try:
        one, other = json.loads(base), json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(one, dict) or not isinstance(other, dict) or not one.keys() <= other.keys():
        return None
    differing = canonical_json({name: value for name, value in other.items() if name not in one or one[name] != value})
    return differing if 2 * len(differing) < len(body) and whole_body(base, differing) == body else None


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
        remedy = "restore it from version control, or delete it and record again"
        index.faults.append(f"{path}: the file is empty; {remedy}")
        return index
    keys: dict[str, str] = {}  # one string per key, however many repeats it has
    view, number, start, size = memoryview(data), 0, 0, len(data)
    while start < size:
        end = data.find(b"\n", start)
        end = size if end < 0 else end
        number += 1
        if verified or is_intact(view, start, end):
            index.unended = end == size
            try:
                fault = _enter(index, keys, number, (start, end - start), data)
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
        remedy = "restore it or delete it and record again"
        index.faults.append(f"{path}:1: the file does not begin with a header line; {remedy}")
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
        (method, url, body), like = read_request(line), head_of(line)[3]
        requests[key] = (method, url, whole_body(requests[like][2], body) if like else body)
    return requests


def _enter(index: CellIndex, keys: dict[str, str], number: int, place: Place, data: bytes) -> str:
    """Enter one intact line; returns what is wrong with it here, if anything."""
    kind, key, repeat, like = head_of(data, place[0], sum(place))
    key = keys.setdefault(key, key)
    if kind == ANSWER:
        if key not in index.requests:
            return f"an answer to request {key}, which is not in the file before it"
        if (key, repeat) in index.answers:
            return f"request {key}, repeat {repeat} is answered a second time"
        index.answers[key, repeat] = place
    elif kind == REQUEST:
        if key in index.requests:
            return f"request {key} is stored a second time"
        if like and like not in index.requests:
            return f"request {key} is stored as a change of request {like}, which is not in the file before it"
        index.requests[key] = place
    elif kind == HEADER:
        if number != 1:
            return "a second header: two cassettes were joined into one file"
        index.header = read_header(data[: place[1]])
        if index.header.get("schema") != SCHEMA:
            return f"cassette format {index.header.get('schema')}; this version of Recuse reads format {SCHEMA}"
    else:
        return UNKNOWN
    return ""


def _what_is_wrong(line: bytes) -> str:
    if line.endswith(b"\r") and is_intact(line[:-1]):
        remedy = "Set `cassettes/** -text` in .gitattributes and check it out again"
        return f"the line ends in CR LF: version control changed the file. {remedy}"
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
