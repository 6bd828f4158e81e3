"""Transition matrices from counts, with intervals and a stated prior for cells that nobody filled.

Each column of a transition matrix is a distribution over rows. With a Dirichlet prior of `prior` per allowed cell
(1/2: Jeffreys), counts n_1..n_m of a column have posterior means (n_r + prior) / (n + m prior), and each cell a Beta
posterior, whose quantiles are the interval. A column without any count has its prior and says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from recuse.schema import RecuseError
from recuse.schema.arrays import Floats

__all__ = ["PRIOR", "TransitionEstimate", "transition_estimate"]

PRIOR = 0.5


@dataclass(frozen=True, eq=False)
class TransitionEstimate:
    """`matrix`, `low`, `high` (rows, columns): posterior mean and interval; `counts`; `empty`: columns without
    counts."""

    matrix: Floats
    low: Floats
    high: Floats
    counts: Floats
    prior: float
    level: float

    @property
    def empty(self) -> tuple[int, ...]:
        """Columns of which nothing was counted: they hold the prior alone."""
        return tuple(int(place) for place in np.flatnonzero(self.counts.sum(axis=0) == 0))


def transition_estimate(
    counts: ArrayLike, allowed: ArrayLike, *, prior: float = PRIOR, level: float = 0.95, total: float | None = None
) -> TransitionEstimate:
    """From counts (rows, columns) of pairs; `allowed` (rows, columns) marks cells that may be above 0: for F, options
    that are in the set; for F', sets that hold the option.

    Raises `RecuseError` for a negative count, a count in a cell that is not allowed, a column without an allowed cell,
    a prior that is not above 0, and counts that do not add up to `total` where it is given.
    """
    n, cells = np.asarray(counts, dtype=float), np.asarray(allowed, dtype=bool)
    if n.shape != cells.shape or n.ndim != 2:
        raise RecuseError(
            f"counts and the cells that are allowed have one shape, rows x columns; got {n.shape}, {cells.shape}"
        )
    if not np.isfinite(n).all() or (n < 0).any():
        raise RecuseError("counts are finite and at least 0")
    if (n[~cells] > 0).any():
        row, column = (int(place) for place in np.argwhere((n > 0) & ~cells)[0])
        raise RecuseError(f"row {row}, column {column} has {n[row, column]:g} counts, but the two exclude each other")
    if not cells.any(axis=0).all():
        raise RecuseError("every column needs one allowed cell at least")
    if not prior > 0:
        raise RecuseError(f"a prior is above 0, else cells without a count would be certain; got {prior:g}")
    if total is not None and abs(n.sum() - total) > 1e-9:
        raise RecuseError(f"counts add up to {n.sum():g}, and {total:g} ratings were given: some are missing or twice")
    a = np.where(cells, n + prior, 0.0)
    whole = a.sum(axis=0)
    rest = whole - a
    inside = cells & (rest > 0)
    low, high = (
        np.where(
            inside, special.betaincinv(np.where(inside, a, 1.0), np.where(inside, rest, 1.0), q), cells.astype(float)
        )
        for q in ((1 - level) / 2, (1 + level) / 2)
    )
    return TransitionEstimate(a / whole, low, high, n, prior, level)
