"""The difference of two coefficients over the same items, from their own intervals and their correlation."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from recuse.statistics.distributions import NOTHING, Binomial, Side

if TYPE_CHECKING:
    from recuse.schema import Distribution

__all__ = ["Difference", "Known"]


@dataclass(frozen=True, slots=True)
class Known:
    """A value that is the same in every sample, such as the kappa of a rater that always says the same."""

    value: float

    def interval(self, level: float) -> tuple[float, float]:
        return self.value, self.value

    def p_value(self, limit: float, side: Side) -> float:
        return 0.0 if (self.value > limit) == (side == "above") else 1.0

    def half_width_at(self, factor: float) -> float | None:
        return 0.0


@dataclass(frozen=True, slots=True)
class Difference:
    """first - second, by the method of variance estimates recovery: with (l1, u1) and (l2, u2) their intervals,

        low  = value - sqrt((v1 - l1)^2 - 2 r (v1 - l1)(u2 - v2) + (u2 - v2)^2)
        high = value + sqrt((u1 - v1)^2 - 2 r (u1 - v1)(v2 - l2) + (v2 - l2)^2)

    Zou and Donner (2008), Statistics in Medicine 27, 1693-1702. Intervals that lean to one side, as those of
    coefficients close to 1 do, keep leaning; `correlation` is that of the two estimates. p-values are found by search.
    """

    values: tuple[float, float]
    first: Distribution
    second: Distribution
    correlation: float
    df: float

    @property
    def undefined(self) -> str:
        for one in (self.first, self.second):
            if why := getattr(one, "undefined", ""):
                return str(why)
        low, high = self._ends(0.95)
        return "" if high > low else "no cluster differs from another, so there is no standard error"

    def interval(self, level: float) -> tuple[float, float]:
        return NOTHING if self.undefined else self._ends(level)

    def _ends(self, level: float) -> tuple[float, float]:
        (v1, v2), (l1, u1), (l2, u2) = self.values, self.first.interval(level), self.second.interval(level)
        down, up = _joined(v1 - l1, u2 - v2, self.correlation), _joined(u1 - v1, v2 - l2, self.correlation)
        return v1 - v2 - down, v1 - v2 + up

    def p_value(self, limit: float, side: Side) -> float:
        if self.undefined:
            return 1.0
        inside = (self.values[0] - self.values[1] > limit) == (side == "above")
        end = 0 if (side == "above") == inside else 1
        low, high = 0.0, 1.0  # levels
        for _ in range(60):
            level = (low + high) / 2
            reached = self._ends(min(max(level, 1e-12), 1 - 1e-15))[end]
            low, high = (low, level) if (reached <= limit if end == 0 else reached >= limit) else (level, high)
        half = (1 - high) / 2
        return half if inside else 1 - half

    def half_width_at(self, factor: float) -> float | None:
        if self.undefined:
            return None
        if isinstance(self.first, Binomial) and isinstance(self.second, Binomial):
            # Where little was seen to happen, exact intervals of shares shrink faster than with the root of the trials.
            first, second = (Binomial(s.successes * factor, s.trials * factor) for s in (self.first, self.second))
            low, high = replace(self, first=first, second=second)._ends(0.95)
            return (high - low) / 2
        low, high = self._ends(0.95)
        return (high - low) / 2 / math.sqrt(factor)


def _joined(a: float, b: float, r: float) -> float:
    return math.sqrt(max(a * a - 2 * r * a * b + b * b, 0.0))
