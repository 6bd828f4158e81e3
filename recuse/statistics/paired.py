"""Paired comparison over items: Student's t of differences, the effect in standard deviations, what n could show.

Pairing is over items. Two judges' repeats on one text are not paired with each other, whatever their number."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from recuse.schema import number
from recuse.statistics.bounded import BoundedMean, bounded_mean
from recuse.statistics.clusters import OverClusters, clustered_mean
from recuse.statistics.distributions import bisected

METHOD = "mean of paired differences, Student's t"
POWER = 0.8
OVER_ITEMS = (
    "one item says nothing about the next",
    "no item differs from another, so how far new ones would differ cannot be estimated",
)
BOUNDED_METHOD = "mean of paired differences over items, beta intervals of the parts above and below 0, p by t"


@dataclass(frozen=True, slots=True)
class Paired:
    """Differences d of shape (n,), one per item: mean, sd (n - 1), t = mean / se and its two-sided p-value.

    se = sd / sqrt(n) on n - 1 degrees of freedom, for items that are independent of each other; where several share a
    cluster, `clustered` carries the se over clusters and its degrees of freedom. t and p are NaN where no difference
    varies or there is one item, or cluster, only."""

    n: int
    mean: float
    sd: float
    clustered: OverClusters | None = None
    bounded: BoundedMean | None = None

    @classmethod
    def of(
        cls, differences: ArrayLike, clusters: ArrayLike | None = None,
        *, ends: tuple[float, float] | None = None, slip: float | None = None,
    ) -> Paired:  # fmt: skip
        """NaN marks an item that cannot be compared; it is left out. `clusters` (n,): what each item belongs to.
        `ends`: what no difference can leave; `slip`: the smallest change of a score (`recuse.statistics.bounded`)."""
        d = np.asarray(differences, dtype=float)
        there, distribution, bounded = np.isfinite(d), None, None
        d, groups = d[there], (np.arange(len(d)) if clusters is None else np.asarray(clusters))[there]
        if clusters is not None and len(d):
            distribution = clustered_mean(d, groups)
        if ends is not None and math.isfinite(ends[1] - ends[0]) and len(d):
            bounded = bounded_mean(d, groups, ends, slip=slip)
        return cls(len(d), *moments(d), distribution, bounded)

    @property
    def distribution(self) -> OverClusters:
        """Of the mean: over clusters where these are known, else Student over items."""
        if self.clustered is not None:
            return self.clustered
        se = self.sd / math.sqrt(self.n) if self.n > 1 else math.nan
        return OverClusters(self.mean, se, self.n - 1, why=OVER_ITEMS)

    @property
    def size(self) -> int:
        """How many independent items know the mean as well: n, or (sd / se)^2 where clusters make it fewer."""
        if self.clustered is None or self.distribution.undefined:
            return self.n
        return max(2, min(self.n, round((self.sd / self.distribution.se) ** 2)))

    @property
    def t(self) -> float:
        """mean / se; NaN where nothing varies."""
        return math.nan if self.distribution.undefined else self.mean / self.distribution.se

    @property
    def p(self) -> float:
        """Two-sided, against a mean of 0; NaN where nothing varies."""
        return math.nan if self.distribution.undefined else 2 * float(special.stdtr(self.distribution.df, -abs(self.t)))

    @property
    def dz(self) -> tuple[float, float, float]:
        """Cohen's d of paired differences, mean / sd, with its 95 % interval: the noncentralities under which t would
        be at its 97.5 % and 2.5 % point, over sqrt(`size`) (Steiger and Fouladi 1997)."""
        if self.distribution.undefined:
            return math.nan, math.nan, math.nan
        root = math.sqrt(self.size)
        low, high = (float(special.nctdtrinc(self.distribution.df, p, self.t)) / root for p in (0.975, 0.025))
        return self.mean / self.sd, low, high

    def detail(self, margin: float) -> dict[str, Any]:
        """The test as builtins. `power` is the chance of finding a true difference of `margin` at 5 %, two-sided, given
        the spread seen; `smallest_effect` (SDs) and `smallest_difference` are found with 80 %. Not the power at the
        difference observed, which only says p again. No power for a margin without end, on a scale without one."""
        varies, known = self.sd > 0, math.isfinite(margin)
        smallest = smallest_effect(self.size)
        dz, low, high = self.dz
        return {
            "n": self.n, "t": number(self.t), "p": significant(self.p), "dz": number(dz), "dz_low": rounded(low),
            "dz_high": rounded(high), "sd": number(self.sd), "margin": margin if known else None,
            "power": rounded(power_of(margin / self.sd, self.size)) if varies and known else None,
            "smallest_effect": rounded(smallest),
            "smallest_difference": rounded(smallest * self.sd) if varies else None,
        }  # fmt: skip


def moments(values: NDArray[np.float64]) -> tuple[float, float]:
    """Mean and SD (n - 1); an SD that is 0 but for rounding is 0, and NaN for a single value."""
    n = len(values)
    if not n:
        return math.nan, math.nan
    mean = math.fsum(values.tolist()) / n
    if n == 1:
        return mean, math.nan
    sd = math.sqrt(math.fsum(((values - mean) ** 2).tolist()) / (n - 1))
    return mean, 0.0 if sd < 1e-12 else sd


def significant(value: float) -> float | None:
    """Ten significant digits, for p-values: rounding to decimals would make small ones 0."""
    return None if math.isnan(value) else float(f"{value:.10g}")


def rounded(value: float) -> float | None:
    """Six decimals: as far as the noncentral t is computed alike everywhere."""
    return None if math.isnan(value) else round(float(value), 6)


# --------------------------------------------------------------------------- how much is enough
# Plans for means of normal observations, by Student's t and its noncentral form (Cohen 1988, ch. 2); effects are in
# standard deviations (of the paired differences, where items are compared in pairs).


def fewest(enough: Callable[[int], bool], low: int, most: int) -> int | None:
    """Smallest number above `low`, which is too few, that is `enough`; None where one beyond `most` is not."""
    high = low + 1
    while not enough(high):
        low, high = high, high * 2
        if high > most:
            return None
    return low + 1 + bisect_left(range(low + 1, high), True, key=enough)


def power_of(effect: float, n: int, *, alpha: float = 0.05) -> float:
    """Probability that a two-sided one-sample or paired t-test of n observations finds an effect of `effect` SDs.

        P(|T| > t(1 - alpha / 2, n - 1)),  T ~ noncentral t with noncentrality effect sqrt(n)

    NaN below two observations."""
    if n < 2:
        return math.nan
    critical = float(special.stdtrit(n - 1, 1 - alpha / 2))
    shift = abs(effect) * math.sqrt(n)
    far = float(special.nctdtr(n - 1, shift, -critical))  # scipy gives NaN where this side is too small to compute
    return 1 - float(special.nctdtr(n - 1, shift, critical)) + (0.0 if math.isnan(far) else far)


@lru_cache(maxsize=1024)
def smallest_effect(n: int) -> float:
    """Smallest standardized effect that n observations find with 80 % at 5 %; 0.28 at n = 100.

    An effect below it that was not found says little. NaN below two observations."""
    if n < 2:
        return math.nan
    high = 1.0
    while power_of(high, n) < POWER:
        high *= 2
    return bisected(lambda effect: power_of(effect, n) >= POWER, 0.0, high, 1e-10)[1]
