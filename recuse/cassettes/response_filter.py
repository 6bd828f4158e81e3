"""Which responses are worth keeping, and what of them.

Kept: a complete 2xx whose body is a JSON object without an `error` member, whatever its content type says; and the
4xx by which a provider says that its policy forbids an answer (it would say so again, so it is this judge's answer).
Not kept: everything that another try may change - 408, 409, 425, 429, 5xx, bodies that are empty, cut off or no JSON
(a proxy's page), an `error` object under status 200 - and what is a mistake in the set-up: 401, 403, 404, 400.
A refusal or a reply cut by max_tokens is an answer like any other. A body that cannot be decompressed here is not kept,
whatever its status: nobody could tell what it is.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from recuse.judges.provider_errors import is_policy_refusal
from recuse.schema import RawResponse

LARGEST_BODY = 16 * 2**20
"""Bytes of a body, decompressed. A judge's reply has a few thousand; what is larger is a fault or an attack."""

KEPT_HEADERS = ("content-type", "request-id", "x-request-id")
"""Response headers that are stored. All others (cookies, organisation ids, rate limits) are dropped unread."""


def kept_response(response: RawResponse) -> RawResponse:
    """What is stored of a response: decompressed, in UTF-8, with few headers. `ValueError`, with the reason, for one
    that is not kept."""
    headers = {name.lower(): value for name, value in response.headers.items()}
    body = decompressed(response.body, headers.get("content-encoding", ""))
    if reason := reason_to_drop(response.status, body):
        raise ValueError(reason)
    return RawResponse(response.status, kept_headers(headers), in_utf_8(body), response.seconds)


def reason_to_drop(status: int, body: bytes) -> str:
    """Why a response is not stored; empty if it is. `body` is already decompressed."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if 200 <= status < 300:
        return _fault_of_answer(body, value)
    if is_policy_refusal(status, value):
        return ""
    return f"HTTP status {status}"


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The allowed headers, names in lower case, in a fixed order."""
    lower = {name.lower(): value for name, value in headers.items()}
    return {name: lower[name] for name in KEPT_HEADERS if name in lower}


def decompressed(body: bytes, encoding: str, largest: int = LARGEST_BODY) -> bytes:
    """The body without its content encodings.

    `ValueError` if it is not what its encoding says, if the encoding is not known here (or its library is not
    installed), and if it has more than `largest` bytes: never more than that is held in memory."""
    names = [name.strip().lower() for name in encoding.split(",") if name.strip().lower() not in ("", "identity")]
    for name in reversed(names):
        if name not in _DECOMPRESS:
            raise ValueError(f"the body is compressed as {name!r}, which is not known; known: {', '.join(_DECOMPRESS)}")
        try:
            body = _DECOMPRESS[name](body, largest + 1)
        except ImportError as error:
            raise ValueError(f"the body is compressed as {name!r}; install {error.name} to record it") from error
        except Exception as error:  # each library has errors of its own
            raise ValueError(f"the body is not valid {name}: {error}") from error
        check_size(len(body), largest)
    check_size(len(body), largest)
    return body


def check_size(size: int, largest: int = LARGEST_BODY) -> None:
    """`ValueError` for a body of more than `largest` bytes."""
    if size > largest:
        raise ValueError(f"the body has more than {largest // 2**20} MB; no judge's reply is that long")


def in_utf_8(body: bytes) -> bytes:
    """A JSON body in UTF-8, as it should have come; unchanged if it did. Secrets are looked for in this spelling."""
    encoding = json.detect_encoding(body)
    return body if encoding == "utf-8" else body.decode(encoding, "surrogatepass").encode("utf-8", "backslashreplace")


def _fault_of_answer(body: bytes, value: Any) -> str:
    if not body.strip():
        return "the body is empty"
    if not isinstance(value, dict):
        return "the body is not a complete JSON object"
    if value.get("error"):
        return "the body is an error report, although the status says success"
    return ""


def _gunzip(body: bytes, largest: int) -> bytes:
    """All members of a gzip file; most have one."""
    data = b""
    while body and len(data) < largest:
        member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        data += member.decompress(body, largest - len(data))
        if not member.eof and len(data) < largest:
            raise EOFError("it ends too early")
        body = member.unused_data
    return data


def _inflate(body: bytes, largest: int) -> bytes:
    try:
        return _inflated(body, zlib.MAX_WBITS, largest)
    except zlib.error:  # some servers send the stream without its zlib wrapper
        return _inflated(body, -zlib.MAX_WBITS, largest)


def _inflated(body: bytes, bits: int, largest: int) -> bytes:
    stream = zlib.decompressobj(bits)
    data = stream.decompress(body, largest)
    if not stream.eof and len(data) < largest:
        raise EOFError("it ends too early")
    return data


def _brotli(body: bytes, largest: int) -> bytes:
    try:
        import brotli  # type: ignore[import-untyped]
    except ImportError:
        import brotlicffi as brotli  # type: ignore[import-not-found]
    stream, data = brotli.Decompressor(), b""
    for at in range(0, len(body), _PIECE):  # an attack of 16 KB cannot expand to more than a few dozen MB
        data += bytes(stream.process(body[at : at + _PIECE]))
        if len(data) >= largest:
            return data
    if not stream.is_finished():
        raise EOFError("it ends too early")
    return data


def _zstandard(body: bytes, largest: int) -> bytes:
    try:
        from compression.zstd import ZstdDecompressor  # type: ignore[import-not-found]  # Python 3.14
    except ImportError:
        from backports.zstd import ZstdDecompressor
    stream = ZstdDecompressor()
    data = bytes(stream.decompress(body, largest))
    if not stream.eof and len(data) < largest:
        raise EOFError("it ends too early")
    return data


_PIECE = 4096
_DECOMPRESS: dict[str, Callable[[bytes, int], bytes]] = {
    "gzip": _gunzip,
    "x-gzip": _gunzip,
    "deflate": _inflate,
    "br": _brotli,
    "zstd": _zstandard,
}
