"""Make text written by a judge safe to look at: characters that survive the escaping of HTML and hide, reorder or fake
what stands on a page: controls, direction overrides, zero-width and tag characters, lone surrogates."""

from __future__ import annotations

import re
from typing import Any

# Fixed ranges, not unicodedata categories: those change with the Python version, and so would the report.
_INVISIBLE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, except tab and line feed
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # soft hyphen, joiners, fillers
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero width, line separators, direction marks, overrides and isolates
    "\u3164\ufeff\uffa0\ufff0-\uffff"  # fillers, byte order mark, specials
    "\ud800-\udfff"  # lone surrogates
    "\U0001d173-\U0001d17a"  # musical format controls
    "\U000e0000-\U000e0fff"  # tags and further variation selectors: invisible text
    "]"
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_COMBINING = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
_STACK = re.compile(f"({_COMBINING}{{4}}){_COMBINING}+")
_RISKY = ("=", "+", "-", "@", "\t", "\r")


def visible(text: str) -> str:
    """`text` with every invisible character spelled out as ⟦U+202E⟧; tabs, line feeds and all else stay. Stacks of more
    than four combining marks are cut to four: they would paint over neighbouring lines."""
    if text.isascii() and (text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable()):
        return text  # as almost every text of a report is, and a tenth of the cost
    plain = text.replace("\r\n", "\n")
    return _STACK.sub(r"\1", _INVISIBLE.sub(_spelled, plain))


def encodable(text: str) -> str:
    """`text` with lone surrogates, which no encoding can hold, spelled out; the same object where there are none. A
    reply cut in the middle of an emoji ends in one; JSON can carry it, a file or another process cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub(_spelled, text)
    return text


def shortened(text: str, limit: int) -> tuple[str, int]:
    """The first `limit` characters, and how many were cut; a cut line is not left dangling in white space."""
    if len(text) <= limit:
        return text, 0
    head = text[:limit].rstrip()
    return head, len(text) - len(head)


def safe_cell(cell: Any) -> str:
    """A cell that no spreadsheet takes for a formula, nothing hidden in it. Half of Europe's split at a semicolon."""
    parts = visible(str(cell)).split(";")
    return ";".join(f"'{part}" if part.startswith(_RISKY) and not _is_number(part) else part for part in parts)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _spelled(match: re.Match[str]) -> str:
    return f"⟦U+{ord(match.group()):04X}⟧"
