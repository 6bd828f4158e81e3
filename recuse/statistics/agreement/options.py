"""Agreement on options: percent agreement, Cohen's and Fleiss' kappa, Scott's pi, Gwet's AC1 and AC2, and rates;
Krippendorff's alpha, of numbers too.

All but the rates are 1 - D_o / D_e (percent agreement: 1 - D_o), D_o the mean distance of two ratings of an item, D_e
what would be expected of raters who know nothing of the item. They differ in D_e alone, with r and c the shares of
each option by the first and by the second rater and m = (r + c) / 2; of several raters r and c are one and the same:

    Cohen            sum_ij r_i c_j d_ij            each rater keeps its own shares
    Scott, Fleiss    sum_ij m_i m_j d_ij            all draw from common shares
    Gwet             1 - T sum_i m_i (1 - m_i) / (K (K - 1)), T = sum_ij (1 - d_ij)

Two raters come as `tables` (items, K, K): per item how often the first gave i and the second j, of any total weight,
so that a rater asked repeatedly, or several raters of whom one is drawn, count as one. Several raters come as `counts`
(items, K): how many gave each item each option; items may have different numbers of raters. Codes of options are whole
numbers from 0 to K - 1, NaN where nothing was rated. Distances d have shape (K, K), 0 on the diagonal; the weights of
a weighted kappa are 1 - d."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from recuse.schema import RecuseError
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.coefficient import EMPTY, Coefficient, ratio

Weights = Literal["plain", "linear", "quadratic"]
Rate = Literal["true positive rate", "true negative rate", "precision", "F1"]
Level = Literal["nominal", "ordinal", "interval", "ratio"]
Chance = Callable[[Floats, Floats, Floats], Floats]  # shares of options by either rater (B, K), distances -> D_e (B,)
CELLS: dict[Rate, tuple[Floats, Floats, str]] = {  # counted above and below the line, of (rater, label): 00, 01, 10, 11
    "true positive rate": (np.array([0.0, 0, 0, 1]), np.array([0.0, 1, 0, 1]), "no item is labelled positive"),
    "true negative rate": (np.array([1.0, 0, 0, 0]), np.array([1.0, 0, 1, 0]), "no item is labelled negative"),
    "precision": (np.array([0.0, 0, 0, 1]), np.array([0.0, 0, 1, 1]), "the rater calls no item positive"),
    "F1": (np.array([0.0, 0, 0, 2]), np.array([0.0, 1, 1, 2]), "neither the rater nor the labels know a positive"),
}
Parts = tuple[Floats, Floats, Floats]  # how many ratings, their observed disagreement, sum_ck n_c n_k d2_ck, each (B,)
MOST = 2000  # more different values than this have no table of distances; interval alpha needs none


def percent_agreement(given: Floats) -> Coefficient:
    """Share of equal pairs of ratings; of several raters, the mean over items of that share.

    >>> percent_agreement(np.array([[[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]])).value
    0.5
    """
    return _corrected(given, "plain", lambda row, column, apart: np.ones(len(row)))


def cohen_kappa(tables: Floats, weights: Weights = "plain") -> Coefficient:
    """Cohen's kappa, plain, linearly or quadratically weighted over K options in order. Cohen (1960), Educational and
    Psychological Measurement 20, 37-46; (1968), Psychological Bulletin 70, 213-220. Undefined where both raters gave
    one and the same option to every item: 0 / 0, neither 1 nor 0."""
    return _corrected(tables, weights, mean_distance)


def scott_pi(given: Floats, weights: Weights = "plain") -> Coefficient:
    """Scott's pi of two raters (1955, Public Opinion Quarterly 19, 321-325), Fleiss' kappa of several (1971,
    Psychological Bulletin 76, 378-382, for one number of raters): D_o is the mean over items of the mean distance of
    their pairs of raters, shares are means over items of the share that an option got there.

    With different numbers of raters, every item that anybody rated counts in the shares, those that two rated in D_o
    (Gwet, Handbook of Inter-Rater Reliability, 4th ed., ch. 5). Undefined where every rating is the same option.

    >>> scott_pi(np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0], [1.0, 1.0]])).value
    0.0
    """
    return _corrected(given, weights, lambda row, column, apart: mean_distance(row + column, row + column, apart) / 4)


def gwet_ac(given: Floats, weights: Weights = "plain") -> Coefficient:
    """Gwet's AC1, or AC2 with weights; shares as for `scott_pi`. Gwet (2008), British Journal of Mathematical and
    Statistical Psychology 61, 29-48. Defined for two constant raters, whose agreement it takes for real."""

    def chance(row: Floats, column: Floats, apart: Floats) -> Floats:
        """By how evenly the mean shares spread over the options."""
        both, options = (row + column) / 2, row.shape[1]
        spread: Floats = (1 - apart).sum() * (both * (1 - both)).sum(axis=1) / max(options * (options - 1), 1)
        return 1 - spread

    return _corrected(given, weights, chance)


def rate(tables: Floats, which: Rate) -> Coefficient:
    """The `Rate` of a rater (rows: 0 negative, 1 positive) against labels (columns), tables (items, 2, 2). Undefined
    where nothing stands below the line: a rate of no cases is neither 0 nor 1."""
    above, below, nothing = CELLS[which]
    flat = tables.reshape(len(tables), 4)
    shares = np.column_stack([flat @ above, flat @ below])
    return Coefficient(
        shares, lambda s: ratio(s[:, 0], s[:, 1]), lambda s: "" if s[1] > 0 else nothing, "chance", lambda s: 1.0
    )


def coded(ratings: ArrayLike) -> tuple[Floats, Floats]:
    """(codes of the shape given, the different values in ascending order). NaN stays NaN.

    Only values that occur become options: where the scale has more of them (1 to 5, of which 1, 2 and 5 occur), give
    the codes yourself, or weights would take 2 and 5 for neighbours."""
    values = np.asarray(ratings, dtype=float)
    there = np.isfinite(values)
    options, places = np.unique(values[there], return_inverse=True)
    codes = np.full(values.shape, np.nan)
    codes[there] = places
    return codes, options


def distances(options: int, weights: Weights) -> Floats:
    """Distance of every two of K options in order, from 0 to 1: (i != j), |i - j| / (K - 1), or that squared."""
    place = np.arange(options, dtype=float)
    apart = np.abs(place[:, None] - place[None, :])
    if weights == "plain":
        return (apart > 0).astype(float)
    scaled: Floats = apart / max(options - 1, 1)
    return scaled if weights == "linear" else scaled**2


def counts_of(codes: ArrayLike, options: int) -> Floats:
    """How many raters gave each item each option: from codes (raters, items), shape (items, K)."""
    given = np.atleast_2d(np.asarray(codes, dtype=float))
    rater, item = np.nonzero(np.isfinite(given))
    places = given[rater, item].astype(np.intp)
    if len(places) and (places.min() < 0 or places.max() >= options):
        raise RecuseError(
            f"codes run from 0 to {options - 1} for {options} options; got {places.min()} to {places.max()}. "
            "Use coded() to make codes of values"
        )
    flat = np.bincount(item * options + places, minlength=given.shape[1] * options)
    return flat.reshape(given.shape[1], options).astype(float)


def mean_distance(one: Floats, other: Floats, apart: Floats) -> Floats:
    """Mean distance of two raters' answers, from shares of the options (..., K) and distances (K, K), (...)."""
    return np.asarray(((one @ apart) * other).sum(axis=-1))


