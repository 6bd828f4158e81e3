"""A judge's pass rate, corrected by its error rates on the texts that people rated: Rogan and Gladen (1978), Estimating
prevalence from the results of a screening test, American Journal of Epidemiology 107, 71-76. It assumes that these
texts are a random part of those that the judge rated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recuse.metrics.agreement_estimates import unmet
from recuse.metrics.estimates import SHARES, estimated, number, undefined
from recuse.metrics.measure import measure, per_judge
from recuse.ratings.answers import COMPARED, Answers, answers_of_people
from recuse.schema import Estimate
from recuse.schema.arrays import Floats, taken, total
from recuse.statistics.agreement.coefficient import Coefficient, ratio
from recuse.statistics.clusters import Bounded
from recuse.statistics.distributions import Student

FEWEST = 20
METHOD = "Rogan-Gladen, jackknife, t"
JUDGED, SAID, POSITIVE, TRUE_POSITIVE, NEGATIVE, TRUE_NEGATIVE = range(6)
"""Columns of what every judged text adds to the counts behind a corrected rate."""


@measure(
    "rogan_gladen_rate", "pass rate corrected for its errors", unit="share", rank=361, counts=True,
    reading="The judge's pass rate, corrected by how often it passes what people fail and fails what people pass.",
)  # fmt: skip
@per_judge(answers_of_people, *COMPARED)
def rogan_gladen_rate(answers: Answers, judge: int) -> Estimate:
    """(p + TNR - 1) / (TPR + TNR - 1), by judge and factor level, for two options in order.

    p: the judge's share of passes among all texts, TPR and TNR: its rates on those that people rated. Held within
    [0, 1]. Undefined where TPR + TNR - 1 cannot be told from 0: a judge that guesses has no error rates to correct by;
    and below `FEWEST` labels of either option.

    >>> round(rogan_gladen_rate(rated(judge="ppfppf" * 20, ann="ppfpff" * 10)).of(judge="judge").value, 4)
    0.5
    """
    if nothing := unmet("rogan_gladen_rate", answers, "pass or fail", METHOD):
        return nothing
    y, f, requested = answers.people_mean, answers.judge_means[judge], answers.requested[judge]
    judged = requested & np.isfinite(f)
    labelled = judged & np.isfinite(y)
    truth, passes = np.where(labelled, y, 0.0), np.where(judged, f, 0.0)
    columns = [judged, passes, truth, truth * passes, labelled - truth, (labelled - truth) * (1 - passes)]
    shares, clusters, times = np.column_stack(columns)[judged], answers.clusters[judged], taken(answers.times, judged)
    sums = total(shares, times)
    facts = answers.facts(labelled, n_excluded=answers.number(requested & ~judged), method=METHOD, **SHARES)
    if min(sums[POSITIVE], sums[NEGATIVE]) < FEWEST:
        names = dict(zip(answers.options, (sums[NEGATIVE], sums[POSITIVE]), strict=True))
        phrases = ", ".join(f"{count:.4g} {name}" for name, count in names.items())
        return undefined("rogan_gladen_rate", f"labels are {phrases}; {FEWEST} of each are the fewest", **facts)
    rates = {
        "pass_rate": number(float(sums[SAID] / sums[JUDGED])),
        "true_positive_rate": number(float(sums[TRUE_POSITIVE] / sums[POSITIVE])),
        "true_negative_rate": number(float(sums[TRUE_NEGATIVE] / sums[NEGATIVE])),
        "labels": answers.number(labelled), "judged": answers.number(judged), **answers.held,
    }  # fmt: skip
    low, _ = Coefficient(shares, _informedness, lambda s: "", times=times).jackknife(clusters).interval(0.95)
    if not low > 0:
        why = "passes and fails of the judge cannot be told from guesses, so there is nothing to correct by"
        return undefined("rogan_gladen_rate", why, detail=rates, **facts)
    corrected = Coefficient(shares, _corrected, lambda s: "", times=times)
    distribution = corrected.jackknife(clusters)
    assert isinstance(distribution, Student)
    value = min(max(corrected.value, 0.0), 1.0)
    bounded = Bounded(corrected.value, distribution.se, distribution.df, (0.0, 1.0))
    estimate = estimated("rogan_gladen_rate", value, bounded, detail=rates, **facts)
    if value == corrected.value:
        return estimate
    return replace(estimate, note=f"{corrected.value:.4g} before it was held in range")


def _informedness(s: Floats) -> Floats:
    """True positive rate + true negative rate - 1 (Youden's J), 0 for a guess; sums (B, 6) to (B,)."""
    return ratio(s[:, TRUE_POSITIVE], s[:, POSITIVE]) + ratio(s[:, TRUE_NEGATIVE], s[:, NEGATIVE]) - 1


def _corrected(s: Floats) -> Floats:
    """(rate of passes + true negative rate - 1) / J (Rogan and Gladen 1978); sums (B, 6) to (B,)."""
    above = ratio(s[:, SAID], s[:, JUDGED]) + ratio(s[:, TRUE_NEGATIVE], s[:, NEGATIVE]) - 1
    return ratio(above, _informedness(s))
