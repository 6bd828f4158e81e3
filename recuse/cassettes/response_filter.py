"""Which responses are worth keeping, and what of them.

Kept: a complete 2xx whose body is a JSON object without an `error` member, whatever its content type says; and the
4xx by which a provider says that its policy forbids an answer (it would say so again, so it is this judge's answer).
Not kept: everything that another try may change - 408, 409, 425, 429, 5xx, bodies that are empty, cut off or no JSON
(a proxy's page), an `error` object under status 200 - and what is a mistake in the set-up: 401, 403, 404, 400.
A refusal or a reply cut by max_tokens is an answer like any other.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Mapping
from typing import Any

from recuse.policy import is_policy_refusal

KEPT_HEADERS = ("content-type", "request-id", "x-request-id")
"""Response headers that are stored. All others (cookies, organisation ids, rate limits) are dropped unread."""


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


def decompressed(body: bytes, encoding: str) -> tuple[bytes, str]:
    """The body without its content encodings, and the encodings that could not be undone (normally none).

    An encoding whose library is not installed stays on the body and is named, so the client that could read it while
    recording can read it again. `ValueError` if the body is not what its encoding says."""
    names = [name.strip().lower() for name in encoding.split(",") if name.strip().lower() not in ("", "identity")]
    while names:
        plain = _undo(names[-1], body)
        if plain is None:
            break
        body = plain
        names.pop()
    return body, ", ".join(names)


def _fault_of_answer(body: bytes, value: Any) -> str:
    if not body.strip():
        return "the body is empty"
    if not isinstance(value, dict):
        return "the body is not a complete JSON object"
    if value.get("error"):
        return "the body is an error report, although the status says success"
    return ""


def _undo(encoding: str, body: bytes) -> bytes | None:
    decompress = _DECOMPRESS.get(encoding)
    if decompress is None:
        return None
    try:
        return decompress(body)
    except ImportError:
        return None
    except Exception as error:  # each library has errors of its own
        raise ValueError(f"the body is not valid {encoding}: {error}") from error


def _inflate(body: bytes) -> bytes:
    try:
        return zlib.decompress(body)
    except zlib.error:  # some servers send the stream without its zlib wrapper
        return zlib.decompress(body, -zlib.MAX_WBITS)


def _brotli(body: bytes) -> bytes:
    try:
        import brotli  # type: ignore[import-untyped]
    except ImportError:
        import brotlicffi as brotli  # type: ignore[import-not-found]
    return bytes(brotli.decompress(body))


def _zstandard(body: bytes) -> bytes:
    try:
        from compression.zstd import decompress  # type: ignore[import-not-found]  # Python 3.14
    except ImportError:
        from backports.zstd import decompress
    return bytes(decompress(body))


_DECOMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.decompress,
    "x-gzip": gzip.decompress,
    "deflate": _inflate,
    "br": _brotli,
    "zstd": _zstandard,
}
