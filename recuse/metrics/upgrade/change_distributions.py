"""Sampling distributions of changes: differences of means over the same texts, the largest of many, a value without its
sign."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recuse.schema import Distribution
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.coefficient_intervals import Difference
from recuse.statistics.clusters import OverClusters
from recuse.statistics.distributions import NOTHING, Binomial, Side

FEW = 10
"""Clusters that differ from 0 below which their spread says little of the next."""


def mean_change(
    plus: Floats, minus: Floats | None, clusters: NDArray[np.intp], *, span: float
) -> OverClusters | RareChange:
    """Distribution of the mean of `plus` less the mean of `minus` (U,), each over the texts where it is known (not
    NaN), paired as it comes. Values, and the difference, lie within -span and span.

        e_g = sum over cluster g of (x - mean) / n, less the same of `minus`;    se^2 = G / (G - 1) sum e_g^2

    on G - 1 degrees of freedom, G the number of clusters. Where fewer than 10 clusters, and not half of them, differ
    from 0 this says little of the next one, and `RareChange` takes its place: what was never seen to change may still
    do so. Where all differ alike, one text more that does not differ is what could happen next: se = |mean| / G."""
    shares, value, differs = np.zeros(len(plus)), 0.0, np.zeros(len(plus), dtype=bool)
    used = np.zeros(len(plus), dtype=bool)
    for side, sign in ((plus, 1.0), (minus, -1.0)):
        if side is None:
            continue
        there = np.isfinite(side)
        if not (n := int(there.sum())):
            return OverClusters(math.nan, math.nan, 0)
        mean = math.fsum(side[there].tolist()) / n
        value += sign * mean
        shares[there] += sign * (side[there] - mean) / n
        used |= there
        differs |= there & (np.abs(np.nan_to_num(side)) > 1e-12 * span)
    sizes = np.bincount(clusters[used])
    count = int(np.count_nonzero(sizes))
    if count < 2:
        return OverClusters(value, math.nan, 0)
    if np.count_nonzero(np.bincount(clusters[differs])) < min(FEW, count / 2):
        return _rare(np.nan_to_num(plus) - (0 if minus is None else np.nan_to_num(minus)), used, value, count, span)
    squares = float((np.bincount(clusters[used], weights=shares[used])[sizes > 0] ** 2).sum())
    se = math.sqrt(count / (count - 1) * squares)
    return OverClusters(value, se if se > 1e-12 * span else abs(value) / count, count - 1)


def _rare(moved: Floats, used: NDArray[np.bool_], value: float, count: int, span: float) -> RareChange:
    up, down = (float(np.clip(sign * moved[used] / span, 0.0, 1.0).mean()) for sign in (1.0, -1.0))
    return RareChange(value, Binomial(up * count, count), Binomial(down * count, count), span)


@dataclass(frozen=True, slots=True)
class RareChange:
    """Mean change where few texts change: span (p_up - p_down), the shares of texts that move all the way up and down
    (one that moves half the way counts half), each with Clopper and Pearson's exact interval, every cluster one
    observation, put together as by Zou and Donner (2008) for two shares of one sample."""

    value: float
    up: Binomial
    down: Binomial
    span: float

    undefined = ""

    def interval(self, level: float) -> tuple[float, float]:
        low, high = self._joined.interval(level)
        return self.span * low, self.span * high

    def p_value(self, limit: float, side: Side) -> float:
        return self._joined.p_value(limit / self.span, side)

    def half_width_at(self, factor: float) -> float | None:
        low, high = self._scaled(factor).interval(0.95)
        return self.span * (high - low) / 2

    @property
    def _joined(self) -> Difference:
        return self._scaled(1.0)

    def _scaled(self, factor: float) -> Difference:
        distributions = [
            Binomial(distribution.successes * factor, distribution.trials * factor)
            for distribution in (self.up, self.down)
        ]
        p, q = (distribution.successes / distribution.trials for distribution in distributions)
        together = -math.sqrt(p * q / ((1 - p) * (1 - q))) if p < 1 and q < 1 else 0.0
        return Difference((p, q), distributions[0], distributions[1], together, distributions[0].trials - 1)


@dataclass(frozen=True, slots=True)
class Largest:
    """The largest of several true values, of any sign where `both`: which one it is, is not known.

    That all lie below a limit takes every one below it, each at its own level (an intersection-union test: no
    correction). That some one lies above takes one above it after looking at all (Bonferroni). So the upper end of the
    interval is the largest of the upper ends, the lower end the largest of the corrected lower ends."""

    distributions: tuple[Distribution, ...]
    both: bool

    @property
    def undefined(self) -> str:
        return next(
            (why for distribution in self.distributions if (why := str(getattr(distribution, "undefined", "")))), ""
        )

    def interval(self, level: float) -> tuple[float, float]:
        if self.undefined:
            return NOTHING
        corrected = 1 - (1 - level) / len(self.distributions)
        low = max(self._ends(distribution, corrected)[0] for distribution in self.distributions)
        high = max(self._ends(distribution, level)[1] for distribution in self.distributions)
        return min(low, high), high

    def p_value(self, limit: float, side: Side) -> float:
        if self.undefined:
            return 1.0
        each = [self._p(distribution, limit, side) for distribution in self.distributions]
        return max(each) if side == "below" else min(1.0, len(each) * min(each))

    def half_width_at(self, factor: float) -> float | None:
        widths = [distribution.half_width_at(factor) for distribution in self.distributions]
        return None if any(width is None for width in widths) else max(width for width in widths if width is not None)

    def _ends(self, distribution: Distribution, level: float) -> tuple[float, float]:
        low, high = distribution.interval(level)
        return _folded(low, high) if self.both else (low, high)

    def _p(self, distribution: Distribution, limit: float, side: Side) -> float:
        if not self.both:
            return distribution.p_value(limit, side)
        ends = distribution.p_value(limit, side), distribution.p_value(-limit, "above" if side == "below" else "below")
        return max(ends) if side == "below" else min(ends)


@dataclass(frozen=True, slots=True)
class _Derived:
    """A distribution made of another, and undefined where that one is."""

    distribution: Distribution

    @property
    def undefined(self) -> str:
        return str(getattr(self.distribution, "undefined", ""))


@dataclass(frozen=True, slots=True)
class Folded(_Derived):
    """A value without its sign: how far a bias is from 0, whichever way it leans."""

    def interval(self, level: float) -> tuple[float, float]:
        low, high = self.distribution.interval(level)
        return NOTHING if math.isnan(low) or math.isnan(high) else _folded(low, high)

    def p_value(self, limit: float, side: Side) -> float:
        return Largest((self.distribution,), both=True).p_value(limit, side)

    def half_width_at(self, factor: float) -> float | None:
        return self.distribution.half_width_at(factor)


@dataclass(frozen=True, slots=True)
class Hidden(_Derived):
    """A distribution of what was seen, wider by what was left out could hide: the true value lies up to `down` below
    and up to `up` above what the seen part alone would say."""

    down: float
    up: float

    def interval(self, level: float) -> tuple[float, float]:
        low, high = self.distribution.interval(level)
        return low - self.down, high + self.up

    def p_value(self, limit: float, side: Side) -> float:
        return self.distribution.p_value(limit + self.down if side == "above" else limit - self.up, side)

    def half_width_at(self, factor: float) -> float | None:
        half = self.distribution.half_width_at(factor)
        return None if half is None else half + max(self.down, self.up)


@dataclass(frozen=True, slots=True)
class Within(_Derived):
    """A distribution of what cannot lie beyond two bounds, as a correlation beyond -1 and 1: an end of an interval that
    does is told as the bound."""

    least: float
    most: float

    def interval(self, level: float) -> tuple[float, float]:
        low, high = self.distribution.interval(level)
        return max(low, self.least), min(high, self.most)  # NaN stays: it is the first of each pair

    def p_value(self, limit: float, side: Side) -> float:
        return self.distribution.p_value(limit, side)

    def half_width_at(self, factor: float) -> float | None:
        return self.distribution.half_width_at(factor)


def _folded(low: float, high: float) -> tuple[float, float]:
    return max(0.0, low, -high), max(abs(low), abs(high))
