"""Oracles that tests of several folders compare with."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest


def jackknife_of(y: np.ndarray, design: np.ndarray, groups: np.ndarray) -> tuple[float, float]:
    """First coefficient of a least-squares fit, and its standard error from refits by statsmodels without each group in
    turn: se^2 = (G - 1) / G sum_g (coefficient without g - coefficient)^2."""
    import statsmodels.api as sm

    def first(kept: np.ndarray) -> float:
        rows = design[kept]
        return float(sm.OLS(y[kept], rows[:, rows.any(axis=0)]).fit().params[0])

    names = np.unique(groups)
    whole = first(groups >= 0)
    without = [first(groups != name) for name in names]
    squares = sum((value - whole) ** 2 for value in without)
    return whole, math.sqrt((len(names) - 1) / len(names) * squares)


@pytest.fixture(scope="session")
def jackknife() -> Callable[..., tuple[float, float]]:
    return jackknife_of
