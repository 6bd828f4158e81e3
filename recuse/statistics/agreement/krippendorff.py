"""Krippendorff's alpha: any number of raters, missing ratings, and a distance that fits the scale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from recuse.schema import RecuseError
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.coefficient import EMPTY, Coefficient, ratio

Level = Literal["nominal", "ordinal", "interval", "ratio"]
Parts = tuple[Floats, Floats, Floats]
"""How many ratings, their observed disagreement and sum_ck n_c n_k d2_ck, each (B,)."""
LEVELS = ("nominal", "ordinal", "interval", "ratio")
MOST = 2000
"""More different values than this have no table of distances; interval alpha needs none."""


def krippendorff_alpha(ratings: ArrayLike, level: Level = "nominal") -> Coefficient:
    """Krippendorff's alpha of ratings (raters, items), NaN where missing:

        1 - (n - 1) sum_u sum_ck n_uc n_uk d2_ck / (m_u - 1)  /  sum_ck n_c n_k d2_ck

    n_uc: how many raters gave item u value c; m_u: how many rated u, at least two or the item does not count; n: all
    ratings of those items. d2: nominal (c != k), interval (c - k)^2, ratio ((c - k) / (c + k))^2, and ordinal the
    squared difference of mean ranks. Krippendorff (2019), Content Analysis, 4th ed., ch. 12.

    Undefined where all those ratings are equal (d2 sums to 0). Raises `RecuseError` for a ratio scale below 0.

    >>> round(krippendorff_alpha([[1, 2, 3, 3], [1, 2, 3, float("nan")]], "interval").value, 4)
    1.0
    """
    values = np.atleast_2d(np.asarray(ratings, dtype=float))
    if level not in LEVELS:
        raise RecuseError(f"a level of measurement is one of {', '.join(LEVELS)}; got {level!r}")
    if level == "interval":
        there = np.isfinite(values)
        centre = values[there].mean() if there.any() else 0.0
        x = np.where(there, values - centre, 0.0)
        span = float(np.ptp(values[there])) if there.any() else 0.0
        m, sums, squares = there.sum(axis=0).astype(float), x.sum(axis=0), (x * x).sum(axis=0)
        spread = m * squares - sums * sums  # sum_ck n_c n_k (c - k)^2 = 2 (n sum x^2 - (sum x)^2)
        observed = np.divide(2 * np.maximum(spread, 0.0), m - 1, out=np.zeros(len(m)), where=m > 1)
        observed[spread <= 1e-13 * m * squares] = 0.0  # equal ratings, but for rounding
        return _from_sums(np.where(m[:, None] > 1, np.column_stack([m, sums, squares, observed]), 0.0), span)
    options = np.unique(values[np.isfinite(values)])
    if len(options) > MOST:
        raise RecuseError(
            f"{level} alpha of {len(options)} different values needs too large a table; round the ratings to at most "
            f"{MOST} values, or use level interval"
        )
    counts = np.array([(values == option).sum(axis=0) for option in options], dtype=float)
    return alpha_of_counts(counts.reshape(len(options), values.shape[1]).T, level, options)


def alpha_of_counts(counts: Floats, level: Level, options: ArrayLike) -> Coefficient:
    """Alpha from counts (items, K) of `options` (K,), the values that they stand for."""
    m = counts.sum(axis=1)
    used = m > 1
    kept = np.where(used[:, None], counts, 0.0)
    weight = np.divide(1.0, m - 1, out=np.zeros(len(m)), where=used)
    if level == "ordinal":
        k = kept.shape[1]
        if k**2 * len(kept) > 200_000_000:
            raise RecuseError(
                f"ordinal alpha of {len(kept)} items and {k} options needs too large a table; round the ratings to "
                "fewer options, or use level interval"
            )
        together = (weight[:, None] * kept)[:, :, None] * kept[:, None, :]
        return _by_ranks(np.column_stack([kept, together.reshape(len(kept), k**2)]), k)
    apart = _distances(level, np.asarray(options, dtype=float))
    # within an item, pairs of a rating with itself are at distance 0, so they may stay in; a product of matrices so
    # narrow would wait for its own threads
    observed = weight * np.einsum("ui,ij,uj->u", kept, apart, kept)
    return _from(np.column_stack([observed, kept]), apart)


def _from(shares: Floats, apart: Floats) -> Coefficient:
    """From each item's observed disagreement and its counts of options, (items, 1 + K)."""

    def parts(sums: Floats) -> Parts:
        counts = sums[:, 1:]
        return counts.sum(axis=1), sums[:, 0], ((counts @ apart) * counts).sum(axis=1)

    return _alpha(shares, parts, float(apart.max(initial=0.0)))


