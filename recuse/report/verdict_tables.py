"""Judges by gates: the one table that terminal, Markdown and page render, of one question or of a whole task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from recuse.report.gated_number import Number, grouped, plain_name
from recuse.report.results_model import Group, ResultsModel
from recuse.schema.number_text import MISSING, decimals_for, is_number
from recuse.schema.vocabulary import SHOWN, tally, worst

SHOWN_PER_CELL = 2
"""Verdicts told one by one in a cell; of more, the worst is told and the rest are counted."""

SIGNS = 4
"""Signs by which levels are told apart without their words."""


@dataclass(frozen=True, slots=True)
class Column:
    """One gate. `levels`: the factor levels that its cells show one by one, in words; none where they are many."""

    gate: str
    title: str
    limit: str
    levels: tuple[str, ...]
    anchor: str  # where the page draws what was found


@dataclass(frozen=True, slots=True)
class Cell:
    """What one gate says of one judge: nothing, a verdict, or one per factor level."""

    numbers: tuple[Number, ...]

    @property
    def outcome(self) -> str:
        """The worst in it; "" if nothing was asked."""
        return worst(n.state for n in self.numbers)

    @property
    def shown(self) -> tuple[Number, ...]:
        """The verdicts to show one by one: all of few, else the worst."""
        if len(self.numbers) <= SHOWN_PER_CELL:
            return self.numbers
        return (next(n for n in self.numbers if n.state == self.outcome),)

    @property
    def hidden(self) -> tuple[Number, ...]:
        """Those that are not told one by one."""
        shown = {id(n) for n in self.shown}
        return tuple(n for n in self.numbers if id(n) not in shown)

    @property
    def informs(self) -> bool:
        """Whether nothing in it is held against the run, though something neither passes nor is accepted."""
        return any(n.is_let_through for n in self.numbers) and all(n.is_tolerated for n in self.numbers)

    def value(self, n: Number) -> str:
        """One of its numbers, with as many decimals as the others in it."""
        if not is_number(n.value):
            return MISSING
        return n.text(decimals_for(one.value for one in self.shown))

    @property
    def rest(self) -> str:
        """What is not shown: "and 6 more: 5 pass, 1 accepted"."""
        outcomes = [n.state for n in self.numbers]
        if len(outcomes) <= SHOWN_PER_CELL:
            return ""
        outcomes.remove(self.outcome)
        return f"and {len(outcomes)} more: {tally(outcomes)}"

    def at(self, level: str) -> Cell:
        """The part of it at a factor level of its column."""
        return Cell(tuple(n for n in self.numbers if n.circumstances == level))


@dataclass(frozen=True, slots=True)
class Row:
    """A judge, or the panel as a whole, with its cells."""

    name: str  # "" for the panel as a whole
    label: str
    cells: list[Cell]

    @property
    def outcome(self) -> str:
        """The worst in it."""
        return worst(cell.outcome for cell in self.cells if cell.outcome)


@dataclass(frozen=True, slots=True)
class VerdictTable:
    """Rows in panel order, the panel as a whole last; columns in the order of the questions and their gates.

    `series`: the levels that all cells of two verdicts alternate between (names shown and hidden), as long as there are
    signs for them; else each verdict says its own.
    """

    group: Group  # the first of those it tells of: their panel and task
    columns: list[Column]
    rows: list[Row]
    series: list[str]

    def worst_first(self) -> list[Row]:
        """Its rows, the worst judge first."""
        return sorted(self.rows, key=lambda row: list(SHOWN).index(row.outcome))  # stable: else panel order


def verdict_tables(view: ResultsModel, groups: Sequence[Group]) -> list[VerdictTable]:
    """One table per panel and task that has verdicts, of all `groups` about them."""
    names = [p.name for p in view.panels]
    gated = (group for group in groups if group.gates)
    by_place = grouped(gated, lambda group: (names.index(group.panel.name), group.task))
    return [verdict_table(by_place[place]) for place in sorted(by_place)]


def verdict_table(groups: Sequence[Group]) -> VerdictTable:
    """The table of these groups, which are about one panel and task."""
    gated = [(group, gate, some) for group in groups for gate, some in group.gates.items()]
    first, table = groups[0], [grouped(some, lambda n: n.who) for _, _, some in gated]
    who = sorted({w for about in table for w in about}, key=lambda w: (w == "", first.place(w)))
    rows = [
        Row(w, first.label(w) if w else "the panel as a whole", [Cell(tuple(about.get(w, ()))) for about in table])
        for w in who
    ]
    often = Counter(_title(group, some) for group, _, some in gated)
    columns = []
    for group, gate, some in gated:
        title, levels, limits = _title(group, some), tuple(group.circumstances(some)), {n.limit_text for n in some}
        if often[title] > 1 and not group.protocol:  # a gate asked of another protocol has this title too
            title = ", ".join(filter(None, (title, plain_name(some[0].subject.get("protocol", "")))))
        limit = limits.pop() if len(limits) == 1 else "limits differ"
        shown = levels if len(levels) <= SHOWN_PER_CELL else ()
        columns.append(Column(gate, title, limit, shown, group.anchor))
    twos = [cell for row in rows for cell in row.cells if 1 < len(cell.numbers) <= SHOWN_PER_CELL]
    pairs = dict.fromkeys(tuple(n.circumstances for n in cell.numbers) for cell in twos)
    series = list(dict.fromkeys(level for pair in pairs for level in pair))
    return VerdictTable(first, columns, rows, series if len(series) <= SIGNS else [])


def column_readings(tables: Sequence[VerdictTable]) -> dict[str, str]:
    """What each column is called -> how to read it, as its measure is described."""
    rows = [(table.columns, row.cells) for table in tables for row in table.rows]
    first = ((c.title, n.measure) for columns, cells in rows for c, cell in zip(columns, cells, strict=True)
             for n in cell.numbers[:1])  # fmt: skip
    return {title: measure["reading"] for title, measure in first if measure["reading"]}


def _title(group: Group, measured: Sequence[Number]) -> str:
    return ", ".join(part for part in (measured[0].gate_title, plain_name(group.protocol)) if part)