def _corrected(given: Floats, weights: Weights, chance: Chance) -> Coefficient:
    """1 - D_o / D_e of two raters' tables or several raters' counts."""
    k, apart = given.shape[1], distances(given.shape[1], weights)
    constant = "both raters gave one and the same option to every item"
    constant = constant if given.ndim == 3 else "every rating is the same option"

    def expected(s: Floats) -> Floats:
        row, column = (side / np.maximum(s[:, 2:3], 1e-300) for side in (s[:, 3 : 3 + k], s[:, -k:]))
        return chance(row, column, apart)

    def why(s: Floats) -> str:
        return EMPTY if not s[0] > 0 else "" if expected(s[None])[0] > 1e-13 else constant

    return Coefficient(
        _shares(given, apart), lambda s: 1 - ratio(ratio(s[:, 1], s[:, 0]), expected(s)), why, "chance",
        lambda s: float(apart.max() / expected(s[None])[0]),
    )  # fmt: skip


def _shares(given: Floats, apart: Floats) -> Floats:
    """Per item: weight and mean distance of its pairs of ratings, weight of its options, the first rater's options and
    the second's, (items, 3 + 2 K); of several raters, who all stand for either of two, everybody's, (items, 3 + K)."""
    if given.ndim == 3:
        weight = given.sum(axis=(1, 2))
        return np.column_stack([weight, (given * apart).sum(axis=(1, 2)), weight, given.sum(axis=2), given.sum(axis=1)])
    m = given.sum(axis=1)
    pairs = m * (m - 1)
    distance = np.divide(mean_distance(given, given, apart), pairs, out=np.zeros(len(m)), where=pairs > 0)
    options = np.divide(given, m[:, None], out=np.zeros_like(given), where=m[:, None] > 0)
    return np.column_stack([pairs > 0, distance, m > 0, options])


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
    if level not in get_args(Level):
        raise RecuseError(f"a level of measurement is one of {', '.join(get_args(Level))}; got {level!r}")
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
    return _from(np.column_stack([weight * np.einsum("ui,ij,uj->u", kept, apart, kept), kept]), apart)


def _from(shares: Floats, apart: Floats) -> Coefficient:
    """From each item's observed disagreement and its counts of options, (items, 1 + K)."""

    def parts(sums: Floats) -> Parts:
        counts = sums[:, 1:]
        return counts.sum(axis=1), sums[:, 0], mean_distance(counts, counts, apart)

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
        return np.asarray((a - b) ** 2)
    if len(values) and values.min() < 0:
        raise RecuseError(f"a ratio scale starts at 0; got {values.min():g}. Use level interval")
    return np.asarray(np.divide(a - b, a + b, out=np.zeros((len(values), len(values))), where=a + b > 0) ** 2)
