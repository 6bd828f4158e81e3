"""Trends: a gated number over the baselines that were committed and in this run, one small picture per judge and gate,
with the gate's limits as a band. Places across are percentages of the drawing, upwards pixels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recuse.report.figures.pictures import scale_over
from recuse.report.gated_number import Number
from recuse.schema.number_text import in_unit, is_number
from recuse.schema.results import PastBaseline

HEIGHT = 44
MARGIN = 5
MOST = 48
"""Pictures, those first whose number moved farthest for its interval or whose outcome is another."""


@dataclass(frozen=True, slots=True)
class Trend:
    """One number: its places over time, where its limits lie, and what it comes to in words."""

    label: str
    gate: str
    dots: list[tuple[float, float]]
    band: tuple[float, float]  # from the top, height
    words: str
    outcome: str


@dataclass(frozen=True, slots=True)
class Trends:
    """All of them as the template draws them; they share the days."""

    caption: str
    trends: list[Trend]
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
    ordered = []
    for *_, n, values in sorted(drawn, key=lambda one: one[:2])[:MOST]:
        scale = scale_over([*(value for _, value in values), *n.limit_ends], ends=n.bounds)
        ys = [_upwards(scale.at(value), 0.0) for _, value in values]
        least, most = map(scale.at, n.limit_ends)
        top, bottom = _upwards(most, 0.0), _upwards(least, float(HEIGHT))
        words = f"{in_unit(values[0][1], n.unit, signed=n.is_signed)} → {n.text()}, limit {n.limit_text}"
        dots = [(round(100 * at / len(history), 1), y) for (at, _), y in zip(values, ys, strict=True)]
        ordered.append(Trend(label(n), n.gate_title, dots, (top, round(bottom - top, 1)), words, n.state))
    caption = f"Baselines from {history[0][0]} to {history[-1][0]}, and this run last"
    return Trends(caption, ordered, max(0, len(drawn) - MOST))


def _upwards(place: float | None, edge: float) -> float:
    return edge if place is None else round(MARGIN + (HEIGHT - 2 * MARGIN) * (1 - place / 100), 1)
