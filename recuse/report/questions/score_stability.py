"""Does a judge say the same thing twice? Usable replies, spread per judge and per cell, reliability, repeats needed.

Mean and SD of every criterion, a few hundred numbers, are folded away at the end."""

from __future__ import annotations

from recuse.report.cell_tables import cell_tables
from recuse.report.figures import Cell, Table, forest_plot, magnitude_maps, number_cell
from recuse.report.gated_number import Number
from recuse.report.matrices import main_and_rest, matrices
from recuse.report.numbers import fixed, in_words, is_number, short
from recuse.report.questions.coverage import usable_replies
from recuse.report.results_model import Group
from recuse.schema.details import Matrix, Values

ORDER = 20


def draw(group: Group) -> dict[str, object]:
    """What its template shows: how far repeats lie apart, reliability, and scores with their spread."""
    apart = group.of("repeat_difference")
    main, _ = main_and_rest(matrices(group, "score_matrix"))
    return {
        "reading": _reading(group, apart),
        "coverage": usable_replies(group),
        "apart": forest_plot(
            apart,
            group.label,
            caption="How far two answers to one text lie apart, on average",
            value_name="difference",
            minimum=0,
        ),
        "cells": magnitude_maps(
            [(f"{caption}, SD of each cell", _spread_of(m, sd)) for caption, m in main if (sd := m.get("sd"))],
            group.label,
            least="never moved",
            most="moves most",
        ),
        "reliability": forest_plot(
            group.of("repeat_reliability"),
            group.label,
            caption="Reliability: how well its mean scores tell the texts apart",
            value_name="ICC",
            minimum=0,
            maximum=1,
        ),
        "needed": _needed(group),
        "tables": cell_tables(group),
    }


def _spread_of(matrix: Matrix, sd: Values) -> Matrix:
    return {"rows": matrix["rows"], "columns": matrix["columns"], "own": matrix.get("own") or (), "values": sd}


def _needed(group: Group) -> Table | None:
    """How many repeats would give a cell's mean to the wanted precision."""
    numbers = group.of("runs_needed")
    levels = group.circumstances(numbers)
    needed = {(n.who, n.circumstances): n for n in numbers}
    rows = [
        [Cell(group.label(who)), *(number_cell(needed.get((who, level))) for level in levels)]
        for who in dict.fromkeys(n.who for n in numbers)
    ]
    wanted = short(next((n.detail["half_width"] for n in numbers if "half_width" in n.detail), None))
    columns = ["judge", *(level or "all repeats" for level in levels)]
    return Table(f"Repeats per text that would give its mean to ±{wanted} points", columns, rows) if rows else None


def _reading(group: Group, apart: list[Number]) -> str:
    known = [n for n in apart if is_number(n.value)]
    if not known:
        return "How far a judge's answers to one text lie apart could be measured of no judge."
    least, most = (choose(known, key=lambda n: n.amount) for choose in (min, max))
    if least.who == most.who:
        return f"Two answers of {group.label(most.who)} to one text lie {fixed(most.value)} points apart at most."
    still = len({n.who for n in known if n.value == 0})
    moved = f" {in_words(still, capital=True)} never moved at all." if still else ""
    return (
        f"Two answers of one judge to one text lie {fixed(least.value)} points ({group.label(least.who)}) to "
        f"{fixed(most.value)} ({group.label(most.who)}) apart on average.{moved}"
    )
