"""Does a judge say the same thing twice? Usable replies, spread per judge and per cell, reliability, and runs needed.

Mean and SD of every criterion, a few hundred numbers, stay in results.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recuse.report import estimate_format
from recuse.report.figures import Cell, Table, forest_plot, magnitude_maps
from recuse.report.numbers import MISSING, fixed, in_words, is_number, short
from recuse.report.panels.coverage import usable_replies
from recuse.report.panels.matrices import main_and_rest, matrices
from recuse.report.results_model import Group, Number
from recuse.report.vocabulary import level_name

ORDER = 20


def draw(group: Group) -> dict[str, Any]:
    spread = group.of("run_sd")
    main, _ = main_and_rest(matrices(group, "score_matrix"))
    return {
        "reading": _reading(group, spread),
        "coverage": usable_replies(group),
        "run_sd": forest_plot(
            spread,
            group.label,
            caption="Spread of one text's score over runs, pooled over texts",
            value_name="SD",
            minimum=0,
        ),
        "cells": magnitude_maps(
            [(f"{caption}, SD of each cell", _spread_of(m)) for caption, m in main if m.get("sd")],
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
    }


def _spread_of(matrix: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: matrix[key] for key in ("rows", "columns", "own") if key in matrix} | {"values": matrix["sd"]}


def _needed(group: Group) -> Table | None:
    """How many runs would give a cell's mean to the wanted precision."""
    numbers = group.of("runs_needed")
    conditions = group.levels("condition", numbers) or [""]
    rows = []
    for who in dict.fromkeys(n.who for n in numbers):
        mine = {n.subject.get("condition", ""): n for n in numbers if n.who == who}
        rows.append([Cell(group.label(who)), *(_runs(mine.get(c)) for c in conditions)])
    wanted = short(next((n.detail["half_width"] for n in numbers if "half_width" in n.detail), None))
    columns = ["judge", *(level_name(c) or "all runs" for c in conditions)]
    return Table(f"Runs per text that would give its mean to ±{wanted} points", columns, rows) if rows else None


def _runs(n: Number | None) -> Cell:
    return Cell(estimate_format.value(n), estimate_format.spread(n)) if n else Cell(MISSING)


def _reading(group: Group, spread: list[Number]) -> str:
    known = [n for n in spread if is_number(n.value)]
    if not known:
        return "No judge's spread over runs could be measured."
    least, most = (choose(known, key=lambda n: n.value) for choose in (min, max))
    if least.who == most.who:
        return f"The spread of {group.label(most.who)} over runs is {fixed(most.value)} points at most."
    still = len({n.who for n in known if n.value == 0})
    moved = f" {in_words(still, capital=True)} never moved at all." if still else ""
    return (
        f"The same judge on the same text moves by {fixed(least.value)} points ({group.label(least.who)}) to "
        f"{fixed(most.value)} ({group.label(most.who)}) from run to run.{moved}"
    )
