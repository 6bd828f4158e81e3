"""Agreement of a judge's numbers with people's: correlations, intraclass correlations, errors.

The judge's number for a text is the mean of its answers, people's is the mean of the people who rated it; `concordance`
alone compares single answers. Two options in order count as 0 and 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.agreement_estimates import (
    JACKKNIFE,
    both_rated,
    by_judge,
    describe_people,
    estimate_of,
    needs_numbers,
    tally,
)
from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.ratings import Ratings
from recuse.ratings.answers import Answers
from recuse.schema import Estimate, Estimates
from recuse.statistics import agreement as of_raters
from recuse.statistics.agreement import Coefficient
from recuse.statistics.agreement.correlation import concordance_of
from recuse.statistics.agreement.icc import IccForm

__all__ = ["absolute_error", "concordance", "icc_with_people", "kendall", "mean_error", "pearson", "spearman"]

Floats = NDArray[np.float64]


@measure(
    "concordance", "concordance with people", ends=(-1, 1), bad="below", rank=320,
    below="gives other numbers than people|give other numbers than people",
    reading="1 where the judge gives the very number a person gives; lower where it orders texts otherwise, spreads "
    "its numbers otherwise, or is generous or strict.",
)  # fmt: skip
def concordance(ratings: Ratings) -> Estimates:
    """Lin's concordance of one answer of the judge and one of a person, by judge and factor level:
    2 cov / (var + var + (difference of means)^2), which is Cohen's kappa with quadratic weights.

    >>> from recuse.metrics.agreement_example import rated
    >>> round(concordance(rated(judge="1245", ann="1355")).of(judge="judge").value, 4)
    0.9091
    """

    def compute(answers: Answers, judge: int) -> Estimate:
        if nothing := needs_numbers("concordance", answers, JACKKNIFE):
            return nothing
        products = answers.products(judge)
        return estimate_of("concordance", answers, judge, lambda used: concordance_of(products[used]), method=JACKKNIFE)

    return by_judge(ratings, compute)


@measure(
    "pearson", "Pearson's r with people", ends=(-1, 1), bad="below", rank=330,
    reading="Whether the judge's numbers lie on a line with people's: 1 on a rising line, 0 unrelated.",
)  # fmt: skip
def pearson(ratings: Ratings) -> Estimates:
    """Pearson's r of the judge's mean and people's mean over texts, by judge and factor level. Undefined where either
    gives every text the same.

    >>> from recuse.metrics.agreement_example import rated
    >>> round(pearson(rated(judge="124", ann="123")).of(judge="judge").value, 3)
    0.982
    """
    return _of_means(ratings, "pearson", of_raters.pearson)


@measure(
    "spearman", "Spearman's rho with people", ends=(-1, 1), bad="below", rank=331,
    reading="Whether the judge puts the texts in people's order: 1 the same, 0 unrelated, -1 reversed.",
)  # fmt: skip
def spearman(ratings: Ratings) -> Estimates:
    """Spearman's rho of the judge's mean and people's mean over texts, by judge and factor level.

    >>> from recuse.metrics.agreement_example import rated
    >>> spearman(rated(judge="124", ann="123")).of(judge="judge").value
    1.0
    """
    return _of_means(ratings, "spearman", of_raters.spearman_rho)


@measure(
    "kendall", "Kendall's tau-b with people", ends=(-1, 1), bad="below", rank=332,
    reading="Pairs of texts that judge and people put in the same order, less those in opposite order.",
)  # fmt: skip
def kendall(ratings: Ratings) -> Estimates:
    """Kendall's tau-b of the judge's mean and people's mean over texts, by judge and factor level.

    >>> from recuse.metrics.agreement_example import rated
    >>> round(kendall(rated(judge="1224", ann="1234")).of(judge="judge").value, 4)
    0.9129
    """
    return _of_means(ratings, "kendall", of_raters.kendall_tau)


@measure(
    "mean_error", "mean error against people", signed=True, rank=340, above="is generous|are generous",
    below="is strict|are strict", reading="Mean of judge minus people over texts: above 0 it gives more than people.",
)  # fmt: skip
def mean_error(ratings: Ratings) -> Estimates:
    """Mean over texts of the judge's mean less people's mean, by judge and factor level, in the scale's unit.

    >>> from recuse.metrics.agreement_example import rated
    >>> mean_error(rated(judge="1245", ann="1234", bea="1234")).of(judge="judge").value
    0.5
    """
    return _of_means(ratings, "mean_error", of_raters.mean_error, scaled=True)


@measure(
    "absolute_error", "absolute error against people", rank=341, above="is far from people|are far from people",
    reading="Mean distance of the judge's number from people's; beside it, that of the best constant.",
)  # fmt: skip
def absolute_error(ratings: Ratings) -> Estimates:
    """Mean over texts of |judge's mean - people's mean|, by judge and factor level; detail `constant`: people's median
    and its absolute error.

    >>> from recuse.metrics.agreement_example import rated
    >>> absolute_error(rated(judge="1245", ann="2234")).of(judge="judge").value
    0.75
    """
    return _of_means(ratings, "absolute_error", of_raters.mean_absolute_error, scaled=True)


@measure(
    "icc_with_people", "intraclass correlation with people", ends=(-1, 1), bad="below", rank=335,
    reading="How well judge and people tell the texts apart together: spread between texts over all spread.",
)  # fmt: skip
def icc_with_people(ratings: Ratings, form: IccForm = "ICC(2,1)") -> Estimates:
    """Intraclass correlation of two columns, the judge's mean and people's mean per text, by judge and factor level.

    Forms as in Shrout and Fleiss (1979). The F interval takes texts as independent and scores as normal; where texts
    come in clusters, the jackknife over clusters takes its place. Detail `forms`: all six.

    >>> from recuse.metrics.agreement_example import rated
    >>> round(icc_with_people(rated(judge="1245", ann="1355")).of(judge="judge").value, 4)
    0.9302
    """

    def compute(answers: Answers, judge: int) -> Estimate:
        apart = answers.over == "items"
        method = f"{form}, {'F interval' if apart else JACKKNIFE}"
        if nothing := needs_numbers("icc_with_people", answers, method):
            return nothing
        used = both_rated(answers, judge)
        values = np.column_stack([answers.judge_means[judge], answers.people_mean])[used]
        facts = {"n": int(used.sum()), "n_excluded": tally(answers, judge)["unanswered"], "over": answers.over,
                 "method": method, "clusters": answers.clusters_called}  # fmt: skip
        if len(values) < 2:
            return undefined("icc_with_people", "it needs two texts that both rated", **facts)
        squares = of_raters.mean_squares(values)
        forms = {name: number(float(of_raters.icc(squares, name))) for name in of_raters.FORMS}
        exact = of_raters.ICC(squares, form)
        shared = of_raters.icc_of_pairs(values[:, 0], values[:, 1], form)
        distribution = exact if apart else shared.jackknife(answers.clusters[used])
        detail = {"forms": forms, **describe_people(answers, judge)}
        if np.isnan(exact.value):
            return undefined("icc_with_people", exact.undefined, detail=detail, **facts)
        return estimated("icc_with_people", exact.value, distribution, detail=detail, **facts)

    return by_judge(ratings, compute)


def _of_means(
    ratings: Ratings, metric: str, build: Callable[[Floats, Floats], Coefficient], *, scaled: bool = False
) -> Estimates:
    def compute(answers: Answers, judge: int) -> Estimate:
        if nothing := needs_numbers(metric, answers, JACKKNIFE):
            return nothing
        mine, people = answers.judge_means[judge], answers.people_mean
        more: dict[str, Any] = {"unit": answers.scale.unit, "span": answers.scale.span} if scaled else {}
        return estimate_of(
            metric, answers, judge, lambda used: build(mine[used], people[used]), method=JACKKNIFE, **more
        )

    return by_judge(ratings, compute)
