"""Does a judge score alike when the highest number is the best score and when the lowest is? Whether the number follows
the meaning, how far the level moves, for whom, and whether its self-preference moves along."""

from __future__ import annotations

from recuse.report import estimate_format
from recuse.report.figures import Cell, Table, deviation_maps, forest_plot, number_cell
from recuse.report.figures.heat_map import HeatMaps
from recuse.report.gated_number import Number
from recuse.report.numbers import MISSING, fixed, in_words, is_number
from recuse.report.results_model import Group
from recuse.schema.details import Matrix

ORDER = 13


def draw(group: Group) -> dict[str, object]:
    direction = group.of("direction_insensitivity")
    shifts = group.of("framing_shift")
    return {
        "reading": _reading(direction, [n for n in shifts if "target" not in n.subject]),
        "direction": forest_plot(
            direction,
            group.label,
            caption="Same digit (right) or mirrored digit (left) when the scale is turned round",
            value_name="index",
            signed=True,
            minimum=-1,
            maximum=1,
            aside=_digits,
        ),
        "shift": forest_plot(
            [n for n in shifts if "target" not in n.subject],
            group.label,
            caption="How much milder where low is best",
            value_name="points",
            signed=True,
            aside=_means,
        ),
        "by_author": _by_author(group, [n for n in shifts if "target" in n.subject]),
        "change": _change(group),
    }


def _reading(direction: list[Number], shifts: list[Number]) -> str:
    known = [n for n in direction if is_number(n.value)]
    if not known:
        return "No judge graded the same texts in both directions of the scale."
    blind = sum(n.amount > 0 for n in known)
    moved = [n for n in shifts if is_number(n.value)]
    text = (
        f"{in_words(blind, capital=True)} of {in_words(len(known))} judges more often keep the digit than mirror it "
        "when the scale is turned round: they write a number, not a grade."
        if blind
        else f"All {in_words(len(known))} judges follow the direction of the scale."
    )
    if not moved or blind == len(known):
        return text
    most = max(moved, key=lambda n: abs(n.amount))
    return f"{text} The level moves by up to {fixed(abs(most.amount))} points."


def _digits(n: Number) -> str:
    counts = [n.detail.get(name) for name in ("same", "mirrored", "neither")]
    return "{} same, {} mirrored, {} neither".format(*counts) if all(is_number(c) for c in counts) else ""


def _means(n: Number) -> str:
    up, down = n.detail.get("positive"), n.detail.get("negative")
    return f"{fixed(up)} where high is best, {fixed(down)} where low is" if is_number(up) and is_number(down) else ""


def _by_author(group: Group, numbers: list[Number]) -> HeatMaps:
    judges = list(dict.fromkeys(n.who for n in numbers))
    targets = sorted({n.subject["target"] for n in numbers}, key=group.place)
    by_author = {(n.who, n.subject["target"]): n.value for n in numbers}
    values = [[by_author.get((judge, target)) for target in targets] for judge in judges]
    if not any(is_number(v) for row in values for v in row):
        return HeatMaps([])
    matrix: Matrix = {"rows": judges, "columns": targets, "values": values}
    return deviation_maps([("Milder where low is best, author by author", matrix)], group.label, about="no change")


_AGAINST = {"received": "S − R", "given": "S − G", "controlled": "leniency and quality taken out"}


def _change(group: Group) -> Table | None:
    """Self-preference where low is best minus that where high is best."""
    numbers = group.of("framing_change")
    changes = {(n.who, n.subject.get("against") or n.detail.get("against")): n for n in numbers}
    asked = [name for name in _AGAINST if any(against == name for _, against in changes)]
    rows = [
        [Cell(group.label(who)), *(_moved(changes.get((who, name))) for name in asked)]
        for who in dict.fromkeys(n.who for n in numbers)
    ]
    columns = ["change of self-preference", *(_AGAINST[name] for name in asked)]
    return Table("Does its preference for its own text change with the direction?", columns, rows) if rows else None


def _moved(n: Number | None) -> Cell:
    if n is None:
        return Cell(MISSING)
    return number_cell(n, fixed(n.value, signed=True), small=estimate_format.spread(n, signed=True))
