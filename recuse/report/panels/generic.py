"""Any question without a panel of its own: families of estimates as forest plots, matrices as heat maps, the rest as
a table."""

from __future__ import annotations

from typing import Any

from recuse.report import estimate_format
from recuse.report.figures import Cell, Table, deviation_maps, forest_plot, magnitude_maps
from recuse.report.figures.heat_map import HeatMap
from recuse.report.numbers import is_number
from recuse.report.panels.matrices import is_matrix
from recuse.report.results_model import Group, Number
from recuse.report.vocabulary import level_name, metric_name

MOST_ROWS = 60


def draw(group: Group) -> dict[str, Any]:
    by_metric: dict[str, list[Number]] = {}
    for metric in dict.fromkeys(n.metric for n in group.numbers):
        by_metric[metric] = group.of(metric)
    matrices = {m: kept for m, ns in by_metric.items() if (kept := [n for n in ns if is_matrix(n)])}
    families = {m: ns for m, ns in by_metric.items() if m not in matrices and sum(n.who != "" for n in ns) > 1}
    rest = [n for m, ns in by_metric.items() if m not in matrices and m not in families for n in ns]
    return {
        "reading": "",
        "forests": [_forest(group, metric, numbers) for metric, numbers in families.items()],
        "matrices": [heat_maps(group, numbers) for numbers in matrices.values()],
        "rest": plain_table(group, rest),
    }


def draw_plainly(group: Group) -> dict[str, Any]:
    """A table of the numbers and nothing else: for what a panel could not draw. Looks at no detail."""
    return {"reading": "", "forests": [], "matrices": [], "rest": plain_table(group, list(group.numbers))}


def heat_maps(group: Group, numbers: list[Number]) -> list[HeatMap]:
    """Signed matrices as deviations, others by size; those of one metric share their shades."""
    captioned = [(_caption(n), n.detail) for n in numbers]
    signed = any(is_number(v) and v < 0 for _, m in captioned for row in m["values"] for v in row)
    return deviation_maps(captioned, group.label, about="zero") if signed else magnitude_maps(captioned, group.label)


def plain_table(group: Group, numbers: list[Number], caption: str = "Single numbers") -> Table:
    """One row per estimate: what, about whom, its value, interval and n."""
    rows = [
        [
            Cell(metric_name(n.metric).name, n.circumstances, n.outcome),
            Cell(group.label(n.who) if n.who else "the panel as a whole"),
            Cell(estimate_format.value(n), estimate_format.why_undefined(n)),
            Cell(estimate_format.spread(n)),
            Cell(str(n.estimate.get("n", ""))),
        ]
        for n in numbers[:MOST_ROWS]
    ]
    columns = ["what", "whom", "value", "interval", "n"]
    return Table(caption, columns, rows, frozenset({4}), max(0, len(numbers) - MOST_ROWS))


def _forest(group: Group, metric: str, numbers: list[Number]) -> Any:
    name = metric_name(metric).name
    factor = next((k for n in numbers for k in n.factors), "condition")
    signed = any(estimate_format.is_signed(n) for n in numbers)
    return forest_plot(
        numbers, group.label, caption=name[:1].upper() + name[1:], value_name=name, by=factor, signed=signed
    )


def _caption(number: Number) -> str:
    told = [level_name(str(v), k) for k, v in number.subject.items() if k not in ("task", "panel", "protocol")]
    told = told or [level_name(str(number.detail[k])) for k in ("condition", "criterion") if k in number.detail]
    return ", ".join([metric_name(number.metric).name.capitalize(), *told])
