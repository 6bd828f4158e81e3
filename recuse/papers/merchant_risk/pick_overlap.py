"""Do models pick the same items, and put them on the same level? Merchant-risk paper, secs. 5.3 and 7.1, Fig. 10."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from recuse.metrics.estimates import matrix, number, undefined
from recuse.metrics.measure import itself, measure, per_part
from recuse.ratings import Ratings
from recuse.ratings.array import numbers
from recuse.schema import Estimate

__all__ = ["pick_overlap"]

METHOD = "mean over pairs of models of |both| / |either|"
Levels = dict[str, dict[str, float]]
"""Model -> item -> the level it was put on, the mean where it was picked repeatedly."""


@measure(
    "pick_overlap", "overlap of picks", unit="share", rank=298, bad="none",
    reading="Of the items that either of two models picked, the share that both did; the mean over pairs of models.",
)  # fmt: skip
@per_part(itself)
def pick_overlap(part: Ratings) -> Estimate:
    """Mean Jaccard index of two models' picks, by factor level.

    Detail: the `values` per pair of models; `items`, how many were picked at all; `by_all`, those that every model
    picked, as [item, name, levels]; `same_level`, of these, those that all put on one level; `shared`, all that two or
    more picked, the most picked first; `adjacent` and `apart`, how many of the shared lie at most one level apart, and
    further. No interval: one set of picks per model. Undefined with fewer than two models with picks.

    >>> import pandas as pd
    >>> rows = [("a", "i", 1.0), ("a", "j", 2.0), ("b", "i", 1.0), ("b", "k", 2.0)]
    >>> pick_overlap(Ratings.of(pd.DataFrame(rows, columns=["judge", "item", "score"]))).of().detail["by_all"]
    [['i', '', {'a': 1.0, 'b': 1.0}]]
    """
    levels = _levels(part)
    models, every = list(levels), list(dict.fromkeys(item for picks in levels.values() for item in picks))
    about: dict[str, Any] = {"n": len(every), "over": "items", "unit": "share", "method": METHOD}
    if len(models) < 2:
        return undefined("pick_overlap", f"an overlap needs two models with picks; there are {len(models)}", **about)
    values = np.eye(len(models))
    for i, j in combinations(range(len(models)), 2):
        one, other = (set(levels[models[k]]) for k in (i, j))
        values[i, j] = values[j, i] = len(one & other) / len(one | other)
    by = {item: {model: picks[item] for model, picks in levels.items() if item in picks} for item in every}
    shared = sorted((item for item in every if len(by[item]) > 1), key=lambda item: (-len(by[item]), item))
    names, step = _names(part), float(getattr(part.scale, "step", None) or 1.0)
    gaps = [(max(by[item].values()) - min(by[item].values())) / step for item in shared]
    rows = {item: [item, names.get(item, ""), {m: number(v) for m, v in by[item].items()}] for item in shared}
    by_all = [item for item in shared if len(by[item]) == len(models)]
    detail = matrix(
        models, models, values, {}, items=len(every), by_all=[rows[item] for item in by_all],
        same_level=[item for item in by_all if len(set(by[item].values())) == 1], shared=list(rows.values()),
        adjacent=sum(gap <= 1 for gap in gaps), apart=sum(gap > 1 for gap in gaps),
    )  # fmt: skip
    value = float(values[np.triu_indices(len(models), 1)].mean())
    return Estimate(metric="pick_overlap", value=value, note="no interval: one set of picks per model", detail=detail,
                    **about)  # fmt: skip


def _levels(part: Ratings) -> Levels:
    rows = part.table[(part.table["criterion"] == part.criterion) & (part.table["kind"] == "judge")]
    rows = rows.assign(level=numbers(part, rows)).dropna(subset="level")
    estimates: Levels = {}
    mean = rows.groupby(["rater", "item"], sort=False, observed=True)["level"].mean().reset_index()
    for model, item, level in zip(mean["rater"], mean["item"], mean["level"], strict=True):
        estimates.setdefault(str(model), {})[str(item)] = float(level)
    return estimates


def _names(part: Ratings) -> dict[str, str]:
    truth = part.reference
    if truth is None or "name" not in truth:
        return {}
    return dict(zip(truth["item"].astype(str), truth["name"].fillna("").astype(str), strict=True))
