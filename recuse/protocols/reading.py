"""What every reader of replies shares: finding the one JSON value, checking a score. Nothing here guesses."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from recuse.schema import Judgement, Reply, Status


class Unreadable(Exception):
    """The reply cannot be read as the protocol asks; becomes a row's status and why."""

    def __init__(self, status: Status, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


_REFUSAL = re.compile(
    r"\s*(?:i['’]?m (?:very |really )?sorry|sorry|i apologi[sz]e|my apologies|unfortunately)?[,.;:!]?\s*(?:but )?"
    r"(?:as an ai(?: language)?(?: model| assistant)?,? )?"
    r"(?:i|we) (?:cannot|can['’]?t|can not|am unable to|['’]?m unable to|won['’]?t|will not|must decline|decline|have to decline)\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"\A\s*```[A-Za-z]*[ \t]*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


def json_value(reply: Reply, kind: type[dict[str, Any]] | type[list[Any]]) -> Any:
    """The one JSON object (or array) of a reply. Words around it and one Markdown fence are tolerated; two different
    values, repeated keys and NaN are not. Raises `Unreadable`."""
    if reply.finish == "error":
        raise Unreadable("error", reply.text)
    if reply.finish == "refusal":
        raise Unreadable("refused", _short(reply.text) or "refused by the provider")
    text = fenced[1] if (fenced := _FENCE.match(reply.text)) else reply.text
    found = list(_values(text, kind))
    if not found:
        if _REFUSAL.match(text):
            raise Unreadable("refused", _short(text))
        cut = " (cut off by the token limit)" if reply.finish == "length" else ""
        raise Unreadable("unparsed", f"no JSON {'object' if kind is dict else 'array'} in the reply{cut}")
    if any(value != found[0] for value in found[1:]):
        raise Unreadable("unparsed", f"{len(found)} different JSON values in the reply; which one counts is not for us to guess")
    return found[0]


def score(value: object, criterion: str, scale: tuple[float, float]) -> Judgement:
    """A number on the scale, or the reason why not. A number in quotes is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Judgement(criterion, status="unparsed", why=f"{criterion} is {_short(repr(value))}, not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    low, high = scale
    if not low <= number <= high:
        return Judgement(criterion, status="out_of_scale", why=f"{criterion} is {number:g}, outside {low:g}..{high:g}")
    return Judgement(criterion, score=number)


def all_failed(criteria: Iterable[str], failure: Unreadable) -> list[Judgement]:
    return [Judgement(criterion, status=failure.status, why=failure.why) for criterion in criteria]


def member(value: object, key: str, criterion: str) -> object:
    """`value[key]`, or `Unreadable` saying what is lacking."""
    if not isinstance(value, Mapping) or key not in value:
        raise Unreadable("unparsed", f"the reply lacks {criterion}")
    return value[key]


def _values(text: str, kind: type) -> Iterable[Any]:
    """Top-level JSON values of the kind, left to right."""
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)
    opening = "{" if kind is dict else "["
    position = text.find(opening)
    while position != -1:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            yield value
        position = text.find(opening, end)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key appears twice")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _short(text: str, limit: int = 160) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
