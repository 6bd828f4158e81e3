"""Numbers over items: Pearson's, Spearman's and Kendall's correlation, Lin's concordance and mean errors of two raters,
intraclass correlations of any number.

Pearson and concordance are functions of sums. Ranks belong to all items at once; where ratings come in steps, they too
follow from counts: how often each pair of values occurs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from recuse.schema import RecuseError
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.coefficient import EMPTY, Coefficient, ratio
from recuse.statistics.agreement.options import coded
from recuse.statistics.distributions import Sampled

CELLS = 500  # most pairs of values that ranks are counted over
BINS = 20  # with more, the standard error is that of ranks in as many classes of equal size; the value is exact
IccForm = Literal["ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)"]
FORMS: tuple[IccForm, ...] = ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)")


def pearson(x: ArrayLike, y: ArrayLike) -> Coefficient:
    """Pearson's r of two raters (items,), over the items that both rated; undefined where either is constant.

    >>> round(pearson([1, 2, 3], [1, 2, 4]).value, 4)
    0.982
    """
    return Coefficient(products(x, y), pearson_of_sums, _why, "correlation")


def pearson_of_sums(sums: Floats) -> Floats:
    """The same from sums of `products`, (..., 6)."""
    n, mx, my, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore"):
        below = np.sqrt(_spread(n, mx, xx)) * np.sqrt(_spread(n, my, yy))
    return np.clip(ratio(n * xy - mx * my, below), -1.0, 1.0)


def concordance(shares: Floats) -> Coefficient:
    """Lin's concordance 2 cov(x, y) / (var(x) + var(y) + (mean(x) - mean(y))^2), divisor n, from the `products` of two
    raters: 1 only where ratings are equal, not merely on a line. Lin (1989), Biometrics 45, 255-268."""

    def of(s: Floats) -> Floats:
        n, mx, my, xx, yy, xy = s.T
        return ratio(2 * (n * xy - mx * my), _spread(n, mx, xx) + _spread(n, my, yy) + (mx - my) ** 2)

    return Coefficient(shares, of, lambda s: "" if s[0] > 0 and np.isfinite(of(s[None])[0]) else _why(s), "correlation")


def products(x: ArrayLike, y: ArrayLike) -> Floats:
    """Per item 1, x, y, x^2, y^2, xy about a common centre, (items, 6); 0 where either is missing."""
    a, b = _both(x, y)
    there = np.isfinite(a)
    centre = (a[there].mean() + b[there].mean()) / 2 if there.any() else 0.0
    a, b = np.where(there, a - centre, 0.0), np.where(there, b - centre, 0.0)
    return np.column_stack([there.astype(float), a, b, a * a, b * b, a * b])


def spearman_rho(x: ArrayLike, y: ArrayLike, times: Floats | None = None) -> Coefficient:
    """Spearman's rho, Pearson's r of mean ranks, over the items that both rated; undefined where either is constant.
    `times` (items,): how many items each stands for.

    Beyond `CELLS` pairs of different values, `of` and so every interval takes ranks in `BINS` classes."""
    return _of_counts(x, y, times, _rho, _spearman)


def kendall_tau(x: ArrayLike, y: ArrayLike, times: Floats | None = None) -> Coefficient:
    """Kendall's tau-b, (concordant - discordant) / sqrt(pairs untied in x * pairs untied in y), over the items that
    both rated; undefined where either is constant. `times` and classes as for `spearman_rho`."""
    return _of_counts(x, y, times, _tau, _kendall)


def _rho(tables: Floats) -> Floats:
    """Spearman's rho of counts of pairs of values, (..., rows, columns), both in ascending order; shape (...,)."""
    a, b = tables.sum(axis=2), tables.sum(axis=1)
    n = a.sum(axis=1, keepdims=True)
    p, q = (np.cumsum(side, axis=1) - side / 2 - n / 2 for side in (a, b))
    together = ((p[:, None, :] @ tables)[:, 0, :] * q).sum(axis=1)
    return np.clip(ratio(together, np.sqrt((a * p**2).sum(axis=1) * (b * q**2).sum(axis=1))), -1.0, 1.0)


