"""How far a rater's numbers lie from others': mean error and mean absolute error; and what a constant would reach."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recuse.statistics.agreement.coefficient import EMPTY, Coefficient, ratio

__all__ = ["constant_number", "mean_absolute_error", "mean_error"]

Floats = NDArray[np.float64]


def mean_error(rater: ArrayLike, labels: ArrayLike) -> Coefficient:
    """Mean of rater - label over items, both (items,): above 0 where the rater is generous.

    >>> mean_error([1.0, 2.0, 4.0], [1.0, 2.0, 3.0]).value.__round__(4)
    0.3333
    """
    return _mean(np.asarray(rater, dtype=float) - np.asarray(labels, dtype=float))


def mean_absolute_error(rater: ArrayLike, labels: ArrayLike) -> Coefficient:
    """Mean of |rater - label| over items, both (items,)."""
    return _mean(np.abs(np.asarray(rater, dtype=float) - np.asarray(labels, dtype=float)))


def constant_number(labels: ArrayLike) -> tuple[float, float]:
    """The number whose mean absolute error is smallest (the median), and that error; NaN without labels."""
    values = np.asarray(labels, dtype=float)
    values = values[np.isfinite(values)]
    if not len(values):
        return np.nan, np.nan
    middle = float(np.median(values))
    return middle, float(np.abs(values - middle).mean())


def _mean(differences: Floats) -> Coefficient:
    there = np.isfinite(differences)
    shares = np.column_stack([there.astype(float), np.where(there, differences, 0.0)])
    return Coefficient(shares, lambda s: ratio(s[:, 1], s[:, 0]), lambda s: "" if s[0] > 0 else EMPTY)