def alpha_of_tables(tables: Floats, level: Level, options: ArrayLike) -> Coefficient:
    """Alpha of items that two raters rated once each, from tables (items, K, K) of their pairs of options, of total
    weight 1 or 0: one of several raters drawn at random leaves a share of an item in each cell."""
    rated, values = tables.sum(axis=(1, 2)), np.asarray(options, dtype=float)
    both = tables + np.swapaxes(tables, 1, 2)
    counts = both.sum(axis=2)
    if level == "ordinal":
        return _by_ranks(np.column_stack([counts, both.reshape(len(tables), tables.shape[1] ** 2)]), tables.shape[1])
    apart = _distances(level, values)
    return _from(np.column_stack([(both * apart).sum(axis=(1, 2)), counts * (rated > 0)[:, None]]), apart)


def alpha_of_products(products: Floats, span: float) -> Coefficient:
    """Interval alpha of items that two raters rated, from 1, x, y, x^2, y^2, xy of each (items, 6). `span`: how far two
    ratings can lie apart."""
    n, x, y, xx, yy, xy = products.T
    return _from_sums(np.column_stack([2 * n, x + y, xx + yy, 2 * np.maximum(xx + yy - 2 * xy, 0.0)]), span)


def _from_sums(shares: Floats, span: float) -> Coefficient:
    """From each item's number of ratings, their sum, sum of squares and observed disagreement, (items, 4)."""

    def parts(sums: Floats) -> Parts:
        n, one, squares, observed = sums.T
        both = n * squares
        disagreement = 2 * (both - one**2)
        return n, observed, np.where(disagreement > 1e-12 * np.maximum(both, 1e-300), disagreement, 0.0)

    return _alpha(shares, parts, span**2)


def _by_ranks(shares: Floats, options: int) -> Coefficient:
    """From each item's counts of options and of pairs of options, (items, K + K^2): d2_ck = (R_c - R_k)^2, R the mean
    ranks of the options among all ratings, which every resample has its own of."""

    def parts(sums: Floats) -> Parts:
        counts, tables = sums[:, :options], sums[:, options:].reshape(-1, options, options)
        n = counts.sum(axis=1)
        rank = np.cumsum(counts, axis=1) - counts / 2
        rank = (rank - (n / 2)[:, None]) / np.maximum(n, 1.0)[:, None]
        apart = (rank[:, :, None] - rank[:, None, :]) ** 2
        expected = np.einsum("bi,bij,bj->b", counts, apart, counts)
        return n, (tables * apart).sum(axis=(1, 2)), expected

    return _alpha(shares, parts, 1.0)


def _alpha(shares: Floats, parts: Callable[[Floats], Parts], furthest: float) -> Coefficient:
    """Alpha of `shares` whose sums (B, F) have these `parts`; `furthest`: the largest d2."""

    def of(sums: Floats) -> Floats:
        n, observed, expected = parts(sums)
        return 1 - ratio((n - 1) * observed, expected)

    def why(sums: Floats) -> str:
        n, _, expected = parts(sums[None])
        if n[0] == 0:
            return EMPTY
        return "" if expected[0] > 1e-13 else "all ratings are equal, so no disagreement could be expected"

    def worst(sums: Floats) -> float:
        n, _, expected = parts(sums[None])
        return float(furthest * n[0] * (n[0] - 1) / expected[0])

    return Coefficient(shares, of, why, "chance", worst)


def _distances(level: Level, values: Floats) -> Floats:
    a, b = values[:, None], values[None, :]
    if level == "nominal":
        return np.not_equal(a, b).astype(np.float64)
    if level == "interval":
        squared: Floats = (a - b) ** 2
        return squared
    if len(values) and values.min() < 0:
        raise RecuseError(f"a ratio scale starts at 0; got {values.min():g}. Use level interval")
    shares: Floats = np.divide(a - b, a + b, out=np.zeros((len(values), len(values))), where=a + b > 0)
    return shares**2
