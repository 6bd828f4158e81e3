"""A judge's request as the panel file describes it, spelled so that equal requests have equal bytes. A wire format
builds the body it would send; the panel's `rename`, `omit` and `parameters` are then applied, in this order, so a
parameter is named as it is sent and always wins. Fields inside fields are named "outer.inner"."""

from __future__ import annotations

import json
import marshal
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlencode

from pydantic_core import to_json

from recuse.schema import Judge, RecuseError

_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)
PROMPT_FIELDS = ("messages", "contents", "input", "instructions", "system", "systemInstruction")
"""Fields that carry the protocol's prompt: set in a panel file, the judge would not be asked what is measured."""

SINGLE = {"n": 1, "candidateCount": 1, "stream": False, "background": False}
"""Fields with the only value under which an answer is read in full; anything else would be paid for and not read."""

ANSWER = "answer"
_AS_IT_IS = frozenset({str, bool, type(None)})
# How the headers begin that say which call it is, and those that the HTTP client sets.
OURS = ("x-recuse-", "content-length", "transfer-encoding", "host", "connection")
LENGTHS = frozenset({"minLength", "maxLength"})  # OpenAI's structured outputs do not list them as supported
BOUNDS = LENGTHS | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "maxItems"}
"""What Anthropic's structured outputs refuse; arrays may say minItems 0 or 1 and nothing else."""


class CanonicalJson(bytes):
    """Bytes that `canonical` spelled: who gets them need not decode them to know that they are canonical."""


def canonical(value: Any) -> CanonicalJson:
    """Sorted keys, no spaces, whole floats as integers, UTF-8 (a lone surrogate as its JSON escape), no NaN.
    `TypeError` or `ValueError` for what JSON cannot hold.

    >>> canonical({"b": 1.0, "a": "é"}).decode()
    '{"a":"é","b":1}'
    """
    return CanonicalJson(_spelled(value))


def as_written(body: Mapping[str, Any]) -> bytes:
    """Canonical but for the members of a schema, which keep their order: servers that enforce a schema have a judge
    write its reply in it, a reason before a score or after. Requests that differ in that order alone have one key.

    >>> as_written({"b": 1.0, "a": {"properties": {"why": {}, "score": {}}}}).decode()
    '{"a":{"properties":{"why":{},"score":{}}},"b":1}'
    """
    spelled = _spelled(body, in_order=True)
    return spelled if b'"properties":' in spelled else CanonicalJson(spelled)


def _spelled(value: Any, in_order: bool = False) -> bytes:
    """By pydantic's encoder, in a third of the time; by the standard library's for exponents and half surrogates."""
    others: list[object] = []
    plain = _ordered(value, in_order, "", others)
    if not others:
        with suppress(ValueError):  # half of a surrogate pair
            return to_json(plain)
    return _ENCODER.encode(plain).encode("utf-8", "backslashreplace")


