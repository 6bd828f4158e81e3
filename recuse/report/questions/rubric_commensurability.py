"""How much of the agreement is the rubric that judges share? Agreement by where the rubric came from, from each judge's
own to one for all, who agrees with whom, and what each step adds."""

from __future__ import annotations

from collections.abc import Sequence

from recuse.report.figures import Cell, Table, forest_plot, number_cell
from recuse.report.figures.heat_map import HeatMaps
from recuse.report.gated_number import Number
from recuse.report.numbers import fixed, is_number
from recuse.report.questions.generic import plain_table
from recuse.report.questions.knowledge_grounding import RUBRIC, pair_map, rubric, uncertainty
from recuse.report.results_model import Group
from recuse.schema.details import Matrix, PairsDetail

ORDER = 47
SHOWN = ("agreement_by_rubric", "rubric_step", "structural_share")


def draw(group: Group) -> dict[str, object]:
    levels = in_order(group.of("agreement_by_rubric"))
    steps, shares = in_order(group.of("rubric_step")), group.of("structural_share")
    return {
        "reading": _reading(levels, shares),
        "levels": forest_plot(
            levels, group.label, by="", caption="Agreement on texts, by where the rubric came from", head="rubric",
            value_name="mean r over pairs", signed=True, panel="",
        ),
        "pairs": _pairs(group, levels),
        "steps": _steps(steps),
        "shares": _shares(shares),
        "rest": plain_table(group, [n for n in group.numbers if n.metric not in SHOWN], "Beside it"),
    }  # fmt: skip


def in_order(numbers: Sequence[Number]) -> list[Number]:
    """From the given checklist over each judge's own rubric to one for all."""
    return sorted(numbers, key=lambda n: n.lexicon.level_order(RUBRIC, n.subject.get(RUBRIC, "")))


def _reading(levels: Sequence[Number], shares: Sequence[Number]) -> str:
    known = [n for n in levels if is_number(n.value)]
    if not known:
        return "Not measured: by no rubric do two judges tell the same texts apart."
    best = max(known, key=lambda n: n.amount)
    said = f"Judges agree most by the rubric \u201c{rubric(best)}\u201d, r = {fixed(best.value)}."
    share = next((n for n in shares if n.subject.get("of") == "dimensions"), None)
    if share and is_number(share.value):
        return (
            f"{said} Of the agreement with given names, {100 * share.value:.0f} % is gone when judges name the "
            "dimensions themselves: it came with the structure."
        )
    if best.amount <= 0:
        return f"{said} The judges hardly agree at all, so no share of agreement can be ascribed to the rubric."
    return said


def _pairs(group: Group, levels: Sequence[Number]) -> HeatMaps:
    """r of every pair of judges by every rubric: what is compared is the same pair."""
    cells = {(row["pair"], rubric(n)): row["r"] for n in levels for row in n.detail_as(PairsDetail).get("pairs") or ()}
    pairs, columns = (list(dict.fromkeys(key[place] for key in cells)) for place in (0, 1))
    if len(pairs) < 2:
        return HeatMaps([])
    values = [[cells.get((pair, column)) for column in columns] for pair in pairs]
    matrix: Matrix = {"rows": pairs, "columns": columns, "values": values}
    return pair_map("r of every pair of judges", matrix, group)


def _steps(steps: Sequence[Number]) -> Table | None:
    rows = [
        [
            Cell(rubric(n), f"after: {n.lexicon.level(RUBRIC, str(n.detail.get('before', '')))}"),
            number_cell(n, fixed(n.value, signed=True), small=uncertainty(n)),
            Cell(str(n.detail.get("pairs", "")), f"{n.detail.get('texts', 0)} texts"),
        ]
        for n in steps
    ]
    caption = "What each step towards one rubric adds, on the same pairs and texts"
    return Table(caption, ["rubric", "change of r", "pairs of judges"], rows) if rows else None


def _shares(shares: Sequence[Number]) -> Table | None:
    """The share under either denominator: which one is meant changes it by up to a sixth in the paper."""
    rows = [
        [
            Cell(f"of the agreement by {n.lexicon.level(RUBRIC, n.subject.get('of', ''))}"),
            number_cell(n, small=uncertainty(n)),
            *(Cell(fixed(n.detail.get(name), signed=True)) for name in ("independent", "dimensions")),
        ]
        for n in shares
    ]
    columns = ["structural share", "share", "r, own rubrics", "r, given names"]
    return Table("How much of it is gone when judges name the dimensions themselves", columns, rows) if rows else None
