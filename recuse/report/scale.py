"""From numbers to places: a linear scale with round ticks. Places are percentages of the drawing's width."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from recuse.report.numbers import is_number, short

_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Scale:
    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: Any) -> float | None:
        """Place of `value` in percent, clipped to the drawing; None if it is not a number."""
        if not is_number(value):
            return None
        return round(100 * min(1.0, max(0.0, (value - self.low) / (self.high - self.low))), 1)

    def labels(self, *, signed: bool = False) -> list[tuple[float, str]]:
        """(place, text) of each tick."""
        return [(self.at(t) or 0.0, ("+" if signed and t > 0 else "") + short(t)) for t in self.ticks]


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
    step = _step((high - low) / ticks)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    shown = [t for i in range(first, last + 1) if least <= (t := _tidy(i * step)) <= greatest]
    return Scale(max(_tidy(first * step), least), min(_tidy(last * step), greatest), tuple(shown))


def _step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * s for s in _STEPS if power * s >= rough * (1 - 1e-9))


def _tidy(value: float) -> float:
    return float(f"{value:.10g}") or 0.0
