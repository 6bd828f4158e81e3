"""Two results.json side by side: what every gate said of every judge, before and after, changed ones first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from recuse.report.figures import Cell, Table
from recuse.report.gated_number import Number, plain_name
from recuse.report.page import environment, styled
from recuse.report.results_model import ResultsModel
from recuse.schema.plain_values import grouped
from recuse.schema.results import Results
from recuse.schema.vocabulary import printed

MOST_TOLD = 40
"""Changed rows in the terminal; the page has all."""


class Row(NamedTuple):
    """`cells`: gate, judge, where, before, after; `changed`: in words, what of it is another, "" where nothing is."""

    cells: list[Cell]
    changed: str


def side_by_side(before: Results, after: Results) -> list[Row]:
    """One row per gate and subject of either, of normalised results; another outcome first, then another limit, then
    another value, then those that only one has, and the unchanged last."""
    first, second = ({(n.gate, n.metric, n.about): n for n in ResultsModel(one).numbers if n.verdict}
                     for one in (before, after))  # fmt: skip
    rows = [_row(first.get(key), second.get(key)) for key in dict.fromkeys([*second, *first])]
    order = ("another outcome", "another limit", "another value", "new", "gone", "")
    return sorted(rows, key=lambda row: order.index(row.changed))


def text(rows: list[Row], names: Sequence[str]) -> str:
    """The changed rows for a terminal, and how many stayed the same."""
    lines = ["  {}: {}, {}, {}: {} -> {}".format(what, *(cell.text for cell in cells)) for cells, what in rows if what]
    more = [f"  and {len(lines) - MOST_TOLD} more: --html FILE has them all"] if len(lines) > MOST_TOLD else []
    first = f"{names[0]} -> {names[1]}: {len(lines)} of {len(rows)} verdicts differ."
    return "\n".join([first, *lines[:MOST_TOLD], *more])


def page(rows: list[Row], names: Sequence[str], headlines: Sequence[str]) -> str:
    """The same as a page of its own, with both headlines."""
    columns = ["gate", "judge", "where", *names, "what differs"]
    by_change = grouped(rows, lambda row: bool(row.changed))
    changed, same = (Table("", columns, [[*row.cells, Cell(row.changed)] for row in by_change.get(differs, ())])
                     for differs in (True, False))  # fmt: skip
    about = {"names": names, "headlines": headlines, "changed": changed, "same": same}
    return styled(environment(), "side_by_side.html.j2", **about)


def _row(before: Number | None, after: Number | None) -> Row:
    one = after or before
    assert one is not None
    if before is None or after is None:
        changed = "new" if before is None else "gone"
    elif before.outcome != after.outcome:
        changed = "another outcome"
    elif before.limit != after.limit:
        changed = "another limit"
    else:
        changed = "another value" if before.text() != after.text() else ""  # of what is shown

    def side(n: Number | None) -> Cell:
        if n is None:
            return Cell("not there")
        return Cell(f"{n.text()} {printed(n.state)}{f' (limit {n.limit_text})' if n.limit_text else ''}", "", n.state)

    where = [plain_name(one.subject.get(part, "")) for part in ("panel", "task", "protocol")]
    names = one.gate_title, one.who or "the panel", ", ".join(filter(None, (*where, one.circumstances)))
    return Row([*map(Cell, names), side(before), side(after)], changed)
