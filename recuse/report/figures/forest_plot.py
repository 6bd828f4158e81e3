"""Forest plot: one row per judge, its estimate and interval as a dot and a line, the gate's limits as a band. It is a
table whose picture column is drawn in percent of its width: its text never shrinks, and a reader without the picture
still has every number."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from recuse.report.figures.pictures import Scale, scale_over
from recuse.report.gated_number import Number, varied
from recuse.report.results_model import Group
from recuse.schema.number_text import MISSING, count, decimals_for, in_number, in_unit, is_number, why_missing
from recuse.schema.plain_values import grouped

SIGNS = 4
"""How many series the style sheet has signs and lines for."""


class ForestPlot(NamedTuple):
    """A forest plot as its template draws it. A row: whom its marks are about, the marks, and its own limits where they
    are not the plot's; a mark: one number's places in percent and its texts, `aside` "p = 0.058" or "undefined"."""

    caption: str
    head: str
    value_name: str
    series: list[str]
    rows: list[tuple[str, list[dict[str, object]], tuple[float, float] | None]]
    ticks: list[tuple[float, str]]
    zero: float | None
    band: tuple[float, float] | None  # the gate's limits, where all rows have the same
    level: str  # "95 % interval"
    id: str  # of its grid, drawn once and used in every row
    has_band: bool


@dataclass(frozen=True, slots=True)
class Forest:
    """A forest plot of the numbers of `metrics` (separated by blanks) that `only` takes. Rows by whom they are about,
    one mark per level of the factor `by` (the first that tells numbers about the same judge apart, unless given).
    `includes` are places that the scale must hold; `aside` says a few words more beside an interval; `panel` is what a
    number about no single judge is called, "" where its levels tell enough."""

    metrics: str
    caption: str
    unit: str
    signed: bool = False
    includes: tuple[float, ...] = ()
    by: str | None = None
    head: str = "judge"
    panel: str = "whole panel"
    aside: Callable[[Number], str] = lambda number: ""
    only: Callable[[Number], bool] = lambda number: True

    def __call__(self, group: Group) -> ForestPlot | None:
        return self.plot([n for n in group.of(*self.metrics.split()) if self.only(n)], group.label)

    def plot(self, numbers: Sequence[Number], label: Callable[[str], str]) -> ForestPlot | None:
        """The plot of these numbers; None where all are undefined: why stands in the small print."""
        if not any(is_number(n.value) for n in numbers):
            return None
        lexicon, by = numbers[0].lexicon, varied(numbers) if self.by is None else self.by
        levels = sorted({n.subject[by] for n in numbers if by in n.subject}, key=lambda v: lexicon.level_order(by, v))
        if len(levels) > SIGNS:  # a fifth could not be told from the fourth: each is a row of its own
            by, levels = "", []
        at_one_level = set.intersection(*(set(n.factors.items()) for n in numbers))  # tells no row from another
        shown, units = {by, *dict(at_one_level)}, {n.unit or None for n in numbers if is_number(n.value)}
        scale, decimals = self._scale(numbers), decimals_for(n.value for n in numbers)

        def mark(n: Number) -> dict[str, object]:
            there = is_number(n.value)
            return {
                "series": levels.index(n.subject[by]) if by in n.subject else 0, "outcome": n.state,
                "x": scale.at(n.value), "low": scale.at(n.low), "high": scale.at(n.high),
                "value": in_unit(n.value, n.unit, decimals, signed=self.signed) if there else MISSING,
                "interval": n.spread(signed=self.signed),
                "aside": self.aside(n) or ("" if there else "undefined"),  # why stands below: in one line
            }  # fmt: skip

        whom = {n.who: label(n.who) if n.who else self.panel for n in numbers}
        by_row = grouped(numbers, lambda n: ", ".join(filter(None, (whom[n.who], n.circumstances_but(*shown)))))
        limited = {name: next((n for n in of if n.limit), None) for name, of in by_row.items()}
        each = {name: scale.band(n.limit_ends) if n else None for name, n in limited.items()}  # what is allowed
        bands = {*each.values()}
        band = bands.pop() if len(bands) == 1 else None
        about = repr([(n.question, n.metric, n.gate, sorted(n.subject.items())) for n in numbers])
        return ForestPlot(
            caption=self.caption, head=self.head, value_name=self.unit, level=interval_levels(numbers), band=band,
            series=[lexicon.level(by, level) for level in levels],
            rows=[(name, [*map(mark, of)], None if band else each[name]) for name, of in by_row.items()],
            ticks=scale.labels(signed=self.signed, percent=units == {"share"}),
            zero=scale.at(0.0) if scale.low < 0 < scale.high else None, has_band=any(n.limit for n in numbers),
            id=f"g{zlib.crc32(about.encode()):x}",  # short and the same every time: no two plots show the same numbers
        )  # fmt: skip

    def _scale(self, numbers: Sequence[Number]) -> Scale:
        places = [place for n in numbers for place in (n.value, n.low, n.high, *n.limit_ends)]
        bounds = {n.bounds for n in numbers}
        ends = bounds.pop() if len(bounds) == 1 else None
        if ends and any(is_number(n.value) and not ends[0] <= n.value <= ends[1] for n in numbers):
            ends = None  # a value beyond shows that the measure goes further
        # two plots may share a row: more ticks would run together
        return scale_over([*self.includes, *places], zero=self.signed, ticks=4, ends=ends)


def footnotes(group: Group, above: Collection[str] = ()) -> list[str]:
    """The small print below a drawing, without lines that stand `above` already, for the question's earlier panels."""
    by_method = grouped(grouped(group.numbers, lambda n: n.metric).values(), _how)
    lines = ["; ".join(map(_what, of)) + (f": {how}." if how else ".") for how, of in by_method.items()]
    lines = [line[:1].upper() + line[1:] for line in lines]
    undefined = _distinct(why_missing(n.why_undefined) for n in group.numbers)
    lines += [f"Where there is no number: {'; '.join(undefined)}."] if undefined else []
    new = [line for line in lines if line not in above]
    return [*new, "The rest as above."] if len(new) < len(lines) else new


