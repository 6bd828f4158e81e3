"""One-way analysis of variance with repeated measures: the same subjects under every condition."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

__all__ = ["RepeatedMeasures", "repeated_measures"]


@dataclass(frozen=True, slots=True)
class RepeatedMeasures:
    """F on (df, rest) degrees of freedom and its p; NaN where it cannot be had."""

    f: float
    df: int
    rest: int
    p: float


def repeated_measures(values: ArrayLike) -> RepeatedMeasures:
    """Do conditions differ? F of `values` (subjects, conditions), subjects with a gap left out:

        F = MS(conditions) / MS(subjects x conditions)   on (k - 1, (n - 1)(k - 1)) degrees of freedom

    Subjects differ from each other, and an analysis of independent groups would count that as noise. NaN with fewer
    than two subjects or conditions, and where the rest does not vary.

    >>> repeated_measures([[1, 2], [2, 3], [3, 5]]).f
    16.0
    """
    given = np.asarray(values, dtype=float)
    kept = given[np.isfinite(given).all(axis=1)]
    n, k = kept.shape
    df, rest = k - 1, (n - 1) * (k - 1)
    if df < 1 or rest < 1:
        return RepeatedMeasures(math.nan, max(df, 0), max(rest, 0), math.nan)
    means, grand = kept.mean(axis=0), kept.mean()
    left = kept - means - kept.mean(axis=1, keepdims=True) + grand
    below = float((left**2).sum()) / rest
    if below < 1e-24:
        return RepeatedMeasures(math.nan, df, rest, math.nan)
    f = n * float(((means - grand) ** 2).sum()) / df / below
    return RepeatedMeasures(f, df, rest, float(special.fdtrc(df, rest, f)))
