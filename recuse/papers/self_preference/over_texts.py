"""Means over texts (item x target) whose interval is over items, or over what items share: the texts of one item are
judged after one reading of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, undefined
from recuse.ratings import RatingArray, Ratings
from recuse.ratings.array import Axes
from recuse.ratings.scale import TRUE
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.statistics.bounded import BOUNDED, bounded_mean


def axes_of(ratings: Ratings) -> Axes:
    """Judges, items and targets of the whole table, whatever factors vary in it."""
    return ratings.judges, tuple(map(str, ratings.table["item"].drop_duplicates())), ratings.targets


def true_scores(ratings: Ratings, array: RatingArray) -> Floats | None:
    """What each text deserves on the one criterion, shape (items, targets), as a number on the ascending scale; NaN
    where that is not known, and None where it is of no text."""
    column = f"{TRUE}{ratings.criterion}"
    if ratings.texts is None or column not in ratings.texts:
        return None
    known = np.full(array.shape[1:], np.nan)
    items, targets = ({name: at for at, name in enumerate(names)} for names in (array.items, array.targets))
    rows = ratings.texts[["item", "target", column]].dropna()
    for item, target, value in rows.itertuples(index=False):
        if str(item) in items and str(target) in targets:
            known[items[str(item)], targets[str(target)]] = float(value)
    return known if np.isfinite(known).any() else None


def mean_over_texts(
    metric: str, values: Floats, array: RatingArray, part: Ratings, *, why: str, span: float, unit: str,
    detail: Mapping[str, Any] | None = None, requested: NDArray[np.bool_] | None = None, signed: bool = True,
) -> Estimate:  # fmt: skip
    """The mean of `values` (items, targets), none further from 0 than `span`, and none below 0 unless `signed`; NaN is
    left out, and counted where it was `requested`. Undefined, with `why`, where nothing is left."""
    least = -span if signed else 0.0
    there = np.isfinite(values)
    wanted = there if requested is None else requested
    about: dict[str, Any] = {
        "n_excluded": int((wanted & ~there).sum()), "over": "clusters", "clusters": part.clusters, "unit": unit,
        "span": span - least, "method": BOUNDED, "detail": detail or {},
    }  # fmt: skip
    if not there.any():
        return undefined(metric, why, **about)
    codes = np.unique(np.array(array.clusters), return_inverse=True)[1]
    groups = np.broadcast_to(codes[:, None], values.shape)[there]
    distribution = bounded_mean(values[there], groups, (least, span))
    return estimated(
        metric, float(values[there].mean()), distribution, n=int(there.sum()), n_clusters=len(np.unique(groups)),
        **about,
    )  # fmt: skip


def by_rater(array: RatingArray, values: Floats) -> dict[str, float | None]:
    """Values of shape (raters,) by name, None where there is none."""
    return {name: float(v) if np.isfinite(v) else None for name, v in zip(array.raters, values, strict=True)}
