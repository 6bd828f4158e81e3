"""Lines: how a number changes along an axis, one line per name, with the spread over trials where it is known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 380, 230
LEFT, RIGHT, TOP, BOTTOM = 44, 10, 12, 34
COLOURS = ("#0b6e99", "#b3541e", "#3b7d3b", "#7a3e9d", "#a02c4f", "#6b6b00", "#444444", "#0d8f82")
DASHES = ("", "6 3", "2 3", "8 3 2 3")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart: its path in pixels, and the values that the table beside the chart repeats."""

    name: str
    path: str
    colour: str
    dash: str
    values: tuple[float, ...]
    points: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class LineChart:
    """One panel, ready to be drawn: positions in pixels, ticks as (position, text)."""

    title: str
    x_name: str
    y_name: str
    lines: tuple[Line, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    xs: tuple[float, ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    bottom: int = HEIGHT - BOTTOM


def line_chart(
    title: str, xs: Sequence[float], series: Mapping[str, Sequence[float]], x_name: str, y_name: str, *,
    ends: tuple[float, float] | None = None, logarithmic: bool = False,
) -> LineChart:  # fmt: skip
    """`series`: name -> one value per x, NaN where there is none. `ends` of the y axis; those of the values
    otherwise."""
    values = [v for line in series.values() for v in line if math.isfinite(v)]
    low, high = ends or _around(values)
    places = [math.log(x) if logarithmic else float(x) for x in xs]
    span = max(places) - min(places) or 1.0

    def x_at(place: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (place - min(places)) / span, 1)

    def y_at(value: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (1 - (value - low) / (high - low)), 1)

    lines = []
    for k, (name, line) in enumerate(series.items()):
        points = [(x_at(p), y_at(v)) for p, v in zip(places, line, strict=True) if math.isfinite(v)]
        path = "M" + " L".join(f"{x} {y}" for x, y in points) if points else ""
        lines.append(
            Line(
                name, path, COLOURS[k % len(COLOURS)], DASHES[k // len(COLOURS) % len(DASHES)], tuple(line),
                tuple(points),
            )
        )
    step = (high - low) / 4
    return LineChart(
        title, x_name, y_name, tuple(lines),
        tuple((x_at(p), f"{x:g}") for p, x in zip(places, xs, strict=True)),
        tuple((y_at(low + step * k), f"{low + step * k:.2f}") for k in range(5)), tuple(map(float, xs)),
    )  # fmt: skip


def _around(values: Sequence[float]) -> tuple[float, float]:
    """Ends on twentieths that hold every value."""
    if not values:
        return 0.0, 1.0
    low, high = math.floor(min(values) * 20) / 20, math.ceil(max(values) * 20) / 20
    return (low, high) if high > low else (low - 0.05, high + 0.05)
