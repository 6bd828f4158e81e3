"""Intraclass correlations of items x raters, all six of Shrout and Fleiss, and the F interval of ICC(2,1).

    ICC(1,1) = (MSR - MSW) / (MSR + (k - 1) MSW)                          raters differ from item to item
    ICC(2,1) = (MSR - MSE) / (MSR + (k - 1) MSE + k (MSC - MSE) / n)      raters are a sample: absolute agreement
    ICC(3,1) = (MSR - MSE) / (MSR + (k - 1) MSE)                          these raters: consistency
    ICC(.,k) = k ICC / (1 + (k - 1) ICC)                                  the mean of k raters (Spearman and Brown)

MSR, MSC, MSE: mean squares of items, raters and rest in the two-way table; MSW: within items in the one-way table.
Shrout and Fleiss (1979), Psychological Bulletin 86, 420-428; McGraw and Wong (1996), Psychological Methods 1, 30-46.

Arrays have shape (..., items, raters): whatever stands in front is computed at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from recuse.schema import RecuseError
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.coefficient import Coefficient
from recuse.statistics.agreement.correlation import products
from recuse.statistics.distributions import Sampled

IccForm = Literal["ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)"]
FORMS: tuple[IccForm, ...] = ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)")


@dataclass(frozen=True, eq=False)
class MeanSquares:
    """`items`, `raters`, `rest`, `within`: mean squares, all of shape (...); `n` items (...) by `k` raters. An item
    that lacks a rating is left out whole."""

    items: Floats
    raters: Floats
    rest: Floats
    within: Floats
    n: Floats
    k: int


def mean_squares(ratings: ArrayLike, times: Floats | None = None) -> MeanSquares:
    """Mean squares of ratings (..., items, raters); NaN where fewer than two items are complete. `times` (items,): how
    many items each stands for."""
    values = np.asarray(ratings, dtype=float)
    if values.ndim < 2 or values.shape[-1] < 2:
        raise RecuseError(f"an intraclass correlation needs items x raters, two raters or more; got {values.shape}")
    there = np.isfinite(values).all(axis=-1)
    weight = there.astype(float) if times is None else there * times
    n, k = weight.sum(axis=-1), values.shape[-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        x = np.where(there[..., None], values, 0.0)
        grand = ((x * weight[..., None]).sum(axis=(-2, -1)) / (n * k))[..., None]
        item = x.mean(axis=-1) - grand  # of incomplete ones too, which have no weight
        rater = (x * weight[..., None]).sum(axis=-2) / n[..., None] - grand
        left = x - grand[..., None] - item[..., None] - rater[..., None, :]
        each, left = item**2 * weight, left**2 * weight[..., None]
        sums = k * each.sum(axis=-1), n * (rater**2).sum(axis=-1), left.sum(axis=(-2, -1))
        floor = 1e-24 * np.maximum((x**2).sum(axis=(-2, -1)), 1e-300)  # binary rounding never passes for spread
        between, raters, rest = (np.where(part > floor, part, 0.0) for part in sums)
        squares = (between / (n - 1), raters / (k - 1), rest / ((n - 1) * (k - 1)), (raters + rest) / (n * (k - 1)))
    few = n < 2
    items, columns, error, inside = (np.where(few, np.nan, part) for part in squares)
    return MeanSquares(items, columns, error, inside, n, k)


def icc(squares: MeanSquares, form: IccForm = "ICC(2,1)") -> Floats:
    """The coefficient of every table; NaN where nothing varies at all, or between items for a mean of raters."""
    s, k = squares, squares.k
    error = {"1": s.within, "2": s.rest, "3": s.rest}[form[4]]
    with np.errstate(invalid="ignore", divide="ignore"):
        raters = k * (s.raters - s.rest) / s.n if form[4] == "2" else 0.0
        spread = raters / k if form[6] == "k" else (k - 1) * error + raters
        below = s.items + spread
        coefficient: Floats = np.where(np.abs(below) > 0, (s.items - error) / below, np.nan)
    return coefficient


def icc_of_pairs(x: ArrayLike, y: ArrayLike) -> Coefficient:
    """ICC(2,1) of two raters from sums that items add up to, so that it can be resampled: where items come in clusters,
    the jackknife over clusters, symmetric in atanh, replaces the F interval, which takes items for independent."""

    def why(s: Floats) -> str:
        return "" if s[0] >= 2 else f"an intraclass correlation needs two items that both rated; there are {int(s[0])}"

    return Coefficient(products(x, y), lambda s: icc(squares_of_pairs(s)), why, "correlation")


def squares_of_pairs(s: Floats) -> MeanSquares:
    """Mean squares from the sums 1, x, y, x^2, y^2, xy, (..., 6)."""
    n, x, y, xx, yy, xy = np.moveaxis(s, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        grand = (x + y) / (2 * n)
        total = xx + yy - 2 * n * grand**2
        between = (xx + 2 * xy + yy) / 2 - 2 * n * grand**2
        raters = n * ((x / n - grand) ** 2 + (y / n - grand) ** 2)
        rest = np.where(total - between - raters > 1e-12 * np.abs(total), total - between - raters, 0.0)
        return MeanSquares(between / (n - 1), raters, rest / (n - 1), (raters + rest) / n, n, 2)


def _at(s: MeanSquares, probability: float) -> Floats:
    """The correlation under which the observed items' mean square lies at this quantile."""
    k, n, rho = s.k, s.n, icc(s)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = s.raters / s.rest
        shared = n * (1 + (k - 1) * rho) - k * rho
        spare = (k - 1) * (n - 1) * (k * rho * ratio + shared) ** 2 / ((n - 1) * (k * rho * ratio) ** 2 + shared**2)
        known = (n > 1) & (spare > 0)
        quantile = special.fdtri(np.where(known, n - 1, 1.0), np.where(known, spare, 1.0), probability)
        f = np.where(known, quantile, np.nan)
        value: Floats = n * (s.items - f * s.rest) / (f * (k * s.raters + (k * n - k - n) * s.rest) + n * s.items)
    return np.where(np.isfinite(value), value, np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class ICC(Sampled):
    """Sampling distribution of ICC(2,1): the F interval with Satterthwaite's degrees of freedom, which is nearly exact
    for normal scores."""

    squares: MeanSquares

    @property
    def value(self) -> float:
        """The correlation itself."""
        return float(icc(self.squares))

    @property
    def undefined(self) -> str:
        s = self.squares
        if not s.n >= 2:
            return f"an intraclass correlation needs two items that both rated; there are {int(s.n)}"
        if math.isnan(self.value):
            return "no rating differs from another" if not float(s.within + s.items) > 0 else "item means are all equal"
        low, high = self._ends(0.025)
        return "" if math.isfinite(low) and math.isfinite(high) else "the raters never differ, or the items never do"

    def _ends(self, alpha: float) -> tuple[float, float]:
        return float(_at(self.squares, 1 - alpha)), float(_at(self.squares, alpha))

    def _with(self, factor: float) -> ICC:
        return ICC(replace(self.squares, n=self.squares.n * factor))
