"""Whether an upgrade puts the response that is known to be right first as often as the judge in use."""

from __future__ import annotations

from typing import Literal

import numpy as np

from recuse.metrics.best_response import right_first, right_responses
from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import describe
from recuse.metrics.upgrade.change import METHOD, smallest
from recuse.metrics.upgrade.distributions import mean_change
from recuse.metrics.upgrade.pairing import Upgrade
from recuse.schema import Estimate

__all__ = ["knows_right_answers", "right_answers"]

describe(
    "upgrade_right_answers", "right responses first", unit="share", signed=True, rank=2, bad="below",
    below="puts the right response first less often|put the right response first less often",
    reading="Share of items of which a judge scores the right response above all others, the candidate's less the "
    "incumbent's.",
)  # fmt: skip


def knows_right_answers(upgrade: Upgrade) -> bool:
    """Whether the texts say which of an item's responses is right, and both judges scored these."""
    ratings = upgrade.both
    texts = ratings.texts
    if texts is None or not {"gold", "target"} <= set(texts.columns):
        return False
    if not all(ratings.scales[name].counts for name in ratings.headline):
        return False
    array = next(part for _, part in ratings.each()).array().only_judges()
    several = array.requested.all(axis=0).sum(axis=1) > 1
    return bool((right_responses(ratings, array).any(axis=1) & several).any())


def right_answers(upgrade: Upgrade) -> dict[tuple[str, ...], Estimate]:
    """P(candidate scores the right response of an item above all others) less the same of the incumbent, paired over
    items with two responses or more, by levels of `upgrade.by()`. The score is the mean of the repeats. A tie counts as
    wrong, and so does an item of which a judge left a response without an answer: nobody gains by leaving one out."""
    estimates: dict[tuple[str, ...], Estimate] = {}
    ratings = upgrade.both
    for names, part in ratings.each():
        array = part.array().only_judges()
        levels = (*names, *(ratings.criterion for _ in range(len(upgrade.by()) - len(names))))
        right = right_responses(ratings, array)
        used = (array.requested.all(axis=0).sum(axis=1) > 1) & right.any(axis=1)
        over: Literal["clusters", "items"] = "clusters" if array.clustered else "items"
        if not used.any():
            estimates[levels] = undefined(
                "upgrade_right_answers", "no item was asked of both", method=METHOD, over=over, unit="share", span=1.0
            )
            continue
        there = np.isfinite(array.means) | ~array.requested
        old, new = ((right_first(array.means[j], right) & there[j].all(axis=1)).astype(float) for j in (0, 1))
        clusters = np.unique(np.asarray(array.clusters, dtype=object).astype(str), return_inverse=True)[1]
        distribution = mean_change(np.where(used, new - old, np.nan), None, clusters.astype(np.intp), span=1.0)
        values = float(old[used].mean()), float(new[used].mean())
        count = len(np.unique(clusters[used]))
        estimates[levels] = estimated(
            "upgrade_right_answers", distribution.value, distribution, n=int(used.sum()), level=0.9,
            detail={"incumbent": values[0], "candidate": values[1], "texts": int(used.sum()),
                    "smallest": number(smallest(distribution, count))},
            method=METHOD, over=over, unit="share", span=1.0,
        )  # fmt: skip
    return estimates
