"""What every reader of replies shares: finding the one JSON value, checking a score. Nothing here guesses."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from pydantic_core import from_json  # the faster parser

from recuse.schema import Judgement, Reply, Status

DEEPEST = 50  # levels of nesting that a reply may have; all that a protocol asks for has fewer than five

_REFUSAL = re.compile(
    r"(?:i['’]?m (?:very |really |so )?sorry|(?:very |so )?sorry|i apologi[sz]e|(?:my )?apologies|unfortunately)?"
    r"\W{0,4}(?:but )?(?:as an ai(?: language)?(?: model| assistant)?,? )?"
    r"(?:i|we)(?: cannot| can not| can['’]?t| won['’]?t| will not| refuse| (?:respectfully )?decline"
    r"| (?:must|have to|need to) (?:respectfully )?(?:decline|refuse)"
    r"|(?: am| are|['’]?m|['’]?re) (?:unable|not able|not comfortable|not willing))\b"
    r"(?! (?:find|see|fault|wait|deny|help but)\b)",  # "I cannot find any fault" is a review, if not the JSON asked for
    re.IGNORECASE,
)
_BEGINS = {  # what may follow a bracket that opens a JSON value
    "{": re.compile(r'\s*["}]'), "[": re.compile(r'\s*(?:["{\[\]]|-?(?:\d|Infinity\b)|(?:NaN|true|false|null)\b)'),
}  # fmt: skip
_MEMBER = re.compile(r'"\s*:')  # so ends the name of every member, and what looks like one within a text
_KINDS: dict[type, str] = {dict: "object", list: "array"}


class Unreadable(Exception):
    """The reply cannot be read as the protocol asks; becomes a row's status and why."""

    def __init__(self, status: Status, why: str) -> None:
        super().__init__(why)
        self.status, self.why = status, why


def answered(reply: Reply) -> str:
    """The words of a reply; `Unreadable` where there are none to read: a broken payload, the provider's own refusal."""
    if reply.finish == "error":
        raise Unreadable("error", reply.text)
    if reply.finish == "refusal":
        raise Unreadable("refused", _short(reply.text) or "refused by the provider")
    return reply.text


def is_refusal(text: str) -> bool:
    """Whether the words begin by declining. Asked only of replies that hold no answer."""
    return _REFUSAL.match(text.lstrip("`*_\"' \t\r\n")[:200]) is not None


def json_value(reply: Reply, kind: type[dict[str, Any]] | type[list[Any]]) -> Any:
    """The one JSON object (or array) of a reply. Words and Markdown fences around it are tolerated, and so is an object
    around an array, which some providers insist on; `Unreadable` for two different values, a value that breaks off, one
    that is followed by words that break off (a draft, and its amendment would have come), repeated keys and NaN."""
    text = answered(reply)
    cut = " (cut off by the token limit)" if reply.finish == "length" else ""
    if kind is dict and text[:1] == "{" and (value := _whole_object(text)) is not None:
        return value  # nothing stands around it in nearly all of a million replies
    placed = list(_values(text, kind, cut))
    values = [value for value, _ in placed]
    if not values:
        if is_refusal(text):
            raise Unreadable("refused", _short(text))
        named = f"no JSON {_KINDS[kind]} in the reply" if text.strip() else "the reply is empty"
        raise Unreadable("unparsed", named + cut)
    if any(value != values[0] for value in values[1:]):
        count = f"{len(values)} different JSON values in the reply"
        raise Unreadable("unparsed", f"{count}; which one counts is not for us to guess")
    if cut and text[placed[-1][1] :].strip("`]} \t\r\n"):
        raise Unreadable("unparsed", f"words follow the JSON {_KINDS[kind]}, and may take it back{cut}")
    return values[0]


def score(value: object, criterion: str, scale: tuple[float, float], step: float | None = None) -> Judgement:
    """A number on the scale, and on its steps if any, or the reason why not. A number in quotes is not a number."""
    if type(value) is not float and type(value) is not int:
        return Judgement(criterion, status="unparsed", why=f"{criterion} is {_short(repr(value))}, not a number")
    return _on_scale(value, criterion, scale, step)


@lru_cache(maxsize=4096)  # of a million replies nearly all say one of a few numbers
def _on_scale(value: float, criterion: str, scale: tuple[float, float], step: float | None) -> Judgement:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    low, high = scale
    outside = "" if low <= number <= high else f"outside {low:g}..{high:g}"
    if step and not outside and not math.isclose(steps := (number - low) / step, round(steps), abs_tol=1e-6):
        outside = f"between the steps of {step:g} from {low:g} to {high:g}"
    if outside:
        return Judgement(criterion, status="out_of_scale", why=f"{criterion} is {number:g}, {outside}")
    return Judgement(criterion, score=number + 0.0)  # -0.0 equals 0.0 and would be taken for it


