"""Small pictures, one per judge or gate: ladders of levels, judge against people, a number over time; and the linear
scale that drawings share. Places across are percentages of the drawing's width."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple

from recuse.report.gated_number import Number
from recuse.schema.number_text import fixed, in_unit, is_number, rate, short
from recuse.schema.results import PastBaseline
from recuse.schema.verdict_rows import Detail

_STEPS = (1, 2, 2.5, 5, 10)
LARGEST, SINGLE = 7, 3.0
"""Radius of a scatter's dot that stands for the most texts, in pixels; of one text at most `SINGLE`."""
BINS = 10
"""Equal parts of a scatter's scale, of its line and of its bars."""
HALF = 18
"""Height of its tallest bar, in pixels."""
HEIGHT, MARGIN = 44, 5
"""Of a trend, in pixels."""
MOST = 48
"""Trends, those first whose number moved farthest for its interval or whose outcome is another."""


class Scale(NamedTuple):
    """A linear scale with the places of its ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: Any) -> float | None:
        """Place of `value` in percent, clipped to the drawing; None if it is not a number."""
        if not is_number(value):
            return None
        return round(100 * min(1.0, max(0.0, (value - self.low) / (self.high - self.low))), 1)

    def band(self, ends: Iterable[float | None]) -> tuple[float, float]:
        """(start, width) of what lies between two ends, in percent; an end that is None is the scale's own."""
        known = (own if end is None else end for end, own in zip(ends, (self.low, self.high), strict=True))
        start, end = (self.at(value) or 0.0 for value in known)
        return start, round(end - start, 1)

    def labels(self, *, signed: bool = False, percent: bool = False) -> list[tuple[float, str]]:
        """(place, text) of each tick, in the unit of the numbers."""
        texts = (f"{short(_tidy(100 * tick))}\u00a0%" if percent else short(tick) for tick in self.ticks)
        plus = ["+" if signed and tick > 0 else "" for tick in self.ticks]
        return [(self.at(t) or 0.0, sign + text) for t, sign, text in zip(self.ticks, plus, texts, strict=True)]


def scale_over(
    values: Iterable[Any], *, zero: bool = False, ticks: int = 5, ends: tuple[float, float] | None = None
) -> Scale:
    """A scale with round ends that holds every value (and 0 if asked), with about `ticks` ticks; no further than
    `ends`, beyond which no value can lie, though an interval may."""
    least, greatest = ends or (-math.inf, math.inf)
    known = [min(greatest, max(least, float(v))) for v in values if is_number(v)] + ([0.0] if zero else [])
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / ticks
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * s for s in _STEPS if power * s >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    shown = [t for i in range(first, last + 1) if least <= (t := _tidy(i * step)) <= greatest]
    return Scale(max(_tidy(first * step), least), min(_tidy(last * step), greatest), tuple(shown))


def _tidy(value: float) -> float:
    return float(f"{value:.10g}") or 0.0


class Ladders(NamedTuple):
    """A ladder per judge as the template draws them; `falls`: whether any rung lies below the one under it; `kinds`:
    how far off its dots are, "adjacent", "non-adjacent" or "" (where the data would put them)."""

    caption: str
    unit: str
    ladders: list[dict[str, object]]
    falls: bool
    kinds: set[str]


def ladders(
    means: Mapping[str, Sequence[tuple[str, Any]]], label: Callable[[str], str], *, caption: str, unit: str,
    items: Mapping[str, Mapping[str, Sequence[tuple[Any, str, str]]]] | None = None,
    notes: Mapping[str, str] | None = None, falls: Mapping[str, Sequence[str]] | None = None,
) -> Ladders | None:  # fmt: skip
    """`means`: whom -> [(level, mean), ...] from the lowest level; `items`: whom -> level -> [(value, how, name), ...];
    `falls`: whom -> the levels whose mean lies below that of the level under them."""
    if not means:
        return None
    items, notes, falls = items or {}, notes or {}, falls or {}
    every = [m for rungs in means.values() for _, m in rungs]
    every += [v for levels in items.values() for dots in levels.values() for v, _, _ in dots]
    scale = scale_over(every, zero=True, ticks=3)
    decimals, kinds = 2 if scale.high > 0.1 else 4, set[str]()
    drawn = list[dict[str, object]]()
    for who, levels in means.items():
        rungs = []  # the lowest first
        for level, mean in levels:
            values = [(v, how, name) for v, how, name in items.get(who, {}).get(level, ()) if is_number(v)]
            dots = [{"x": scale.at(v) or 0.0, "how": how, "name": name} for v, how, name in values]
            rungs.append({"level": level, "mean": scale.at(mean), "text": fixed(mean, decimals), "dots": dots,
                          "falls": level in falls.get(who, ())})  # fmt: skip
            kinds |= {how for _, how, _ in values}
        drawn.append({"label": label(who), "rungs": rungs, "note": notes.get(who, "")})
    fell = any(level in falls.get(who, ()) for who, levels in means.items() for level, _ in levels)
    return Ladders(caption, unit, drawn, fell, kinds)


class Scatters(NamedTuple):
    """A picture per judge as the template draws them; all share the scale, from end to end. A dot per text, people's
    mean across and the judge's upwards, with the diagonal on which both say the same; a line through the judge's mean
    where people give about the same score (calibration); below, how often either gives which score."""

    caption: str
    plots: list[dict[str, object]]
    ticks: list[tuple[float, str]]


