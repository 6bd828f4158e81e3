"""How each question is drawn.

To draw one of your own, write <question id>.py with a pure function

    def draw(group: Group) -> dict[str, object]

that turns what the question found about one panel of judges into figures, and questions/<question id>.html.j2 that
places them (they are `it.<key>` there, `{{ draw(it.<key>) }}` shows one). In the engine the two stand here and in
templates/questions/; in a team's repository the module is named in pytest's settings by its dotted name
(`recuse_drawings = ["our_judges.fit_for_client"]`, the last part is the question) and the template stands in
reports/templates/questions/; an installed package names it by an entry point of group "recuse.report.questions" whose
name is the question. Nothing else knows about it. The key `reading` holds the one or two sentences above the
pictures. `ORDER` (optional, a number, 50 if absent) is the question's place on the page. A question without a drawing
of its own is drawn by `generic`; a drawing draws what is there and leaves out what is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from pkgutil import iter_modules
from types import ModuleType

from recuse.configuration.names import entry_points_of, named
from recuse.schema import RecuseError

DEFAULT_ORDER = 50
SHIPPED = tuple(sorted(module.name for module in iter_modules(__path__)))


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

    def order(self, question: str) -> tuple[float, str]:
        """Its place on the page, for sorting."""
        return (getattr(self.of(question), "ORDER", DEFAULT_ORDER), question)

    def _find(self, question: str) -> tuple[ModuleType, str]:
        if question not in self._found:
            self._found[question] = self._load(question)
        return self._found[question]

    def _load(self, question: str) -> tuple[ModuleType, str]:
        known = question in SHIPPED or question in entry_points_of(__name__)
        name = self._own.get(question) or (question if known else "generic")
        try:
            return _module(name), ""
        except RecuseError as error:
            return _module("generic"), str(error)


def _module(name: str) -> ModuleType:
    module: ModuleType = named(name, what="drawing", package=__name__, known=SHIPPED, needs=("draw",))
    return module
