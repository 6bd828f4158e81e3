"""From differences per item to an estimate: which items could be compared, and what the interval is over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, undefined
from recuse.ratings import Numeric, RatingArray, Ratings
from recuse.schema import Estimate
from recuse.statistics.paired import BOUNDED_METHOD, METHOD, Paired

MARGIN = 0.0625
"""Share of the scale's range, a quarter of a point on 1 to 5: the difference whose chance of being found is reported as
`power`."""


def paired_test(differences: NDArray[np.float64], array: RatingArray) -> Paired:
    """Student's t of `differences` (items,), over clusters where several items share one; NaN is left out."""
    return Paired.of(differences, array.groups)


def bounded_test(differences: NDArray[np.float64], array: RatingArray) -> Paired:
    """The same for differences of four scores, with an interval that holds where most of them are equal: what is gated,
    while t reproduces what papers print. What never varied is bounded by slips of the smallest step of the scores."""
    far = 2 * array.scale.span
    clusters = array.groups
    slip = array.step if isinstance(array.scale, Numeric) else None
    return Paired.of(differences, clusters, ends=(-far, far), slip=slip)


def paired_change(
    metric: str, part: Ratings, array: RatingArray, differences: NDArray[np.float64], margin: float, why: str,
    detail: Mapping[str, Any] | None = None,
) -> Estimate:  # fmt: skip
    """`paired_test` of `differences` (items,) as an estimate; `margin`, a share of the scale's range, is the difference
    whose chance of being found it tells, and `detail` joins what the test tells of itself. Undefined, with `why`, where
    no item has a difference."""
    test = paired_test(differences, array)
    full = {**test.detail(margin * part.scale.span), **(detail or {})}
    return paired_estimate(metric, test, part, excluded=len(differences) - test.n, why=why, detail=full)


def paired_estimate(
    metric: str, test: Paired, part: Ratings, *, excluded: int, why: str, detail: Mapping[str, Any] | None = None
) -> Estimate:
    """The mean difference with its interval; undefined, with `why`, where no item could be compared. `part` says what
    the scores are and what clusters are called."""
    scale: Any = part.scale
    about: dict[str, Any] = {
        "n_excluded": excluded, "unit": scale.unit, "span": scale.span,
        "method": METHOD if test.bounded is None else BOUNDED_METHOD, "detail": detail or {},
        "over": "clusters" if test.clustered else "items", "clusters": part.clusters,
    }  # fmt: skip
    if not test.n:
        return undefined(metric, why, **about)
    if test.clustered:
        about["n_clusters"] = int(test.clustered.df) + 1
    distribution = test.distribution if test.bounded is None else test.bounded
    return estimated(metric, test.mean, distribution, n=test.n, **about)
