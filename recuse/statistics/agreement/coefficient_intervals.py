"""Distributions of coefficients that end at 1, symmetric on another scale and exact where nobody disagreed, and of
the difference of two coefficients over the same items."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from scipy import special

from recuse.statistics.distributions import (
    NOTHING,
    Binomial,
    Derived,
    Dual,
    Sampled,
    Student,
    joined,
    why_undefined,
)

if TYPE_CHECKING:
    from recuse.schema import Distribution


@dataclass(frozen=True, slots=True)
class NoInterval(Dual):
    """A value that can be shown and not be relied on, and why: no interval, and no p-value below 1."""

    undefined: str

    def interval(self, level: float) -> tuple[float, float]:
        return NOTHING

    def half_width_at(self, factor: float) -> float | None:
        return None


@dataclass(frozen=True, slots=True)
class OnScale(Sampled):
    """Student's t for z(value): z = -log(1 - value) for "chance" coefficients, atanh for correlations; `se` is that of
    the value itself and is carried over by the slope of z (delta method). The interval never leaves the range."""

    value: float
    se: float
    df: float
    form: Literal["chance", "correlation"]

    @property
    def undefined(self) -> str:
        if math.isnan(self.se) or math.isnan(self.value) or not self.df > 0:
            return "one cluster says nothing about the next"
        if abs(self.value) >= 1 - 1e-12:
            return "agreement is complete, and the interval has no finite width on its scale"
        return "" if self.se > 0 else "no cluster differs from another, so there is no standard error"

    def _back(self, z: float) -> float:
        return -math.expm1(-z) if self.form == "chance" else math.tanh(z)

    @property
    def _on_z(self) -> Student:
        z, slope = math.atanh(self.value), 1 / (1 - self.value**2)
        if self.form == "chance":
            z, slope = -math.log1p(-self.value), 1 / (1 - self.value)
        return Student(z, self.se * slope, self.df)

    def _ends(self, alpha: float) -> tuple[float, float]:
        low, high = self._on_z._ends(alpha)
        return self._back(max(low, -700.0)), self._back(high)

    def _half_width_at(self, factor: float) -> float | None:
        on_z = self._on_z
        half = on_z.half_width_at(factor)
        return None if half is None else (self._back(on_z.value + half) - self._back(on_z.value - half)) / 2


@dataclass(frozen=True, slots=True)
class PerfectAgreement(Sampled):
    """A coefficient 1 - D_o / D_e of which D_o was 0 in all of `clusters`: exact binomial bound (Clopper and Pearson).

    If a share q of clusters held disagreement, none of G would show it with probability (1 - q)^G; one cluster of
    disagreement adds at most `worst` = largest disagreement / D_e to what is missing from 1.
    """

    clusters: int
    worst: float
    value: float = 1.0

    @property
    def undefined(self) -> str:
        return "" if self.clusters > 1 and math.isfinite(self.worst) else "one cluster says nothing about the next"

    def _ends(self, alpha: float) -> tuple[float, float]:
        return 1 + self.worst * math.expm1(math.log(alpha) / self.clusters), 1.0

    def _half_width_at(self, factor: float) -> float | None:
        return float(-self.worst * special.expm1(math.log(0.025) / (self.clusters * factor)) / 2)


@dataclass(frozen=True, slots=True)
class AtMost(Derived):
    """The upper half of an interval: `lowest`, the end of the range, stands for what cannot be told. It may show that a
    value lies below a limit, and never that it lies above one."""

    lowest: float

    def interval(self, level: float) -> tuple[float, float]:
        return NOTHING if self.undefined else (self.lowest, self.distribution.interval(level)[1])

    def half_width_at(self, factor: float) -> float | None:
        """None: how much more would show the low end is not known."""
        return None


@dataclass(frozen=True, slots=True)
class Known(Dual):
    """A value that is the same in every sample, such as the kappa of a rater that always says the same."""

    value: float
    undefined: ClassVar[str] = ""

    def interval(self, level: float) -> tuple[float, float]:
        return self.value, self.value

    def half_width_at(self, factor: float) -> float | None:
        return 0.0


@dataclass(frozen=True, slots=True)
class Difference(Sampled):
    """first - second, by the method of variance estimates recovery: with (l1, u1) and (l2, u2) their intervals,

        low  = value - sqrt((v1 - l1)^2 - 2 r (v1 - l1)(u2 - v2) + (u2 - v2)^2)
        high = value + sqrt((u1 - v1)^2 - 2 r (u1 - v1)(v2 - l2) + (v2 - l2)^2)

    Zou and Donner (2008), Statistics in Medicine 27, 1693-1702. Intervals that lean to one side, as those of
    coefficients close to 1 do, keep leaning; `correlation` is that of the two estimates.
    """

    values: tuple[float, float]
    first: Distribution
    second: Distribution
    correlation: float
    df: float

    @property
    def value(self) -> float:
        """The first less the second."""
        return self.values[0] - self.values[1]

    @property
    def undefined(self) -> str:
        if why := why_undefined(self.first, self.second):
            return why
        low, high = self._ends(0.025)
        return "" if high > low else "no cluster differs from another, so there is no standard error"

    def _ends(self, alpha: float) -> tuple[float, float]:
        (v1, v2), ((l1, u1), (l2, u2)) = self.values, (of.interval(1 - 2 * alpha) for of in (self.first, self.second))
        down, up = joined(v1 - l1, u2 - v2, self.correlation), joined(u1 - v1, v2 - l2, self.correlation)
        return v1 - v2 - down, v1 - v2 + up

    def _with(self, factor: float) -> Difference:
        if isinstance(self.first, Binomial) and isinstance(self.second, Binomial):
            # Where little was seen to happen, exact intervals of shares shrink faster than with the root of the trials.
            return replace(self, first=self.first._with(factor), second=self.second._with(factor))
        return self

    def _half_width_at(self, factor: float) -> float | None:
        more = self._with(factor)
        half = Sampled._half_width_at(self, factor)
        return half if half is None or more is not self else half / math.sqrt(factor)
