"""Several raters and options: Fleiss' kappa, and the multi-rater forms of percent agreement and of
Gwet's AC.

`counts` has shape (items, K): how many raters gave each item each option. Items may have different numbers of raters.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from recuse.statistics.agreement.coefficient import EMPTY, Coefficient, ratio
from recuse.statistics.agreement.options import Weights, distances

__all__ = ["fleiss_kappa", "gwet_many", "percent_many"]

Floats = NDArray[np.float64]


def fleiss_kappa(counts: Floats, weights: Weights = "plain") -> Coefficient:
    """1 - D_o / D_e with D_o the mean over items of the mean distance of their pairs of raters, D_e = sum_kl p_k p_l
    d_kl (plain: 1 - sum p_k^2), and p_k the mean over items of the share that option k got there.

    Fleiss (1971), Psychological Bulletin 76, 378-382, for one number of raters. With different numbers, every item
    that anybody rated counts in p_k, those that two rated in D_o (Gwet, Handbook of Inter-Rater Reliability, 4th ed.,
    ch. 5). Undefined where every rating is the same option.

    >>> fleiss_kappa(np.array([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0], [1.0, 1.0]])).value
    0.0
    """
    apart = distances(counts.shape[1], weights)

    def expected(p: Floats) -> Floats:
        disagreement: Floats = ((p @ apart) * p).sum(axis=1)
        return disagreement

    return _corrected(counts, apart, expected)


def percent_many(counts: Floats) -> Coefficient:
    """Mean over items of the share of pairs of raters that gave the same option."""
    shares = _shares(counts, distances(counts.shape[1], "plain"))
    return Coefficient(
        shares, lambda s: 1 - ratio(s[:, 1], s[:, 0]), lambda s: "" if s[0] else EMPTY, "chance", lambda s: 1.0
    )


def gwet_many(counts: Floats, weights: Weights = "plain") -> Coefficient:
    """Gwet's AC1 (with weights: AC2) of several raters: D_e = 1 - T sum_k p_k (1 - p_k) / (K (K - 1)), T = sum_kl
    (1 - d_kl), p_k as for Fleiss. Gwet (2008), British Journal of Mathematical and Statistical Psychology 61, 29-48."""
    options = counts.shape[1]
    apart = distances(options, weights)

    def expected(p: Floats) -> Floats:
        disagreement: Floats = 1 - (1 - apart).sum() * (p * (1 - p)).sum(axis=1) / max(options * (options - 1), 1)
        return disagreement

    return _corrected(counts, apart, expected)


def _corrected(counts: Floats, apart: Floats, expected_by_chance: Callable[[Floats], Floats]) -> Coefficient:
    def expected(sums: Floats) -> Floats:
        return expected_by_chance(sums[:, 3:] / np.maximum(sums[:, 2:3], 1e-300))

    def of(sums: Floats) -> Floats:
        return 1 - ratio(ratio(sums[:, 1], sums[:, 0]), expected(sums))

    def why(sums: Floats) -> str:
        if sums[0] == 0:
            return EMPTY
        return "" if expected(sums[None])[0] > 1e-13 else "every rating is the same option"

    return Coefficient(_shares(counts, apart), of, why, "chance", lambda s: float(apart.max() / expected(s[None])[0]))


def _shares(counts: Floats, apart: Floats) -> Floats:
    """Per item: whether two rated it, the mean distance of its pairs of raters, whether anybody rated it, and the share
    of each option; shape (items, 3 + K)."""
    m = counts.sum(axis=1)
    pairs = m * (m - 1)
    apart_by_item = np.divide(((counts @ apart) * counts).sum(axis=1), pairs, out=np.zeros(len(m)), where=pairs > 0)
    given = np.divide(counts, m[:, None], out=np.zeros_like(counts), where=m[:, None] > 0)
    return np.column_stack([pairs > 0, apart_by_item, m > 0, given])
