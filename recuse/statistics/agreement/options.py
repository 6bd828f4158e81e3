"""Agreement on options: percent agreement, Cohen's and Fleiss' kappa, Scott's pi, Gwet's AC1 and AC2, and rates.

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
a weighted kappa are 1 - d.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from recuse.schema import RecuseError
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.coefficient import EMPTY, Coefficient, ratio

Weights = Literal["plain", "linear", "quadratic"]
Rate = Literal["true positive rate", "true negative rate", "precision", "F1"]
Chance = Callable[[Floats, Floats, Floats], Floats]
"""Shares of the options by the first rater and by the second (B, K), and distances, to D_e (B,)."""

CELLS: dict[Rate, tuple[Floats, Floats, str]] = {
    "true positive rate": (np.array([0.0, 0, 0, 1]), np.array([0.0, 1, 0, 1]), "no item is labelled positive"),
    "true negative rate": (np.array([1.0, 0, 0, 0]), np.array([1.0, 0, 1, 0]), "no item is labelled negative"),
    "precision": (np.array([0.0, 0, 0, 1]), np.array([0.0, 0, 1, 1]), "the rater calls no item positive"),
    "F1": (np.array([0.0, 0, 0, 2]), np.array([0.0, 1, 1, 2]), "neither the rater nor the labels know a positive"),
}
"""What is counted above and below the line, of the cells (rater, label): 00, 01, 10, 11."""


def percent_agreement(tables: Floats) -> Coefficient:
    """Share of equal pairs of ratings.

    >>> percent_agreement(np.array([[[1.0, 0.0], [0.0, 0.0]], [[0.0, 1.0], [0.0, 0.0]]])).value
    0.5
    """
    return _percent(_of_two(tables, distances(tables.shape[1], "plain")))


def cohen_kappa(tables: Floats, weights: Weights = "plain") -> Coefficient:
    """Cohen's kappa, plain, linearly or quadratically weighted over K options in order. Cohen (1960), Educational and
    Psychological Measurement 20, 37-46; (1968), Psychological Bulletin 70, 213-220. Undefined where both raters gave
    one and the same option to every item: 0 / 0, neither 1 nor 0."""
    return _of_tables(tables, weights, _crossed)


def scott_pi(tables: Floats, weights: Weights = "plain") -> Coefficient:
    """Scott's pi. Scott (1955), Public Opinion Quarterly 19, 321-325."""
    return _of_tables(tables, weights, _common)


def gwet_ac(tables: Floats, weights: Weights = "plain") -> Coefficient:
    """Gwet's AC1, or AC2 with weights. Gwet (2008), British Journal of Mathematical and Statistical Psychology 61,
    29-48. Defined for two constant raters, whose agreement it takes as real: read the base rate."""
    return _of_tables(tables, weights, _spread)


def rate(tables: Floats, which: Rate) -> Coefficient:
    """The `Rate` of a rater (rows: 0 negative, 1 positive) against labels (columns), tables (items, 2, 2). Undefined
    where nothing stands below the line: a rate of no cases is neither 0 nor 1."""
    above, below, nothing = CELLS[which]
    flat = tables.reshape(len(tables), 4)
    shares = np.column_stack([flat @ above, flat @ below])
    return Coefficient(
        shares, lambda s: ratio(s[:, 0], s[:, 1]), lambda s: "" if s[1] > 0 else nothing, "chance", lambda s: 1.0
    )


def percent_many(counts: Floats) -> Coefficient:
    """Mean over items of the share of pairs of raters that gave the same option."""
    return _percent(_of_many(counts, distances(counts.shape[1], "plain")))


def fleiss_kappa(counts: Floats, weights: Weights = "plain") -> Coefficient:
    """Scott's pi of several raters: D_o is the mean over items of the mean distance of their pairs of raters, shares
    are means over items of the share that an option got there.

    Fleiss (1971), Psychological Bulletin 76, 378-382, for one number of raters. With different numbers, every item
    that anybody rated counts in the shares, those that two rated in D_o (Gwet, Handbook of Inter-Rater Reliability,
    4th ed., ch. 5). Undefined where every rating is the same option.

    >>> fleiss_kappa(np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0], [1.0, 1.0]])).value
    0.0
    """
    return _of_counts(counts, weights, _common)


