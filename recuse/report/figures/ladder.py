"""Ladders: one picture per judge, one rung per level it gave out, with what the data say of what it put there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recuse.report.numbers import fixed, is_number
from recuse.report.scale import scale_over


@dataclass(frozen=True, slots=True)
class Dot:
    x: float
    how: str = ""  # "adjacent" | "non-adjacent" | "" (where the data would put it)
    name: str = ""  # told when a reader points at it


@dataclass(frozen=True, slots=True)
class Rung:
    level: str
    mean: float | None
    text: str
    dots: list[Dot]
    falls: bool = False  # its mean lies below that of the rung under it, as the measure found


@dataclass(frozen=True, slots=True)
class Ladder:
    label: str
    rungs: list[Rung]  # lowest level first
    note: str = ""


@dataclass(frozen=True, slots=True)
class Ladders:
    caption: str
    unit: str
    ladders: list[Ladder]
    ticks: list[tuple[float, str]]

    @property
    def falls(self) -> bool:
        return any(rung.falls for ladder in self.ladders for rung in ladder.rungs)

    @property
    def kinds(self) -> set[str]:
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