def scatters(numbers: Sequence[Number], name: Callable[[Number], str], *, caption: str) -> Scatters | None:
    """Of numbers whose detail has `pairs`; None where there is none."""
    ends = [end for n in numbers for end in n.detail["ends"] if is_number(end)]
    if not ends:
        return None
    low, high = min(ends), max(ends)
    scale = scale_over([low, high], ticks=4, ends=(low, high))
    ticks = [(scale.at(tick) or 0.0, short(tick)) for tick in dict.fromkeys((low, *scale.ticks, high))]
    inner = [(x, text) for x, text in ticks if x in (0, 100) or 15 < x < 85]
    plots = [_one(name(n), n.detail, (low, high), f"mean error {n.with_interval()}") for n in numbers]
    return Scatters(caption, plots, inner)


def _one(label: str, detail: Detail, ends: tuple[float, float], small: str) -> dict[str, object]:
    """One judge: its dots (x, y, radius) and the `curve` of its means, y from the top; `bars` (x, its, people's)."""
    low, high = ends
    across = high - low or 1.0
    pairs = [(x, y, count) for x, y, count in detail["pairs"] if is_number(x) and is_number(y) and is_number(count)]
    texts = fsum(count for *_, count in pairs)
    each = min(SINGLE, LARGEST / max((count for *_, count in pairs), default=1.0) ** 0.5)
    above, below = (sum(c for x, y, c in pairs if sign * (y - x) > 0) for sign in (1, -1))
    same = texts - above - below
    parts = [[min(int(BINS * (value - low) / across), BINS - 1) for value in pair[:2]] for pair in pairs]
    curve, shares = [], []
    for part in range(BINS):
        here = [pair for pair, (x, _) in zip(pairs, parts, strict=True) if x == part]
        if weight := fsum(count for *_, count in here):
            curve.append((fsum(x * c for x, _, c in here) / weight, fsum(y * c for _, y, c in here) / weight))
        by_judge = fsum(c for (*_, c), (_, y) in zip(pairs, parts, strict=True) if y == part)
        shares.append((by_judge / (texts or 1.0), weight / (texts or 1.0)))
    tallest = max(map(max, shares)) or 1.0

    def place(x: float, y: float) -> tuple[float, float]:
        return 100 * (x - low) / across, 100 - 100 * (y - low) / across

    bars = [(100 * k / BINS, *(round(HALF * share / tallest, 1) for share in both)) for k, both in enumerate(shares)]
    words = [f"from {short(low + across * k / BINS)}: {rate(judge)} and {rate(people)}"
             for k, (judge, people) in enumerate(shares) if judge or people]  # fmt: skip
    return {
        "label": label, "small": small, "bars": bars, "shares": ", ".join(words),
        "dots": [(*place(x, y), round(each * count**0.5, 1)) for x, y, count in pairs],
        "curve": [place(x, y) for x, y in curve],
        "words": f"{texts:.0f} texts: above people {above:.0f}, below {below:.0f}, the same {same:.0f}",
        "calibration": ", ".join(f"{short(y)} where people give {short(x)}" for x, y in curve),
    }  # fmt: skip


class Trends(NamedTuple):
    """Gated numbers over the committed baselines and in this run, as the template draws them, sharing the days: of each
    its places over time, where its limits lie (from the top, height, in pixels), and what it comes to in words."""

    caption: str
    trends: list[dict[str, object]]
    left_out: int
    height: int = HEIGHT


def trends(numbers: Sequence[Number], history: Sequence[PastBaseline], label: Callable[[Number], str]) -> Trends | None:
    """Of the gated numbers that some baseline held; None without any."""
    drawn = []
    for n in numbers:
        past = [(at, *held) for at, (_, values) in enumerate(history) if (held := values.get((n.gate, n.about)))]
        values = [(at, value) for at, value, _ in past if is_number(value)]
        if values and is_number(n.value):
            moved = max(abs(value - n.amount) for _, value in values)
            wide = (n.high - n.low) if is_number(n.high) and is_number(n.low) else 1.0
            same = all(outcome == n.outcome for *_, outcome in past)
            drawn.append((same, -moved / (wide or 1.0), n, [*values, (len(history), n.amount)]))
    if not drawn:
        return None
    ordered: list[dict[str, object]] = []
    for *_, n, values in sorted(drawn, key=lambda one: one[:2])[:MOST]:
        scale = scale_over([*(value for _, value in values), *n.limit_ends], ends=n.bounds)
        ys = [_upwards(scale.at(value), 0.0) for _, value in values]
        least, most = map(scale.at, n.limit_ends)
        top, bottom = _upwards(most, 0.0), _upwards(least, float(HEIGHT))
        words = f"{in_unit(values[0][1], n.unit, signed=n.is_signed)} → {n.text()}, limit {n.limit_text}"
        dots = [(round(100 * at / len(history), 1), y) for (at, _), y in zip(values, ys, strict=True)]
        ordered.append({"label": label(n), "gate": n.gate_title, "dots": dots, "band": (top, round(bottom - top, 1)),
                        "words": words, "outcome": n.state})  # fmt: skip
    caption = f"Baselines from {history[0][0]} to {history[-1][0]}, and this run last"
    return Trends(caption, ordered, max(0, len(drawn) - MOST))


def _upwards(place: float | None, edge: float) -> float:
    return edge if place is None else round(MARGIN + (HEIGHT - 2 * MARGIN) * (1 - place / 100), 1)
