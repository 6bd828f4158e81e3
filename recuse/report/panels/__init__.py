"""Report panels: how one question is drawn.

To add one, write panels/<question id>.py with a pure function

    def draw(group: Group) -> dict[str, Any]

that turns what the question found about one panel of judges into figures, and templates/panels/<question id>.html.j2
that places them (they are `it.<key>` there). Nothing else knows about it. The key `reading` holds the one or two
sentences above the pictures. `ORDER` (optional, 50 if absent) is the question's place on the page. A question without a
panel of its own is drawn by `generic`; a panel draws what is there and leaves out what is not.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from types import ModuleType

DEFAULT_ORDER = 50


def panel_of(question: str) -> ModuleType:
    """The module that draws `question`."""
    if re.fullmatch(r"[a-z][a-z0-9_]*", question) and importlib.util.find_spec(f"{__name__}.{question}"):
        return importlib.import_module(f"{__name__}.{question}")
    return importlib.import_module(f"{__name__}.generic")


def order_of(question: str) -> tuple[int, str]:
    return (getattr(panel_of(question), "ORDER", DEFAULT_ORDER), question)