def _what(numbers: list[Number]) -> str:
    """ "self-bias (n = 50 repeats, 95 to 99 % intervals, corrected)", "right choices (n = 60 in 15 stories)"."""
    counts = []
    for over, of_kind in grouped((m for m in numbers if m.estimate.get("over")), lambda m: m.estimate["over"]).items():
        n = _span(m.estimate.get("n") for m in of_kind)
        unit = in_number(over, n)
        if over == "clusters":
            clusters = _span(m.estimate.get("n_clusters") for m in of_kind)
            what = " and ".join(_distinct(m.estimate.get("clusters") for m in of_kind)) or over
            unit = f"in {clusters} {in_number(what, clusters)}"
        counts.append(f"n = {n} {unit}")
    left_out = _span(n.estimate.get("n_excluded") or 0 for n in numbers)
    excluded = "" if left_out == "0" else f"{left_out} left out as unusable, nothing imputed"
    parts = (" and ".join(counts), interval_levels(numbers), excluded)
    return f"{numbers[0].measure['title']} ({', '.join(filter(None, parts))})"


def _how(numbers: list[Number]) -> str:
    methods = "; ".join(_distinct(n.estimate.get("method") for n in numbers))
    notes = _distinct(n.estimate.get("note") for n in numbers if is_number(n.value))
    seeds = ", ".join(_distinct(n.estimate.get("seed") for n in numbers))
    parts = (methods, f"seed {seeds}" if seeds else "", *(notes if len(notes) == 1 else ()))
    return ", ".join(filter(None, parts))


def interval_levels(numbers: Iterable[Number]) -> str:
    """ "95 % interval", "95 to 99.5 % intervals, corrected" where a correction widened some; "" without intervals."""
    known = {100 * n.estimate["level"] for n in numbers if is_number(n.low) and is_number(n.estimate.get("level"))}
    if len(known) > 1:
        return f"{min(known):.4g} to {max(known):.4g} % intervals, corrected"
    return f"{known.pop():.4g} % interval" if known else ""


def _span(values: Iterable[Any]) -> str:
    known = sorted({v for v in values if is_number(v)})
    if not known:
        return "unknown"
    return count(known[0]) if len(known) == 1 else f"{count(known[0])} to {count(known[-1])}"


def _distinct(values: Iterable[Any]) -> list[str]:
    return list(dict.fromkeys(str(v) for v in values if v not in (None, "")))
