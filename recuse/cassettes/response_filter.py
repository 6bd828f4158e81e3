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
from collections.abc import Mapping
from typing import Any

from recuse.judges.decompression import decompressed
from recuse.judges.provider_errors import is_policy_refusal
from recuse.schema import RawResponse

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
