"""Deviations from the other judges, text by text, and what a repetition on the same texts would move."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recuse.ratings import Cells
from recuse.statistics.contrasts import Contrast, contrast

__all__ = ["ONE_JUDGE", "WELCH", "ZERO", "deviations", "over_repeats", "peer_weights"]

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

WELCH = "linear contrast of cell means, t and Hall's interval, quiet cells by the scale's step"
ONE_JUDGE = "no consensus: one judge"
ZERO = 1e-9
"""Biases closer to 0 than this (points) have no direction; smaller ones are rounding."""


def deviations(cells: Cells) -> Floats:
    """Bias of every judge on every text, shape (J, U); NaN without a score of its own or of a peer."""
    there = np.isfinite(cells.mean)
    sums, counts = np.where(there, cells.mean, 0.0).sum(axis=0), there.sum(axis=0)
    peers = np.divide(sums - np.where(there, cells.mean, 0.0), counts - there, out=np.full(there.shape, np.nan),
                      where=counts - there > 0)  # fmt: skip
    bias: Floats = cells.mean - peers
    return bias


def peer_weights(cells: Cells, judge: int, weights: Floats) -> Floats:
    """Cell weights, shape (J, U), of sum_u weights[u] Bias(judge, u): 1 on the judge's own cell of u, and -1 shared
    equally by the peers that scored it."""
    there = np.isfinite(cells.mean)
    there[judge] = False
    counts = there.sum(axis=0)
    shared = np.divide(weights, counts, out=np.zeros(len(weights)), where=counts > 0)
    full = np.where(there, -shared, 0.0)
    full[judge] = weights
    return full


def over_repeats(cells: Cells, judge: int, plus: Mask, minus: Mask | None = None) -> Contrast:
    """Of the mean deviation over the texts `plus`, less that over `minus`: these texts, new replies."""
    weights = plus / plus.sum() - (0.0 if minus is None else minus / minus.sum())
    full = peer_weights(cells, judge, np.asarray(weights, dtype=float))
    return contrast(full, cells.mean, cells.variance, cells.count, thirds=cells.cubes, step=cells.step)
