"""How a question is drawn, as data: a sentence to read first, and figures in their order. A part is anything that makes
a figure of a `Group`: a specification (`Forest`, `DetailTable`), or a function; None or an empty list draws nothing.

    own_share = Drawing(figures=(Forest("yes_rate", "Handed on", "share"), under("And in detail", _table)))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from recuse.report.gated_number import Number
from recuse.report.results_model import Group
from recuse.schema.number_text import fixed, is_number

Part = Callable[[Group], object]
"""Makes a figure of what was found, or a list of figures; None where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """How one question is drawn: `reading` gives a sentence or two above the figures, `order` its place on the page."""

    figures: Sequence[Part]
    reading: Callable[[Group], str] = lambda group: ""
    order: float = 50

    def draw(self, group: Group) -> list[object]:
        """The figures of what was found about one panel and task."""
        made = [part(group) for part in self.figures]
        figures = [one for figure in made for one in (figure if isinstance(figure, list) else [figure])]
        return [figure for figure in figures if figure]


class Block(NamedTuple):
    """Figures under a heading ("under"; "section" where no panel's heading stands above), side by side ("pair"), or
    folded away behind `title` and `more` ("folded")."""

    kind: str
    figures: list[object]
    title: str = ""
    more: str = ""


class Words(NamedTuple):
    """Sentences between figures: to "read", a "note", "strong", or a "list"."""

    kind: str
    lines: list[str]


def under(title: str, *parts: Part) -> Part:
    """Parts under a heading; no heading without a figure."""
    return lambda group: _block("under", group, parts, title)


def pair(*parts: Part) -> Part:
    """Parts side by side where the page is wide enough."""
    return lambda group: _block("pair", group, parts)


def folded(title: str, more: str, *parts: Part) -> Part:
    """Parts behind a line to click on: `title` in bold, then `more`."""
    return lambda group: _block("folded", group, parts, title, more)


def words(text_of: Callable[[Group], str | list[str]], kind: str = "note") -> Part:
    """A sentence, or a list of them; none where it is empty."""

    def part(group: Group) -> Words | None:
        text = text_of(group)
        return Words(kind, [text] if isinstance(text, str) else text) if text else None

    return part


def _block(kind: str, group: Group, parts: Sequence[Part], title: str = "", more: str = "") -> Block | None:
    figures = Drawing(figures=parts).draw(group)
    return Block(kind, figures, title, more) if figures else None


def chance(number: Number) -> str:
    """ "p = 0.058": how often an unrelated order would agree as well, where the metric tells."""
    p = number.detail.get("p_permutation")
    return f"p {p_value(p, equals='= ')}" if is_number(p) and is_number(number.value) else ""


def p_value(p: float | None, equals: str = "") -> str:
    """A p-value to three decimals, "< 0.001" below that; `equals` stands before a number."""
    return "< 0.001" if p is not None and p < 0.001 else f"{equals}{fixed(p, 3)}"
