"""Mean score of every judge on every target, as a table: what was measured before anything is compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from recuse.metrics.estimates import THESE_TEXTS, estimated, matrix, undefined
from recuse.metrics.measure import itself, measure, per_part
from recuse.ratings import Cells, Ratings
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.statistics.contrasts import contrast


@measure("score_matrix", "mean scores", reading="Mean score of every judge on every target.")
@per_part(itself)
def score_matrix(part: Ratings) -> Estimate:
    """Mean score of every judge on every target (paper, Fig. 6), by factor level, as detail `values` with `n` usable
    scores per cell and, where every target has one text, `sd` over repeats.

    The value is the mean of all cells. Cells without a usable score are empty and leave the value undefined.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": ["a", "b"], "item": "i", "target": "t", "score": [1.0, 3.0]})
    >>> score_matrix(Ratings.of(frame)).of().value
    2.0
    """
    cells = part.cells()
    counts = _counts(cells)
    sd = {"sd": cells.by_target(np.sqrt(cells.variance))} if cells.fixed else {}
    means = cells.by_target(cells.mean)
    detail = matrix(cells.judges, cells.target_names, means, part.own(), criterion=cells.criterion, n=counts, **sd)
    about: dict[str, Any] = {"n": int(cells.count.sum()), "n_excluded": int(cells.lost.sum()), "unit": cells.scale.unit,
                             "method": "mean of the judge x target means", "over": cells.over}  # fmt: skip
    if not counts.all():
        return undefined("score_matrix", "a judge has no usable score of some target", detail=detail, **about)
    if cells.fixed:
        weights = np.full(cells.mean.shape, 1 / cells.mean.size)
        distribution = contrast(weights, cells.mean, cells.variance, cells.count, thirds=cells.cubes, step=cells.step)
        return estimated("score_matrix", distribution.value, distribution, detail=detail, note=THESE_TEXTS, **about)
    value = float(means.mean())
    return Estimate(metric="score_matrix", value=value, detail=detail, note="a mean of means, no interval", **about)


def _counts(cells: Cells) -> Floats:
    return np.array(
        [
            [cells.count[j, cells.targets == t].sum() for t in range(len(cells.target_names))]
            for j in range(len(cells.judges))
        ],
        dtype=float,
    )  # fmt: skip
