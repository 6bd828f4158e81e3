"""Every judge on every target, against its peers and against people, for the paper's tables (merchant-risk paper, secs.
3.5, 4.3.1 and 4.4, Figs. 8 and 9); `recuse.metrics` has the self-bias and the offset that are gated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from recuse.metrics.consensus import ONE_JUDGE, WELCH, deviations, over_repeats
from recuse.metrics.estimates import THESE_TEXTS, matrix, table, undefined
from recuse.metrics.human_alignment import Compared, compared
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.ratings import Cells, Ratings
from recuse.ratings.array import mean_of
from recuse.schema import Distribution, Estimate, number
from recuse.schema.arrays import Floats, Mask
from recuse.statistics.clusters import difference_of_means

ZERO = 1e-9  # biases closer to 0 than this (points) have no direction; smaller ones are rounding


@measure(
    "consensus_deviation", "deviation from consensus", signed=True, rank=120, counts=True,
    above="departs from its peers",
    reading="Each judge's mean score less the mean of the other judges' on the same texts.",
)  # fmt: skip
@per_subject((), itself)
def consensus_deviation(part: Ratings) -> Estimate:
    """Bias(i, j) for every judge and target (paper, sec. 4.3.1 and Fig. 8), by factor level; the value is the mean of
    |Bias| over all cells, without an interval: absolute values of noise are never 0. Detail, beside the matrix `values`
    with `low` and `high`: `scores`, `sds`, `consensus` (the self-excluded mean each cell is compared with), `zero_sum`
    (largest |column sum|, 0 where nothing is missing), and `naive`: the deviation from a consensus that includes the
    judge, and its measured `shrinkage` = (n - 1) / n. Undefined with one judge, and where no text has usable scores of
    two.

    >>> consensus_deviation(example("judge target score", "a x 5; a y 3; b x 4; b y 3")).of().detail["values"]
    [[1.0, 0.0], [-1.0, 0.0]]
    """
    cells = part.cells()
    n = cells.replies(cells.count)
    if len(cells.judges) < 2:
        return undefined("consensus_deviation", ONE_JUDGE, n=n, method=WELCH, over=cells.over)
    each = deviations(cells)
    bias, means = cells.by_target(each), cells.by_target(cells.mean)
    naive = cells.by_target(cells.mean - mean_of(cells.mean, axis=0))

    def distribution(judge: int, texts: Mask) -> Distribution:
        if cells.fixed:
            return over_repeats(cells, judge, texts)
        return difference_of_means(each[judge], texts, None, cells.clusters, step=cells.step, times=cells.times)

    low, high = cell_intervals(cells, each, distribution)
    sds = {"sds": cells.by_target(np.sqrt(cells.variance))} if cells.fixed else {}
    there = np.isfinite(naive) & np.isfinite(bias)
    scale = float((bias[there] ** 2).sum())  # of the least-squares factor between the two matrices
    shrinkage = number(float((naive[there] * bias[there]).sum()) / scale) if scale > ZERO else None
    detail = matrix(
        cells.judges, cells.target_names, bias, part.own(), criterion=cells.criterion, low=low, high=high,
        scores=means, **sds, consensus=means - bias,
        zero_sum=number(np.abs(np.nansum(bias, axis=0)).max()),
        naive={"values": table(naive), "shrinkage": shrinkage, "expected": number(1 - 1 / len(cells.judges))},
    )  # fmt: skip
    about: dict[str, Any] = {
        "n": n, "n_excluded": cells.replies(cells.lost), "unit": cells.scale.unit, "over": cells.over,
        "method": "mean of |self-excluded deviation| over cells", "detail": detail,
    }  # fmt: skip
    if not np.isfinite(bias).any():
        return undefined("consensus_deviation", "no text has usable scores of two judges", **about)
    note = f"{THESE_TEXTS}; intervals are per cell" if cells.fixed else "intervals are per cell"
    return Estimate(metric="consensus_deviation", value=float(np.nanmean(np.abs(bias))), note=note, **about)


def cell_intervals(cells: Cells, each: Floats, distribution: Callable[[int, Mask], Distribution]) -> Floats:
    """95 % intervals of the mean of `each` (J, U) over every target's texts, (2, J, T), by the `distribution` of a
    judge's mean over some texts (U,); NaN where nothing is known."""
    ends = np.full((2, len(cells.judges), len(cells.target_names)), np.nan)
    for t, target in enumerate(cells.target_names):
        for j, known in enumerate(np.isfinite(each)):
            texts = cells.texts_of(target) & known
            if texts.any():
                ends[:, j, t] = distribution(j, texts).interval(0.95)
    return ends


