"""Bias of a share: would the judge report more or fewer positive texts than people do?"""

from __future__ import annotations

from typing import Any

import numpy as np

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.losses import add_losses
from recuse.metrics.measure import measure
from recuse.ratings import Ratings
from recuse.ratings.answers import COMPARED
from recuse.ratings.binary_decisions import BinaryDecisions, each_decided
from recuse.schema import Estimate, Estimates
from recuse.statistics.bounded import BOUNDED, bounded_mean

__all__ = ["share_bias"]


@measure(
    "share_bias", "bias of the share of positives", unit="share", signed=True, rank=288,
    above="finds too much of it|find too much of it", below="misses too much of it|miss too much of it",
    reading="The judge's share of positive texts less people's, on the same texts.",
)  # fmt: skip
def share_bias(ratings: Ratings, positive: str = "", threshold: float | None = None) -> Estimates:
    """Mean over texts of j_u - p_u, by judge and factor level: j_u the share of the judge's answers to text u that are
    positive, p_u that of the people who rated it, whose mean is what one of them drawn at random would find. So one
    more person has 0 however many there are, which a majority or a threshold over people does not give.

    What is positive, and the detail, as for `sensitivity`; `judge` and `people` are the two shares. Over texts in
    pairs, within -1 and 1 (`bounded_mean`): a judge that never differs from people has 0 with an interval. Texts that
    the judge left without an answer do not count and stand under `losses`. Undefined without a common text.

    >>> from recuse.metrics.agreement_example import rated
    >>> share_bias(rated(judge="ffff", ann="fppp", bea="ffpp"), positive="fail").of(judge="judge").value
    0.625
    """
    estimates = {
        (judge, *names): _bias(decided, k)
        for names, decided in each_decided(ratings, positive, threshold)
        for k, judge in enumerate(decided.answers.judges)
    }
    return Estimates(("judge", *ratings.within(*COMPARED)), estimates)


def _bias(decided: BinaryDecisions, judge: int) -> Estimate:
    answers, given = decided.answers, decided.judged[judge]
    wanted = answers.requested[judge] & np.isfinite(decided.expected)
    used = wanted & np.isfinite(given)
    facts: dict[str, Any] = {
        "n": int(used.sum()), "n_excluded": int((wanted & ~used).sum()), "unit": "share", "span": 1.0,
        "method": BOUNDED, "over": answers.over, "clusters": answers.clusters_called,
    }  # fmt: skip
    detail: dict[str, Any] = {
        "positive": decided.positive, "stated": decided.stated, "held_against": decided.held_against,
    }  # fmt: skip
    if not used.any():
        return undefined("share_bias", "no text was answered by both the judge and people", detail=detail, **facts)
    mine, people = given[used], decided.expected[used]
    detail |= {"judge": number(float(mine.mean())), "people": number(float(people.mean()))}
    differences = mine - people
    distribution = bounded_mean(differences, answers.clusters[used], (-1.0, 1.0))
    estimate = estimated("share_bias", float(differences.mean()), distribution, detail=detail, **facts)
    found = decided.expected >= 0.5
    sides = {
        name: (int((side & wanted & ~used).sum()), int((side & wanted).sum()))
        for name, side in (("positive by people", found), ("negative by people", ~found))
    }
    # An unanswered text could have been called either way: at worst 1 - p, or -p.
    unseen = decided.expected[wanted & ~used]
    ends = (-float(unseen.mean()), 1 - float(unseen.mean())) if len(unseen) else (-1.0, 1.0)
    return add_losses(estimate, sides, ends)
