"""Does a judge give one answer to everything? The share of its answers that are one and the same."""

from __future__ import annotations

import numpy as np

from recuse.metrics.agreement_estimates import by_judge
from recuse.metrics.estimates import undefined
from recuse.metrics.measure import measure
from recuse.ratings import Ratings
from recuse.ratings.answers import Answers
from recuse.schema import Estimate, Estimates

__all__ = ["commonest_answer"]

METHOD = "share of the judge's usable answers"


@measure(
    "commonest_answer", "its commonest answer", unit="share", rank=335, bad="none",
    reading="The share of a judge's answers that are one and the same: 1 is a judge that tells nothing apart.",
)  # fmt: skip
def commonest_answer(ratings: Ratings) -> Estimates:
    """max over answers a of (answers equal to a) / (answers), by judge and factor level, over all texts it was asked
    about; of repeats each counts. Detail: `answer`, that answer in words, and `n`. Without an interval: it describes
    the answers there are. Undefined for a judge without two answers.

    >>> from recuse.metrics.agreement_example import rated
    >>> commonest_answer(rated(judge="pppf", ann="ppff")).of(judge="judge").value
    0.75
    """
    return by_judge(ratings, _commonest)


def _commonest(answers: Answers, judge: int) -> Estimate:
    given = answers.judged[judge]
    given = given[np.isfinite(given)]
    if len(given) < 2:
        return undefined("commonest_answer", "the judge gave fewer than two answers", method=METHOD, n=len(given))
    values, counts = np.unique(given, return_counts=True)
    best = int(counts.argmax())
    value = float(values[best])
    answer = answers.options[int(value)] if answers.options else f"{value:g}"
    return Estimate(
        metric="commonest_answer", value=float(counts[best] / len(given)), unit="share", n=len(given), method=METHOD,
        detail={"answer": answer, "n": int(counts[best])},
    )  # fmt: skip
