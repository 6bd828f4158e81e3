"""From differences per item to an estimate: which items could be compared, and what the interval is over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, undefined
from recuse.ratings import RatingArray, Ratings
from recuse.schema import Estimate
from recuse.statistics.paired import METHOD, Paired

__all__ = ["MARGIN", "paired_estimate", "paired_test", "published_test"]

STUDENT = "mean of paired differences over items, Student's t"

MARGIN = 0.0625
"""Share of the scale's range, a quarter of a point on 1 to 5: the difference whose chance of being found is reported as
`power`."""


def paired_test(differences: NDArray[np.float64], array: RatingArray, *, scores: int = 4) -> Paired:
    """Student's t of `differences` (items,), over clusters where several items share one; NaN is left out. Each is made
    of `scores` scores, so it cannot leave as many halves of twice the scale's range, which bounds its mean."""
    far = array.scale.span * scores / 2
    return Paired.of(differences, _clusters(array), ends=(-far, far), slip=getattr(array.scale, "step", None))


def published_test(differences: NDArray[np.float64], array: RatingArray) -> Paired:
    """The same with the interval that papers print: Student's, which needs mean, SD and n of the differences alone, and
    so can be had where a source prints no more."""
    return Paired.of(differences, _clusters(array))


def _clusters(array: RatingArray) -> NDArray[np.str_] | None:
    return np.array(array.clusters) if array.clustered else None


def paired_estimate(
    metric: str,
    test: Paired,
    part: Ratings,
    *,
    excluded: int,
    why: str,
    detail: Mapping[str, Any] | None = None,
) -> Estimate:
    """The mean difference with its interval; undefined, with `why`, where no item could be compared. `part` says what
    the scores are and what clusters are called."""
    scale: Any = part.scale
    about: dict[str, Any] = {
        "n_excluded": excluded, "unit": scale.unit, "span": scale.span, "detail": detail or {},
        "method": STUDENT if test.n and test.bounded is None else METHOD,
        "over": "clusters" if test.clustered else "items", "clusters": part.clusters,
    }  # fmt: skip
    if not test.n:
        return undefined(metric, why, **about)
    if test.clustered:
        about["n_clusters"] = int(test.clustered.df) + 1
    law = test.law if test.bounded is None else test.bounded
    return estimated(metric, test.mean, law, n=test.n, **about)