@measure(
    "human_offset_matrix", "offset from people, by target", signed=True, rank=250, bad="none", counts=True,
    reading="Each judge's mean score less people's mean for the same texts.",
)  # fmt: skip
@per_subject((), compared)
def human_offset_matrix(against: Compared) -> Estimate:
    """Judge minus people for every judge and target (paper, Fig. 9), by factor level. Detail: the matrix `values` with
    `low` and `high` per cell, the judges' `scores`, and people's mean per target, `human`. The value is that of
    `panel_offset`. Cells that cannot be compared are empty.

    >>> people = table("target mean sd n", "t 4 1 9")
    >>> human_offset_matrix(example("judge target score", "a t 5; b t 4.5", people=people)).of().detail["values"]
    [[1.0], [0.5]]
    """
    cells, each = against.cells, against.differences
    over = against.over_repeats if cells.fixed else against.over_texts
    low, high = cell_intervals(cells, each, lambda judge, texts: over(against.only(judge) & texts))
    detail = matrix(
        cells.judges, cells.target_names, cells.by_target(each), against.own, criterion=cells.criterion,
        low=low, high=high, scores=cells.by_target(cells.mean),
        human=[number(mean) for mean in cells.by_target(against.people.mean[None])[0]],
    )  # fmt: skip
    return replace(against.offset("human_offset_matrix", np.ones(each.shape, dtype=bool)), detail=detail)


@measure(
    "human_panel_offset", "offset of the panel", signed=True, rank=240, bad="none", counts=True,
    reading="Mean over all judges and texts of judge minus people.",
)  # fmt: skip
@per_subject((), compared)
def human_panel_offset(against: Compared) -> Estimate:
    """Mean over all judges and texts of judge minus people, by factor level: +0.4636 with names shown and +0.426 with
    names hidden in the paper. Detail: how many pairs of judge and text lie above 0 (`positive`, `pairs`, in words
    `share_positive`), `people_se`, `these_texts`.

    >>> human_panel_offset(example("rater kind score", "a judge 4; b judge 2; p person 2.5")).of().value
    0.5
    """
    each = against.differences
    pairs, positive = (against.cells.replies(marked) for marked in (np.isfinite(each), each > ZERO))
    detail = {"positive": positive, "pairs": pairs, "share_positive": f"{positive} of {pairs}"}
    return against.offset("human_panel_offset", np.ones(each.shape, dtype=bool), detail=detail)


@measure(
    "human_self_offset", "own work against people", signed=True, rank=245, bad="none", counts=True,
    reading="A judge's score of its own work less people's mean for the same work.",
)  # fmt: skip
@per_subject("judge", compared)
def human_self_offset(against: Compared) -> Iterator[Named]:
    """Mean over its own texts of judge minus people, by judge and factor level, for judges that wrote a target.

    >>> rows = "a judge a 4; a judge b 2; p person a 2.5; p person b 2"
    >>> human_self_offset(example("rater kind target score", rows, authors={"a": "a"})).of(judge="a").value
    1.5
    """
    for judge, target in against.own.items():
        own = against.only(against.cells.row(judge)) & against.cells.texts_of(target)
        yield judge, against.offset("human_self_offset", own)
