"""The distribution of an intraclass correlation, how well repeats tell these texts apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from scipy import special

from recuse.statistics.distributions import NOTHING, Side, tail

__all__ = ["FixedTexts", "kurtosis_df"]


def kurtosis_df(squares: float, fourths: float, n: int, cells: int) -> float:
    """Degrees of freedom of a pooled variance: min(df, 2 df / (gamma - (R - 3) / R)), df = n - cells.

    gamma = (n + 1) sum d^4 / (sum d^2)^2 is the kurtosis of the n deviations d from their cells' means, `squares` and
    `fourths` the two sums; R = n / cells. The variance of log s^2 is (gamma - (R - 3) / R) / df after Bonett (2006), Computational Statistics & Data Analysis 50, 775-782; normal scores have about 2 /
    df. What a few dozen repeats show of a heavy tail is a part of it, so the excess over 3 counts `SEEN` times. Never
    above df: short tails are not rewarded.
    """
    df = n - cells
    if squares < 1e-20:
        return float(df)
    gamma, size = (n + 1) * fourths / squares**2, n / cells
    gamma += (SEEN - 1) * max(0.0, gamma - 3)
    return min(float(df), 2 * df / (gamma - (size - 3) / size))


HALVINGS = 40
"""To twelve digits. `scipy.special.ncfdtrinc` finds no noncentrality above 10,000, and smaller ones to two or three."""
SEEN = 3.0
"""How many times the excess kurtosis seen counts."""


@dataclass(frozen=True, slots=True)
class FixedTexts:
    """The reliability of one repeat, or of the mean of k, in telling *these* texts apart: B / (B + W), or B / (B + W /
    k).

    B is the variance of the texts' true means (divisor T - 1), W the mean variance of repeats of a text. Texts are not
    a sample here, so that nothing is assumed about how they are distributed: F = k s^2(means) / W follows the
    noncentral F with noncentrality df_between k B / W. `df_between` is T - 1, less where texts differ in noise
    (Satterthwaite), and `df_within` is given up for heavy tails (`kurtosis_df`). Steiger and Fouladi (1997), in What If
    There Were No Significance Tests?

    Where no repeat differed (f infinite), W is at most step^2 p (1 - p), p = 1 - tail^(1 / n) being the share of slips
    by one `step` that `n` repeats without one cannot rule out (Clopper and Pearson); `between` = s^2(means).
    """

    f: float
    df_between: float
    df_within: float
    k: float
    form: Literal["single", "mean"] = "single"
    between: float = 0.0
    step: float = 0.0
    n: int = 0

    @property
    def undefined(self) -> str:
        if math.isnan(self.f) or not (self.df_between > 0 and self.df_within > 0):
            return "needs two targets and a cell with two runs"
        if self.f == math.inf and not (self.step > 0 and self.n > 1):
            return "the runs of a target never differ, and the scale's step is unknown"
        return ""

    def interval(self, level: float) -> tuple[float, float]:
        if self.undefined:
            return NOTHING
        if self.f == math.inf:
            slips = min(0.5, 1 - tail(level) ** (1 / self.n))
            noise = self.step**2 * slips * (1 - slips)
            return self._reliability(max(0.0, self.between / noise - 1 / self.k)), 1.0
        return self._reliability(self._ratio(1 - tail(level))), self._reliability(self._ratio(tail(level)))

    def p_value(self, limit: float, side: Side) -> float:
        if self.undefined:
            return 1.0
        if self.f == math.inf and limit == 1:
            return 1.0
        if limit < 0 or limit >= 1:
            return 0.0 if (limit < 0) == (side == "above") else 1.0
        theta = limit / (1 - limit) / (1.0 if self.form == "single" else self.k)
        if self.f == math.inf:
            share = self.between / (theta + 1 / self.k) / self.step**2
            if side == "below" or share >= 0.25:
                return 1.0 if side == "below" else 0.0
            return ((1 + math.sqrt(1 - 4 * share)) / 2) ** self.n
        noncentrality = theta * self.df_between * self.k
        below = self._cdf(noncentrality)
        return 1 - below if side == "above" else below

    def half_width_at(self, factor: float) -> float | None:
        """Unknown: what helps depends on whether the texts or the repeats are few."""
        return None

    def _reliability(self, theta: float) -> float:
        theta *= 1.0 if self.form == "single" else self.k
        return theta / (1 + theta)

    def _ratio(self, probability: float) -> float:
        """B / W at which F lies at this probability of its distribution; 0 where none is that small."""
        if self._cdf(0.0) <= probability:
            return 0.0
        low, high = 0.0, self.df_between * self.f
        while self._cdf(high) > probability:
            low, high = high, 2 * high
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self._cdf(middle) > probability else (low, middle)
        return (low + high) / 2 / self.df_between / self.k

    def _cdf(self, noncentrality: float) -> float:
        if noncentrality == 0:
            return float(special.fdtr(self.df_between, self.df_within, self.f))
        return float(special.ncfdtr(self.df_between, self.df_within, noncentrality, self.f))
