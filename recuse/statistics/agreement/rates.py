"""A rater against labels of two options: confusion, true positive and true negative rate, precision, F1."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recuse.statistics.agreement.coefficient import Coefficient, ratio
from recuse.statistics.agreement.options import tables_of

__all__ = ["Rate", "confusion", "rate", "rate_of"]

Floats = NDArray[np.float64]
Rate = Literal["true positive rate", "true negative rate", "precision", "F1"]

CELLS: dict[Rate, tuple[Floats, Floats, str]] = {
    "true positive rate": (np.array([0.0, 0, 0, 1]), np.array([0.0, 1, 0, 1]), "no item is labelled positive"),
    "true negative rate": (np.array([1.0, 0, 0, 0]), np.array([1.0, 0, 1, 0]), "no item is labelled negative"),
    "precision": (np.array([0.0, 0, 0, 1]), np.array([0.0, 0, 1, 1]), "the rater calls no item positive"),
    "F1": (np.array([0.0, 0, 0, 2]), np.array([0.0, 1, 1, 2]), "neither the rater nor the labels know a positive"),
}
"""What is counted above and below the line, of the cells (rater, label): 00, 01, 10, 11."""


def confusion(rater: ArrayLike, labels: ArrayLike, options: int = 2) -> Floats:
    """How often the rater gave i where the label is j, shape (K, K).

    >>> confusion([0, 1, 1], [0, 1, 0]).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    table: Floats = tables_of(rater, labels, options).sum(axis=0)
    return table


def rate(rater: ArrayLike, labels: ArrayLike, which: Rate) -> Coefficient:
    """The `Rate` of codes 0 (negative) and 1 (positive), both (items,). Undefined where nothing stands below the
    line: a rate of no cases is neither 0 nor 1.

    >>> rate([0, 1, 1], [0, 1, 0], "precision").value
    0.5
    """
    return rate_of(tables_of(rater, labels, 2), which)


def rate_of(tables: Floats, which: Rate) -> Coefficient:
    """The same from tables (items, 2, 2), the rater's options in rows and the labels' in columns."""
    above, below, nothing = CELLS[which]
    flat = tables.reshape(len(tables), 4)
    shares = np.column_stack([flat @ above, flat @ below])
    return Coefficient(
        shares, lambda s: ratio(s[:, 0], s[:, 1]), lambda s: "" if s[1] > 0 else nothing, "chance", lambda s: 1.0
    )
