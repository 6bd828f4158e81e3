"""Distributions of what is made from variances: a standard deviation, and an intraclass correlation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from scipy import special

from recuse.statistics.distributions import NOTHING, Side, tail

__all__ = ["ChiSquareSD", "FRatio"]


@dataclass(frozen=True, slots=True)
class ChiSquareSD:
    """A standard deviation: df * sd^2 / sigma^2 follows chi-square with `df` degrees of freedom (normal scores)."""

    sd: float
    df: float

    @property
    def undefined(self) -> str:
        if not self.df > 0 or math.isnan(self.sd):
            return "no cell has two runs"
        return "" if self.sd > 0 else "no repeat differs from another, so nothing bounds the true spread"

    def interval(self, level: float) -> tuple[float, float]:
        if self.undefined:
            return NOTHING
        above = float(special.chdtri(self.df, tail(level)))
        below = float(special.chdtri(self.df, 1 - tail(level)))
        return self.sd * math.sqrt(self.df / above), self.sd * math.sqrt(self.df / below)

    def p_value(self, limit: float, side: Side) -> float:
        if self.undefined:
            return 1.0
        if limit <= 0:
            return 0.0 if side == "above" else 1.0
        times = self.sd / limit
        ratio = self.df * times * times  # a power would overflow for a limit next to 0
        return float(special.chdtrc(self.df, ratio) if side == "above" else special.chdtr(self.df, ratio))

    def half_width_at(self, factor: float) -> float | None:
        if self.undefined:
            return None
        low, high = ChiSquareSD(self.sd, self.df * factor).interval(0.95)
        return (high - low) / 2


@dataclass(frozen=True, slots=True)
class FRatio:
    """An intraclass correlation of one-way random effects, from its variance ratio F = MSB / MSW.

    single: ICC(1,1) = (F - 1) / (F + k - 1), the reliability of one run; mean: ICC(1,k) = 1 - 1 / F, that of the mean
    of k runs. F / theta follows F(df_between, df_within), theta = 1 + k rho / (1 - rho) for the single form and
    1 / (1 - rho) for the mean. Shrout and Fleiss (1979), Psychological Bulletin 86, 420-428.
    """

    f: float
    df_between: float
    df_within: float
    k: float
    form: Literal["single", "mean"] = "single"

    @property
    def undefined(self) -> str:
        if math.isnan(self.f) or not (self.df_between > 0 and self.df_within > 0):
            return "needs two targets and a cell with two runs"
        return "" if 0 < self.f < math.inf else "the runs of a target never differ, or the targets never do"

    def icc(self, f: float) -> float:
        if f == math.inf:
            return 1.0
        if f == 0:
            return -1 / (self.k - 1) if self.form == "single" else -math.inf
        return (f - 1) / (f + self.k - 1) if self.form == "single" else 1 - 1 / f

    def interval(self, level: float) -> tuple[float, float]:
        if self.undefined:
            return NOTHING
        alpha = tail(level)
        low = self.f / float(special.fdtri(self.df_between, self.df_within, 1 - alpha))
        high = self.f / float(special.fdtri(self.df_between, self.df_within, alpha))
        return self.icc(low), self.icc(high)

    def p_value(self, limit: float, side: Side) -> float:
        if self.undefined:
            return 1.0
        theta = self._theta(limit)
        if theta <= 0 or theta == math.inf:  # beyond what an intraclass correlation can be
            return 0.0 if (theta <= 0) == (side == "above") else 1.0
        cdf = special.fdtrc if side == "above" else special.fdtr
        return float(cdf(self.df_between, self.df_within, self.f / theta))

    def _theta(self, rho: float) -> float:
        if rho >= 1:
            return math.inf
        return 1 / (1 - rho) if self.form == "mean" else 1 + self.k * rho / (1 - rho)

    def half_width_at(self, factor: float) -> float | None:
        """Unknown: what helps is more targets, not more runs of the same ones."""
        return None
