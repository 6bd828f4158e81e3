"""What `recuse compare` prints: the verdict in a sentence, then the table behind it."""

from __future__ import annotations

from collections.abc import Iterator

from recuse.gates.upgrade_verdict import UpgradeVerdict
from recuse.report.canonical_form import normalised
from recuse.report.results_model import ResultsModel
from recuse.report.upgrade_table import UpgradeTable, upgrade_tables
from recuse.schema.results import Results
from recuse.security.sanitize import shortened, visible

__all__ = ["drawn", "told"]

NAME = 22


def told(results: Results, worst: UpgradeVerdict) -> str:
    """The whole text; lines are not wrapped. A table per task and protocol, each under its own sentence."""
    tables = upgrade_tables(ResultsModel(normalised(results)), minus="-")
    told_already = 0 if len(worst.rows) else 1  # of what cannot be compared the sentence tells the first reason
    lines = [worst.sentence, *(f"  also: {reason}" for reason in worst.reasons[told_already:])]
    if worst.steps:
        lines += [f"  next: {step}" for step in worst.steps]
    for table in tables:
        if len(tables) > 1:
            lines += ["", f"{table.task}, {table.protocol}: {table.sentence}"]
        if table.rows:
            lines += ["", *drawn(table), *table.foot]
    return "\n".join(visible(_plain(line)) for line in lines)


def drawn(table: UpgradeTable) -> Iterator[str]:
    """The table in columns of text."""
    head = tuple(shortened(cell, NAME)[0] for cell in table.head)
    rows = [tuple(map(_plain, cells)) for cells in (head, *(row.cells for row in table.rows))]
    widths = [max(len(cells[k]) for cells in rows) for k in range(len(head))]
    for cells in rows:
        yield ("  " + "   ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=True))).rstrip()


def _plain(text: str) -> str:
    """Signs that every terminal knows."""
    return text.replace("−", "-").replace("±", "+-").replace("≤", "at most").replace("≥", "at least")
