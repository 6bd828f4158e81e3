"""The mean of observations that cannot leave the ends of their scale: shares of wins, changes of a grade, differences.

Values are often all equal, mostly 0, or 0 but for a rare large one, where Student's t says far too little or nothing.
So the part above the origin and the part below it are each treated as a share of their end, with Jeffreys' beta
interval at the number of trials that has the variance seen, and the two are joined (MOVER: Zou and Donner 2008,
Statistics in Medicine 27, 1693-1702; Brown, Cai and DasGupta 2001, Statistical Science 16, 101-133):

    mean = p - q,   low = mean - sqrt((p - l_p)^2 + (u_q - q)^2 - 2 r (p - l_p)(u_q - q)),   high likewise

r is the correlation of the two parts over clusters. Each variance is that of sums over clusters; where clusters hang
together, a pseudo-cluster allows for those that were not drawn.
Where nothing varied, or every cluster has one value, an end or 0, and only two of these were seen, the beta interval is
Clopper and Pearson's of these trials: for 2.5 % Jeffreys' misses 8 % where none was seen, 5 % where one was.
With values that vary freely this is Student's t but for a hair. Coverage: `python tests/benchmarks/coverage.py
bounded`."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from recuse.schema.arrays import Floats, ascending_codes, average, number_of_clusters
from recuse.statistics.clusters import FEW, exact_sum, sizes_of
from recuse.statistics.distributions import Sampled, joined

BOUNDED = "mean within the ends of the scale, beta intervals of the parts above and below 0, joined (MOVER)"
ROOT_2_PI = math.sqrt(2 * math.pi)
UNSEEN = 1.0  # weight of the pseudo-cluster, where observations of a cluster are all alike


@dataclass(frozen=True, slots=True)
class Part:
    """The mean of max(x, 0) or max(-x, 0), between 0 and `top`: as a share of `top` in `trials` trials, whose number
    follows from an estimated variance unless they were `counted` (each value 0 or `top`, or all the same)."""

    mean: float
    trials: float
    top: float
    counted: bool = False

    @property
    def variance(self) -> float:
        """Of the mean; 0 where nothing varied."""
        share = self.mean / self.top if self.top > 0 else 0.0
        return share * (1 - share) * self.top**2 / self.trials if 0 < share < 1 else 0.0

    def bounds(self, alpha: float, df: float, more: float = 0.5) -> tuple[float, float]:
        """Low and high end, each missed with probability alpha: Jeffreys' bounds of a share (Beta quantiles with half a
        hit and half a miss added; `more` = 1: Clopper and Pearson's exact ones), no tighter than the mean. `df`: of the
        variance that `trials` follow from."""
        if not self.top > 0:
            return 0.0, 0.0
        near = min(alpha, 0.4999)  # both quantiles vanish at one half, their ratio does not
        spread = 1.0 if self.counted else float(special.ndtri(near)) / float(special.stdtrit(df, near))
        share, n = self.mean / self.top, self.trials * spread**2
        hits, misses = share * n, max(0.0, (1 - share) * n)
        low = float(special.betaincinv(hits + 1 - more, misses + more, alpha)) if share > 0 else 0.0
        high = float(special.betaincinv(hits + more, misses + 1 - more, 1 - alpha)) if share < 1 else 1.0
        return min(low * self.top, self.mean), max(high * self.top, self.mean)


@dataclass(frozen=True, slots=True)
class BoundedMean(Sampled):
    """Distribution of a mean, from its parts above and below `origin`; `df` is the number of clusters less 1."""

    above: Part
    below: Part
    correlation: float
    df: float
    origin: float = 0.0
    slip: float = 0.0  # how far what never varied may slip; 0: the whole way to the end

    @property
    def value(self) -> float:
        """The mean."""
        return self.origin + self.above.mean - self.below.mean

    @property
    def undefined(self) -> str:
        return "" if self.df > 0 else "one cluster says nothing about the next"

    def _with(self, factor: float) -> BoundedMean:
        above, below = (replace(part, trials=part.trials * factor) for part in (self.above, self.below))
        return BoundedMean(above, below, self.correlation, self.df * factor)

    def moved(self, value: float) -> BoundedMean:
        """The same number of observations, normal with the spread that these have, around another mean. Where these did
        not vary, a share of them is a slip off, or all are by more than that."""
        one, other = self.above.variance, self.below.variance
        together = one + other - 2 * self.correlation * math.sqrt(one * other)
        n, shift = self.df + 1, value - self.origin
        if not together > 0:
            above, below = (
                replace(part, mean=min(max(0.0, far), top), top=top)
                for part, far in ((self.above, shift), (self.below, -shift))
                for top in [max(part.top, far) if self.slip else part.top]
            )
            return replace(self, above=above, below=below)
        spread = math.sqrt(n * together)
        chance, density = float(special.ndtr(shift / spread)), math.exp(-((shift / spread) ** 2) / 2) / ROOT_2_PI
        mean = shift * chance + spread * density
        square = (shift**2 + spread**2) * chance + shift * spread * density
        variances = square - mean**2, shift**2 + spread**2 - square - (mean - shift) ** 2
        above = self._moved(self.above, mean, variances[0], chance)
        below = self._moved(self.below, mean - shift, variances[1], 1 - chance)
        seen = min(variances) > 0 and not (above.counted or below.counted)
        alike = -mean * (mean - shift) / math.sqrt(variances[0] * variances[1]) if seen else 0.0
        return replace(self, above=above, below=below, correlation=alike)

    def _moved(self, part: Part, mean: float, variance: float, chance: float) -> Part:
        """A part of which no observation is as likely as one time in five is taken to have none."""
        n, share = self.df + 1, mean / part.top if part.top > 0 else 0.0
        if n * chance < -math.log(0.2):
            return Part(0.0, n, self.slip or part.top, counted=True)
        if not 0 < share < 1 or variance <= 0:
            return Part(min(mean, part.top), n, part.top, counted=True)
        return Part(mean, n * share * (1 - share) * part.top**2 / variance, part.top)

    def _ends(self, alpha: float) -> tuple[float, float]:
        p, q = self.above.mean, self.below.mean
        exact = self.above.counted and self.below.counted
        (low_p, high_p), (low_q, high_q) = (
            one.bounds(alpha, self.df, 1.0 if exact and (one.mean > 0 or not other.variance > 0) else 0.5)
            for one, other in ((self.above, self.below), (self.below, self.above))
        )
        down = joined(p - low_p, high_q - q, self.correlation)
        up = joined(high_p - p, q - low_q, self.correlation)
        return self.value - down, self.value + up


def bounded_mean(
    values: ArrayLike, clusters: ArrayLike, ends: tuple[float, float], *, slip: float | None = None,
    times: Floats | None = None,
) -> BoundedMean:  # fmt: skip
    """Distribution of the mean of `values` between `ends`, which share `clusters`; both arrays have shape (n,). `times`
    (n,): each value stands for so many, one in each of so many clusters. What never varied is bounded by slips of
    `slip`, the whole way to the end unless given."""
    x, groups = np.asarray(values, dtype=float), ascending_codes(clusters)
    low, high = ends
    origin = 0.0 if low < 0 < high else low
    n, count, _ = sizes_of(groups, times)
    above, up = _part(np.maximum(x - origin, 0.0), groups, high - origin, slip, times)
    below, down = _part(np.maximum(origin - x, 0.0), groups, origin - low, slip, times)
    seen = [number for end in {low, origin, high} if (number := int(np.isclose(x, end, 0, 1e-12 * (high - low)).sum()))]
    if count == n and len(seen) < 3 and sum(seen) == len(x):  # of two values the one is a share of trials, exactly
        above, below = (replace(part, trials=float(n), counted=True) for part in (above, below))
    spread = math.sqrt(float((up @ up) * (down @ down)))
    correlation = float(up @ down) / spread if spread > 0 else 0.0
    return BoundedMean(above, below, correlation, count - 1.0, origin, slip or 0.0)


def _part(
    y: Floats, groups: NDArray[np.intp], top: float, slip: float | None, times: Floats | None
) -> tuple[Part, Floats]:
    """The part, and the deviations of the clusters' sums, times the root of how many each stands for."""
    n, count, alike = sizes_of(groups, times)
    if count < 2:
        return Part(average(y, times), 0.0, top), np.zeros(int(groups.max(initial=-1)) + 1)
    mean = exact_sum(y, times) / n
    deviations = y - mean
    sums: Floats = np.bincount(groups, weights=deviations).astype(np.float64)
    if times is not None and alike is not None:
        deviations, sums = deviations * np.sqrt(times), sums * np.sqrt(alike)
    squares, single = (math.fsum((part**2).tolist()) for part in (sums, deviations))
    size, single = n / count, single / n / (n - 1)
    if size > 1 and single > 0:  # where clusters hang together, one more counts whose values all lie one slip off
        together = count / (count - 1) * squares / n**2
        hang = min(1.0, max(0.0, (together / single - 1) / (size - 1)))
        squares += UNSEEN * hang * (size**2 - size) * (slip or top) ** 2
    variance = count / (count - 1) * squares / n**2
    if variance <= 1e-15 * max(top, 1.0) ** 2:  # nothing varied: as many trials as clusters, without a slip
        return Part(mean, float(count), (slip or top) if mean == 0 else top, counted=True), sums
    share = mean / top
    above = number_of_clusters(groups[y > 0], alike)
    if n > 2 * count and above < FEW:  # too few to show whether a cluster's values are alike
        variance = max(variance, share * (1 - share) * top**2 / count)
    return Part(mean, share * (1 - share) * top**2 / variance, top), sums
