"""Standardised differences of two groups, each convention by name; and how well numbers keep a known order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Convention", "cohen_d", "ordered_pairs"]

Floats = NDArray[np.float64]
Convention = Literal["sample", "population", "averaged"]


def cohen_d(low: ArrayLike, high: ArrayLike, convention: Convention = "sample") -> float:
    """(mean of high - mean of low) / SD, NaN with fewer than two values in a group or without any spread.

    SD by `convention`: "sample", pooled with divisor n1 + n2 - 2 (Cohen 1988); "population", pooled with divisor
    n1 + n2; "averaged", the root of the mean of the two variances with divisors n1 and n2. Papers seldom say which.

    >>> round(cohen_d([1, 2, 3], [4, 5, 6]), 3)
    3.0
    """
    a, b = (np.asarray(side, dtype=float) for side in (low, high))
    if min(len(a), len(b)) < 2:
        return math.nan
    squares = [float(((side - side.mean()) ** 2).sum()) for side in (a, b)]
    variance = {
        "sample": sum(squares) / (len(a) + len(b) - 2),
        "population": sum(squares) / (len(a) + len(b)),
        "averaged": (squares[0] / len(a) + squares[1] / len(b)) / 2,
    }[convention]
    return float(b.mean() - a.mean()) / math.sqrt(variance) if variance > 0 else math.nan


def ordered_pairs(groups: Sequence[ArrayLike]) -> tuple[float, int]:
    """(pairs in the known order, all pairs) of values from two different groups, the lowest group first; a tie counts
    as half. Of two groups this is the Mann-Whitney statistic.

    >>> ordered_pairs([[1, 2], [2, 3]])
    (3.5, 4)
    """
    right, total = 0.0, 0
    for place, low in enumerate(groups):
        for high in groups[place + 1 :]:
            apart = np.asarray(high, dtype=float)[:, None] - np.asarray(low, dtype=float)
            right += float((apart > 0).sum() + (apart == 0).sum() / 2)
            total += apart.size
    return right, total