def _tau(tables: Floats) -> Floats:
    """Kendall's tau-b of the same."""
    upto = np.cumsum(np.cumsum(tables, axis=1), axis=2)
    balance = np.zeros_like(tables)  # pairs below in x: lower in y, less higher in y
    balance[:, 1:, 1:] = upto[:, :-1, :-1]
    balance[:, 1:, :] -= upto[:, :-1, -1:] - upto[:, :-1, :]
    both = (tables * balance).sum(axis=(1, 2))
    n = tables.sum(axis=(1, 2))
    untied = [(n**2 - (tables.sum(axis=axis) ** 2).sum(axis=1)) / 2 for axis in (1, 2)]
    return np.clip(ratio(both, np.sqrt(untied[0] * untied[1])), -1.0, 1.0)


def mean_error(rater: ArrayLike, labels: ArrayLike) -> Coefficient:
    """Mean of rater - label over items, both (items,): above 0 where the rater is generous.

    >>> mean_error([1.0, 2.0, 4.0], [1.0, 2.0, 3.0]).value.__round__(4)
    0.3333
    """
    return _mean(np.asarray(rater, dtype=float) - np.asarray(labels, dtype=float))


def mean_absolute_error(rater: ArrayLike, labels: ArrayLike) -> Coefficient:
    """Mean of |rater - label| over items, both (items,)."""
    return _mean(np.abs(np.asarray(rater, dtype=float) - np.asarray(labels, dtype=float)))


def _mean(differences: Floats) -> Coefficient:
    there = np.isfinite(differences)
    shares = np.column_stack([there.astype(float), np.where(there, differences, 0.0)])
    return Coefficient(shares, lambda s: ratio(s[:, 1], s[:, 0]), lambda s: "" if s[0] > 0 else EMPTY)


def _spearman(x: Floats, y: Floats, times: Floats | None) -> float:
    each = np.ones(len(x)) if times is None else times
    a, b = (counted_ranks(side, each) - (each.sum() + 1) / 2 for side in (x, y))
    return float(np.clip(ratio(each @ (a * b), np.sqrt((each @ a**2) * (each @ b**2))), -1.0, 1.0))


def _kendall(x: Floats, y: Floats, times: Floats | None) -> float:
    if times is None:
        from scipy import stats  # heavy, and used here alone

        return float(stats.kendalltau(x, y).statistic)
    a, b = (np.unique(side, return_inverse=True)[1] for side in (x, y))
    table = np.zeros((1, a.max() + 1, b.max() + 1))
    np.add.at(table[0], (a, b), times)
    return float(_tau(table)[0])


def _of_counts(
    x: ArrayLike, y: ArrayLike, times: Floats | None, of_tables: Callable[[Floats], Floats],
    of_pairs: Callable[[Floats, Floats, Floats | None], float],
) -> Coefficient:  # fmt: skip
    """From each item's 1 among rows x columns of values; where these are classes, the value is that `of_pairs`."""
    both = _both(x, y)
    there = np.isfinite(both[0])
    codes, sizes = zip(*((c, max(len(options), 1)) for c, options in map(coded, both)), strict=True)
    exact = None
    if sizes[0] * sizes[1] > CELLS:
        exact = of_pairs(both[0][there], both[1][there], None if times is None else times[there])
        codes, sizes = tuple(_classes(side, times) for side in codes), (BINS, BINS)
    shares = np.zeros((both.shape[1], sizes[0] * sizes[1]))
    places = (codes[0][there] * sizes[1] + codes[1][there]).astype(np.intp)
    shares[np.flatnonzero(there), places] = 1.0

    def why(sums: Floats) -> str:
        table = sums.reshape(sizes)
        return _why_none(table.sum(), [bool(np.count_nonzero(table.sum(axis=axis)) < 2) for axis in (1, 0)])

    return Coefficient(
        shares, lambda s: of_tables(s.reshape(-1, *sizes)), why, "correlation", exact=exact, times=times
    )  # fmt: skip


def _classes(codes: Floats, times: Floats | None) -> Floats:
    """Codes in order to classes of nearly equal size."""
    there = np.isfinite(codes)
    counts = np.bincount(codes[there].astype(np.intp), weights=None if times is None else times[there])
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    classes = np.full(codes.shape, np.nan)
    classes[there] = np.minimum((middle * BINS).astype(np.intp), BINS - 1)[codes[there].astype(np.intp)]
    return classes


