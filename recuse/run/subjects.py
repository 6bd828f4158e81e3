"""What results.json says of the panels, tasks and factors of a run: who was examined, and in which words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from recuse.elicitation.panel_ratings import scales_of
from recuse.protocols import protocol
from recuse.ratings.scale import Numeric, Scale
from recuse.schema.factors import LEVELS, level_words
from recuse.schema.results import FactorRow, PanelRow, TaskRow

if TYPE_CHECKING:
    from recuse.panels import Panel
    from recuse.suite import Selection


def panel_record(panel: Panel) -> PanelRow:
    """A panel and its judges, candidates among them, without their addresses."""
    return {
        "name": panel.name,
        "provenance": panel.provenance,
        "description": panel.description,
        "source": panel.source,
        "judges": [
            {"name": j.name, "label": j.label, "wire": j.wire, "model": j.model, "author": j.author}
            for j in panel.judges.values()
        ],
        "tasks": list(panel.tasks),
    }


def task_records(selection: Selection) -> list[TaskRow]:
    """Tasks with their criteria, those that stand for a judgement as a whole first, how many points the widest of their
    scales has, and whether their people are simulated."""
    named: dict[str, dict[str, None]] = {}
    widths: dict[str, list[float]] = {}
    for panel in selection.panels.values():
        for name, table in panel.tasks.items():
            task, criteria = selection.task(name), named.setdefault(name, {})
            for how in map(protocol, table.protocols):
                criteria |= dict.fromkeys(how.headline(task) if hasattr(how, "headline") else ())
                widths.setdefault(name, []).extend(_widths(scales_of(how, task).values()))
    for name, criteria in named.items():
        criteria |= dict.fromkeys(selection.task(name).criteria)
    tasks: list[TaskRow] = [
        {"name": name, "criteria": list(criteria), "points": max(widths[name], default=None)}
        for name, criteria in named.items()
    ]
    for entry in tasks:
        if selection.task(entry["name"]).people_simulated:
            entry["people_simulated"] = True
    return tasks + [
        {
            "name": f.task,
            "criteria": list(f.ratings.headline),
            "points": max(_widths(f.ratings.scales.values()), default=None),
        }
        for f in selection.files.values()
    ]


def factor_records() -> list[FactorRow]:
    """Known factors and their levels in words, in their order: how the report speaks of them."""
    return [
        {"name": factor, "levels": [{"name": level, "words": level_words(factor, level)} for level in levels]}
        for factor, levels in LEVELS.items()
    ]


def _widths(scales: Iterable[Scale]) -> list[float]:
    return [scale.maximum - scale.minimum for scale in scales if isinstance(scale, Numeric)]
