"""How each question is drawn: a `recuse.report.drawing.Drawing` that bears the question's id as its name; `generic`
draws a question without one. Ours stand beside this module; a paper's, or an installed package's, is an entry point of
group "recuse.report.questions"; a team names its own in pytest's settings, and these come first: `recuse_drawings =
["our_judges.drawings.fit_for_client"]`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from recuse.configuration import entry_points_of, named
from recuse.report.drawing import Drawing
from recuse.schema import RecuseError

__all__ = ["Drawings"]


class Drawings:
    """Which drawing a question has. `named`: dotted names of a team's own; `faults`: question -> what is wrong with the
    drawing named for it, of those that were looked at."""

    def __init__(self, named: Iterable[str] = ()) -> None:
        self._own = {name.rpartition(".")[2]: name for name in named}
        self._loaded: dict[str, Drawing] = {}
        self.faults: dict[str, str] = {}

    def order(self, question: str) -> tuple[float, str]:
        """Its place on the page, for sorting."""
        return (self.of(question).order, question)

    def of(self, question: str) -> Drawing:
        """The drawing of `question`; `generic` where there is none, or it cannot be used."""
        if question not in self._loaded:
            shipped, name = _shipped(), self._own.get(question) or question
            drawing: object = shipped.get(name, shipped["generic"])
            try:
                if name not in shipped and name in {*self._own.values(), *entry_points_of(__name__)}:
                    drawing = named(name, what="drawing", package=__name__, known=(), needs=())
                if not isinstance(drawing, Drawing):
                    kind = type(drawing).__name__
                    raise RecuseError(f"drawing {name!r} is no recuse.report.drawing.Drawing but a {kind}")
            except RecuseError as error:
                drawing, self.faults[question] = shipped["generic"], str(error)
            self._loaded[question] = drawing
        return self._loaded[question]


@cache
def _shipped() -> Mapping[str, Drawing]:
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    return {name: of for module in modules for name, of in vars(module).items() if isinstance(of, Drawing)}
