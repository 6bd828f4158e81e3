"""Texts that people rated and the judge left without a usable answer: how many, and whether they are the hard ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.agreement_estimates import both_rated
from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure, per_judge
from recuse.ratings.answers import COMPARED, Answers, answers_of
from recuse.ratings.array import mean_of
from recuse.ratings.label_groups import groups_on, label_weights
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.statistics.clusters import SHARE, clustered_share, difference_of_means
from recuse.statistics.distributions import Binomial


@measure(
    "unanswered", "texts left without an answer", unit="share", rank=291,
    above="leaves texts unanswered|leave texts unanswered",
    reading="Share of the texts that people rated for which the judge has no usable answer; agreement on the rest says "
    "nothing about them.",
)  # fmt: skip
@per_judge(answers_of, *COMPARED)
def unanswered(answers: Answers, judge: int) -> Estimate:
    """Share of texts that the judge was asked about, and a person rated, without any usable answer of the judge, by
    judge and factor level. Detail `harder`: people's disagreement among themselves on these texts less on the others,
    with interval and p-value, so that a judge which passes over the hard ones is told from one that loses some at
    random; None where no two people rated such texts. Labels that were chosen by group count by their weight
    (`recuse.ratings.label_groups`). Undefined where people rated none of what the judge was asked.

    >>> from recuse.metrics.agreement_example import rated
    >>> unanswered(rated(judge="p-pf", ann="ppff")).of(judge="judge").value
    0.25
    """
    requested = answers.requested[judge] & (answers.raters > 0)
    lost = requested & ~both_rated(answers, judge)
    n = int(requested.sum())
    facts: dict[str, Any] = {"n": n, "over": answers.over, "unit": "share", "span": 1.0, "method": SHARE,
                             "clusters": answers.clusters_called}  # fmt: skip
    if not requested.any():
        return undefined("unanswered", "people rated no text that the judge was asked about", **facts)
    distribution = clustered_share(lost[requested], answers.clusters[requested])
    share = float(lost[requested].mean())
    groups = groups_on(answers.part, answers.items, answers.targets)
    if groups is not None:
        weights = label_weights(groups, answers.requested[judge], requested)
        share, size = float((weights * lost[requested]).sum() / n), n**2 / float((weights**2).sum())
        distribution = Binomial(share * size, size)
    return estimated("unanswered", share, distribution, detail={"harder": _harder(answers, requested, lost)}, **facts)


def _harder(answers: Answers, requested: NDArray[np.bool_], lost: NDArray[np.bool_]) -> dict[str, float | None] | None:
    apart = _disagreement(answers)
    known = requested & np.isfinite(apart)
    if not (known & lost).any() or not (known & ~lost).any():
        return None
    distribution = difference_of_means(np.nan_to_num(apart), known & lost, known & ~lost, answers.clusters)
    low, high = distribution.interval(0.95)
    p = distribution.p_value(0.0, "above")
    return {"difference": number(distribution.value), "low": number(low), "high": number(high), "p": float(f"{p:.6g}")}


def _disagreement(answers: Answers) -> Floats:
    """Per text the chance that two people who rated it differ; of numbers, their variance. NaN below two people."""
    m = answers.raters.astype(float)
    if answers.options:
        each = np.nan_to_num(answers.person_shares)
        together = each.sum(axis=0)
        same = (together**2).sum(axis=1) - (each**2).sum(axis=(0, 2))
        apart: Floats = np.full(len(m), np.nan)
        np.divide(m * (m - 1) - same, m * (m - 1), out=apart, where=m > 1)
        return apart
    around = answers.person_means - answers.people_mean
    spread = mean_of(around**2, axis=0) * m
    variance: Floats = np.full(len(m), np.nan)
    np.divide(spread, m - 1, out=variance, where=m > 1)
    return variance