def gwet_many(counts: Floats, weights: Weights = "plain") -> Coefficient:
    """Gwet's AC1 (with weights: AC2) of several raters; shares as for `fleiss_kappa`."""
    return _of_counts(counts, weights, _spread)


def coded(ratings: ArrayLike) -> tuple[Floats, Floats]:
    """(codes of the shape given, the different values in ascending order). NaN stays NaN.

    Only values that occur become options: where the scale has more of them (1 to 5, of which 1, 2 and 5 occur), give
    the codes yourself, or weights would take 2 and 5 for neighbours.
    """
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


def _crossed(row: Floats, column: Floats, apart: Floats) -> Floats:
    crossed: Floats = ((row @ apart) * column).sum(axis=1)
    return crossed


def _common(row: Floats, column: Floats, apart: Floats) -> Floats:
    both = (row + column) / 2
    return _crossed(both, both, apart)


def _spread(row: Floats, column: Floats, apart: Floats) -> Floats:
    """How evenly the mean shares spread over the options."""
    both, options = (row + column) / 2, row.shape[1]
    disagreement: Floats = 1 - (1 - apart).sum() * (both * (1 - both)).sum(axis=1) / max(options * (options - 1), 1)
    return disagreement


def _percent(shares: Floats) -> Coefficient:
    return Coefficient(
        shares, lambda s: 1 - ratio(s[:, 1], s[:, 0]), lambda s: "" if s[0] > 0 else EMPTY, "chance", lambda s: 1.0
    )


def _of_tables(tables: Floats, weights: Weights, chance: Chance) -> Coefficient:
    apart = distances(tables.shape[1], weights)
    constant = "both raters gave one and the same option to every item"
    return _corrected(_of_two(tables, apart), chance, apart, constant, several=False)


def _of_counts(counts: Floats, weights: Weights, chance: Chance) -> Coefficient:
    apart = distances(counts.shape[1], weights)
    return _corrected(_of_many(counts, apart), chance, apart, "every rating is the same option", several=True)


def _corrected(shares: Floats, chance: Chance, apart: Floats, constant: str, *, several: bool) -> Coefficient:
    """1 - D_o / D_e from shares `_of_two` or, of `several` raters, `_of_many`, who all stand for either of two."""
    k = len(apart)

    def expected(s: Floats) -> Floats:
        second = s[:, -k:] / np.maximum(s[:, 2:3] if several else s[:, :1], 1e-300)
        return chance(second if several else s[:, 2 : 2 + k] / np.maximum(s[:, :1], 1e-300), second, apart)

    def why(s: Floats) -> str:
        return EMPTY if not s[0] > 0 else "" if expected(s[None])[0] > 1e-13 else constant

    return Coefficient(
        shares, lambda s: 1 - ratio(ratio(s[:, 1], s[:, 0]), expected(s)), why, "chance",
        lambda s: float(apart.max() / expected(s[None])[0]),
    )  # fmt: skip


def _of_two(tables: Floats, apart: Floats) -> Floats:
    """Per item: weight, distance, the first rater's options and the second's; shape (items, 2 + 2 K)."""
    return np.column_stack(
        [tables.sum(axis=(1, 2)), (tables * apart).sum(axis=(1, 2)), tables.sum(axis=2), tables.sum(axis=1)]
    )


def _of_many(counts: Floats, apart: Floats) -> Floats:
    """Per item: whether two rated it, the mean distance of its pairs of raters, whether anybody rated it, and the share
    of each option; shape (items, 3 + K)."""
    m = counts.sum(axis=1)
    pairs = m * (m - 1)
    apart_by_item = np.divide(((counts @ apart) * counts).sum(axis=1), pairs, out=np.zeros(len(m)), where=pairs > 0)
    given = np.divide(counts, m[:, None], out=np.zeros_like(counts), where=m[:, None] > 0)
    return np.column_stack([pairs > 0, apart_by_item, m > 0, given])
