"""Pairs of judges on the texts that both judged: the sums that every level of their agreement is computed from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.ratings import RatingArray
from recuse.statistics.agreement import Coefficient, panel

__all__ = ["Level", "all_pairs", "coefficient_of", "common_items", "lost_texts", "shares_of_judge", "units_of"]

Floats = NDArray[np.float64]
Level = Callable[[Floats], Floats]
"""From sums (..., targets, 6) to agreement: a function of `recuse.statistics.agreement.panel`."""


def all_pairs(array: RatingArray) -> Floats:
    """Shares of every two judges, each pair once: (items, pairs, targets, 6)."""
    centre, count = _centre(array), len(array.raters)
    parts = [panel.pair_shares(array.means[a], array.means[a + 1 :], centre) for a in range(count - 1)]
    nothing = np.empty((len(array.items), 0, len(array.targets), 6))
    return np.concatenate(parts, axis=1) if parts else nothing


def shares_of_judge(array: RatingArray, judge: int) -> Floats:
    """Shares of one judge against every other: (items, others, targets, 6)."""
    others = [k for k in range(len(array.raters)) if k != judge]
    return panel.pair_shares(array.means[judge], array.means[others], _centre(array))


def coefficient_of(shares: Floats, level: Level) -> Coefficient:
    """A level of agreement of shares (items, pairs, targets, 6), mean over pairs of the mean over targets, as a
    coefficient that items can be left out of."""
    items, *inner = shares.shape

    def of(sums: Floats) -> Floats:
        return panel.mean_known(level(sums.reshape(-1, *inner)))

    return Coefficient(shares.reshape(items, -1), of, lambda sums: _why(sums.reshape(inner), level), "correlation")


def units_of(array: RatingArray, clusters: str) -> dict[str, Any]:
    """What a jackknife over items or their clusters is over, as facts of an `Estimate`."""
    if not array.clustered:
        return {"over": "items"}
    return {"over": "clusters", "clusters": clusters, "n_clusters": len(set(array.clusters))}


def common_items(shares: Floats) -> int:
    """How many items two judges have in common."""
    return int((shares[..., 0] > 0).any(axis=(1, 2)).sum())


def lost_texts(array: RatingArray, judge: int) -> int:
    """Texts that the judge was asked about and that have no usable score of it."""
    return int((array.requested[judge] & ~np.isfinite(array.means[judge])).sum())


def _why(sums: Floats, level: Level) -> str:
    n = sums[..., 0]
    if not len(n):
        return "no other judge to agree with"
    if level is panel.model_agreement and int((n > 0).all(axis=0).sum()) < panel.FEWEST_TARGETS:
        return f"an order of targets needs {panel.FEWEST_TARGETS} that both judges rated"
    if not (n >= panel.FEWEST_ITEMS).any() and level is not panel.model_agreement:
        return f"no target has {panel.FEWEST_ITEMS} items that both judges rated"
    return "" if np.isfinite(panel.mean_known(level(sums[None]))).all() else "a judge gives every text the same score"


def _centre(array: RatingArray) -> float:
    """Any number near the scores: sums about it lose no digits."""
    known = array.means[np.isfinite(array.means)]
    return float(np.round(known.mean(), 3)) if len(known) else 0.0
