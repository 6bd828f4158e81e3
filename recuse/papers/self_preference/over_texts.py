"""What the measures of the study share: the texts (item x target) that a judge wrote and what is known of each, and
estimates of means and shares. The interval of a mean over texts is over items, or over what items share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.self_preference import own_place
from recuse.ratings import TRUE, RatingArray, Ratings, judges_array, remembered
from recuse.schema import Estimate
from recuse.schema.arrays import Floats, Mask, ascending_codes
from recuse.statistics.bounded import BOUNDED, bounded_mean
from recuse.statistics.clusters import SHARE, Bounded, OverClusters, clustered_share

JACKKNIFE = "jackknife over clusters, Student's t"
UNKNOWN = "what the texts deserve is not known; say it (texts: true_<criterion>)"
Place = tuple[int, int]
OwnTexts = tuple[Ratings, RatingArray, dict[str, Place | None]]


def own_texts(part: Ratings, ratings: Ratings) -> OwnTexts:
    """The view of measures of a judge's own texts: the ratings, their array, and the row and column of every judge that
    wrote a target anywhere in `ratings`, None where that is not in the array."""
    array = judges_array(part)
    return part, array, {judge: own_place(array, part.authors, judge) for judge in ratings.own()}


class Scored(NamedTuple):
    """One judge's scores on the ascending scale, (items, targets), by the level of the factor that was varied, or the
    levels of several; which texts were `requested` under any; and `mean_over_texts` of such values. `array`: of one
    level, whose items, targets and clusters are those of all."""

    judge: str
    array: RatingArray
    scores: Mapping[Any, Floats]
    requested: Mask
    mean: Callable[..., Estimate]

    def under(self, level: Any) -> Floats:
        """The scores under a level; nothing where it was not asked."""
        return self.scores.get(level, np.full(self.requested.shape, np.nan))


@remembered
def scored_under(part: Ratings, *factors: str) -> list[Scored]:
    """Every judge, under each combination of the levels of these factors; nobody where one of them was not varied."""
    axes = part.judges, part.coded("item")[0], part.targets
    crossed = {
        levels if len(factors) > 1 else "".join(levels): judges_array(
            part.where(**dict(zip(factors, levels, strict=True))), axes
        )
        for levels in product(*map(part.levels, factors))
    }
    scored = []
    for row, judge in enumerate(part.judges if crossed else ()):
        array = next(iter(crossed.values()))
        requested = np.any([one.requested[row] for one in crossed.values()], axis=0)
        mean = partial(mean_over_texts, array=array, part=part, requested=requested)
        scored.append(Scored(judge, array, {level: one.means[row] for level, one in crossed.items()}, requested, mean))
    return scored


def clusters_of_texts(array: RatingArray) -> NDArray[np.intp]:
    """What each text belongs to, as a number, shape (items, targets)."""
    return np.broadcast_to(ascending_codes(array.clusters)[:, None], array.shape[1:])


@remembered
def known_of_texts(ratings: Ratings, column: str) -> dict[tuple[str, str], Any]:
    """(item, target) -> what a column of the texts says of it, where it says something."""
    texts = ratings.texts
    if texts is None or column not in texts:
        return {}
    rows = texts[["item", "target", column]].dropna().itertuples(index=False, name=None)
    return {(str(item), str(target)): value for item, target, value in rows}


def facts_of_texts(ratings: Ratings, column: str, array: RatingArray) -> NDArray[Any]:
    """The same of each text of an array, shape (items, targets); None where it says nothing."""
    known = known_of_texts(ratings, column)
    each = [[known.get((item, target)) for target in array.targets] for item in array.items]
    return np.array(each, dtype=object).reshape(array.shape[1:])


def true_scores(ratings: Ratings, array: RatingArray) -> Floats:
    """What each text deserves on the one criterion, shape (items, targets), as a number on the ascending scale; NaN
    where that is not known."""
    return facts_of_texts(ratings, f"{TRUE}{ratings.criterion}", array).astype(float)


def mean_over_texts(
    metric: str, values: Floats, array: RatingArray, part: Ratings, *, why: str, span: float | None = None,
    signed: bool = True, **about: Any,
) -> Estimate:  # fmt: skip
    """The mean of `values` (items, targets), none further from 0 than `span`, the scale's unless given, and none below
    0 unless `signed`; as `bounded_estimate`."""
    span = part.scale.span if span is None else span
    about = {"unit": part.scale.unit, "over": "clusters", "clusters": part.clusters, "requested": False, **about}
    return bounded_estimate(metric, values, clusters_of_texts(array), (-span if signed else 0.0, span), why, **about)


def bounded_estimate(
    metric: str, values: ArrayLike, groups: ArrayLike, ends: tuple[float, float], why: str, *,
    requested: Mask | bool = True, distribution: Callable[..., Any] | None = None, **about: Any,
) -> Estimate:  # fmt: skip
    """The mean of `values`, none beyond `ends`, over `groups` of the same shape, by `bounded_mean` unless another
    `distribution` is given; NaN is left out, and counted where it was `requested`. Undefined, with `why`, where nothing
    is left. `about`: further facts of the estimate."""
    values, groups = np.asarray(values, dtype=float), np.asarray(groups)
    there = np.isfinite(values)
    about = {"n_excluded": int((requested & ~there).sum()), "span": ends[1] - ends[0], "method": BOUNDED, **about}
    if not there.any():
        return undefined(metric, why, **about)
    known, groups = values[there], groups[there]
    about = {"n": len(known), "n_clusters": len(np.unique(groups)), **about}
    of = distribution or partial(bounded_mean, ends=ends)
    return estimated(metric, float(known.mean()), of(known, groups), **about)


def share_estimate(metric: str, hits: ArrayLike, groups: ArrayLike, why: str, **about: Any) -> Estimate:
    """The share of `hits` (n,) over `groups` (n,); undefined, with `why`, of none."""
    about = {"unit": "share", "method": SHARE, "distribution": clustered_share, **about}
    return bounded_estimate(metric, hits, groups, (0.0, 1.0), why, **about)


def jackknifed(metric: str, value: float, left_out: ArrayLike, far: float = math.inf, **about: Any) -> Estimate:
    """A value, no further from 0 than `far`, with the jackknife's interval from the values without each cluster."""
    others = np.asarray(left_out)
    count = len(others)
    se = math.sqrt((count - 1) / count * float(((others - others.mean()) ** 2).sum()))
    distribution = Bounded(value, 0.0 if se < 1e-12 else se, count - 1, (-far, far))
    return estimated(metric, value, distribution, n_clusters=count, **about)


def mean_or_none(values: Floats) -> float | None:
    """The mean of what is there, for a detail; None where nothing is."""
    known = values[np.isfinite(values)]
    return number(float(known.mean())) if len(known) else None


def with_interval(distribution: OverClusters) -> dict[str, float | None]:
    """A value with its 95 % interval, for a detail."""
    low, high = distribution.interval(0.95)
    return {"value": number(distribution.value), "low": number(low), "high": number(high)}


def by_rater(array: RatingArray, values: Floats) -> dict[str, float | None]:
    """Values of shape (raters,) by name, None where there is none."""
    return {name: float(v) if np.isfinite(v) else None for name, v in zip(array.raters, values, strict=True)}