def all_failed(criteria: Iterable[str], failure: Unreadable) -> list[Judgement]:
    """One judgement per criterion, all with the status and the reason of the failure."""
    return [Judgement(criterion, status=failure.status, why=failure.why) for criterion in criteria]


def member(value: object, key: str, criterion: str) -> object:
    """`value[key]`, or `Unreadable` saying what is lacking."""
    if not isinstance(value, dict) or key not in value:
        raise Unreadable("unparsed", f"the reply lacks {criterion}")
    return value[key]


def _whole_object(text: str) -> Any:
    """The object that the text is and nothing else, by the faster parser; None where the careful one has to look. The
    faster one keeps the last of two values under one key: the text then names more members than the value has."""
    try:
        value = from_json(text, allow_inf_nan=False)
    except (ValueError, TypeError):  # the latter for half of a surrogate pair
        return None
    members = _members(value)
    return value if members == text.count(":") or members == len(_MEMBER.findall(text)) else None


def _members(value: Any, left: int = DEEPEST) -> float:
    """How many members all objects within a value have; infinitely many where it has more than `left` levels."""
    if not left:
        return math.inf
    members: float = len(value) if type(value) is dict else 0
    for one in value.values() if members else value:
        if type(one) is dict or type(one) is list:
            members += _members(one, left - 1)
    return members


def _values(text: str, kind: type, cut: str) -> Iterator[tuple[Any, int]]:
    """Top-level JSON values of the kind, left to right, each with where it ends. One that begins well and then breaks
    makes the whole reply unreadable: what stands inside it is part of an answer, not an answer."""
    opening = "{" if kind is dict else "["
    position = text.find(opening)
    while position != -1:
        end = position + 1
        if _BEGINS[opening].match(text, end):  # else the bracket is just a character of the words around
            value, end = _decoded(text, position, f"the JSON {_KINDS[kind]}", cut)
            yield value, end
        position = text.find(opening, end)


def _decoded(text: str, position: int, what: str, cut: str) -> tuple[Any, int]:
    """The value that begins at `position` and where it ends. Raises `Unreadable` for a value that is broken."""
    try:
        value, end = _DECODER.raw_decode(text, position)
    except _Fault as fault:
        raise Unreadable("unparsed", f"{what} {fault}") from None
    except json.JSONDecodeError as error:
        raise Unreadable("unparsed", f"{what} is broken at character {error.pos}: {error.msg}{cut}") from None
    except RecursionError:
        raise Unreadable("unparsed", f"{what} is nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise Unreadable("unparsed", f"{what} cannot be read: {error}") from None
    if _members(value) == math.inf:
        raise Unreadable("unparsed", f"{what} is nested too deeply")
    return value, end


class _Fault(ValueError):
    """Well-formed JSON that is nevertheless not one clear answer; the text says what it does."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise _Fault(f"has the key {_short(repr(twice))} twice")
    return value


def _constant(name: str) -> None:
    raise _Fault(f"holds {name}, which is not a JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant)  # one for all: making one is slow


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 160 else line[:159] + "…"


def option(value: object, criterion: str, options: Sequence[str]) -> Judgement:
    """One of the options, whatever its case; anything else is unparsed."""
    known = {name.lower(): name for name in options}
    word = known.get(str(value).strip().rstrip(".").lower()) if isinstance(value, str | bool) else None
    if word is not None:
        return Judgement(criterion, response=word)
    return Judgement(criterion, status="unparsed", why=f"{criterion} is {value!r:.60}, none of {', '.join(options)}")


def phrase(value: object, key: str) -> str:
    """`value[key]` as words; `Unreadable` where it is lacking, empty or no text."""
    words = member(value, key, key)
    if not isinstance(words, str) or not words.strip():
        raise Unreadable("unparsed", f"{key} is {_short(repr(words))}, no words")
    return words.strip()


def phrases(value: object, key: str, count: int) -> list[str]:
    """`value[key]` as a list of exactly so many texts."""
    given = member(value, key, key)
    if not isinstance(given, list) or len(given) != count:
        raise Unreadable("unparsed", f"{key} is no list of {count} texts")
    return [phrase({key: one}, key) for one in given]
