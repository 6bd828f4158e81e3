"""The one spelling of a JSON request body, so that equal requests are equal bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic_core import to_json

__all__ = ["CanonicalJson", "canonical", "canonical_value"]


class CanonicalJson(bytes):
    """Bytes that `canonical` spelled: who gets them need not decode them to know that they are canonical."""


def canonical(body: Mapping[str, Any]) -> CanonicalJson:
    """Sorted keys, no spaces, whole floats as integers, UTF-8 (a lone surrogate as its JSON escape), no NaN.
    `TypeError` or `ValueError` for what JSON cannot hold.

    >>> canonical({"b": 1.0, "a": "é"}).decode()
    '{"a":"é","b":1}'
    """
    return canonical_value(body)


def canonical_value(value: Any) -> CanonicalJson:
    """The same for any JSON value."""
    return CanonicalJson(_spelled(value))


def _spelled(value: Any) -> bytes:
    """Texts, which are most of a request, are written by pydantic's encoder: it spells them as the standard library
    does and takes a fifth of the time. It spells numbers differently (1e-7 for 1e-07)."""
    kind = type(value)
    if kind is str:
        return _short_text(value) if len(value) < LONG else _long_text(value)
    if kind is int or kind is float:
        return _plain(value)
    if isinstance(value, dict) and value:
        return b"{%b}" % b",".join([spelled + _spelled(value[name]) for name, spelled in _names(tuple(value))])
    if isinstance(value, _LISTS) and value:
        kinds = set(map(type, value))
        if kinds <= _SPELLED_AS_THEY_ARE:
            return _encoded(value)
        return _numbers(tuple(value)) if kinds <= _NUMBER_KINDS else b"[%b]" % b",".join(map(_spelled, value))
    return _plain(value) if isinstance(value, _NUMBERS) else _encoded(value)


@lru_cache(maxsize=1024, typed=True)
def _plain(value: float) -> bytes:
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 2**53
    return _encoded(int(value) if whole else value)


@lru_cache(maxsize=64)
def _numbers(values: tuple[float, ...]) -> bytes:
    """The steps of a scale stand in a schema once for every criterion, and in every request. 1 and 1.0 are spelled
    alike; no bool may be among them, which is equal to a number."""
    return b"[%b]" % b",".join(map(_plain, values))


def _encoded(value: Any) -> bytes:
    return _ENCODER.encode(value).encode("utf-8", "backslashreplace")


@lru_cache(maxsize=1024)
def _names(names: tuple[object, ...]) -> tuple[tuple[object, bytes], ...]:
    """The names of an object in order, each with what stands before its value."""
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"the keys of an object must be text, not {type(name).__name__}")
    return tuple((name, _text(name) + b":") for name in sorted(map(str, names)))


def _text(text: str) -> bytes:
    try:
        return to_json(text)
    except ValueError:  # half of a surrogate pair
        return _encoded(text)


LONG = 200
_short_text, _long_text = lru_cache(maxsize=1024)(_text), lru_cache(maxsize=256)(_text)
"""A prompt, a role and the name of a model are spelled once for all judges that are asked and all that is asked."""

_LISTS, _NUMBERS, _NUMBER_KINDS = (list, tuple), (int, float), {int, float}
_SPELLED_AS_THEY_ARE = {int, bool, type(None)}
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
