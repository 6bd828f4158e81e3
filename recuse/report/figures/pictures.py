"""A ladder of levels per judge, and the linear scale that it shares with the other pictures. Places are percentages of
the drawing's width."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recuse.schema.number_text import fixed, is_number, short

_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Scale:
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


@dataclass(frozen=True, slots=True)
class Dot:
    """One item on a rung."""

    x: float
    how: str = ""  # "adjacent" | "non-adjacent" | "" (where the data would put it)
    name: str = ""  # told when a reader points at it


@dataclass(frozen=True, slots=True)
class Rung:
    """One level of a ladder."""

    level: str
    mean: float | None
    text: str
    dots: list[Dot]
    falls: bool = False  # its mean lies below that of the rung under it, as the measure found


@dataclass(frozen=True, slots=True)
class Ladder:
    """The levels that one judge gave."""

    label: str
    rungs: list[Rung]  # lowest level first
    note: str = ""


@dataclass(frozen=True, slots=True)
class Ladders:
    """A ladder per judge as the template draws them."""

    caption: str
    unit: str
    ladders: list[Ladder]
    ticks: list[tuple[float, str]]

    @property
    def falls(self) -> bool:
        """Whether any rung lies below the one under it."""
        return any(rung.falls for ladder in self.ladders for rung in ladder.rungs)

    @property
    def kinds(self) -> set[str]:
        """How far off its dots are."""
        return {dot.how for ladder in self.ladders for rung in ladder.rungs for dot in rung.dots}


def ladders(
    means: Mapping[str, Sequence[tuple[str, Any]]],
    label: Callable[[str], str],
    *,
    caption: str,
    unit: str,
    items: Mapping[str, Mapping[str, Sequence[tuple[Any, str, str]]]] | None = None,
    notes: Mapping[str, str] | None = None,
    falls: Mapping[str, Sequence[str]] | None = None,
) -> Ladders | None:
    """`means`: whom -> [(level, mean), ...] from the lowest level; `items`: whom -> level -> [(value, how, name), ...];
    `falls`: whom -> the levels whose mean lies below that of the level under them."""
    if not means:
        return None
    placed = items or {}
    every = [m for rungs in means.values() for _, m in rungs]
    every += [v for levels in placed.values() for dots in levels.values() for v, _, _ in dots]
    scale = scale_over(every, zero=True, ticks=3)
    decimals = 2 if scale.high > 0.1 else 4
    drawn = []
    for who, rungs in means.items():
        dots = {
            level: [Dot(scale.at(v) or 0.0, how, name) for v, how, name in values if is_number(v)]
            for level, values in placed.get(who, {}).items()
        }
        fallen = (falls or {}).get(who, ())
        built = [Rung(of, scale.at(m), fixed(m, decimals), dots.get(of, []), of in fallen) for of, m in rungs]
        drawn.append(Ladder(label(who), built, (notes or {}).get(who, "")))
    return Ladders(caption, unit, drawn, scale.labels())
