"""May a judge be replaced by its candidate?"""

from __future__ import annotations

from recuse.report.figures import Cell, Table
from recuse.report.results_model import Group
from recuse.report.upgrade_table import UpgradeTable, upgrade_tables

ORDER = 1


def draw(group: Group) -> dict[str, object]:
    tables = [t for t in upgrade_tables(group.view) if (t.panel, t.task) == (group.panel.name, group.task)]
    mine = [t for t in tables if group.protocol in ("", t.protocol)]
    return {"reading": "", "upgrades": [(t.sentence, _table(t), " ".join(t.foot)) for t in mine]}


def _table(table: UpgradeTable) -> Table:
    rows = [[Cell(row.title, "", row.outcome), *(Cell(text) for text in row.cells[1:])] for row in table.rows]
    return Table(table.where, ["what", *table.head[1:]], rows, frozenset({1, 2}))
