"""Small pictures: bars of shares, a ladder of levels per judge, a slope per judge between two levels of a factor, and
the linear scale that they and the forest plots share. Places are percentages of the drawing's width."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recuse.report.gated_number import Number
from recuse.schema.number_text import decimals_for, fixed, is_number, short

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
class Bar:
    """One bar with its number."""

    label: str
    share: float | None  # of the full width, in percent
    text: str
    small: str = ""
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """A bar per judge as the template draws them."""

    caption: str
    head: str
    value_name: str
    bars: list[Bar]


def bars(
    rows: Sequence[tuple[str, Any, str, str, str]],
    *,
    caption: str,
    value_name: str,
    full: float | None = None,
    head: str = "judge",
) -> Bars | None:
    """`rows`: (label, value, text, small text, outcome); `full` is the value that fills the width, else the largest."""
    if not rows:
        return None
    top = full or max((abs(value) for _, value, *_ in rows if is_number(value)), default=1.0) or 1.0
    drawn = [
        Bar(label, round(100 * min(1.0, abs(value) / top), 2) if is_number(value) else None, text, small, outcome)
        for label, value, text, small, outcome in rows
    ]
    return Bars(caption, head, value_name, drawn)


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
        built, fallen = [], (falls or {}).get(who, ())
        for level, mean in rungs:
            values = placed.get(who, {}).get(level, ())
            dots = [Dot(scale.at(v) or 0.0, how, name) for v, how, name in values if is_number(v)]
            built.append(Rung(level, scale.at(mean), fixed(mean, decimals), dots, level in fallen))
        drawn.append(Ladder(label(who), built, (notes or {}).get(who, "")))
    return Ladders(caption, unit, drawn, scale.labels())


HEIGHT = 96  # of one picture, in pixels


@dataclass(frozen=True, slots=True)
class Slope:
    """How one judge's number moves."""

    label: str
    texts: tuple[str, str]
    ys: tuple[float, float]
    zero: float
    crosses: bool  # the sign turns, as the measure of the move found
    notes: list[str]  # "27.3 % smaller"
    outcome: str  # of the gate on the move itself
    verdict: str  # "effect of the name +0.21 (+0.04 to +0.38)"


@dataclass(frozen=True, slots=True)
class Slopes:
    """A slope per judge as the template draws them."""

    caption: str
    ends: tuple[str, str]
    slopes: list[Slope]
    height: int = HEIGHT


def slopes(
    numbers: Sequence[Number],
    label: Callable[[str], str],
    ends: tuple[str, str],
    *,
    caption: str,
    by: str,
    notes: Mapping[str, str] | None = None,
    moves: Sequence[Number] = (),
) -> Slopes | None:
    """One slope for each judge measured at both `ends`, two levels of the factor `by`; None if there is none.

    `moves` are the estimates of the move itself, with their verdicts; `notes` a few words per judge.
    """
    values: dict[str, dict[str, float]] = {}
    for n in numbers:
        if n.subject.get(by) in ends and is_number(n.value):
            values.setdefault(n.who, {})[n.subject[by]] = n.value
    both = {who: (at[ends[0]], at[ends[1]]) for who, at in values.items() if len(at) == 2}
    if not both:
        return None
    scale = scale_over([v for pair in both.values() for v in pair], zero=True)
    decimals = decimals_for(v for pair in both.values() for v in pair)

    def y(v: float) -> float:
        return round(14 + (HEIGHT - 28) * (1 - (scale.at(v) or 0.0) / 100), 1)

    moved = {n.who: n for n in moves}
    drawn = [
        Slope(
            label(who),
            (fixed(a, decimals, signed=True), fixed(b, decimals, signed=True)),
            (y(a), y(b)),
            y(0.0),
            moved[who].detail.get("direction_kept") is False if who in moved else False,
            [notes[who]] if notes and who in notes else [],
            moved[who].state if who in moved else "",
            moved[who].with_interval() if who in moved else "",
        )
        for who, (a, b) in both.items()
    ]
    return Slopes(caption, (numbers[0].lexicon.level(by, ends[0]), numbers[0].lexicon.level(by, ends[1])), drawn)