def _ordered(value: Any, in_order: bool, of: object, others: list[object]) -> Any:
    """With the members of objects sorted and whole floats as integers; `others`: what the encoders spell apart."""
    kind = type(value)
    if kind in _AS_IT_IS or (kind is int and abs(value) < 2**53):
        return value
    if isinstance(value, dict):
        if of == "schema":
            with suppress(ValueError):  # marshal does not take everything
                ordered, more = _ordered_schema(marshal.dumps(value, 2), in_order)
                others += more
                return ordered
        if strange := [name for name in value if not isinstance(name, str)]:
            raise TypeError(f"the keys of an object must be text, not {type(strange[0]).__name__}")
        names = value if in_order and of == "properties" else sorted(value)
        return {str(n): v if type(v := value[n]) in _AS_IT_IS else _ordered(v, in_order, n, others) for n in names}
    if isinstance(value, list | tuple):
        return [one if type(one) is str else _ordered(one, in_order, "", others) for one in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if kind is not float or not 1e-4 <= abs(value) < 1e16:
        others.append(value)
    return value


@lru_cache(maxsize=64)
def _ordered_schema(marshalled: bytes, in_order: bool) -> tuple[Any, list[object]]:
    """`_ordered` of a schema, which thousands of requests share, and what it finds of `others`."""
    others: list[object] = []
    return _ordered(marshal.loads(marshalled), in_order, "", others), others


def described(judge: Judge, body: Mapping[str, Any]) -> bytes:
    """The body of a judge's request as it goes out: with the panel's `rename`, `omit` and `parameters` applied; to a
    field that it does not have they do nothing: protocols differ in what they send."""
    changed = deepcopy(dict(body)) if judge.rename or judge.omit else body
    for path, new in (*judge.rename.items(), *((omitted, None) for omitted in judge.omit)):
        *outer, field = path.split(".")
        table: Any = changed
        for step in outer:
            table = table.get(step) if isinstance(table, dict) else None
        if isinstance(table, dict) and field in table:
            value = table.pop(field)
            if new is not None:
                table[new] = value
    return as_written(merged(changed, judge.parameters))


def merged(body: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """`body` with `more` merged in: tables at every depth, anything else replaced.

    >>> merged({"config": {"seed": 1, "top": 2}}, {"config": {"top": 3}})
    {'config': {'seed': 1, 'top': 3}}
    """
    result = dict(body)
    for name, value in more.items():
        old = result.get(name)
        result[name] = merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return result


def address(judge: Judge, path: str, query: Mapping[str, str] | None = None) -> str:
    """Where the judge is asked: `base_url` and `path` (once, also where `base_url` has it), and the query."""
    base = judge.base_url.rstrip("/")
    url = base if base.endswith(path) else base + path
    parameters = {**(query or {}), **judge.query}
    return f"{url}?{urlencode(sorted(parameters.items()), quote_via=quote)}" if parameters else url


def segment(model: str) -> str:
    """A model's name as one step of a path."""
    return quote(model, safe="")


def check_description(parameters: Mapping[str, Any], rename: Mapping[str, str], omit: tuple[str, ...]) -> None:
    """`RecuseError` for a description under which a judge would not be asked or not be read as the protocol says."""
    given = {*parameters, *rename, *omit}
    if taken := sorted(given & {*PROMPT_FIELDS}):
        fields = ", ".join(taken)
        raise RecuseError(f"{fields}: the protocol's prompt stands there; change the task's templates instead")
    if "model" in given:
        raise RecuseError("model: set the judge's `model` instead, so that the report names what was asked")
    try:
        canonical(parameters)
    except (TypeError, ValueError):
        json_holds = "JSON holds text, finite numbers, true and false, lists and tables; no dates"
        raise RecuseError(f"parameters: {json_holds}") from None
    # At the top and one level down, where some formats have their generation settings.
    tables = (parameters, *(value for value in parameters.values() if isinstance(value, Mapping)))
    for name, only in SINGLE.items():
        if any(table.get(name, only) != only for table in tables if not isinstance(table.get(name), list | dict)):
            raise RecuseError(f"{name}: one whole answer is read per call, so it can only be {json.dumps(only)}")


def check_headers(headers: Mapping[str, str], names: Iterable[str]) -> None:
    """`RecuseError` for headers that cannot be sent, or that are not for a panel file to set (`names` included)."""
    for name in (*headers, *names):
        if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", name) or name.lower().startswith(OURS):
            raise RecuseError(f"headers: {name!r} is no header that can be set here")
    for name, value in headers.items():
        if not re.fullmatch(r"[\x20-\x7e]+", value):
            raise RecuseError(f"headers: the value of {name} must be printable ASCII")


def strict_schema(schema: Mapping[str, Any], without: frozenset[str]) -> dict[str, Any]:
    """A JSON schema for a provider that takes a subset: keywords `without` left out, enumerations with their type."""
    strict: dict[str, Any] = {}
    for name, value in schema.items():
        if name == "properties":
            strict[name] = {key: strict_schema(inner, without) for key, inner in value.items()}
        elif name not in without:
            strict[name] = strict_schema(value, without) if isinstance(value, Mapping) else value
    if "enum" in schema and "type" not in schema:
        strict["type"] = "string" if all(isinstance(value, str) for value in schema["enum"]) else "number"
    return strict


def openai_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A JSON schema as OpenAI's strict structured outputs take it: without lengths, and an object at the top. Another
    answer, such as a list, becomes the one member of an object; the readers of replies find it there."""
    strict = strict_schema(schema, LENGTHS)
    if strict.get("type") == "object":
        return strict
    return {"type": "object", "properties": {ANSWER: strict}, "required": [ANSWER], "additionalProperties": False}
