"""Requests as they are stored: whole, or as what differs from another request of the same cassette.

A judge that is given a seed gets another request in every repeat, although only the seed differs. Storing the prompt
again each time would multiply the size of its cassettes.
"""

from __future__ import annotations

import json
from typing import Any

from recuse.cassettes import lines
from recuse.cassettes.index import CellIndex
from recuse.cassettes.key import canonical_json

Recorded = tuple[str, str, bytes]  # method, URL and body


def read_requests(index: CellIndex, data: bytes) -> dict[str, Recorded]:
    """Every request of a sound cassette, whole, by key, in the order of the file."""
    found: dict[str, Recorded] = {}
    for key, (at, length) in index.requests.items():
        line = data[at : at + length]
        method, url, body = lines.read_request(line)
        like = lines.like_of(line)
        found[key] = (method, url, _whole(found[like][2], body) if like else body)
    return found


def request_line(key: str, request: Recorded, base: tuple[str, Recorded] | None) -> bytes:
    """The line that stores a request: what differs from `base` (a key and its request), where that says it all."""
    method, url, body = request
    if base is not None and base[1][:2] == (method, url):
        members = _difference(base[1][2], body)
        if members is not None:
            return lines.request_line(key, method, url, members, like=base[0])
    return lines.request_line(key, method, url, body)


def _difference(base: bytes, body: bytes) -> bytes | None:
    """The members of `body` that `base` has not, or has with another value; None where that is no saving or not all."""
    one, other = _object(base), _object(body)
    if one is None or other is None or not one.keys() <= other.keys():
        return None
    differing = canonical_json({name: value for name, value in other.items() if name not in one or one[name] != value})
    return differing if 2 * len(differing) < len(body) and _whole(base, differing) == body else None


def _whole(base: bytes, members: bytes) -> bytes:
    return canonical_json({**json.loads(base), **json.loads(members)})


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
