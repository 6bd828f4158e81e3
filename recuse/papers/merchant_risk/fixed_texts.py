"""The intraclass correlation of these texts: how well repeats tell them apart, with an interval over repeats alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from recuse.schema.arrays import Floats
from recuse.statistics.distributions import Sampled

HALVINGS = 40  # twelve digits; `scipy.special.ncfdtrinc` finds none above 10,000, and smaller ones to two or three
SEEN = 4.5  # times the excess kurtosis seen counts: a few dozen repeats show a part of a heavy tail


@dataclass(frozen=True, slots=True)
class Noise:
    """What makes the repeats of texts differ from normal ones of one variance. `df`: degrees of freedom of their pooled
    variance. `unequal`: mean of the squared variances over the square of their mean, 1 where texts are equally noisy.
    `afar`: mean variance of the texts weighted by how far they lie from the mean of all, over that of all."""

    df: float
    unequal: float = 1.0
    afar: float = 1.0


def noise_of(texts: Sequence[Floats]) -> Noise:
    """Of the repeats of each text, shape (R_t,), two or more of each. With d the n deviations from the means of T
    texts, R = n / T and u = `unequal`, whose estimate is corrected for variances of so few normal repeats:

        gamma = (n + 1) sum d^4 / (sum d^2)^2 / u,    df = 2 n / (u (gamma - (R - 3) / (R - 1)))

    gamma is their kurtosis within texts; the squared relative standard error of a variance of R values is (gamma - (R -
    3) / (R - 1)) / R, which gives n - T where they are normal. The excess of gamma over 3 counts `SEEN` times; df is
    never above n - T: short tails are not rewarded."""
    sizes = np.array([len(x) for x in texts], dtype=float)
    means, variances = np.empty((2, len(texts)))
    for places, table in by_size(texts):
        means[places], variances[places] = table.mean(axis=1), table.var(axis=1, ddof=1)
    n, cells, repeats = float(sizes.sum()), len(texts), float(sizes.mean())
    if variances.mean() < 1e-20:
        return Noise(n - cells)
    few = (repeats - 1) / (repeats + 1)
    unequal = max(1.0, cells * few * float((variances**2).sum() / variances.sum() ** 2))
    away = (means - means.mean()) ** 2
    afar = float((away * variances).sum() / away.sum() / variances.mean()) if away.sum() > 1e-20 else 1.0
    deviations = np.concatenate(texts) - np.repeat(means, sizes.astype(int))
    gamma = (n + 1) * float((deviations**4).sum()) / float((deviations**2).sum()) ** 2 / unequal
    gamma += (SEEN - 1) * max(0.0, gamma - 3)
    df = 2 * n / (unequal * (gamma - (repeats - 3) / (repeats - 1)))
    return Noise(min(n - cells, df), unequal, afar)


def by_size(texts: Sequence[Floats]) -> list[tuple[NDArray[np.intp], Floats]]:
    """Of each number of repeats R that texts have, which T of them have it, and these repeats, (T, R)."""
    sizes = np.array([len(x) for x in texts], dtype=int)
    values, starts = np.concatenate([*texts, np.zeros(0)]), np.cumsum(sizes) - sizes
    every = ((size, np.flatnonzero(sizes == size)) for size in np.unique(sizes).tolist())
    return [(places, values[starts[places, None] + np.arange(size)]) for size, places in every]


@dataclass(frozen=True, slots=True)
class FixedTexts(Sampled):
    """The reliability of one repeat, or of the mean of k, in telling *these* texts apart: B / (B + W), or B / (B + W /
    k), B the variance of the texts' true means (divisor T - 1), W the mean variance of repeats of a text.

    Texts are not a sample here, so that nothing is assumed about how they are distributed: F = k s^2(means) / W follows
    the noncentral F with noncentrality df k B / W (Steiger and Fouladi 1997, in What If There Were No Significance
    Tests?). Of s^2(means) the noise has the variance 2 (u + 2 w k B / W) / (T - 1), u being the noise's `unequal` and w
    its `afar`; so df = (T - 1) (1 + 2 k B / W) / (u + 2 w k B / W), T - 1 where texts are equally noisy and never above
    it (Satterthwaite). F's second df are those of the noise. Where no repeat differed (f infinite), W is at most step^2
    p (1 - p), p = 1 - tail^(1 / n) being the share of slips by one `step` that `n` repeats without one cannot rule out
    (Clopper and Pearson); `between` = s^2(means)."""

    f: float
    texts: int
    noise: Noise
    k: float
    form: Literal["single", "mean"] = "single"
    between: float = 0.0
    step: float = 0.0
    n: int = 0

    @property
    def undefined(self) -> str:
        if math.isnan(self.f) or not (self.texts > 1 and self.noise.df > 0):
            return "needs two targets and a cell with two runs"
        if self.f == math.inf and not (self.step > 0 and self.n > 1):
            return "the runs of a target never differ, and the scale's step is unknown"
        return ""

    def _ends(self, alpha: float) -> tuple[float, float]:
        if self.f == math.inf:
            slips = min(0.5, 1 - alpha ** (1 / self.n))
            noise = self.step**2 * slips * (1 - slips)
            return self._reliability(max(0.0, self.between / noise - 1 / self.k)), 1.0
        return self._reliability(self._ratio(1 - alpha)), self._reliability(self._ratio(alpha))

    def _half_width_at(self, factor: float) -> float | None:
        """Unknown: what helps depends on whether the texts or the repeats are few."""
        return None

    def _reliability(self, theta: float) -> float:
        theta *= 1.0 if self.form == "single" else self.k
        return theta / (1 + theta)

    def _ratio(self, probability: float) -> float:
        """B / W at which F lies at this probability of its distribution; 0 where none is that small."""
        if self._cdf(0.0) <= probability:
            return 0.0
        low, high = 0.0, self.f / self.k
        while self._cdf(high) > probability:
            low, high = high, 2 * high
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._cdf(middle) > probability else (low, middle)
        return (low + high) / 2

    def _cdf(self, theta: float) -> float:
        """How likely F is at most as large as seen, B / W being `theta`."""
        wide, noise = 2 * self.k * theta, self.noise
        df = max(1.0, min(1.0, (1 + wide) / (noise.unequal + wide * noise.afar)) * (self.texts - 1))
        if theta == 0:
            return float(special.fdtr(df, noise.df, self.f))
        return float(special.ncfdtr(df, noise.df, theta * df * self.k, self.f))
