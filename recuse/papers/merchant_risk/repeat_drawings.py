"""Does a judge say the same thing twice? Spread per judge and per cell, reliability, repeats needed, and mean and SD of
every criterion, folded away."""

from __future__ import annotations

from recuse.report.drawing import Drawing, folded
from recuse.report.figures import Forest, HeatMaps, Table, cross_table, magnitude_maps, main_matrices, table
from recuse.report.gated_number import Number, plain_name
from recuse.report.questions.generic import usable_replies
from recuse.report.results_model import Group
from recuse.schema.number_text import MISSING, fixed, in_words, is_number, short
from recuse.schema.plain_values import grouped
from recuse.schema.verdict_rows import Matrix

FEWEST_CRITERIA = 2  # from so many on a table of criteria says more than the heat map of the one score
MOST_NUMBERS = 4000  # that a page carries: more are for results.json and the tables in reports/tables/


def _how_far(group: Group) -> str:
    known = [n for n in group.of("repeat_difference") if is_number(n.value)]
    if not known:
        return ""
    least, most = (choose(known, key=lambda n: n.amount) for choose in (min, max))
    if least.who == most.who:
        return f"Two answers of {group.label(most.who)} to one text lie {fixed(most.value)} points apart on average."
    still = len({n.who for n in known if n.value == 0})
    moved = f" {in_words(still, capital=True)} never moved at all." if still else ""
    return (
        f"Two answers of one judge to one text lie {fixed(least.value)} points ({group.label(least.who)}) to "
        f"{fixed(most.value)} ({group.label(most.who)}) apart on average.{moved}"
    )


def _spread_of_cells(group: Group) -> HeatMaps:
    spreads = [
        (f"{caption}, SD of each cell", Matrix(rows=m["rows"], columns=m["columns"], own=m.get("own") or (), values=sd))
        for caption, m in main_matrices(group, "score_matrix")
        if (sd := m.get("sd"))
    ]
    return magnitude_maps(spreads, group.label, least="never moved", most="moves most")


def _needed(group: Group) -> Table:
    numbers = group.of("runs_needed")
    wanted = short(next((n.detail.get("half_width") for n in numbers if "half_width" in n.detail), None))
    columns = {level: level or "all repeats" for level in group.circumstances(numbers)}
    caption = f"Repeats per text that would give its mean to ±{wanted} points"
    return cross_table(caption, "judge", numbers, rows=group.label, columns=columns)


def cell_tables(group: Group) -> list[Table]:
    """What every judge gave every target on every criterion, mean ± SD, as studies print it in an appendix: judges in
    panel order, each under every combination of the factors; none where there is a single criterion, or more than
    `MOST_NUMBERS` in all."""
    held = [n for n in group.of("score_matrix") if "criterion" in n.subject and n.detail.get("rows")]
    if sum(len(n.entries("rows")) * len(n.entries("columns")) for n in held) > MOST_NUMBERS:
        return []
    judges = dict.fromkeys(judge for n in held for judge in n.entries("rows"))
    by_way = grouped(held, lambda n: n.circumstances_but("criterion"))
    ways = {way: of for way, of in by_way.items() if len(of) >= FEWEST_CRITERIA}
    return [_cell_table(group, judge, way, of) for judge in judges for way, of in ways.items()]


def _cell_table(group: Group, judge: str, way: str, numbers: list[Number]) -> Table:
    def mean_and_sd(n: Number, target: str) -> str:
        detail = n.detail_as(Matrix)
        if judge not in detail["rows"] or target not in detail["columns"]:
            return MISSING
        i, j = list(detail["rows"]).index(judge), list(detail["columns"]).index(target)
        mean, sds = detail["values"][i][j], detail.get("sd")
        sd = sds[i][j] if sds and is_number(mean) else None
        return fixed(mean) + (f" ± {fixed(sd)}" if is_number(sd) else "")

    targets = list(dict.fromkeys(target for n in numbers for target in n.detail_as(Matrix)["columns"]))
    rows = ([group.label(target), *(mean_and_sd(n, target) for n in numbers)] for target in targets)
    caption = f"{group.label(judge)}{', ' + way if way else ''}: mean ± SD over repeats"
    columns = ["target", *(plain_name(n.subject["criterion"]) for n in numbers)]
    return table(caption, columns, rows, range(1, len(columns)))


score_stability = Drawing(
    order=20,
    reading=_how_far,
    figures=(
        usable_replies,
        Forest("repeat_difference", "How far two answers to one text lie apart, on average", "difference",
               includes=(0,)),
        _spread_of_cells,
        Forest("repeat_reliability", "Reliability: how well its mean scores tell the texts apart", "ICC",
               includes=(0, 1)),
        _needed,
        folded("Mean and SD of every criterion", ", judge by judge", cell_tables),
    ),
)  # fmt: skip
