"""Deviations from the other judges, text by text, and what a repetition on the same texts would move."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from recuse.metrics.estimates import THESE_TEXTS, matrix, number, table, undefined
from recuse.ratings import Cells, Ratings, mean_of
from recuse.schema import Estimate
from recuse.schema.arrays import Floats, Mask
from recuse.statistics.clusters import difference_of_means
from recuse.statistics.contrasts import Contrast, contrast

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


def deviation_matrix(part: Ratings) -> Estimate:
    """Bias(i, j) with an interval per cell, of one criterion at one combination of factor levels: the `Estimate` that
    `consensus_deviation` describes. Undefined with one judge, and where no text has usable scores of two."""
    cells = part.cells()
    n = int(cells.count.sum())
    if len(cells.judges) < 2:
        return undefined("consensus_deviation", ONE_JUDGE, n=n, method=WELCH, over=cells.over)
    each = deviations(cells)
    bias, means = cells.by_target(each), cells.by_target(cells.mean)
    naive = cells.by_target(cells.mean - mean_of(cells.mean, axis=0))
    low, high = _intervals(cells, each)
    sds = {"sds": cells.by_target(np.sqrt(cells.variance))} if cells.fixed else {}
    there = np.isfinite(naive) & np.isfinite(bias)
    scale = float((bias[there] ** 2).sum())  # of the least-squares factor between the two matrices
    shrinkage = number(float((naive[there] * bias[there]).sum()) / scale) if scale > ZERO else None
    detail = matrix(
        cells.judges, cells.target_names, bias, part.own(), criterion=cells.criterion, low=low, high=high,
        scores=means, **sds, consensus=means - bias,
        zero_sum=number(np.abs(np.nansum(bias, axis=0)).max()),
        naive={
            "values": table(naive), "shrinkage": shrinkage, "expected": number(1 - 1 / len(cells.judges)),
        },
    )  # fmt: skip
    about: dict[str, Any] = {
        "n": n, "n_excluded": int(cells.lost.sum()), "unit": cells.scale.unit, "over": cells.over,
        "method": "mean of |self-excluded deviation| over cells", "detail": detail,
    }  # fmt: skip
    if not np.isfinite(bias).any():
        return undefined("consensus_deviation", "no text has usable scores of two judges", **about)
    where = f"{THESE_TEXTS}; " if cells.fixed else ""
    return Estimate(
        metric="consensus_deviation", value=float(np.nanmean(np.abs(bias))), note=f"{where}intervals are per cell",
        **about,
    )  # fmt: skip


def _intervals(cells: Cells, each: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """Ends of the interval of every judge x target deviation."""
    ends = np.full((2, len(cells.judges), len(cells.target_names)), np.nan)
    for t, target in enumerate(cells.target_names):
        texts = cells.texts_of(target)
        for j in range(len(cells.judges)):
            plus = texts & np.isfinite(each[j])
            if plus.any():
                over_items = partial(difference_of_means, each[j], plus, None, cells.clusters, step=cells.step)
                distribution = over_repeats(cells, j, plus) if cells.fixed else over_items()
                ends[:, j, t] = distribution.interval(level)
    return ends[0], ends[1]
