"""Judges by targets: how far each judge's scores lie from the other judges', with an interval per cell."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.deviations import ONE_JUDGE, WELCH, ZERO, deviations, over_repeats
from recuse.metrics.estimates import THESE_TEXTS, matrix, number, table, undefined
from recuse.ratings import Cells, Ratings, mean_of
from recuse.schema import Estimate
from recuse.statistics.clusters import difference_of_means

__all__ = ["deviation_matrix"]

Floats = NDArray[np.float64]


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
    detail = _matrix(
        part, cells, bias, low=low, high=high, scores=means, **sds, consensus=means - bias,
        zero_sum=number(np.abs(np.nansum(bias, axis=0)).max()),
        naive={
            "values": table(naive), "shrinkage": _shrinkage(naive, bias), "expected": number(1 - 1 / len(cells.judges)),
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


def _matrix(part: Ratings, cells: Cells, values: Floats, **more: Any) -> dict[str, Any]:
    return matrix(cells.judges, cells.target_names, values, part.own(), criterion=cells.criterion, **more)


def _shrinkage(naive: Floats, bias: Floats) -> float | None:
    """Least-squares factor between the two matrices; None where every bias is 0."""
    there = np.isfinite(naive) & np.isfinite(bias)
    scale = float((bias[there] ** 2).sum())
    return number(float((naive[there] * bias[there]).sum()) / scale) if scale > ZERO else None
