"""Sensitivity and specificity: does a judge that decides find what one expert finds, and leave alone what he leaves?

One person's labels are what most teams have. They do not say how well experts agree, so agreement beyond chance has
no ceiling to be read beside; the two error rates have: each is told by itself, against the right answer where it is
known, one person's where it is not, and most people's where there are several.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.ratings import Ratings
from recuse.ratings.answers import COMPARED
from recuse.ratings.binary_decisions import BinaryDecisions, each_decided
from recuse.schema import Estimate, Estimates
from recuse.statistics.clusters import SHARE, clustered_share

__all__ = ["sensitivity", "specificity"]


@measure(
    "sensitivity", "sensitivity", unit="share", bad="below", rank=286,
    below="misses what the expert finds|miss what the expert finds",
    reading="Of the texts that the expert (the right answer, or most people) calls positive, the share that the judge "
    "calls positive; a text without an answer counts as missed.",
)  # fmt: skip
def sensitivity(ratings: Ratings, positive: str = "", threshold: float | None = None) -> Estimates:
    """P(judge positive | reference positive), by judge and factor level: the share of the reference's positives that
    the judge calls positive (of several answers to one text: the share of them), unanswered ones being missed, so that
    no judge gains by leaving out the hard ones.

    What is positive: see `recuse.ratings.binary_decisions`; the detail names it (`positive`, and `stated`, whether
    somebody did), with `held_against`, `unanswered`, `answered_only` (what it would be without the unanswered texts)
    and `even` (texts on which people are split evenly, which do not count). Clopper-Pearson interval, so that a judge
    below a limit passes at most as often as the level says at any size (Clopper and Pearson 1934, Biometrika 26,
    404-413); over clusters at the effective sample size. Undefined where the reference has no positive text.

    >>> from recuse.metrics.agreement_example import rated
    >>> found = sensitivity(rated(judge="ffpp-p", ann="fffppp"), positive="fail").of(judge="judge")
    >>> round(found.value, 4), found.detail["positive"]
    (0.6667, 'fail')
    """
    return _by_judge("sensitivity", ratings, 1.0, positive, threshold)


@measure(
    "specificity", "specificity", unit="share", bad="below", rank=287,
    below="finds what the expert does not|find what the expert does not",
    reading="Of the texts that the expert (the right answer, or most people) calls negative, the share that the judge "
    "calls negative; a text without an answer counts as wrong.",
)  # fmt: skip
def specificity(ratings: Ratings, positive: str = "", threshold: float | None = None) -> Estimates:
    """P(judge negative | reference negative), by judge and factor level; everything else as for `sensitivity`.

    >>> from recuse.metrics.agreement_example import rated
    >>> round(specificity(rated(judge="ffpp-p", ann="fffppp"), positive="fail").of(judge="judge").value, 4)
    0.6667
    """
    return _by_judge("specificity", ratings, 0.0, positive, threshold)


def _by_judge(metric: str, ratings: Ratings, side: float, positive: str, threshold: float | None) -> Estimates:
    estimates = {
        (judge, *names): _rate(metric, decided, k, side)
        for names, decided in each_decided(ratings, positive, threshold)
        for k, judge in enumerate(decided.answers.judges)
    }
    return Estimates(("judge", *ratings.within(*COMPARED)), estimates)


def _rate(metric: str, decided: BinaryDecisions, judge: int, side: float) -> Estimate:
    answers = decided.answers
    requested, given = answers.requested[judge], decided.judged[judge]
    cases = requested & (decided.reference == side)
    answered = cases & np.isfinite(given)
    right = np.nan_to_num(given if side else 1 - given)
    detail: dict[str, Any] = {
        "positive": decided.positive, "stated": decided.stated, "held_against": decided.held_against,
        "unanswered": int((cases & ~answered).sum()),
        "answered_only": number(float(right[answered].mean())) if answered.any() else None,
        "even": int((requested & (decided.expected == 0.5)).sum()),
    }  # fmt: skip
    facts: dict[str, Any] = {
        "n": int(cases.sum()), "unit": "share", "span": 1.0, "method": SHARE, "over": answers.over,
        "clusters": answers.clusters_called, "detail": detail,
    }  # fmt: skip
    if not cases.any():
        which = decided.positive if side else f"anything other than {decided.positive}"
        return undefined(metric, f"{decided.held_against} called no text {which}; label some that are", **facts)
    right = np.where(answered, right, 0.0)[cases]
    return estimated(metric, float(right.mean()), clustered_share(right, answers.clusters[cases]), **facts)
