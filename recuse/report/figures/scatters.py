"""Judge against people, one picture per judge: a dot per text, people's mean across and the judge's upwards, on the
ends of the scale, with the diagonal on which both say the same; a line through the judge's mean where people give about
the same score (calibration); below, how often either gives which score. Places are percentages of the drawing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import fsum

from recuse.report.figures.pictures import scale_over
from recuse.report.gated_number import Number
from recuse.schema.details import Detail
from recuse.schema.number_text import is_number, rate, short

LARGEST = 7
"""Radius of a dot that stands for the most texts, in pixels; of one text at most `SINGLE`."""
SINGLE = 3.0
BINS = 10
"""Equal parts of the scale, of the line and of the bars."""
HALF = 18
"""Height of the tallest bar, in pixels."""


@dataclass(frozen=True, slots=True)
class Scatter:
    """One judge: its dots (x, y, radius) and the `curve` of its means (x, y), y from the top; its `bars` and people's
    (x, height, height); and what they come to in words."""

    label: str
    dots: list[tuple[float, float, float]]
    curve: list[tuple[float, float]]
    bars: list[tuple[float, float, float]]
    words: str
    calibration: str
    shares: str
    small: str


@dataclass(frozen=True, slots=True)
class Scatters:
    """A picture per judge as the template draws them; all share the scale."""

    caption: str
    plots: list[Scatter]
    ticks: list[tuple[float, str]]


def scatters(numbers: Sequence[Number], name: Callable[[Number], str], *, caption: str) -> Scatters | None:
    """Of numbers whose detail has `pairs`; None where there is none."""
    details = [n.detail for n in numbers]
    ends = [end for detail in details for end in detail["ends"] if is_number(end)]
    if not ends:
        return None
    low, high = min(ends), max(ends)
    scale = scale_over([low, high], ticks=4, ends=(low, high))
    ticks = [(scale.at(tick) or 0.0, short(tick)) for tick in dict.fromkeys((low, *scale.ticks, high))]
    inner = [(x, text) for x, text in ticks if x in (0, 100) or 15 < x < 85]
    pictures = zip(numbers, details, strict=True)
    plots = [_one(name(n), d, (low, high), f"mean error {n.with_interval()}") for n, d in pictures]
    return Scatters(caption, plots, inner)


def _one(label: str, detail: Detail, ends: tuple[float, float], small: str) -> Scatter:
    low, high = ends
    across = high - low or 1.0
    pairs = [(x, y, count) for x, y, count in detail["pairs"] if is_number(x) and is_number(y) and is_number(count)]
    texts, most = fsum(count for *_, count in pairs), max((count for *_, count in pairs), default=1.0)
    each = min(SINGLE, LARGEST / most**0.5)
    above, below = (sum(c for x, y, c in pairs if sign * (y - x) > 0) for sign in (1, -1))
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

    return Scatter(
        label,
        [(*place(x, y), round(each * count**0.5, 1)) for x, y, count in pairs],
        [place(x, y) for x, y in curve],
        [
            (100 * k / BINS, round(HALF * judge / tallest, 1), round(HALF * people / tallest, 1))
            for k, (judge, people) in enumerate(shares)
        ],
        f"{texts:.0f} texts: above people {above:.0f}, below {below:.0f}, the same {texts - above - below:.0f}",
        ", ".join(f"{short(y)} where people give {short(x)}" for x, y in curve),
        ", ".join(
            f"from {short(low + across * k / BINS)}: {rate(judge)} and {rate(people)}"
            for k, (judge, people) in enumerate(shares)
            if judge or people
        ),
        small,
    )
