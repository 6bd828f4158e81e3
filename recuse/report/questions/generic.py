"""Any question without a drawing of its own: forest plots, heat maps, the rest as a table; and that of each upgrade."""

from __future__ import annotations

from recuse.report.drawing import Drawing, Words
from recuse.report.figures import Cell, Forest, HeatMaps, Table, deviation_maps, magnitude_maps, main_matrices
from recuse.report.figures.heat_map import is_matrix, ranking_maps
from recuse.report.figures.plain_table import number_cell, table
from recuse.report.gated_number import Number, plain_name
from recuse.report.results_model import Group
from recuse.report.verdict_tables import upgrade_tables
from recuse.schema.number_text import count, is_number
from recuse.schema.verdict_rows import Matrix

MOST_ROWS = 60


def plain_table(group: Group, numbers: list[Number], caption: str = "Single numbers") -> Table:
    """One row per estimate: what, about whom, its value, interval and n. Looks at no detail."""
    rows = [[Cell(n.measure["title"], n.circumstances, n.state), group.label(n.who) or "the panel as a whole",
             number_cell(n)._replace(small=n.why_undefined), n.spread(), str(n.estimate.get("n", ""))]
            for n in numbers]  # fmt: skip
    return table(caption, "what|whom|value|interval|n", rows, (4,), most=MOST_ROWS)


def all_but(group: Group, *metrics: str) -> Table:
    """The plain table of what a drawing shows nowhere else."""
    return plain_table(group, [n for n in group.numbers if n.metric not in metrics], "Beside it")


def _by_kind(group: Group) -> list[object]:
    by_metric = {metric: group.of(metric) for metric in dict.fromkeys(n.metric for n in group.numbers)}
    matrices = {m: kept for m, ns in by_metric.items() if (kept := [n for n in ns if is_matrix(n)])}
    families = {m: ns for m, ns in by_metric.items() if m not in matrices and sum(n.who != "" for n in ns) > 1}
    rest = [n for m, ns in by_metric.items() if m not in matrices and m not in families for n in ns]
    plots = []
    for metric, numbers in families.items():
        name, signed = numbers[0].measure["title"], any(n.is_signed for n in numbers)
        plots.append(Forest(metric, name[:1].upper() + name[1:], name, signed=signed).plot(numbers, group.label))
    return [*plots, *(_maps(group, numbers) for numbers in matrices.values()), plain_table(group, rest)]


def _maps(group: Group, numbers: list[Number]) -> HeatMaps:
    """Signed matrices as deviations, others by size; those of one metric share their shades."""
    title = numbers[0].measure["title"]
    captioned = [(", ".join(filter(None, (title[:1].upper() + title[1:], n.who, n.circumstances))), n.detail_as(Matrix))
                 for n in numbers]  # fmt: skip
    signed = any(is_number(v) and v < 0 for _, m in captioned for row in m["values"] for v in row)
    return deviation_maps(captioned, group.label, about="zero") if signed else magnitude_maps(captioned, group.label)


def _upgrades(group: Group) -> list[object]:
    figures: list[object] = []
    for of in upgrade_tables(group.view):
        panel, task, protocol = (of.upgrade.get(name) for name in ("panel", "task", "protocol"))
        if (panel, task) == (group.panel.name, group.task) and group.protocol in ("", protocol):
            rows = [[Cell(one.title, "", one.outcome), *one.cells[1:]] for one in of.rows]
            drawn = table(of.where, ["what", *of.head[1:]], rows, (1, 2))
            foot = [Words("read", [" ".join(of.foot)])] if of.foot else []
            figures += [Words("strong", [of.upgrade["sentence"]]), drawn, *foot]
    return figures


def _lost(number: Number) -> str:
    """ "81 unparsed, 4 refused"; nothing is imputed for them."""
    by_status = number.detail.get("by_status") or {}
    return ", ".join(f"{count(n)} {plain_name(status)}" for status, n in by_status.items() if status != "ok" and n)


def mean_scores(group: Group) -> HeatMaps:
    """Every judge's mean score of every target."""
    return ranking_maps(main_matrices(group, "score_matrix", ", mean ± SD over repeats"), group.label)


generic = Drawing(figures=(_by_kind,))
plain = Drawing(figures=(lambda group: plain_table(group, list(group.numbers)),))
"""The numbers and nothing else: for what a drawing could not show."""
upgrade = Drawing(order=1, figures=(_upgrades,))
usable_replies = Forest("parse_rate", "Replies that could be used as they stand", "usable replies", includes=(0, 1),
                        aside=_lost)  # fmt: skip
