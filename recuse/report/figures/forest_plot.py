"""Forest plot: one row per judge, its estimate and interval as a dot and a line, the gate's limits as a band.

Built as a table whose picture column is drawn in percent of its width: it needs no fixed size, its text never
shrinks, and a reader without the picture still has every number.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from recuse.report.estimate_format import in_unit, spread, why_undefined
from recuse.report.footnotes import levels as interval_levels
from recuse.report.gated_number import Number, varied
from recuse.report.numbers import MISSING, decimals_for, is_number
from recuse.report.scale import Scale, scale_over
from recuse.schema.results import LimitRow


@dataclass(frozen=True, slots=True)
class ForestMark:
    series: int
    x: float | None
    low: float | None
    high: float | None
    value: str
    interval: str
    aside: str  # "p = 0.058", or why there is no number
    outcome: str


@dataclass(frozen=True, slots=True)
class ForestRow:
    label: str
    marks: list[ForestMark]
    band: tuple[float, float] | None  # its own limits, where they are not the plot's


@dataclass(frozen=True, slots=True)
class ForestPlot:
    caption: str
    head: str
    value_name: str
    series: list[str]
    rows: list[ForestRow]
    ticks: list[tuple[float, str]]
    zero: float | None
    band: tuple[float, float] | None  # the gate's limits, where all rows have the same
    level: str  # "95 % interval"
    id: str  # of its grid, drawn once and used in every row
    has_band: bool

    @property
    def lanes(self) -> int:
        """Lines per row: each series keeps its own, so the style sheet knows how far down it is drawn."""
        return min(4, max(1, len(self.series)))


def forest_plot(
    numbers: Sequence[Number],
    label: Callable[[str], str],
    *,
    caption: str,
    value_name: str,
    by: str | None = None,
    head: str = "judge",
    signed: bool = False,
    minimum: Any = None,
    maximum: Any = None,
    aside: Callable[[Number], str] = lambda number: "",
    panel: str = "whole panel",
) -> ForestPlot | None:
    """Rows by whom the numbers are about, one mark per level of the factor `by` (the first that tells numbers about
    the same judge apart, unless given). None without numbers.

    `minimum` and `maximum` are places the scale must include; `aside` says a few words more beside an interval;
    `panel` is what a number about no single judge is called, "" where its factor levels tell enough.
    """
    if not numbers:
        return None
    lexicon, by = numbers[0].lexicon, varied(numbers) if by is None else by
    levels = sorted({n.subject[by] for n in numbers if by in n.subject}, key=lambda v: lexicon.level_order(by, v))
    common = _common(numbers)
    scale = _scale(numbers, signed, minimum, maximum)
    decimals = decimals_for(n.value for n in numbers)
    rows: dict[str, list[Number]] = {}
    for n in numbers:
        rows.setdefault(_row_name(n, {by, *common}, label, panel), []).append(n)
    drawn = [_row(name, mine, levels, by, scale, decimals, signed, aside) for name, mine in rows.items()]
    bands = {row.band for row in drawn}
    band = bands.pop() if len(bands) == 1 else None
    return ForestPlot(
        caption=caption,
        head=head,
        value_name=value_name,
        series=[lexicon.level(by, level) for level in levels],
        rows=[replace(row, band=None) for row in drawn] if band else drawn,
        band=band,
        ticks=scale.labels(signed=signed),
        zero=scale.at(0.0) if scale.low < 0 < scale.high else None,
        level=interval_levels(numbers),
        id=_id(numbers),
        has_band=any(n.limit for n in numbers),
    )


def _common(numbers: Sequence[Number]) -> set[str]:
    """Factors at one level in all of these numbers: they tell no row from another."""
    levels: dict[str, set[str]] = {}
    for n in numbers:
        for factor, level in n.factors.items():
            levels.setdefault(factor, set()).add(level)
    return {factor for factor, there in levels.items() if len(there) == 1 and all(factor in n.factors for n in numbers)}


def _row_name(number: Number, shown: set[str], label: Callable[[str], str], panel: str) -> str:
    """Whom it is about, and the factor levels that are not `told` otherwise."""
    others = [number.lexicon.level(k, v) for k, v in number.factors.items() if k not in shown]
    whom = label(number.who) if number.who else panel
    return ", ".join([whom, *others] if whom else others)


def _scale(numbers: Sequence[Number], signed: bool, minimum: Any, maximum: Any) -> Scale:
    ends: list[Any] = [minimum, maximum]
    for n in numbers:
        limit = n.limit
        ends += [n.value, n.low, n.high, *(limit.get("within") or ()), limit.get("at_least"), limit.get("at_most")]
    # two plots may share a row: more ticks would run together
    return scale_over(ends, zero=signed, ticks=4, ends=_ends(numbers))


def _ends(numbers: Sequence[Number]) -> tuple[float, float] | None:
    """Where the measure ends, if all numbers agree on it. A value that lies beyond shows that it goes further."""
    bounds = {n.bounds for n in numbers}
    known = bounds.pop() if len(bounds) == 1 else None
    if known and any(is_number(n.value) and not known[0] <= n.value <= known[1] for n in numbers):
        return None
    return known


def _row(
    name: str,
    numbers: list[Number],
    levels: list[str],
    by: str,
    scale: Scale,
    decimals: int,
    signed: bool,
    aside: Callable[[Number], str],
) -> ForestRow:
    marks = [
        ForestMark(
            series=levels.index(n.subject[by]) if by in n.subject else 0,
            x=scale.at(n.value),
            low=scale.at(n.low),
            high=scale.at(n.high),
            value=_written(n, decimals, signed),
            interval=spread(n, signed=signed),
            outcome=n.state,
            aside=aside(n) or why_undefined(n),
        )
        for n in numbers
    ]
    limit = next((n.limit for n in numbers if n.limit), None)
    return ForestRow(name, marks, None if limit is None else _band(limit, scale))


def _id(numbers: Sequence[Number]) -> str:
    """Short and the same every time: two plots never show the same numbers."""
    about = repr([(n.question, n.metric, n.gate, sorted(n.subject.items())) for n in numbers])
    return f"g{zlib.crc32(about.encode()):x}"


def _written(n: Number, decimals: int, signed: bool) -> str:
    unit = str(n.estimate.get("unit") or "")
    return in_unit(n.value, unit, decimals, signed=signed) if is_number(n.value) else MISSING


def _band(limit: LimitRow, scale: Scale) -> tuple[float, float]:
    """(start, width) of what the gate allows, in percent."""
    least, most = limit.get("within") or (limit.get("at_least"), limit.get("at_most"))
    low, high = scale.low if least is None else least, scale.high if most is None else most
    start, end = scale.at(low) or 0.0, scale.at(high) or 0.0
    return start, round(end - start, 1)
