"""Judge against people, one picture per judge: a dot per text, people's mean across and the judge's upwards, on the
ends of the scale, with the diagonal on which both say the same. Places are percentages of the drawing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recuse.report.figures.pictures import scale_over
from recuse.report.gated_number import Number
from recuse.schema.details import PairsDetail
from recuse.schema.number_text import is_number, short

LARGEST = 7
"""Radius of a dot that stands for the most texts, in pixels; of one text at most `SINGLE`."""
SINGLE = 3.0


@dataclass(frozen=True, slots=True)
class Scatter:
    """One judge: its dots (x, y, radius), y from the top, and what they come to in words."""

    label: str
    dots: list[tuple[float, float, float]]
    words: str
    small: str


@dataclass(frozen=True, slots=True)
class Scatters:
    """A picture per judge as the template draws them; all share the scale."""

    caption: str
    plots: list[Scatter]
    ticks: list[tuple[float, str]]


def scatters(numbers: Sequence[Number], name: Callable[[Number], str], *, caption: str) -> Scatters | None:
    """Of numbers whose detail has `pairs`; None where there is none."""
    details = [n.detail_as(PairsDetail) for n in numbers]
    ends = [end for detail in details for end in detail["ends"] if is_number(end)]
    if not ends:
        return None
    low, high = min(ends), max(ends)
    scale = scale_over([low, high], ticks=4, ends=(low, high))
    ticks = [(scale.at(tick) or 0.0, short(tick)) for tick in dict.fromkeys((low, *scale.ticks, high))]
    inner = [(x, text) for x, text in ticks if x in (0, 100) or 15 < x < 85]
    return Scatters(caption, [_one(n, d, scale.at, name) for n, d in zip(numbers, details, strict=True)], inner)


def _one(n: Number, detail: PairsDetail, at: Callable[[float | None], float | None],
         name: Callable[[Number], str]) -> Scatter:  # fmt: skip
    pairs = [(x, y, count) for x, y, count in detail["pairs"] if is_number(x) and is_number(y) and is_number(count)]
    most = max((count for *_, count in pairs), default=1.0)
    each = min(SINGLE, LARGEST / most**0.5)
    dots = [(at(x) or 0.0, 100 - (at(y) or 0.0), round(each * count**0.5, 1)) for x, y, count in pairs]
    above, below = (sum(c for x, y, c in pairs if sign * (y - x) > 0) for sign in (1, -1))
    texts = sum(count for *_, count in pairs)
    words = f"{texts:.0f} texts: above people {above:.0f}, below {below:.0f}, the same {texts - above - below:.0f}"
    return Scatter(name(n), dots, words, f"mean error {n.with_interval()}")
