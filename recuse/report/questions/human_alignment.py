"""Does a judge score as people do? Judge minus people pair by pair, the offset of each judge and of the panel, who is
closest, and whether the order of the texts is people's order."""

from __future__ import annotations

from recuse.report import estimate_format
from recuse.report.figures import Cell, Table, deviation_maps, forest_plot, number_cell
from recuse.report.gated_number import Number
from recuse.report.matrices import main_and_rest, matrices
from recuse.report.numbers import MISSING, fixed, is_number
from recuse.report.questions.ground_truth import chance
from recuse.report.results_model import Group
from recuse.schema.details import ClosestDetail, Distance

ORDER = 30
MOST_RANKED = 12


def draw(group: Group) -> dict[str, object]:
    offsets, _ = main_and_rest(matrices(group, "human_offset_matrix"))
    return {
        "reading": _reading(group),
        "offsets": forest_plot(
            group.of("human_offset"),
            group.label,
            caption="Judge minus people, averaged over the texts",
            value_name="offset",
            signed=True,
        ),
        "matrices": deviation_maps(offsets, group.label, about="people"),
        "panel": _panel(group),
        "closest": _closest(group),
        "order": forest_plot(
            group.of("human_order"),
            group.label,
            caption="Rank correlation with people's order of the texts",
            value_name="ρ",
            signed=True,
            minimum=-1,
            maximum=1,
            aside=chance,
        ),
        "own": _own(group),
        "calibrated": _calibrated(group),
    }


def _reading(group: Group) -> str:
    panel = next((n for n in group.of("human_panel_offset") if is_number(n.value)), None)
    if panel is None:
        return ""
    share = panel.detail.get("share_positive")
    shown = panel.circumstances or "overall"
    level = "lenient" if panel.amount > 0 else "strict"
    said = f"{shown[:1].upper()}{shown[1:]}, the panel is {fixed(abs(panel.amount))} points more {level} than people"
    text = f"{said}; {share} scores lie above theirs." if share else f"{said}."
    closest = next((n.detail_as(ClosestDetail).get("judge") for n in group.of("closest_judge")), None)
    return f"{text} Closest to people is {group.label(closest)}." if closest else text


def _panel(group: Group) -> Table | None:
    numbers = group.of("human_panel_offset")
    if not numbers:
        return None
    rows = [
        [
            Cell(n.circumstances or "all repeats", outcome=n.state),
            Cell(fixed(n.value, signed=True)),
            Cell(estimate_format.spread(n, signed=True)),
            Cell(str(n.detail.get("share_positive", ""))),
            Cell(fixed(n.detail.get("people_se"))),
        ]
        for n in numbers
    ]
    columns = [
        "the panel as a whole",
        "judge minus people",
        "interval",
        "pairs above people",
        "people's own SE",
    ]
    return Table("All judges together", columns, rows, frozenset({1, 4}))


def _own(group: Group) -> Table | None:
    """The outlined cells with their intervals: is a self-critical judge harsh, or right?"""
    numbers = group.of("human_self_offset")
    levels = group.circumstances(numbers)
    by_judge = {(n.who, n.circumstances): n for n in numbers}
    rows = [
        [Cell(group.label(who)), *(number_cell(by_judge.get((who, level))) for level in levels)]
        for who in dict.fromkeys(n.who for n in numbers)
    ]
    columns = ["its own work, minus people", *(level or "all repeats" for level in levels)]
    return Table("Its own work: is a self-critical judge harsh, or right?", columns, rows) if rows else None


def _calibrated(group: Group) -> Table | None:
    """Distance from people before, and after each calibration on texts that it was not fitted on."""
    calibrated: dict[tuple[str, str], dict[str, Number]] = {}
    for n in group.of("calibration_change"):
        if is_number(n.value):
            calibrated.setdefault((n.who, n.circumstances_but("calibration")), {})[n.subject.get("calibration", "")] = n
    names = list(dict.fromkeys(name for mine in calibrated.values() for name in mine))
    rows = [
        [
            Cell(f"{group.label(who)}, {where}" if where else group.label(who)),
            Cell(fixed(next(iter(mine.values())).detail.get("before"))),
            *(_after(mine.get(name)) for name in names),
        ]
        for (who, where), mine in calibrated.items()
    ]
    caption = "Mean distance from people, and after calibration on the other texts (below: the change)"
    return Table(caption, ["judge", "as scored", *names], rows) if rows else None


def _after(n: Number | None) -> Cell:
    if n is None:
        return Cell(MISSING)
    change = f"{fixed(n.value, signed=True)} ({estimate_format.spread(n, signed=True)})"
    return Cell(fixed(n.detail.get("after")), change)


def _closest(group: Group) -> Table | None:
    """Distance from people, closest first, with how often each judge is closest when the repeats are redrawn."""
    numbers = [n for n in group.of("closest_judge") if n.detail.get("ranking")]
    if not numbers:
        return None
    places = [{entry["judge"]: entry for entry in n.detail_as(ClosestDetail)["ranking"]} for n in numbers]
    rows = [[Cell(group.label(judge)), *(_distance(place.get(judge)) for place in places)] for judge in places[0]]
    columns = ["mean distance from people", *(n.circumstances or "all repeats" for n in numbers)]
    shown = rows[:MOST_RANKED]
    return Table("Who is closest to people?", columns, shown, left_out=len(rows) - len(shown))


def _distance(entry: Distance | None) -> Cell:
    if not entry:
        return Cell(MISSING)
    first = entry.get("first")
    often = f"closest in {fixed(100 * first, 0)} % of bootstrap samples" if is_number(first) else ""
    return Cell(fixed(entry.get("distance")), often)
