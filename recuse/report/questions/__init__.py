"""How each question is drawn.

To draw one of your own, write <question id>.py with a pure function

    def draw(group: Group) -> dict[str, Any]

that turns what the question found about one panel of judges into figures, and questions/<question id>.html.j2 that
places them (they are `it.<key>` there, `{{ draw(it.<key>) }}` shows one). In the engine the two stand here and in
templates/questions/; in a team's repository the module is named in pytest's settings by its dotted name
(`recuse_drawings = ["our_judges.fit_for_client"]`, the last part is the question) and the template stands in
reports/templates/questions/. Nothing else knows about it. The key `reading` holds the one or two sentences above the
pictures. `ORDER` (optional, 50 if absent) is the question's place on the page. A question without a drawing of its own
is drawn by `generic`; a drawing draws what is there and leaves out what is not.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Iterable
from types import ModuleType

from recuse.extensions import named_module
from recuse.schema import RecuseError

DEFAULT_ORDER = 50


class Drawings:
    """Which module draws which question. `named`: dotted names of a team's own modules, which come before ours."""

    def __init__(self, named: Iterable[str] = ()) -> None:
        self._own = {name.rpartition(".")[2]: name for name in named}
        self._found: dict[str, tuple[ModuleType, str]] = {}

    def of(self, question: str) -> ModuleType:
        """The module that draws `question`; `generic` where there is none, or it cannot be used (see `fault`)."""
        return self._find(question)[0]

    def fault(self, question: str) -> str:
        """What is wrong with the team's module for `question`; "" in general."""
        return self._find(question)[1]

    def order(self, question: str) -> tuple[int, str]:
        """Its place on the page, for sorting."""
        return (getattr(self.of(question), "ORDER", DEFAULT_ORDER), question)

    def _find(self, question: str) -> tuple[ModuleType, str]:
        if question not in self._found:
            self._found[question] = self._load(question)
        return self._found[question]

    def _load(self, question: str) -> tuple[ModuleType, str]:
        if name := self._own.get(question):
            try:
                return named_module(name, what="drawing", package=__name__, known=(), needs=("draw",)), ""
            except RecuseError as error:
                return _shipped("generic"), str(error)
        if re.fullmatch(r"[a-z][a-z0-9_]*", question) and importlib.util.find_spec(f"{__name__}.{question}"):
            return _shipped(question), ""
        return _shipped("generic"), ""


def _shipped(name: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{name}")
