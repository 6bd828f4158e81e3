"""Any question without a drawing of its own: families of estimates as forest plots, matrices as heat maps, the rest as
a table."""

from __future__ import annotations

from dataclasses import replace

from recuse.report import estimate_format
from recuse.report.figures import Cell, ForestPlot, Table, deviation_maps, forest_plot, magnitude_maps, number_cell
from recuse.report.figures.heat_map import HeatMaps
from recuse.report.gated_number import Number
from recuse.report.matrices import is_matrix
from recuse.report.numbers import is_number
from recuse.report.results_model import Group
from recuse.schema.details import Matrix

MOST_ROWS = 60


def draw(group: Group) -> dict[str, object]:
    by_metric: dict[str, list[Number]] = {}
    for metric in dict.fromkeys(n.metric for n in group.numbers):
        by_metric[metric] = group.of(metric)
    matrices = {m: kept for m, ns in by_metric.items() if (kept := [n for n in ns if is_matrix(n)])}
    families = {m: ns for m, ns in by_metric.items() if m not in matrices and sum(n.who != "" for n in ns) > 1}
    rest = [n for m, ns in by_metric.items() if m not in matrices and m not in families for n in ns]
    return {
        "reading": "",
        "forests": [_forest(group, numbers) for numbers in families.values()],
        "matrices": [heat_maps(group, numbers) for numbers in matrices.values()],
        "rest": plain_table(group, rest),
    }


def draw_plainly(group: Group) -> dict[str, object]:
    """A table of the numbers and nothing else: for what a drawing could not show. Looks at no detail."""
    return {"reading": "", "forests": [], "matrices": [], "rest": plain_table(group, list(group.numbers))}


def heat_maps(group: Group, numbers: list[Number]) -> HeatMaps:
    """Signed matrices as deviations, others by size; those of one metric share their shades."""
    captioned = [(_caption(n), n.detail_as(Matrix)) for n in numbers]
    signed = any(is_number(v) and v < 0 for _, m in captioned for row in m["values"] for v in row)
    return deviation_maps(captioned, group.label, about="zero") if signed else magnitude_maps(captioned, group.label)


def plain_table(group: Group, numbers: list[Number], caption: str = "Single numbers") -> Table:
    """One row per estimate: what, about whom, its value, interval and n."""
    rows = [
        [
            Cell(n.measure.title, n.circumstances, n.state),
            Cell(group.label(n.who) if n.who else "the panel as a whole"),
            replace(number_cell(n), small=estimate_format.why_undefined(n)),
            Cell(estimate_format.spread(n)),
            Cell(str(n.estimate.get("n", ""))),
        ]
        for n in numbers[:MOST_ROWS]
    ]
    columns = ["what", "whom", "value", "interval", "n"]
    return Table(caption, columns, rows, frozenset({4}), max(0, len(numbers) - MOST_ROWS))


def _forest(group: Group, numbers: list[Number]) -> ForestPlot | None:
    name = numbers[0].measure.title
    signed = any(estimate_format.is_signed(n) for n in numbers)
    return forest_plot(numbers, group.label, caption=name[:1].upper() + name[1:], value_name=name, signed=signed)


def _caption(number: Number) -> str:
    title = number.measure.title
    phrases = [title[:1].upper() + title[1:], number.who, number.circumstances]
    return ", ".join(part for part in phrases if part)
