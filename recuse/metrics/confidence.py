"""Does a judge know when it is right? Its stated confidence beside how often it agrees with people."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from recuse.metrics.delegation import confidence_of, errors_of
from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure, per_judge
from recuse.ratings import Ratings
from recuse.ratings.answers import COMPARED, Answers, answers_of
from recuse.schema import Estimate, Estimates
from recuse.statistics.clusters import clustered_mean

BINS = 10


@measure(
    "brier_score", "error of its confidence", unit="", ends=(0, 1), rank=372, bad="above",
    reading="Mean squared distance between how sure the judge says it is and whether people agree with it: 0 is "
    "perfect, 0.25 is what saying 0.5 of everything gives.",
)  # fmt: skip
def brier_score(ratings: Ratings, tolerance: float = 0.1) -> Estimates:
    """mean over texts of (c_u - r_u)^2, by judge and factor level; none where the table has no column `confidence`.

    c_u: the judge's confidence (percent are shares), r_u: 1 where it is right, as `delegable_share` has it: people's
    commonest answer, or within `tolerance` of the scale's range of their mean (Brier 1950, Monthly Weather Review 78,
    1-3). t over texts (clusters).

    Detail: `says` and `right`, the means of c and r; `ece`, the expected calibration error: over ten equal parts of
    0 to 1, the mean of |mean c - mean r| by their number of texts (Naeini, Cooper and Hauskrecht 2015, AAAI);
    `ece_of_chance`, what a judge whose confidence is exactly right would show with so many texts,

        sum_b n_b / n sqrt(2 / pi c_b (1 - c_b) / n_b)

    `reliability`: the table behind it. Undefined where confidence is neither a share nor a percentage.

    >>> import pandas as pd
    >>> rows = [("j", "judge", 1, "p", .9), ("j", "judge", 2, "f", .6)]
    >>> rows += [("a", "person", k, "p", None) for k in (1, 2)]
    >>> frame = pd.DataFrame(rows, columns=["rater", "kind", "item", "response", "confidence"])
    >>> estimate = brier_score(Ratings.of(frame)).of(judge="j")
    >>> round(estimate.value, 3), estimate.detail["says"], estimate.detail["right"]
    (0.185, 0.75, 0.5)
    """
    if "confidence" not in ratings.table:
        return Estimates(("judge", *ratings.within(*COMPARED)), {})
    return _brier(ratings, tolerance)


@per_judge(answers_of, *COMPARED)
def _brier(answers: Answers, judge: int, tolerance: float) -> Estimate:
    sure, _ = confidence_of(answers, judge)
    wrong = errors_of(answers, judge, tolerance)
    used = np.isfinite(sure) & np.isfinite(wrong)
    facts: dict[str, Any] = {"n": int(used.sum()), "method": "mean squared error of confidence, t over texts",
                             "over": answers.over, "clusters": answers.clusters_called}  # fmt: skip
    if not used.any():
        return undefined("brier_score", "no text has the judge's confidence and a person's answer", **facts)
    c, r = sure[used], 1 - wrong[used]
    c = c / 100 if 1 < c.max() <= 100 and c.min() >= 0 and c.max() > 10 else c
    if c.min() < 0 or c.max() > 1:
        why = f"confidence runs from {c.min():g} to {c.max():g}, which is neither a share nor a percentage"
        return undefined("brier_score", why, **facts)
    rows, ece, chance = [], 0.0, 0.0
    place = np.minimum((c * BINS).astype(int), BINS - 1)
    for k in sorted(set(place.tolist())):
        mine = place == k
        n, says, right = int(mine.sum()), float(c[mine].mean()), float(r[mine].mean())
        rows.append({"from": k / BINS, "to": (k + 1) / BINS, "n": n, "says": number(says), "right": number(right)})
        ece += n / len(c) * abs(says - right)
        chance += n / len(c) * math.sqrt(2 / math.pi * says * (1 - says) / n)
    detail = {
        "says": number(float(c.mean())), "right": number(float(r.mean())), "ece": number(ece),
        "ece_of_chance": number(chance), "reliability": rows,
    }  # fmt: skip
    squares = (c - r) ** 2
    distribution = clustered_mean(squares, answers.clusters[used])
    return estimated("brier_score", float(squares.mean()), distribution, detail=detail, **facts)
