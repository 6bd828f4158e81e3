"""Docstrings are read by people who look at code, where *so* is stress and `so` a name; on a page they are that."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from recuse.security.sanitize import visible

__all__ = ["prose"]

_STRESSED = re.compile(r"(?<![\w*])\*(\w(?:[^*\n]{0,60}\w)?)\*(?![\w*])")
_NAMED = re.compile(r"`([^`\n]{1,60})`")


def prose(text: str) -> Markup:
    """The text escaped, with *stress* and `names` as elements; asterisks of a product or a footnote stay."""
    plain = str(escape(visible(text)))
    return Markup(_STRESSED.sub(r"<em>\1</em>", _NAMED.sub(r"<code>\1</code>", plain)))
