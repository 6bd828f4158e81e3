"""Agreement of judges on single texts where a judgement has several criteria: two forms that are not to be mixed.

Pooled, every criterion of every text is one pair of scores, and what differs between criteria counts as agreement;
averaged, each text has one number per judge, and what criteria disagree on cancels. "Beyond the illusion of consensus"
(paper 002, sec. 2.1) uses the first across temperatures and the second per model, and compares one with the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from recuse.metrics.estimates import estimated, undefined
from recuse.metrics.measure import measure
from recuse.papers.illusion import judge_pairs
from recuse.papers.illusion.judge_pairs import units_of
from recuse.ratings import RatingArray, Ratings
from recuse.ratings.array import array_of, judges_array
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.statistics.agreement import Coefficient

__all__ = ["agreement_of_means", "pooled_agreement"]

METHOD = "mean over pairs of judges and targets; jackknife over items, t"
Form = Callable[[list[RatingArray]], Floats]


@measure(
    "pooled_agreement", "agreement on single criteria, pooled", ends=(-1, 1), bad="below", rank=601,
    reading="Pearson's r of two judges over the criteria of all texts of one target, averaged over targets and the "
    "other judges. Criteria that all judges score higher than others raise it.",
)  # fmt: skip
def pooled_agreement(ratings: Ratings) -> Estimates:
    """Mean over targets and the other judges of Pearson's r over the items and criteria of a target together (in
    paper 002, n = 100 texts by 5 criteria), by judge and factor level; items leave with all their criteria.

    No estimate where there is one criterion only. Undefined as `sample_agreement`.

    >>> import pandas as pd
    >>> rows = [(j, i, c, i + k) for j in "xy" for i in range(5) for k, c in enumerate("ab")]
    >>> frame = pd.DataFrame(rows, columns=["judge", "item", "criterion", "score"])
    >>> round(pooled_agreement(Ratings.of(frame)).of(judge="x").value, 4)
    1.0
    """
    return _of_criteria(ratings, "pooled_agreement", lambda arrays: np.stack([array.means for array in arrays]))


@measure(
    "agreement_of_means", "agreement on the mean of the criteria", ends=(-1, 1), bad="below", rank=602,
    reading="Pearson's r of two judges' mean over the criteria of a text, over the texts of one target, averaged over "
    "targets and the other judges.",
)  # fmt: skip
def agreement_of_means(ratings: Ratings) -> Estimates:
    """Mean over targets and the other judges of Pearson's r over a target's items of the mean of the criteria, by judge
    and factor level (paper 002's prompt means, n = 100). A text counts where the judge scored all criteria.

    No estimate where there is one criterion only. Undefined as `sample_agreement`.

    >>> import pandas as pd
    >>> rows = [(j, i, c, i + k) for j in "xy" for i in range(5) for k, c in enumerate("ab")]
    >>> frame = pd.DataFrame(rows, columns=["judge", "item", "criterion", "score"])
    >>> round(agreement_of_means(Ratings.of(frame)).of(judge="x").value, 4)
    1.0
    """

    def mean(arrays: list[RatingArray]) -> Floats:
        mean: Floats = np.stack([array.means for array in arrays]).mean(axis=0)[None]
        return mean

    return _of_criteria(ratings, "agreement_of_means", mean)


def _of_criteria(ratings: Ratings, metric: str, form: Form) -> Estimates:
    wanted = ratings.headline if len(ratings.headline) > 1 else ratings.parts
    if len(wanted) < 2:
        return Estimates(("judge", *ratings.factors), {})
    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, part in replace(ratings, headline=wanted[:1], _memory={}).each():
        arrays = [judges_array(part)]
        arrays += [array_of(part.with_criterion(name), arrays[0].axes) for name in wanted[1:]]
        means = form(arrays)
        for place, judge in enumerate(arrays[0].raters):
            estimates[(judge, *names)] = _estimate(metric, arrays[0], means, place, part.clusters)
    return Estimates(("judge", *ratings.factors), estimates)


def _estimate(metric: str, array: RatingArray, means: Floats, judge: int, clusters: str) -> Estimate:
    """`means` (criteria, judges, items, targets); an item's shares are summed over its criteria."""
    others = [k for k in range(len(array.raters)) if k != judge]
    known = means[np.isfinite(means)]
    centre = float(np.round(known.mean(), 3)) if len(known) else 0.0
    shares = sum((judge_pairs.pair_shares(one[judge], one[others], centre) for one in means), start=np.zeros(()))
    items, *inner = np.shape(shares)

    def of(sums: Floats) -> Floats:
        return judge_pairs.mean_known(judge_pairs.sample_agreement(sums.reshape(-1, *inner)))

    why = "" if others else "no other judge to agree with"
    coefficient = Coefficient(np.reshape(shares, (items, -1)), of, lambda sums: why, "correlation")
    facts = {
        "n": int((shares[..., 0] > 0).any(axis=1).sum()), "method": METHOD, "detail": {"criteria": len(means)},
        **units_of(array, clusters),
    }  # fmt: skip
    if coefficient.undefined:
        return undefined(metric, coefficient.undefined, **facts)
    return estimated(metric, coefficient.value, coefficient.jackknife(np.array(array.clusters)), **facts)
