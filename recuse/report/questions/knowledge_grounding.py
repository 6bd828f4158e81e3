"""Does agreement survive the judges' having to say what they know? Agreement before and after, by pair and domain; and
whether a polished text with a deep flaw gets away with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recuse.report import estimate_format
from recuse.report.figures import Cell, Table, deviation_maps, forest_plot, number_cell
from recuse.report.figures.heat_map import HeatMaps
from recuse.report.gated_number import Number
from recuse.report.numbers import MISSING, fixed, in_words, is_number
from recuse.report.questions.generic import plain_table
from recuse.report.results_model import Group
from recuse.schema.details import GroundedDetail, Matrix

ORDER = 46
RUBRIC = "rubric_source"
FACING = "Agreement is no evidence of being right, and a loss of it none of being wrong."
SHOWN = ("delta_k", "delta_k_by_group", "flaw_penalty", "evidence_overlap")


def draw(group: Group) -> dict[str, object]:
    changes, flaws = group.of("delta_k"), group.of("flaw_penalty")
    return {
        "reading": " ".join(said for said in (_reading(changes), _flaws(flaws)) if said),
        "change": _before_and_after(changes),
        "pairs": _pairs(group, changes),
        "evidence": _evidence(group.of("evidence_overlap")),
        "groups": _groups(group.of("delta_k_by_group")),
        "twins": forest_plot(
            flaws, group.label, by="", caption="Sound text less its polished twin with a deep flaw",
            value_name="points", signed=True, aside=_won,
        ),
        "rest": plain_table(group, [n for n in group.numbers if n.metric not in SHOWN], "Beside it"),
    }  # fmt: skip


def _reading(changes: Sequence[Number]) -> str:
    if not changes:
        return ""
    known = [n for n in changes if is_number(n.value)]
    if not known:
        return "Not measured: by no two rubrics do the same two judges tell the same texts apart."
    most = max(known, key=lambda n: abs(n.amount))
    what = "more" if most.amount > 0 else "less"
    inside = f" (interval {estimate_format.spread(most)})" if is_number(most.low) else ", without an interval"
    pairs = most.detail.get("pairs", 0)
    texts = f"{most.detail.get('texts', 0)} texts by {pairs} {'pair' if pairs == 1 else 'pairs'} of judges"
    return (
        f"By rubrics from knowledge ({rubric(most)}) the judges agree by {fixed(abs(most.amount))} {what} than by the "
        f"given checklist{inside}, on {texts}. {FACING}"
    )


def _flaws(flaws: Sequence[Number]) -> str:
    known = [n for n in flaws if is_number(n.value)]
    if not known:
        return ""
    judges = list(dict.fromkeys(n.who for n in known))
    finders = [who for who in judges if all(n.side_of_zero == "above" for n in known if n.who == who)]
    return (
        f"{in_words(len(finders), capital=True) if finders else 'None'} of {in_words(len(judges))} judges scored "
        "sound texts above their polished, flawed twins by every rubric, beyond chance."
    )


def rubric(number: Number) -> str:
    """Where the rubric came from, in words."""
    level = number.subject.get(RUBRIC, "")
    return number.lexicon.level(RUBRIC, level) if level else ""


def _before_and_after(changes: Sequence[Number]) -> Table | None:
    """One row per source: agreement by the checklist, by this rubric, and the difference with its interval."""
    rows = [
        [
            Cell(rubric(n)),
            Cell(fixed(n.detail.get("base"), signed=True)),
            Cell(fixed(n.detail.get("grounded"), signed=True)),
            number_cell(n, fixed(n.value, signed=True), small=uncertainty(n), outcome=n.state),
            Cell(fixed(n.detail.get("p_bonferroni"), 3) if is_number(n.detail.get("t")) else MISSING),
            Cell(str(n.detail.get("pairs") or 0), f"{n.detail.get('texts', 0)} texts"),
        ]
        for n in changes
    ]
    columns = ["rubric", "r by the checklist", "r by this rubric", "difference", "p, corrected", "pairs of judges"]
    return Table("Agreement before and after the judges say what they know", columns, rows) if rows else None


def uncertainty(n: Number) -> str:
    """Its interval, that there is none, or why there is no number."""
    if not is_number(n.value):
        return estimate_format.why_undefined(n)
    return estimate_format.spread(n, signed=True) or "no interval"


def _pairs(group: Group, changes: Sequence[Number]) -> HeatMaps:
    """The difference of every pair of judges, by rubric: one loss may stand for three, or hide two gains."""
    cells = {
        (row["pair"], rubric(n)): row["delta"]
        for n in changes
        for row in n.detail_as(GroundedDetail).get("cells") or ()
    }
    pairs, columns = (list(dict.fromkeys(key[place] for key in cells)) for place in (0, 1))
    values = [[cells.get((pair, column)) for column in columns] for pair in pairs]
    if len(pairs) < 2 or not any(is_number(v) for row in values for v in row):
        return HeatMaps([])
    matrix: Matrix = {"rows": pairs, "columns": columns, "values": values}
    return pair_map("Difference in r, pair by pair", matrix, group)


def pair_map(caption: str, matrix: Matrix, group: Group) -> HeatMaps:
    """Pairs of judges by rubrics, as deviations from zero."""

    def label(name: str) -> str:
        judges = name.split(" / ")
        return " / ".join(map(group.label, judges)) if len(judges) == 2 else name

    drawn = deviation_maps([(caption, matrix)], label, about="zero")
    return HeatMaps([replace(one, corner="judges ↓ rubric →") for one in drawn.maps])


def _groups(numbers: Sequence[Number]) -> Table | None:
    """Domains and languages that could be measured; how many could not stands in the caption."""
    names = list(dict.fromkeys(n.subject["group"] for n in numbers))
    columns = list(dict.fromkeys(rubric(n) for n in numbers))
    by_group = {(n.subject["group"], rubric(n)): n for n in numbers}
    measured = [
        name for name in names if any(is_number(by_group[name, c].value) for c in columns if (name, c) in by_group)
    ]
    if not names:
        return None
    rows = [[Cell(name), *(_one(by_group.get((name, column))) for column in columns)] for name in measured]
    left = len(names) - len(measured)
    caption = "The difference by domain and language"
    caption += f" (not measured, too few texts: {left} of {len(names)})" if left else ""
    return Table(caption, ["texts", *columns], rows)


def _one(n: Number | None) -> Cell:
    return number_cell(n, fixed(n.value, signed=True), small=uncertainty(n)) if n else Cell(MISSING)


def _evidence(numbers: Sequence[Number]) -> Table | None:
    """What two judges cite in common of one text, and of two, which is what they say of any."""
    rows = [
        [
            Cell(rubric(n)),
            *(Cell(fixed(n.detail.get(name))) for name in ("same", "other")),
            number_cell(n, fixed(n.value, signed=True), small=uncertainty(n)),
            Cell(fixed(n.detail.get("with_difference"), signed=True), f"{n.detail.get('pairs', 0)} citations"),
        ]
        for n in numbers
        if is_number(n.value)
    ]
    columns = ["rubric", "one text", "two texts", "shared evidence", "rho with the difference of scores"]
    return Table("Words that two judges cite in common", columns, rows) if rows else None


def _won(n: Number) -> str:
    wins = [n.detail.get(name) for name in ("sound", "flawed", "neither")]
    return "{} sound ahead, {} flawed, {} level".format(*wins) if all(is_number(w) for w in wins) else ""
