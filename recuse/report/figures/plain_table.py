"""Plain tables: a row per number with its details, or rows by columns with a number in each cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from recuse.report.gated_number import Number
from recuse.report.results_model import Group
from recuse.schema.number_text import MISSING, fixed, is_number

Named = Callable[[Any], str] | Mapping[Any, str]
"""What rows or columns are called: those that occur, by a function; or exactly these, by their names."""


class Cell(NamedTuple):
    """A text with a smaller one below; `outcome` draws its mark before it; `anchor`, in a row's first: for links."""

    text: str
    small: str = ""
    outcome: str = ""
    anchor: str = ""


class Table(NamedTuple):
    """The first cell of a row is its heading; `numeric` columns are set flush right. False without rows."""

    caption: str
    columns: list[str]
    rows: list[list[Cell]]
    numeric: frozenset[int] = frozenset()
    left_out: int = 0

    def __bool__(self) -> bool:
        return bool(self.rows)


def table(
    caption: str, columns: str | Sequence[str], rows: Iterable[Iterable[object]], numeric: Iterable[int] = (), *,
    most: int | None = None,
) -> Table:  # fmt: skip
    """A table of texts and cells; `columns` separated by bars, or one by one; of more than `most` rows the first."""
    cells = [[cell if isinstance(cell, Cell) else Cell(str(cell)) for cell in row] for row in rows]
    names = columns.split("|") if isinstance(columns, str) else list(columns)
    return Table(caption, names, cells[:most], frozenset(numeric), len(cells) - len(cells[:most]))


def number_cell(n: Number | None, text: str = "", *, small: str = "", outcome: str = "") -> Cell:
    """A number (`text`, or its value in its unit), its interval or `small` below it; a dash and why, without one."""
    if n is None or not is_number(n.value):
        return Cell(MISSING, n.why_undefined if n else "", outcome)
    return Cell(text or n.text(), small or n.spread(), outcome)


def detail_cell(name: str, *, signed: bool = False) -> Callable[[Number], Cell]:
    """A column of a detail's numbers."""
    return lambda n: Cell(fixed(n.detail.get(name), signed=signed))


@dataclass(frozen=True, slots=True)
class DetailTable:
    """A row per number of these metrics (separated by blanks), a column per way to say something of it."""

    metrics: str
    caption: str
    heading: Callable[[Group, Number], Cell]
    head: str
    columns: Mapping[str, Callable[[Number], Cell]]
    numeric: frozenset[int] = frozenset()
    only: Callable[[Number], bool] = lambda number: True

    def __call__(self, group: Group) -> Table:
        numbers = [n for n in group.of(*self.metrics.split()) if self.only(n)]
        rows = [[self.heading(group, n), *(cell(n) for cell in self.columns.values())] for n in numbers]
        return Table(self.caption, [self.head, *self.columns], rows, self.numeric)


def cross_table(
    caption: str, head: str, numbers: Iterable[Number], *, rows: Named,
    row: Callable[[Number], Any] = lambda number: number.who,
    column: Callable[[Number], Any] = lambda number: number.circumstances,
    columns: Named = lambda level: level or "all repeats", cell: Callable[[Number | None], Cell] = number_cell,
    numeric: bool = False,
) -> Table:  # fmt: skip
    """Rows by columns, each number at its place; empty where there are no numbers or no columns."""
    by_place = {(row(n), column(n)): n for n in numbers}
    row_names, column_names = (
        dict(named) if isinstance(named, Mapping) else {key[k]: named(key[k]) for key in by_place}
        for k, named in enumerate((rows, columns))
    )
    body = [[Cell(name), *(cell(by_place.get((r, c))) for c in column_names)] for r, name in row_names.items()]
    flush = frozenset(range(1, len(column_names) + 1)) if numeric else frozenset()
    return Table(caption, [head, *column_names.values()], body if column_names and by_place else [], flush)