def _both(x: ArrayLike, y: ArrayLike) -> Floats:
    """Both raters, NaN on the items that either left out."""
    values = np.array([x, y], dtype=float)
    values[:, ~np.isfinite(values).all(axis=0)] = np.nan
    return values


def _spread(n: Floats, total: Floats, squares: Floats) -> Floats:
    spread = n * squares - total**2
    return np.where(spread > 1e-11 * np.maximum(n * squares, 1e-300), spread, 0.0)


def _why(s: Floats) -> str:
    """Of sums of `products`, (6,)."""
    return _why_none(s[0], [bool(_spread(s[0], s[k], s[k + 2]) == 0) for k in (1, 2)])


def _why_none(n: float, constant: list[bool]) -> str:
    """Why n items give no correlation, where the raters may be `constant`; empty where they give one."""
    if n < 2:
        return f"a correlation needs two items that both rated; there are {int(n)}"
    if all(constant):
        return "both raters gave every item the same rating"
    return f"the {'first' if constant[0] else 'second'} rater gave every item the same rating" if any(constant) else ""


def counted_ranks(values: Floats, times: Floats) -> Floats:
    """Mean ranks from 1 of values (n,) of which each is there so many `times`."""
    place = np.unique(values, return_inverse=True)[1]
    ties = np.bincount(place, weights=times)
    return np.asarray((np.cumsum(ties) - ties / 2 + 0.5)[place])


# --------------------------------------------------------------------------- intraclass correlations
# Of items x raters, all six of Shrout and Fleiss, and the F interval of ICC(2,1).
#
#     ICC(1,1) = (MSR - MSW) / (MSR + (k - 1) MSW)                          raters differ from item to item
#     ICC(2,1) = (MSR - MSE) / (MSR + (k - 1) MSE + k (MSC - MSE) / n)      raters are a sample: absolute agreement
#     ICC(3,1) = (MSR - MSE) / (MSR + (k - 1) MSE)                          these raters: consistency
#     ICC(.,k) = k ICC / (1 + (k - 1) ICC)                                  the mean of k raters (Spearman and Brown)
#
# MSR, MSC, MSE: mean squares of items, raters and rest in the two-way table; MSW: within items in the one-way table.
# Shrout and Fleiss (1979), Psychological Bulletin 86, 420-428; McGraw and Wong (1996), Psychological Methods 1, 30-46.
#
# Arrays have shape (..., items, raters): whatever stands in front is computed at once.


class MeanSquares(NamedTuple):
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
    items, columns, error, inside = (np.where(n < 2, np.nan, part) for part in squares)
    return MeanSquares(items, columns, error, inside, n, k)


def icc(squares: MeanSquares, form: IccForm = "ICC(2,1)") -> Floats:
    """The coefficient of every table; NaN where nothing varies at all, or between items for a mean of raters."""
    s, k = squares, squares.k
    error = {"1": s.within, "2": s.rest, "3": s.rest}[form[4]]
    with np.errstate(invalid="ignore", divide="ignore"):
        raters = k * (s.raters - s.rest) / s.n if form[4] == "2" else 0.0
        spread = raters / k if form[6] == "k" else (k - 1) * error + raters
        below = s.items + spread
        return np.where(np.abs(below) > 0, (s.items - error) / below, np.nan)


def icc_of_pairs(x: ArrayLike, y: ArrayLike) -> Coefficient:
    """ICC(2,1) of two raters from sums that items add up to, so that it can be resampled: where items come in clusters,
    the jackknife over clusters, symmetric in atanh, replaces the F interval, which takes items for independent."""
    return Coefficient(products(x, y), lambda s: icc(squares_of_pairs(s)), lambda s: _too_few(s[0]), "correlation")


def _too_few(n: Any) -> str:
    return "" if n >= 2 else f"an intraclass correlation needs two items that both rated; there are {int(n)}"


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
        if few := _too_few(s.n):
            return few
        if math.isnan(self.value):
            return "no rating differs from another" if not float(s.within + s.items) > 0 else "item means are all equal"
        low, high = self._ends(0.025)
        return "" if math.isfinite(low) and math.isfinite(high) else "the raters never differ, or the items never do"

    def _ends(self, alpha: float) -> tuple[float, float]:
        return float(_at(self.squares, 1 - alpha)), float(_at(self.squares, alpha))

    def _with(self, factor: float) -> ICC:
        return ICC(self.squares._replace(n=self.squares.n * factor))
