"""Reads a verdict that stands on the last line of a reply, "Rating: 4", "Winner: A" or "Answer: yes"; guesses nothing.

Markdown around a line (bold, a heading, a list mark, a code fence) is taken for decoration. All else is named: no such
line, two lines that disagree, a verdict that is not on the last line or that the token limit may have cut.
"""

from __future__ import annotations

import re
from functools import lru_cache

from recuse.protocols.reading import Unreadable, all_failed, answered, is_refusal
from recuse.schema import Judgement, Reply

YES_OR_NO = 'root ::= "Answer: " ("yes" | "no")'
"""Grammar of what `yes_or_no` reads."""

_FENCE = re.compile(r"\s*(?:```+|~~~+)[\w-]*\s*")
_DECORATION = "*_`# \t"


def verdict(reply: Reply, label: str) -> str:
    """What follows "<label>:" on the last line; raises `Unreadable`."""
    text = answered(reply)
    values = [_value(line, label) for line in lines(text)]
    given = [value for value in values if value is not None]
    if not given:
        if is_refusal(text):
            raise Unreadable("refused", short(text))
        raise Unreadable("unparsed", f'no line "{label}: ..." in the reply' if text.strip() else "the reply is empty")
    if len(set(given)) > 1:
        raise Unreadable(
            "unparsed", f'{len(set(given))} different lines "{label}: ..." ({", ".join(map(short, given))[:80]})'
        )
    if values[-1] is None:
        raise Unreadable("unparsed", f'"{label}: {short(given[0])}" is not on the last line')
    if reply.finish == "length":
        raise Unreadable("unparsed", f'the token limit ended the reply at "{label}: {short(given[0])}"')
    return given[0]


def yes_or_no(reply: Reply, criterion: str) -> Judgement:
    """The response "yes" or "no" from a last line "Answer: ...", or a named failure."""
    try:
        given = verdict(reply, "Answer")
    except Unreadable as failure:
        return all_failed([criterion], failure)[0]
    answer = given.rstrip(".").lower()
    if answer not in ("yes", "no"):
        return Judgement(criterion, status="unparsed", why=f'"Answer: {short(given)}" is neither yes nor no')
    return Judgement(criterion, response=answer)


def labelled(text: str, label: str) -> list[str]:
    """What follows "<label>:" on each line that begins with it, in order."""
    return [value for line in lines(text) if (value := _value(line, label)) is not None]


def lines(text: str) -> list[str]:
    """The lines that say something, without Markdown around them."""
    kept = (line.strip(_DECORATION) for line in text.splitlines() if not _FENCE.fullmatch(line))
    return [line for line in kept if line]


def short(text: str) -> str:
    """A text cut to 40 characters."""
    return text if len(text) <= 40 else text[:39] + "…"


def _value(line: str, label: str) -> str | None:
    match = _line_of(label).fullmatch(line)
    return match[1].strip(_DECORATION) if match else None


@lru_cache
def _line_of(label: str) -> re.Pattern[str]:
    return re.compile(rf"(?:[-+>•]\s+)?[*_`]{{0,3}}{label}[*_`]{{0,3}}\s?:[*_`\s]*(.*)", re.IGNORECASE)
