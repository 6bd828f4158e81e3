"""The one spelling of a JSON request body, so that equal requests are equal bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_json


def canonical(body: Mapping[str, Any]) -> bytes:
    """Sorted keys, no spaces, UTF-8 (a lone surrogate as its JSON escape), no NaN. `TypeError` or `ValueError` for what
    JSON cannot hold.

    >>> canonical({"b": 1, "a": "é"}).decode()
    '{"a":"é","b":1}'
    """
    return canonical_value(body)


def canonical_value(value: Any) -> bytes:
    """The same for any JSON value. Texts, which are most of a request, are written by pydantic's encoder: it spells
    them as the standard library does and takes a fifth of the time. It spells numbers differently (1e-7 for 1e-07)."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict) and value:
        return b"{%b}" % b",".join([b"%b:%b" % (_name(name), canonical_value(value[name])) for name in sorted(value)])
    if isinstance(value, list | tuple) and value and isinstance(value[0], str | dict | list | tuple):
        return b"[%b]" % b",".join(map(canonical_value, value))
    return _ENCODER.encode(value).encode("utf-8", "backslashreplace")


def _name(name: object) -> bytes:
    if not isinstance(name, str):
        raise TypeError(f"the keys of an object must be text, not {type(name).__name__}")
    return _text(name)


def _text(text: str) -> bytes:
    try:
        return to_json(text)
    except ValueError:  # half of a surrogate pair
        return _ENCODER.encode(text).encode("utf-8", "backslashreplace")


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
