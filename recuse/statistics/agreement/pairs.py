"""Two raters and options: percent agreement, Cohen's kappa, Scott's pi, Gwet's AC1 and AC2.

All are 1 - D_o / D_e (percent agreement: 1 - D_o), D_o the mean distance of the two ratings of an item, D_e what would
be expected of raters who know nothing of the item. They differ in D_e alone, with r and c the shares of each option
by the first and by the second rater and m = (r + c) / 2:

    Cohen    sum_ij r_i c_j d_ij            each rater keeps its own shares
    Scott    sum_ij m_i m_j d_ij            both draw from common shares
    Gwet     T sum_i m_i (1 - m_i) / (K (K - 1)) with T = sum_ij (1 - d_ij), as 1 - that = expected disagreement

`tables` has shape (items, K, K): per item how often the first rater gave i and the second j, of any total weight, so
that a rater asked repeatedly, or several raters of whom one is drawn, count as one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recuse.statistics.agreement.coefficient import EMPTY, Coefficient, Form, ratio
from recuse.statistics.agreement.options import Weights, distances, tables_of

__all__ = ["cohen", "cohen_kappa", "gwet", "gwet_ac", "percent", "percent_agreement", "scott", "scott_pi"]

Floats = NDArray[np.float64]


def percent_agreement(a: ArrayLike, b: ArrayLike, options: int) -> Coefficient:
    """Share of items to which two raters, codes (items,), gave the same option; items that one left out do not count.

    >>> round(percent_agreement([0, 1, 1], [0, 1, 0], 2).value, 4)
    0.6667
    """
    return percent(tables_of(a, b, options))


def cohen_kappa(a: ArrayLike, b: ArrayLike, options: int, weights: Weights = "plain") -> Coefficient:
    """Cohen's kappa of two raters, codes (items,), plain, linearly or quadratically weighted over K options in order.

    Cohen (1960), Educational and Psychological Measurement 20, 37-46; (1968), Psychological Bulletin 70, 213-220.
    Undefined where both raters gave one and the same option to every item: 0 / 0, neither 1 nor 0.

    >>> cohen_kappa([0, 0, 1, 1], [0, 0, 1, 0], 2).value
    0.5
    """
    return cohen(tables_of(a, b, options), weights)


def scott_pi(a: ArrayLike, b: ArrayLike, options: int, weights: Weights = "plain") -> Coefficient:
    """Scott's pi of two raters, codes (items,). Scott (1955), Public Opinion Quarterly 19, 321-325."""
    return scott(tables_of(a, b, options), weights)


def gwet_ac(a: ArrayLike, b: ArrayLike, options: int, weights: Weights = "plain") -> Coefficient:
    """Gwet's AC1 of two raters, or AC2 with weights. Gwet (2008), British Journal of Mathematical and Statistical
    Psychology 61, 29-48. Defined for two constant raters, whose agreement it takes as real: read the base rate."""
    return gwet(tables_of(a, b, options), weights)


def percent(tables: Floats) -> Coefficient:
    """Share of equal pairs."""
    shares = _shares(tables, distances(tables.shape[1], "plain"))
    return Coefficient(shares, lambda s: 1 - ratio(s[:, 1], s[:, 0]), _empty, "chance", lambda s: 1.0)


def cohen(tables: Floats, weights: Weights = "plain") -> Coefficient:
    """Cohen's kappa, 1 - d_observed / d_expected; chance pairs each rater's own shares of the options."""
    return _corrected(tables, weights, lambda row, column, d: _crossed(row, d, column))


def scott(tables: Floats, weights: Weights = "plain") -> Coefficient:
    """Scott's pi: as Cohen's kappa, chance from the mean shares of both raters."""

    def expected(row: Floats, column: Floats, d: Floats) -> Floats:
        both = (row + column) / 2
        return _crossed(both, d, both)

    return _corrected(tables, weights, expected)


def gwet(tables: Floats, weights: Weights = "plain") -> Coefficient:
    """Gwet's AC: chance from how evenly the mean shares spread over the options."""

    def expected(row: Floats, column: Floats, d: Floats) -> Floats:
        both, options = (row + column) / 2, row.shape[1]
        chance = (1 - d).sum() * (both * (1 - both)).sum(axis=1) / max(options * (options - 1), 1)
        disagreement: Floats = 1 - chance
        return disagreement

    return _corrected(tables, weights, expected)


def _corrected(
    tables: Floats, weights: Weights, expected_by_chance: Callable[[Floats, Floats, Floats], Floats]
) -> Coefficient:
    options = tables.shape[1]
    apart = distances(options, weights)

    def expected(sums: Floats) -> Floats:
        total = np.maximum(sums[:, :1], 1e-300)
        row, column = sums[:, 2 : 2 + options] / total, sums[:, 2 + options :] / total
        return expected_by_chance(row, column, apart)

    def of(sums: Floats) -> Floats:
        return 1 - ratio(ratio(sums[:, 1], sums[:, 0]), expected(sums))

    def why(sums: Floats) -> str:
        if reason := _empty(sums):
            return reason
        return "" if expected(sums[None])[0] > 1e-13 else "both raters gave one and the same option to every item"

    form: Form = "chance"
    return Coefficient(_shares(tables, apart), of, why, form, lambda s: float(apart.max() / expected(s[None])[0]))


def _shares(tables: Floats, apart: Floats) -> Floats:
    """Per item: weight, distance, the first rater's and the second's options; shape (items, 2 + 2 K)."""
    return np.column_stack(
        [tables.sum(axis=(1, 2)), (tables * apart).sum(axis=(1, 2)), tables.sum(axis=2), tables.sum(axis=1)]
    )


def _crossed(row: Floats, apart: Floats, column: Floats) -> Floats:
    crossed: Floats = ((row @ apart) * column).sum(axis=1)
    return crossed


def _empty(sums: Floats) -> str:
    return "" if sums[0] > 0 else EMPTY
