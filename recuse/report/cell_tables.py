"""What every judge gave every target on every criterion, mean ± SD: one table per judge and way of asking, as studies
print them in an appendix."""

from __future__ import annotations

from recuse.report.figures import Cell, Table
from recuse.report.gated_number import Number
from recuse.report.numbers import MISSING, fixed, is_number
from recuse.report.results_model import Group
from recuse.schema.details import Matrix

__all__ = ["cell_tables"]

FEWEST = 2
"""Criteria from which on a table says more than the heat map of the one score."""
MOST = 4000
"""Numbers that a page carries: more are for results.json and the tables in reports/tables/."""


def cell_tables(group: Group) -> list[Table]:
    """Judges in panel order, each under every combination of the factors; none where there is a single criterion, or
    more than MOST numbers in all."""
    numbers = [n for n in group.of("score_matrix") if "criterion" in n.subject and n.detail.get("rows")]
    matrices = [n.detail_as(Matrix) for n in numbers]
    by_way: dict[str, list[Number]] = {}
    for number in numbers:
        by_way.setdefault(number.circumstances_but("criterion"), []).append(number)
    if sum(len(of["rows"]) * len(of["columns"]) for of in matrices) > MOST:
        return []
    judges = list(dict.fromkeys(judge for of in matrices for judge in of["rows"]))
    return [_table(group, judge, way, of) for judge in judges for way, of in by_way.items() if len(of) >= FEWEST]


def _table(group: Group, judge: str, way: str, numbers: list[Number]) -> Table:
    targets = list(dict.fromkeys(target for n in numbers for target in n.detail_as(Matrix)["columns"]))
    rows = [[Cell(group.label(target)), *(_cell(n, judge, target) for n in numbers)] for target in targets]
    caption = f"{group.label(judge)}{', ' + way if way else ''}: mean ± SD over repeats"
    columns = ["target", *(n.subject["criterion"].replace("_", " ") for n in numbers)]
    return Table(caption, columns, rows, frozenset(range(1, len(columns))))


def _cell(number: Number, judge: str, target: str) -> Cell:
    detail = number.detail_as(Matrix)
    if judge not in detail["rows"] or target not in detail["columns"]:
        return Cell(MISSING)
    i, j = list(detail["rows"]).index(judge), list(detail["columns"]).index(target)
    mean, sds = detail["values"][i][j], detail.get("sd")
    if not is_number(mean):
        return Cell(MISSING)
    spread = sds[i][j] if sds else None
    return Cell(fixed(mean) + (f" ± {fixed(spread)}" if is_number(spread) else ""))
