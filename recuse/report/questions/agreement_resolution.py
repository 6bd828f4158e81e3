"""Do judges agree on single texts? The three resolutions side by side, who agrees with whom, and how each uses the
scale."""

from __future__ import annotations

from recuse.report.figures import Bars, Cell, Table, bars, deviation_maps, forest_plot, number_cell
from recuse.report.figures.heat_map import HeatMaps
from recuse.report.gated_number import Number
from recuse.report.numbers import fixed, in_words, is_number
from recuse.report.questions.generic import plain_table
from recuse.report.results_model import Group
from recuse.schema.details import Matrix

ORDER = 45
RUNGS = (
    ("model", "which target is better", "Spearman's rho over targets"),
    ("sample", "which text is better", "Pearson's r over the texts of a target"),
    ("absolute", "the same score for a text", "ICC(2,1) over the texts of a target"),
)
SHOWN = ("panel_agreement", "resolution_gap", "sample_agreement", "absolute_agreement", "model_agreement", "scale_use")


def draw(group: Group) -> dict[str, object]:
    gaps = [n for n in group.of("resolution_gap") if is_number(n.value)]
    singles = group.of("sample_agreement")
    return {
        "reading": _reading(gaps, group.of("panel_agreement")),
        "ladders": [ladder for n in gaps if (ladder := _ladder(n))],
        "panels": forest_plot(
            group.of("panel_agreement"), group.label, caption="Agreement of the panel on single texts", head="panel",
            value_name="ICC(2,1)", minimum=-1, maximum=1,
        ),
        "pairs": _pairs(group, singles),
        "judges": _judges(group, singles),
        "scale": _scale(group, group.of("scale_use")),
        "rest": plain_table(group, [n for n in group.numbers if n.metric not in SHOWN], "Beside it"),
    }  # fmt: skip


def _reading(gaps: list[Number], panels: list[Number]) -> str:
    if gaps:
        widest = max(gaps, key=lambda n: n.amount)
        model, sample, absolute = (widest.detail.get(name) for name, *_ in RUNGS)
        where = f", {widest.circumstances}" if widest.circumstances else ""
        return (
            f"The judges agree to {fixed(model)} on which target is better, to {fixed(sample)} on which text is "
            f"better, and to {fixed(absolute)} on the score itself{where}."
        )
    known = [n for n in panels if is_number(n.value)]
    if not known:
        return "No two judges scored enough texts in common."
    lowest = min(known, key=lambda n: n.amount)
    return f"On single texts the judges agree to {fixed(lowest.value)} (ICC)."


def _ladder(number: Number) -> Bars | None:
    """Model, sample and absolute agreement, one bar each: what is left on the way to a single text's score."""
    values = {name: number.detail.get(name) for name, *_ in RUNGS}
    rows = [(title, _length(values[name]), fixed(values[name]), what, "") for name, title, what in RUNGS]
    phrase = f", {number.circumstances}" if number.circumstances else ""
    caption = f"Agreement at three resolutions{phrase}"
    return bars(rows, caption=caption, value_name="agreement", full=1.0, head="agreement on")


def _length(value: object) -> float | None:
    """Disagreement has no bar, its number says it."""
    return max(0.0, value) if is_number(value) else None


def _pairs(group: Group, numbers: list[Number]) -> HeatMaps:
    """Who agrees with whom: one matrix per circumstances, since all judges of a panel carry the same one."""
    seen: dict[str, Number] = {}
    for n in numbers:
        if n.detail.get("values") and len(n.detail_as(Matrix).get("rows") or ()) > 2:
            seen.setdefault(n.circumstances, n)
    captioned = [
        (f"Pearson's r on single texts{f', {said}' if said else ''}", n.detail_as(Matrix)) for said, n in seen.items()
    ]
    return deviation_maps(captioned, group.label, about="zero") if captioned else HeatMaps([])


def _judges(group: Group, singles: list[Number]) -> Table | None:
    if not singles:
        return None
    key = {(n.who, n.circumstances): n for n in group.of("absolute_agreement")}
    ranks = {(n.who, n.circumstances): n for n in group.of("model_agreement")}
    rows = [
        [
            Cell(group.label(n.who), n.circumstances),
            number_cell(ranks.get((n.who, n.circumstances))),
            number_cell(n),
            number_cell(key.get((n.who, n.circumstances))),
        ]
        for n in singles
    ]
    columns = ["judge", "which target", "which text", "the same score"]
    return Table("Each judge's agreement with the others", columns, rows, frozenset({1, 2, 3}))


def _scale(group: Group, numbers: list[Number]) -> Table | None:
    known = [n for n in numbers if is_number(n.value)]
    if not known:
        return None
    rows = [
        [
            Cell(group.label(n.who), ", ".join(part for part in (n.circumstances, _slip(n)) if part)),
            number_cell(n),
            *(Cell(fixed(n.detail.get(name))) for name in ("mean", "sd", "lowest", "highest", "skewness")),
        ]
        for n in known
    ]
    columns = ["judge", "SD beside the others'", "mean", "SD", "lowest", "highest", "skewness"]
    caption = f"How {in_words(len({n.who for n in known}))} judges use the scale"
    return Table(caption, columns, rows, frozenset(range(1, 7)))


def _slip(n: Number) -> str:
    return "never leaves the lower half of the scale: does it use another one?" if n.detail.get("slip") else ""
