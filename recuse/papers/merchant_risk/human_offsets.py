"""The panel against people, for the paper's tables: offsets by target, of all judges, of own work, the closest judge.

Merchant-risk paper, secs. 3.5 and 4.4, Fig. 9; `recuse.metrics.human_alignment` has the offset that is gated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from recuse.metrics.consensus import ZERO
from recuse.metrics.estimates import THESE_TEXTS, matrix, undefined
from recuse.metrics.human_alignment import GIVEN, Compared, compared
from recuse.metrics.measure import Named, measure, per_part, per_subject
from recuse.papers.merchant_risk.consensus_matrix import cell_intervals
from recuse.papers.merchant_risk.human_order import BLOCKS, REDRAWN, Sides
from recuse.ratings import Ratings
from recuse.schema import Estimate, Estimates, number
from recuse.schema.arrays import Floats, distinct
from recuse.statistics.agreement.coefficient import ratio
from recuse.statistics.distributions import SEED, generator


@measure(
    "human_offset_matrix", "offset from people, by target", signed=True, rank=250, bad="none", counts=True,
    reading="Each judge's mean score less people's mean for the same texts.",
)  # fmt: skip
@per_part(compared)
def human_offset_matrix(against: Compared) -> Estimate:
    """Judge minus people for every judge and target (paper, Fig. 9), by factor level.

    Detail: the matrix `values` with `low` and `high` per cell, the judges' `scores`, and people's mean per target,
    `human`. The value is that of `panel_offset`. Cells that cannot be compared are empty.

    >>> import pandas as pd
    >>> people = pd.DataFrame({"target": ["t"], "mean": [4.0], "sd": [1.0], "n": [9]})
    >>> frame = pd.DataFrame({"judge": ["a", "b"], "item": "i", "target": "t", "score": [5.0, 4.5]})
    >>> human_offset_matrix(Ratings.of(frame, people=people)).of().detail["values"]
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
@per_part(compared)
def human_panel_offset(against: Compared) -> Estimate:
    """Mean over all judges and texts of judge minus people, by factor level: +0.4636 with names shown and +0.426 with
    names hidden in the paper.

    Detail: how many pairs of judge and text lie above 0 (`positive`, `pairs`, in words `share_positive`), `people_se`,
    `these_texts`.

    >>> import pandas as pd
    >>> rows = [("a", "judge", 4.0), ("b", "judge", 2.0), ("p", "person", 2.5)]
    >>> frame = pd.DataFrame(rows, columns=["rater", "kind", "score"]).assign(item="i")
    >>> human_panel_offset(Ratings.of(frame)).of().value
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

    >>> import pandas as pd
    >>> rows = [("a", "judge", "a", 4.0), ("a", "judge", "b", 2.0), ("p", "person", "a", 2.5), ("p", "person", "b", 2)]
    >>> frame = pd.DataFrame(rows, columns=["rater", "kind", "target", "score"]).assign(item="i")
    >>> human_self_offset(Ratings.of(frame, authors={"a": "a"})).of(judge="a").value
    1.5
    """
    for judge, target in against.own.items():
        own = against.only(against.cells.row(judge)) & against.cells.texts_of(target)
        yield judge, against.offset("human_self_offset", own)


FIRST_NAMES = {"shown": "attributed", "hidden": "anonymized"}
"""What the draws of either level are named after: as in the first edition, whose shares stand."""


@measure(
    "closest_judge", "distance of the closest judge", rank=260, bad="none",
    reading="Mean distance from people of the judge that lies closest to them.",
)  # fmt: skip
def closest_judge(ratings: Ratings, seed: int = SEED, draws: int = 1999) -> Estimates:
    """Which judge lies closest to people, by factor level: smallest mean over texts of |judge - people|; the value is
    that distance. Every judge is compared on the texts that it and people rated. It has no interval: the smallest of
    several distances is too small for where it was found, and a bootstrap of it covers far too seldom.

    Detail: `judge`, and `ranking` from closest to farthest with `distance` and `first`, the share of resampled panels
    (repeats redrawn within cells, or items) in which that judge is closest. Ties go to the first in the panel.
    Undefined where no judge shares a text with people.

    >>> import pandas as pd
    >>> rows = [("a", "judge", 4.0), ("b", "judge", 2.0), ("p", "person", 2.5)]
    >>> frame = pd.DataFrame(rows, columns=["rater", "kind", "score"]).assign(item="i")
    >>> closest_judge(Ratings.of(frame)).of().detail["judge"]
    'b'
    """
    estimates = {}
    for names, part in ratings.each():
        rng = generator(seed, "closest_judge", *(FIRST_NAMES.get(name, name) for name in names))
        estimates[names] = _closest(Sides(compared(part, ratings), seed, draws), rng)
    return Estimates(ratings.within(), estimates)


def _closest(sides: Sides, rng: np.random.Generator) -> Estimate:
    cells, repeats = sides.against.cells, sides.against.cells.fixed
    known = np.flatnonzero(np.isfinite(sides.judges).any(axis=1)).tolist()
    about: dict[str, Any] = {
        "over": cells.over, "clusters": cells.clusters_called, "unit": cells.scale.unit, "span": cells.scale.span,
        "method": f"mean |judge - people| over {sides.what}, {REDRAWN['repeats' if repeats else 'items']}",
    }  # fmt: skip
    if not known:
        return undefined("closest_judge", "no judge has a usable score of a text that people rated", **about)
    distances = np.nanmean(np.abs(sides.judges[known] - sides.people), axis=1)
    spread = _redrawn_distances(sides, known, rng)
    nearest = np.where(np.isfinite(spread), spread, np.inf).argmin(axis=1)
    first = np.bincount(nearest, minlength=len(known)) / sides.draws
    order = np.argsort(distances.round(12), kind="stable")
    row = known[order[0]]
    ranking = [
        {"judge": cells.judges[known[k]], "distance": number(distances[k]), "first": number(first[k])} for k in order
    ]
    where = f"{THESE_TEXTS}; {GIVEN}" if repeats else GIVEN
    return Estimate(
        metric="closest_judge", value=float(distances[order[0]]),
        n=int(cells.count[row].sum()) if repeats else distinct(cells.items[np.isfinite(cells.mean[row])]),
        n_excluded=int(cells.lost[row].sum()), seed=sides.seed,
        note=f"{where}; the smallest of several has no interval",
        detail={"judge": cells.judges[row], "ranking": ranking}, **about,
    )  # fmt: skip


def _redrawn_distances(sides: Sides, known: list[int], rng: np.random.Generator) -> Floats:
    """Mean distances of these judges from people on resampled repeats or items; shape (draws, judges)."""
    fixed = sides.against.cells.fixed
    if fixed or not sides.per_text:
        drawn = sides.redrawn(known, rng) if fixed else sides.target_means(sides.cluster_weights(rng))[:, known]
        distances = np.abs(drawn - sides.people)
        there = np.isfinite(distances)
        return ratio(np.where(there, distances, 0.0).sum(axis=-1), there.sum(axis=-1))
    weights = sides.cluster_weights(rng, BLOCKS)
    groups = weights.shape[1]
    blocks = sides.against.cells.clusters % groups
    sums, counts = np.zeros((len(known), groups)), np.zeros((len(known), groups))
    for k, row in enumerate(np.abs(sides.judges[known] - sides.people)):
        there = np.isfinite(row)
        sums[k] = np.bincount(blocks[there], weights=row[there], minlength=groups)
        counts[k] = np.bincount(blocks[there], minlength=groups)
    return ratio(weights @ sums.T, weights @ counts.T)
