"""Without labels: how often a judge finds the classes that all judges have in common. Not its accuracy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.papers.indeterminacy.dawid_skene import CommonClasses, common_classes
from recuse.papers.indeterminacy.rated_options import OptionCounts, option_counts
from recuse.ratings import Ratings
from recuse.ratings.scale import Numeric, ResponseSets
from recuse.schema import Estimate, Estimates
from recuse.statistics.resampling import SEED, generator, percentile

__all__ = ["common_class_recall"]

METHOD = "Dawid-Skene by EM, percentile bootstrap over texts"
WARNING = (
    "an error that all judges share is invisible here: this is not accuracy, and the truth may lie anywhere in `truth`"
)


@measure(
    "common_class_recall", "finds what the judges have in common", unit="share", rank=353,
    reading="How often a judge gives an option to texts of the class that all judges' answers together point to. "
    "Errors that all share do not show: it is no accuracy, which takes labels.",
)  # fmt: skip
def common_class_recall(ratings: Ratings) -> Estimates:
    """P(the judge gives the option | the class that judges have in common), by judge, option and factor level, from
    each judge's first usable answer to a text (its commonest). Dawid and Skene (1979), Applied Statistics 28, 20-28.

    Undefined, with the reason, unless there are three judges or more, better than chance together, whose independence
    could be tested and was not rejected. Detail: `truth`, the bounds of the same share against the truth, if every text
    of the class is truly of it; `p_independent`; `prevalence` of the class.

    >>> from recuse.metrics.agreement_example import rated
    >>> common_class_recall(rated(judge="ppff")).of(judge="judge", option="pass").note
    'undefined: without labels, three raters at least are needed to tell whose answer is off; there are 1'
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, part in ratings.each():
        if not isinstance(part.scale, Numeric | ResponseSets):
            counts = option_counts(part)
            estimates |= {(judge, option, *names): each for judge, option, each in _of(counts)}
    return Estimates(("judge", "option", *ratings.within()), estimates)


def _of(counts: OptionCounts) -> list[tuple[str, str, Estimate]]:
    answered = counts.judged.sum(axis=(1, 2)) > 0
    codes = _modes(counts.judged[answered])
    judges = [name for name, there in zip(counts.judges, answered, strict=True) if there]
    rows: list[tuple[str, str, Estimate]] = []
    if not judges:
        return rows
    fitted = common_classes(codes, len(counts.options), generator(SEED, "common classes"))
    for r, judge in enumerate(judges):
        for k, option in enumerate(counts.options):
            rows.append((judge, option, _estimate(fitted, r, k, int(np.isfinite(codes[r]).sum()))))
    return rows


def _modes(judged: NDArray[np.int64]) -> NDArray[np.float64]:
    """The commonest answer of each judge to each text, the first of those that tie; NaN where there is none."""
    return np.where(judged.sum(axis=2) > 0, judged.argmax(axis=2), np.nan).astype(float)


def _estimate(fitted: CommonClasses, judge: int, option: int, n: int) -> Estimate:
    facts: dict[str, Any] = {"n": n, "unit": "share", "method": METHOD, "seed": SEED}
    detail: dict[str, Any] = {"p_independent": number(fitted.p_independent)}
    if fitted.problem:
        return undefined("common_class_recall", fitted.problem, detail=detail, **facts)
    low, high = fitted.truth_bounds(judge, option)
    detail |= {"truth": [number(low), number(high)], "prevalence": number(fitted.prevalence[option])}
    value = float(fitted.recall[judge, option])
    distribution = percentile(value, fitted.draws[:, judge, option])
    return estimated("common_class_recall", value, distribution, note=WARNING, detail=detail, **facts)
