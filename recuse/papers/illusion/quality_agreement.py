"""Do judges agree less on the better targets? That is where a fine judgement is needed most."""

from __future__ import annotations

from typing import Any

import numpy as np

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import in_array, measure, per_part
from recuse.papers.illusion import judge_pairs
from recuse.papers.illusion.judge_pairs import all_pairs
from recuse.ratings import RatingArray
from recuse.ratings.array import mean_of
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.statistics.distributions import FisherZ
from recuse.statistics.rank_correlation import kendall, spearman, spearman_t, spearman_test

__all__ = ["correlation_with_quality", "quality_agreement"]

METHOD = "Spearman's rho over targets, Bonett and Wright's interval"
FEWEST = 5
FEW = 20
"""Targets up to which the t approximation is not good enough, so that p comes from permutations."""


@measure(
    "quality_agreement", "quality and agreement", signed=True, rank=625,
    reading="Spearman's rho over targets of the mean score and the judges' agreement on single texts. Below 0: the "
    "better the target, the less judges agree. Scores near an end of the scale agree more by themselves.",
)  # fmt: skip
@per_part(in_array)
def quality_agreement(array: RatingArray) -> Estimate:
    """Spearman's rho over targets of the mean score of all judges and their mean pairwise Pearson r over the target's
    items, by factor level (paper 002, sec. 3.1). Detail: Pearson, Kendall's tau-b, and p of rho = 0, by the t
    approximation that papers print and, up to 20 targets, by permutation; the two figures of each target.

    Undefined with fewer than five targets that have both.

    >>> import pandas as pd
    >>> from recuse.ratings import Ratings
    >>> texts = [(i, k, t) for i in range(6) for k, t in enumerate("abcde")]
    >>> rows = [(j, i, t, k + i + (j == "y") * k * (i % 2)) for j in "xy" for i, k, t in texts]
    >>> frame = pd.DataFrame(rows, columns=["judge", "item", "target", "score"])
    >>> quality_agreement(Ratings.of(frame)).of().value
    -1.0
    """
    agreement = judge_pairs.sample_agreement(all_pairs(array).sum(axis=0))
    quality = mean_of(mean_of(array.means, axis=1), axis=0)
    return correlation_with_quality(quality, mean_of(agreement, axis=0), array.targets)


def correlation_with_quality(quality: Floats, agreement: Floats, targets: tuple[str, ...]) -> Estimate:
    """The estimate from one mean score and one agreement per target: what `quality_agreement` says of ratings, and what
    a published table allows. Arrays of shape (targets,)."""
    known = np.isfinite(quality) & np.isfinite(agreement)
    n = int(known.sum())
    facts: dict[str, Any] = {"n": n, "n_excluded": len(known) - n, "n_clusters": n, "method": METHOD,
                             "over": "clusters", "clusters": "targets"}  # fmt: skip
    if n < FEWEST:
        return undefined("quality_agreement", f"it needs {FEWEST} targets; there are {n}", **facts)
    x, y = np.round(quality[known], 10), np.round(agreement[known], 10)
    rho = float(spearman(x, y))
    if not np.isfinite(rho):
        return undefined("quality_agreement", "all targets have one and the same figure", **facts)
    detail = {
        "pearson": number(float(np.corrcoef(x, y)[0, 1])), "kendall": number(float(kendall(x, y))),
        "p_permutation": number(spearman_test(x, y).p) if n <= FEW else None, "p_t": number(spearman_t(rho, n)),
        "targets": {
            targets[k]: [number(float(quality[k])), number(float(agreement[k]))] for k in np.flatnonzero(known)
        },
    }  # fmt: skip
    return estimated("quality_agreement", rho, FisherZ(rho, n), detail=detail, **facts)
