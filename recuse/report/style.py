"""What is done to a page when all of it is known: its style sheet with the names that stacked cells show on a narrow
screen, what the browser may use, and no byte that says nothing."""

from __future__ import annotations

import base64
import hashlib
import re
from html import unescape

from recuse.schema import RecuseError

__all__ = ["STYLE", "STYLE_HASH", "style_hash", "with_style"]

STYLE, STYLE_HASH = "/*style-of-the-page*/", "hash-of-the-style"
"""What a template prints where both belong; they are known only when the page is written."""

NAMED = re.compile(r' data-name="([^"]*)"')
TAG, QUOTED = re.compile(r"<[a-z][^<>]*>"), re.compile(r"""="([^\s"'=<>`]+)"(/?)""")


def with_style(page: str, style: str) -> str:
    """The page with its style sheet. On a narrow screen a cell shows the name of its column, which a template gives as
    `data-name`: every name is said once in the style sheet and referred to by number."""
    numbers: dict[str, int] = {}
    page = NAMED.sub(lambda cell: f' data-n="{numbers.setdefault(cell[1], len(numbers))}"', page)
    page = TAG.sub(lambda tag: QUOTED.sub(_unquoted, tag[0]), page)
    names = "".join(f'[data-n="{n}"]{{--name:"{_escaped(unescape(name))}"}}' for name, n in numbers.items())
    whole = f"{style}\n{names}" if names else style
    page = page.replace(f"'{STYLE_HASH}'", f"'{style_hash(whole)}'", 1)  # with what no escaped text can hold
    return page.replace(f"<style>{STYLE}</style>", f"<style>{whole}</style>", 1)


def _unquoted(attribute: re.Match[str]) -> str:
    """HTML needs no quotes around a value without blanks (HTML standard, 13.1.2.3)."""
    return f"={attribute[1]}{' /' if attribute[2] else ''}"


def style_hash(style: str) -> str:
    """What the content security policy allows: this style sheet and nothing else."""
    if "</" in style:
        raise RecuseError('the style sheet must not contain "</", which would end it early; mend style.css.j2')
    return "sha256-" + base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()


def _escaped(name: str) -> str:
    """As the inside of a string in CSS: whatever is no letter, digit or blank as its code."""
    return "".join(c if c.isalnum() or c == " " else f"\\{ord(c):x} " for c in name)
