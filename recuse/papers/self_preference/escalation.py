"""Escalation: which texts go to people, and what the rest is then worth.

A jury hands a text on where its members differ by more than a threshold. The threshold is set on labelled texts of one
half of the items, the largest with which the error of what is kept stays below a bound; what it does is told on the
other half, which had no part in it. Labels are what is true or what people say on average (thesis on bias in LLM
self-evaluation, sec. 2.4: labels by experts are what makes a bias harmful).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import itself, measure, per_part
from recuse.papers.self_preference.over_texts import true_scores
from recuse.ratings import RatingArray, Ratings, mean_of
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.statistics.bounded import BOUNDED, bounded_mean

__all__ = ["escalation"]

BOUND = 0.1
FEWEST = 4


@measure(
    "escalation", "error change by escalation", signed=True, rank=357,
    reading="Distance of the jury's mean from the labels on texts that it keeps, less that on all, where texts that "
    "its members differ about go to people. Below 0: it helps.",
)  # fmt: skip
@per_part(itself)
def escalation(part: Ratings, bound: float = BOUND) -> Estimate:
    """Error of the jury on the texts that it keeps less on all texts, on the second half of the items, in units of the
    scale; by factor level. Texts whose members' range is above the threshold go to people. The threshold is the largest
    range seen in the first half at which the mean error of what is kept is at most `bound` of the scale's range; where
    there is none, the smallest range.

    Detail: `threshold`; `escalated`, the share of texts of the second half; `before` and `after`. Undefined with fewer
    than two judges or four labelled items, and where nothing is kept.

    >>> import pandas as pd
    >>> said = {"x": [1.0, 5, 1, 5], "y": [1.0, 1, 1, 1]}
    >>> rows = [(j, i, s) for j, scores in said.items() for i, s in zip("abcd", scores)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "item", "score"])
    >>> texts = pd.DataFrame({"item": list("abcd"), "target": "", "true_rating": [1, 5, 1, 5]})
    >>> estimates = escalation(Ratings.of(frame, texts=texts)).of()
    >>> estimates.value, estimates.detail["escalated"]
    (-1.0, 0.5)
    """
    return _escalated(part, bound)


def _escalated(part: Ratings, bound: float) -> Estimate:
    array = part.array()
    judged = array.means[~array.people]
    labels = _labels(part, array)
    there = np.isfinite(judged).all(axis=0) & np.isfinite(labels)
    items = np.flatnonzero(there.any(axis=1))
    about: dict[str, Any] = {
        "over": "clusters", "clusters": part.clusters, "unit": part.scale.unit, "span": 2 * part.scale.span,
        "method": BOUNDED,
    }  # fmt: skip
    if len(judged) < 2 or len(items) < FEWEST:
        why = f"it takes two judges, and {FEWEST} items with labels that all of them scored"
        return undefined("escalation", why, **about)
    spread, error = judged.max(axis=0) - judged.min(axis=0), np.abs(judged.mean(axis=0) - labels)
    first = there & np.isin(np.arange(len(there)), items[: len(items) // 2])[:, None]
    rest = there & ~first
    threshold = _threshold(spread[first], error[first], bound * part.scale.span)
    kept = rest & (spread <= threshold + 1e-9)
    detail: dict[str, Any] = {
        "threshold": number(threshold), "escalated": number(1 - kept.sum() / rest.sum()),
        "before": number(float(error[rest].mean())),
    }  # fmt: skip
    if not kept.any():
        return undefined("escalation", "every text of the second half goes to people", detail=detail, **about)
    detail["after"] = number(float(error[kept].mean()))
    value = float(error[kept].mean() - error[rest].mean())
    weights = np.where(kept, rest.sum() / kept.sum(), 0.0) - 1.0  # the difference of the means, as one mean over texts
    values = (weights * error)[rest]
    codes = np.unique(np.array(array.clusters), return_inverse=True)[1]
    groups = np.broadcast_to(codes[:, None], rest.shape)[rest]
    widest = float(np.abs(weights[rest]).max()) * part.scale.span
    return estimated(
        "escalation", value, bounded_mean(values, groups, (-widest, widest)), n=int(rest.sum()),
        n_clusters=len(np.unique(groups)), detail=detail, **about,
    )  # fmt: skip


def _labels(part: Ratings, array: RatingArray) -> Floats:
    """What is true of each text; where that is not known, people's mean, (items, targets)."""
    true = true_scores(part, array)
    if true is not None:
        return true
    if array.people.any():
        return mean_of(array.means[array.people], axis=0)
    return np.full(array.shape[1:], np.nan)


def _threshold(spread: Floats, error: Floats, bound: float) -> float:
    """The largest range at which what is kept has a mean error of at most `bound`, else the smallest range."""
    ranges = np.unique(spread)
    good = [value for value in ranges if error[spread <= value + 1e-9].mean() <= bound + 1e-9]
    return float(max(good) if good else ranges[0])
