"""How the page looks: colours and shades, docstrings as prose, and its style sheet, put in when all of it is known."""

from __future__ import annotations

import base64
import hashlib
import re
from html import unescape
from typing import Literal

from markupsafe import Markup, escape

from recuse.schema import RecuseError
from recuse.schema.vocabulary import ACCEPTED_DOUBT, ACCEPTED_FAULT, FAIL, NOT_MEASURED, PASS, UNDECIDED
from recuse.security.sanitize import visible

Mode = Literal["light", "dark"]
STEPS = 9
"""Shades per direction in a heat map, faintest to strongest."""
PALETTE: dict[Mode, dict[str, str]] = {
    "light": {
        "bg": "#fbfaf7", "ink": "#1c1b19", "dim": "#625e57", "line": "#e3dfd6", "card": "#ffffff", "edge": "#8a857b",
        "over": "#d1472f", "under": "#2f6db5", "rank": "#7f9a55", "amount": "#b07d1e", "band": "#eef0e4",
        "first": "#00696f", "second": "#57534b", "third": "#7d5a9c",
        PASS: "#2a6a3b", FAIL: "#b3261e", NOT_MEASURED: "#8f1d56", ACCEPTED_FAULT: "#7a5600",
        ACCEPTED_DOUBT: "#4a5a6b", UNDECIDED: "#4a4d9d",
    },
    "dark": {
        "bg": "#161513", "ink": "#ece9e2", "dim": "#a8a399", "line": "#34322d", "card": "#1e1d1a", "edge": "#7d776c",
        "over": "#d9573f", "under": "#4f86d6", "rank": "#86a55c", "amount": "#c08a2c", "band": "#24281f",
        "first": "#5fc7cc", "second": "#b9b3a6", "third": "#c8a8e6",
        PASS: "#7cc48e", FAIL: "#f2867c", NOT_MEASURED: "#ee8fc0", ACCEPTED_FAULT: "#e0b95a",
        ACCEPTED_DOUBT: "#aebdcb", UNDECIDED: "#abaef2",
    },
}  # fmt: skip
ON_SHADE: dict[Mode, str] = {"light": "#1c1b19", "dark": "#ffffff"}
"""Text on any shade."""
RAMPS = {"o": "over", "u": "under", "r": "rank", "m": "amount"}
"""First letter of a heat map's classes ("o1" .. "o9") -> the colour that is mixed into the card's, step by step."""
STRONGEST = 72
"""How much of it the strongest shade takes, in percent: enough to stand out, not so much that its number drowns."""
STYLE, STYLE_HASH = "/*style-of-the-page*/", "hash-of-the-style"
"""What a template prints where both belong; they are known only when the page is written."""
NAMED = re.compile(r' data-name="([^"]*)"')
TAG, QUOTED = re.compile(r"<[a-z][^<>]*>"), re.compile(r"""="([^\s"'=<>`]+)"(/?)""")
_STRESSED = re.compile(r"(?<![\w*])\*(\w(?:[^*\n]{0,60}\w)?)\*(?![\w*])")
_NAMED = re.compile(r"`([^`\n]{1,60})`")


def prose(text: str) -> Markup:
    """The text escaped, with *stress* and `names` as elements; asterisks of a product or a footnote stay."""
    plain = str(escape(visible(text)))
    return Markup(_STRESSED.sub(r"<em>\1</em>", _NAMED.sub(r"<code>\1</code>", plain)))


def with_style(page: str, style: str) -> str:
    """The page with its style sheet. On a narrow screen a cell shows the name of its column, which a template gives as
    `data-name`: every name is said once in the style sheet and referred to by number."""
    numbers: dict[str, int] = {}
    page = NAMED.sub(lambda cell: f' data-n="{numbers.setdefault(cell[1], len(numbers))}"', page)
    # HTML needs no quotes around a value without blanks (HTML standard, 13.1.2.3)
    page = TAG.sub(lambda tag: QUOTED.sub(lambda value: f"={value[1]}{' /' if value[2] else ''}", tag[0]), page)
    # as the inside of a string in CSS: whatever is no letter, digit or blank as its code
    escaped = {n: "".join(c if c.isalnum() or c == " " else f"\\{ord(c):x} " for c in unescape(name))
               for name, n in numbers.items()}  # fmt: skip
    names = "".join(f'[data-n="{n}"]{{--name:"{name}"}}' for n, name in escaped.items())
    whole = f"{style}\n{names}" if names else style
    page = page.replace(f"'{STYLE_HASH}'", f"'{style_hash(whole)}'", 1)  # with what no escaped text can hold
    return page.replace(f"<style>{STYLE}</style>", f"<style>{whole}</style>", 1)


def style_hash(style: str) -> str:
    """What the content security policy allows: this style sheet and nothing else."""
    if "</" in style:
        raise RecuseError('the style sheet must not contain "</", which would end it early; mend style.css.j2')
    return "sha256-" + base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
