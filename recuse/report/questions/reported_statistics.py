"""Do the totals, means and SDs a judge reports follow from its own scores? What adds up, what does not by name, and
which means and SDs no set of repeats could have."""

from __future__ import annotations

from collections.abc import Mapping

from recuse.report import estimate_format
from recuse.report.figures import Cell, Table, magnitude_maps
from recuse.report.figures.heat_map import HeatMaps
from recuse.report.gated_number import Number
from recuse.report.numbers import MISSING, decimals_for, fixed, in_words, is_number
from recuse.report.results_model import Group
from recuse.schema.details import Matrix, Offender, OffendersDetail

ORDER = 50
KINDS = {
    "reported_total": "totals",
    "self_reported_final": "claimed final scores",
    "self_reported_mean": "claimed means",
    "self_reported_sd": "claimed standard deviations",
}


def draw(group: Group) -> dict[str, object]:
    slips = [
        _slip(group, n, entry) for n in group.of("reported_total", "self_reported_final") for entry in offenders(n)
    ]
    columns = ["judge", "text", "figure", "reported", "computed", "difference", "replies"]
    few = 0 < len(slips) <= MOST_SLIPS
    return {
        "reading": _reading(group),
        "overview": _overview(group),
        "slips": Table("Figures that do not follow", columns, slips, frozenset({3, 4, 5})) if few else None,
        "counts": None
        if few
        else _counts(group, "reported_total", "Totals that do not follow", "replies wrong", by_reply=True),
        "impossible": [
            maps
            for metric, name in _NAMES.items()
            if (maps := _counts(group, metric, f"{name} that no such scores can have", "impossible", by_reply=False))
        ],
    }


MOST_SLIPS = 12
"""Slips are told one by one up to here; beyond, they are counted per cell."""

_NAMES = {"self_reported_mean": "Claimed means", "self_reported_sd": "Claimed standard deviations"}


def offenders(number: Number) -> list[Offender]:
    """The entries of a detail whose reported number does not follow."""
    return [entry for entry in number.detail_as(OffendersDetail).get("offenders") or () if isinstance(entry, Mapping)]


def _reading(group: Group) -> str:
    parts = []
    for metric, name in KINDS.items():
        numbers = [n for n in group.of(metric) if is_number(n.value)]
        wrong = {n.who for n in numbers if offenders(n)}
        if numbers and wrong:
            judges = len({n.who for n in numbers})
            parts.append(f"{in_words(len(wrong))} of {in_words(judges)} judges report {name} that do not follow")
    if not parts:
        return "Every figure that was checked follows from the scores beside it."
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}. They are counted and shown, never corrected."


def _overview(group: Group) -> Table | None:
    """Judges by what they report: how much of it does not follow."""
    asked = [(metric, circumstances) for metric in KINDS for circumstances in group.circumstances(group.of(metric))]
    by_metric = {(n.metric, n.circumstances, n.who): n for metric in KINDS for n in group.of(metric)}
    who = sorted({name for _, _, name in by_metric}, key=group.place)
    rows = [
        [
            Cell(group.label(name)),
            *(_share(by_metric.get((metric, circumstances, name))) for metric, circumstances in asked),
        ]
        for name in who
    ]
    columns = [
        "judge",
        *(", ".join(part for part in (KINDS[metric], circumstances) if part) for metric, circumstances in asked),
    ]
    return Table("Share that does not follow", columns, rows, frozenset(range(1, len(columns)))) if rows else None


def _share(n: Number | None) -> Cell:
    if n is None:
        return Cell(MISSING)
    if not is_number(n.value):
        return Cell(estimate_format.value(n), estimate_format.why_undefined(n), n.state)
    wrong, total = n.detail.get("wrong"), n.detail.get("checked", n.estimate.get("n"))
    small = f"{wrong} of {total}" if is_number(wrong) and is_number(total) else estimate_format.spread(n)
    return Cell(estimate_format.value(n), small, n.state)


def _slip(group: Group, n: Number, entry: Offender) -> list[Cell]:
    reported, computed = entry.get("final"), entry.get("mean_of_criteria")
    difference = entry.get("difference", entry.get("mean_difference"))
    decimals = decimals_for([reported, computed, difference])
    replies = f"{entry['wrong']} of {entry['replies']}" if "wrong" in entry and "replies" in entry else "1 of 1"
    return [
        Cell(group.label(n.who), n.circumstances),
        Cell(group.label(str(entry.get("target", "")))),
        Cell("total" if n.metric == "reported_total" else "final"),
        Cell(fixed(reported, decimals) if is_number(reported) else ""),
        Cell(fixed(computed, decimals) if is_number(computed) else ""),
        Cell(fixed(difference, decimals, signed=True)),
        Cell(replies),
    ]


def _counts(group: Group, metric: str, caption: str, unit: str, *, by_reply: bool) -> HeatMaps:
    """How often each judge went wrong on each target, as the gate counts it; one map per condition.

    `by_reply`: an offender counts once for each reply that is wrong.
    """
    known = [n for n in group.of(metric) if is_number(n.value)]
    numbers = [n for n in known if n.verdict] or known
    targets = sorted({str(e["target"]) for n in numbers for e in offenders(n) if "target" in e}, key=group.place)
    if not targets:
        return HeatMaps([])
    maps = []
    for circumstances in group.circumstances(numbers):
        mine = [n for n in numbers if n.circumstances == circumstances]
        values = [[_wrong(n, target, by_reply) for target in targets] for n in mine]
        matrix: Matrix = {"rows": [n.who for n in mine], "columns": targets, "values": values}
        maps.append((f"{caption}{f', {circumstances}' if circumstances else ''}", matrix))
    return magnitude_maps(maps, group.label, least="none", most=f"most {unit}")


def _wrong(number: Number, target: str, by_reply: bool) -> float:
    mine = [entry for entry in offenders(number) if entry.get("target") == target]
    return float(sum(entry.get("wrong", 1) if by_reply else 1 for entry in mine))
