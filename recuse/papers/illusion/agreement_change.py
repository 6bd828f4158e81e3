"""Does agreement change with a setting that comes in steps, such as the temperature at which judges are asked?"""

from __future__ import annotations

from typing import Any

import numpy as np

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.papers.illusion import judge_pairs
from recuse.papers.illusion.judge_pairs import all_pairs, units_of
from recuse.ratings import RatingArray, Ratings
from recuse.ratings.array import arrays_by_level
from recuse.ratings.factors import TEMPERATURE
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.statistics.agreement import Coefficient

__all__ = ["agreement_change"]

METHOD = "least squares over levels of the mean r over pairs and targets; jackknife over items, t"


@measure(
    "agreement_change", "agreement as the temperature rises", signed=True, bad="none", rank=655,
    reading="How much agreement on single texts changes from the lowest to the highest temperature, along a straight "
    "line: 0 where judges agree as well at any temperature.",
)  # fmt: skip
def agreement_change(ratings: Ratings, factor: str = TEMPERATURE) -> Estimates:
    """Slope over the levels of `factor`, which are numbers, of the mean Pearson r over pairs of judges and targets,
    times the range of the levels: what a straight line says r changes from the lowest level to the highest.

    The same items are judged at every level and leave together (jackknife). Detail: r at each level. Undefined where
    the levels are no numbers or fewer than two. Paper 002, sec. 3.1 and App. D, compares curves by eye.

    >>> import pandas as pd
    >>> asked = [(j, i, t) for j in "xy" for i in range(6) for t in ("0.0", "1.0")]
    >>> rows = [(j, i, t, i + (j == "y" and t == "1.0") * (i % 2)) for j, i, t in asked]
    >>> frame = pd.DataFrame(rows, columns=["judge", "item", "temperature", "score"])
    >>> estimates = agreement_change(Ratings.of(frame, factors=["temperature"])).of()
    >>> estimates.value < 0, estimates.detail["levels"][0]
    (True, ['0.0', 1.0])
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, part in ratings.each(factor):
        estimates[names] = _estimate(arrays_by_level(part, factor), part.clusters)
    return Estimates(ratings.within(factor), estimates)


def _estimate(arrays: dict[str, RatingArray], clusters: str) -> Estimate:
    try:
        levels = sorted(arrays, key=float)
    except ValueError:
        return undefined("agreement_change", f"levels are no numbers: {', '.join(arrays)}", method=METHOD)
    if len(levels) < 2:
        return undefined("agreement_change", "it was not varied", method=METHOD)
    x = np.array([float(level) for level in levels])
    weights = (x - x.mean()) / float(((x - x.mean()) ** 2).sum()) * float(np.ptp(x))
    first = arrays[levels[0]]
    shares = np.stack([all_pairs(arrays[level]) for level in levels], axis=1)
    items, *inner = shares.shape

    def of(sums: Floats) -> Floats:
        sums_by_level: Floats = _by_level(sums.reshape(-1, *inner)) @ weights
        return sums_by_level

    facts: dict[str, Any] = {
        "n": int((shares[..., 0] > 0).any(axis=(1, 2, 3)).sum()), "method": METHOD,
        **units_of(first, clusters),
    }  # fmt: skip
    coefficient = Coefficient(shares.reshape(items, -1), of, lambda sums: "")
    if coefficient.undefined:
        return undefined("agreement_change", "agreement is undefined at some level", **facts)
    each = _by_level(coefficient.sums.reshape(1, *inner))[0]
    detail = {"levels": [[level, number(float(r))] for level, r in zip(levels, each, strict=True)]}
    distribution = coefficient.jackknife(np.array(first.clusters))
    return estimated("agreement_change", coefficient.value, distribution, detail=detail, **facts)


def _by_level(sums: Floats) -> Floats:
    """(B, levels, pairs, targets, 6) to (B, levels)."""
    levels = range(sums.shape[1])
    each: Floats = np.stack([judge_pairs.mean_known(judge_pairs.sample_agreement(sums[:, k])) for k in levels], axis=1)
    return each
