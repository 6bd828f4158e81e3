"""Distributions of what is made from variances: a standard deviation, and an intraclass correlation."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from scipy import special

from recuse.statistics.distributions import NOTHING, Side, tail

__all__ = ["ChiSquareSD", "FixedTexts", "kurtosis_df"]


@dataclass(frozen=True, slots=True)
class ChiSquareSD:
    """A pooled standard deviation: df * sd^2 / sigma^2 follows chi-square with `df` degrees of freedom, given up where
    scores have heavy tails (`kurtosis_df`).

    `step` is the scale's: the upper end allows for one more slip of that size than was seen. A judge of which none of
    `n` repeats differed has an SD of at most step sqrt(p (1 - p)), p = 1 - tail^(1 / n) being the share of slips by one
    step that n repeats without one cannot rule out (Clopper and Pearson); its lower end is 0.
    """

    sd: float
    df: float
    step: float = 0.0
    n: int = 0
    repeats: float = 0.0  # degrees of freedom before any were given up; `df` unless given

    @property
    def undefined(self) -> str:
        if not self.df > 0 or math.isnan(self.sd):
            return "no cell has two runs"
        known = self.sd > 0 or (self.step > 0 and self.n > 1)
        return "" if known else "no repeat differs from another, so nothing bounds the true spread"

    @property
    def _with_slip(self) -> float:
        return math.sqrt(self.sd**2 + self.step**2 / (self.repeats or self.df))

    def interval(self, level: float) -> tuple[float, float]:
        if self.undefined:
            return NOTHING
        if self.sd == 0:
            slips = min(0.5, 1 - tail(level) ** (1 / self.n))
            return 0.0, self.step * math.sqrt(slips * (1 - slips))
        above = float(special.chdtri(self.df, tail(level)))
        below = float(special.chdtri(self.df, 1 - tail(level)))
        return self.sd * math.sqrt(self.df / above), self._with_slip * math.sqrt(self.df / below)

    def p_value(self, limit: float, side: Side) -> float:
        if self.undefined:
            return 1.0
        if limit <= 0:
            return 0.0 if side == "above" and (self.sd > 0 or limit < 0) else 1.0
        if self.sd == 0:
            share = (limit / self.step) ** 2
            if side == "above" or share >= 0.25:
                return 1.0 if side == "above" else 0.0
            return (1 - (1 - math.sqrt(1 - 4 * share)) / 2) ** self.n
        times = (self.sd if side == "above" else self._with_slip) / limit
        ratio = self.df * times * times  # a power would overflow for a limit next to 0
        return float(special.chdtrc(self.df, ratio) if side == "above" else special.chdtr(self.df, ratio))

    def moved(self, value: float) -> ChiSquareSD:
        """The same repeats of a judge whose SD is `value`."""
        return replace(self, sd=value)

    def half_width_at(self, factor: float) -> float | None:
        if self.undefined:
            return None
        more = (self.df * factor, self.step, round(self.n * factor), self.repeats * factor)
        low, high = ChiSquareSD(self.sd, *more).interval(0.95)
        return (high - low) / 2


def kurtosis_df(squares: float, fourths: float, n: int, cells: int, step: float = 0.0) -> float:
    """Degrees of freedom of a pooled variance: min(df, 2 df / (gamma - (R - 3) / R)), df = n - cells.

    gamma = n sum d^4 / (sum d^2)^2 is the kurtosis of the n deviations d from their cells' means, `squares` and
    `fourths` the two sums, one slip by `step` added to each; R = n / cells. The variance of log s^2 is (gamma - (R - 3)
    / R) / df after Bonett (2006), Computational Statistics & Data Analysis 50, 775-782; normal scores have about 2 /
    df. What a few dozen repeats show of a heavy tail is a part of it, so the excess over 3 counts `SEEN` times. Never
    above df: short tails are not rewarded.
    """
    df = n - cells
    if squares < 1e-20:
        return float(df)
    gamma, size = (n + 1) * (fourths + step**4) / (squares + step**2) ** 2, n / cells
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

    Where no repeat differed (f infinite), W is bounded as in `ChiSquareSD`, given `between` = s^2(means), `step` and
    `n`.
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
            noise = ChiSquareSD(0.0, self.df_within, self.step, self.n).interval(level)[1] ** 2
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
            noise = math.sqrt(self.between / (theta + 1 / self.k))
            slips = ChiSquareSD(0.0, self.df_within, self.step, self.n)
            return 1.0 if side == "below" else slips.p_value(noise, "below")
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
