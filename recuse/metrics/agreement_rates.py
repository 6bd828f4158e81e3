"""Pass and fail against people: what a judge catches, what it lets through, and what its words are worth."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.agreement_estimates import JACKKNIFE, both_rated, by_judge, estimate_of, needs_options
from recuse.metrics.estimates import number
from recuse.metrics.measure import measure
from recuse.ratings import Ratings
from recuse.ratings.answers import Answers
from recuse.schema import Estimate, Estimates
from recuse.statistics.agreement import Coefficient
from recuse.statistics.agreement.rates import CELLS, Rate, rate_of
from recuse.statistics.clusters import SHARE, clustered_share

__all__ = ["confusion", "f1", "precision", "true_negative_rate", "true_positive_rate"]

Floats = NDArray[np.float64]


@measure(
    "true_positive_rate", "passes it lets through", unit="share", bad="below", rank=350,
    below="fails what people pass|fail what people pass",
    reading="Of the texts that people pass, the share that the judge passes (sensitivity, recall).",
)  # fmt: skip
def true_positive_rate(ratings: Ratings) -> Estimates:
    """P(judge says the better option | a person does), by judge and factor level; Clopper-Pearson. Undefined where
    people pass nothing. A judge that always passes has 1.

    >>> from recuse.metrics.agreement_example import rated
    >>> true_positive_rate(rated(judge="pfpf", ann="ppff")).of(judge="judge").value
    0.5
    """
    return _rate(ratings, "true_positive_rate", "true positive rate")


@measure(
    "true_negative_rate", "fails it catches", unit="share", bad="below", rank=351,
    below="misses what people fail|miss what people fail",
    reading="Of the texts that people fail, the share that the judge fails (specificity).",
)  # fmt: skip
def true_negative_rate(ratings: Ratings) -> Estimates:
    """P(judge says the worse option | a person does), by judge and factor level. A judge that always passes has 0.

    >>> from recuse.metrics.agreement_example import rated
    >>> true_negative_rate(rated(judge="pppp", ann="ppff")).of(judge="judge").value
    0.0
    """
    return _rate(ratings, "true_negative_rate", "true negative rate")


@measure(
    "precision", "passes that people share", unit="share", bad="below", rank=352,
    reading="Of the texts that the judge passes, the share that people pass.",
)  # fmt: skip
def precision(ratings: Ratings) -> Estimates:
    """P(a person says the better option | the judge does), by judge and factor level.

    >>> from recuse.metrics.agreement_example import rated
    >>> precision(rated(judge="pppp", ann="ppff")).of(judge="judge").value
    0.5
    """
    return _rate(ratings, "precision", "precision")


@measure(
    "f1", "F1 of passes", ends=(0, 1), bad="below", rank=353,
    reading="Harmonic mean of the passes it lets through and of the passes that people share.",
)  # fmt: skip
def f1(ratings: Ratings) -> Estimates:
    """2 TP / (2 TP + FP + FN) with the better option as positive, by judge and factor level.

    >>> from recuse.metrics.agreement_example import rated
    >>> round(f1(rated(judge="pppp", ann="ppff")).of(judge="judge").value, 4)
    0.6667
    """
    return _rate(ratings, "f1", "F1")


@measure(
    "confusion", "confusion with people", unit="share", rank=354,
    reading="How often each answer of the judge meets each answer of people; the value is the share that agrees.",
)  # fmt: skip
def confusion(ratings: Ratings) -> Estimates:
    """Detail `values` (judge's option in rows, people's in columns): number of texts, shared out where several people
    rated one. The value is the percent agreement, without an interval of its own.

    >>> from recuse.metrics.agreement_example import rated
    >>> confusion(rated(judge="pppf", ann="ppff")).of(judge="judge").detail["values"]
    [[1.0, 0.0], [1.0, 2.0]]
    """

    def compute(answers: Answers, judge: int) -> Estimate:
        if nothing := needs_options("confusion", answers, "counts"):
            return nothing
        table = answers.tables(judge).sum(axis=0)
        n = float(table.sum())
        detail = {
            "kind": "matrix", "rows": list(answers.options), "columns": list(answers.options), "own": [],
            "values": [[number(cell) for cell in row] for row in table],
        }  # fmt: skip
        return Estimate(
            metric="confusion", value=float(np.trace(table)) / n if n else np.nan, n=round(n), method="counts",
            over=answers.over, unit="share", span=1.0, detail=detail,
            clusters=answers.clusters_called if answers.over == "clusters" else "",
            note="" if n else "undefined: no text was rated by both",
        )  # fmt: skip

    return by_judge(ratings, compute)


def _rate(ratings: Ratings, metric: str, which: Rate) -> Estimates:
    def compute(answers: Answers, judge: int) -> Estimate:
        if nothing := needs_options(metric, answers, SHARE, two=True):
            return nothing
        tables = answers.tables(judge)
        flat = tables[both_rated(answers, judge)].reshape(-1, 4)
        hits, cases = (flat @ side for side in CELLS[which][:2])
        whole = which != "F1" and bool(np.isin(cases, (0.0, 1.0)).all() and np.isin(hits, (0.0, 1.0)).all())

        def exact(coefficient: Coefficient, clusters: Any) -> Any:
            return clustered_share(hits[cases > 0], clusters[cases > 0])

        return estimate_of(
            metric, answers, judge, lambda used: rate_of(tables[used], which), method=SHARE if whole else JACKKNIFE,
            distribution=exact if whole else None, unit="" if which == "F1" else "share", detail={"cases":
            number(cases.sum())},
        )  # fmt: skip

    return by_judge(ratings, compute)
