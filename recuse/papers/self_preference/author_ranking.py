"""Who writes best by the others' scores, and which judge is fairest to itself: the two rankings that the thesis on bias
in LLM self-evaluation reads off its table (sec. 4.1).

An author's score is what other judges give its texts: its own score of them has no part. A judge is the fairer, the
nearer S - R and S - G are to 0 together; leniency counts as unfair by S - R and good work by S - G, which is why this
ranks and decides nothing (see `recuse.metrics.self_preference`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from recuse.metrics.estimates import undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.metrics.own_text import missing_text, own_place, self_received_given
from recuse.metrics.paired_items import paired_estimate, paired_test
from recuse.ratings import RatingArray, Ratings, mean_of
from recuse.ratings.array import judges_array
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.statistics.paired import Paired

__all__ = ["author_score", "distance_from_fair"]


@measure(
    "author_score", "score by the others", rank=355,
    reading="Mean score of an author's texts by all judges but itself.",
)  # fmt: skip
@per_subject("target", itself)
def author_score(part: Ratings) -> Iterator[Named]:
    """Mean over items of the other judges' mean score of an author's text, by target and factor level. Detail: `rank`
    among the targets, 1 for the best, ties sharing the better rank. Undefined for a target that nobody else scored.

    >>> import pandas as pd
    >>> rows = [("x", "a", 5.0), ("y", "a", 3.0), ("x", "b", 4.0), ("y", "b", 1.0)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "target", "score"]).assign(item="i")
    >>> estimates = author_score(Ratings.of(frame, authors={"x": "a", "y": "b"}))
    >>> [(estimates.of(target=name).value, estimates.of(target=name).detail["rank"]) for name in "ab"]
    [(3.0, 2), (4.0, 1)]
    """
    array = judges_array(part)
    own = array.columns(part.authors)
    values: dict[str, Floats] = {}
    for column, target in enumerate(array.targets):
        others = np.array([place != column for place in own])
        values[target] = mean_of(array.means[others, :, column], axis=0)
    means = {target: float(np.nanmean(v)) for target, v in values.items() if np.isfinite(v).any()}
    for target, per_item in values.items():
        rank = 1 + sum(mean > means[target] + 1e-12 for mean in means.values()) if target in means else None
        yield target, _mean(part, array, per_item, {"rank": rank}, "nobody else scored it")


@measure(
    "distance_from_fair", "distance from a fair judge", rank=356,
    reading="How far S - R and S - G lie from 0 together; the smallest is the fairest judge of its own texts.",
)  # fmt: skip
def distance_from_fair(ratings: Ratings) -> Estimates:
    """sqrt(mean(S - R)^2 + mean(S - G)^2), by judge and factor level, on items that have all three. Detail: both means,
    and `rank`, 1 for the fairest. No interval: a distance is above 0 for a fair judge as well. Undefined for a judge
    none of whose texts was judged, or that has no peer.

    >>> import pandas as pd
    >>> rows = [("x", "a", 5.0), ("x", "b", 3.0), ("y", "a", 5.0), ("y", "b", 3.0)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "target", "score"]).assign(item="i")
    >>> distance_from_fair(Ratings.of(frame, authors={"x": "a"})).of(judge="x").detail["given"]
    2.0
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, part in ratings.each():
        array = judges_array(part)
        judges: dict[str, tuple[float, float, int] | str] = {}
        for judge in ratings.own():
            judges[judge] = _distance(array, part, judge)
        ranked = [float(np.hypot(*one[:2])) for one in judges.values() if not isinstance(one, str)]
        for judge, one in judges.items():
            about: dict[str, Any] = {"unit": getattr(part.scale, "unit", ""), "span": part.scale.span,
                                     "method": "distance of two means from 0"}  # fmt: skip
            if isinstance(one, str):
                estimates[judge, *names] = undefined("distance_from_fair", one, **about)
                continue
            value = float(np.hypot(*one[:2]))
            detail = {"received": one[0], "given": one[1], "rank": 1 + sum(v < value - 1e-12 for v in ranked)}
            estimates[judge, *names] = Estimate(
                metric="distance_from_fair", value=value, n=one[2], over="items", detail=detail, **about
            )
    return Estimates(("judge", *ratings.within()), estimates)


def _distance(array: RatingArray, part: Ratings, judge: str) -> tuple[float, float, int] | str:
    place = own_place(array, part.authors, judge)
    if place is None:
        return missing_text(array, judge)
    s, r, g = self_received_given(array, *place)
    there = np.isfinite(s - r) & np.isfinite(s - g)
    if not there.any():
        return "no item has its own score, a peer's and its score of another text"
    return float((s - r)[there].mean()), float((s - g)[there].mean()), int(there.sum())


def _mean(part: Ratings, array: RatingArray, values: Floats, detail: dict[str, Any], why: str) -> Estimate:
    test = paired_test(values, array) if np.isfinite(values).any() else Paired.of([])
    return paired_estimate("author_score", test, part, excluded=int(np.isnan(values).sum()), why=why, detail=detail)
