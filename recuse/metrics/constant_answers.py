"""One answer to everything: what a judge gains over it, and whether the judge gives one itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.agreement_estimates import JACKKNIFE, estimate_of, span_of
from recuse.metrics.estimates import number, undefined
from recuse.metrics.measure import measure, per_judge
from recuse.ratings.answers import COMPARED, Answers, answers_of
from recuse.ratings.array import mean_of
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.coefficient import Coefficient, ratio

METHOD = "share of the judge's usable answers"
NOBODY_TWICE = "nobody rated these texts twice, so what one of the people gains is unknown"
SAME = "people gave every text one and the same answer, so no judge could do better"


@measure(
    "gain_over_constant", "gain over a constant answer, less people's own", signed=True, bad="below", rank=295,
    below="gains less than people over always giving one answer|gain less than people over always giving one answer",
    reading="How much of the disagreement with people goes away when the judge is asked instead of always giving the "
    "answer that is right most often (of numbers: people's mean), less what goes away when one of the people is asked. "
    "One more person would have 0.",
)  # fmt: skip
@per_judge(answers_of, *COMPARED)
def gain_over_constant(answers: Answers, judge: int) -> Estimate:
    """(D_people - D_judge) / D_constant, by judge and factor level, over the texts that two people rated: D the mean
    disagreement with a person (unequal answers; of numbers, squared differences) of the judge, of another person, and
    of the constant, the answer with the smallest D on these texts.

    It is the judge's gain 1 - D_judge / D_constant less that of one person over the others. On numbers a
    person's own gain is 2 ICC - 1, below 0 where people agree little: a constant is then nearer to one person than
    another person is. Detail: `judge_gain` and `people_gain`; with one person the judge's alone. A text that the judge
    was asked about and did not answer counts as a constant answer: it gains nothing. Undefined where no two people
    rated one text, and where people all say the same.

    >>> from recuse.metrics.agreement_estimates import rated
    >>> gain = gain_over_constant(rated(judge="ppff", ann="ppfp", bea="pfff")).of(judge="judge")
    >>> gain.value, gain.detail["judge_gain"], gain.detail["people_gain"]
    (0.5, 0.5, 0.0)
    """
    requested = answers.requested[judge] & (answers.raters > 0)
    twice = requested & (answers.raters > 1)
    used = twice if twice.any() else requested
    gained, own, without = _against_constant(answers, judge, used)
    total, largest = float(without[used].sum()), 1.0 if answers.options else span_of(answers) ** 2
    why = SAME if not total > 1e-12 else "" if twice.any() else NOBODY_TWICE
    gain = Coefficient(
        np.column_stack([gained - own, without])[used], lambda s: ratio(s[:, 0], s[:, 1]), lambda s: why,
        "difference", lambda s: float(largest * used.sum() / s[1]),
    )  # fmt: skip
    detail = {} if why == SAME else {"judge_gain": number(gained[used].sum() / total)}
    if not why:
        detail["people_gain"] = number(own[used].sum() / total)
    return estimate_of(
        "gain_over_constant", answers, judge, lambda _: gain, method=f"(D_people - D_judge) / D_constant, {JACKKNIFE}",
        detail=detail, distribution=lambda built, _: built.jackknife(answers.clusters[used]),
    )  # fmt: skip


def _against_constant(answers: Answers, judge: int, used: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
    """Per text D_constant - D_judge, D_constant - D_people (0 with one person) and D_constant, each (U,); the constant
    is the best on the texts in use (U,).

    The best constant is taken as known: its disagreement is at its smallest, so a repetition moves it little."""
    m = answers.raters.astype(float)
    if answers.options:
        tables, people = answers.tables(judge), np.nan_to_num(answers.people_shares)
        best = int(people[used].sum(axis=0).argmax())
        without = 1.0 - people[:, best]
        gained = np.trace(tables, axis1=1, axis2=2) - tables.sum(axis=(1, 2)) * people[:, best]
        each = np.nan_to_num(answers.person_shares)
        alike = ratio((each.sum(axis=0) ** 2).sum(axis=1) - (each**2).sum(axis=(0, 2)), m * (m - 1))
        return gained, np.nan_to_num(without - 1.0 + alike), without
    one, _, _, xx, yy, xy = answers.products(judge).T
    middle = float(np.nanmean(answers.people_mean[used])) if used.any() else 0.0
    numbers = answers.rated - middle
    without = np.nan_to_num(mean_of(mean_of(numbers**2, axis=2), axis=0))
    person = mean_of(numbers, axis=2)
    crossed = ratio(np.nansum(person, axis=0) ** 2 - np.nansum(person**2, axis=0), m * (m - 1))
    return one * without - (xx + yy - 2 * xy), np.nan_to_num(2 * crossed - without), without


@measure(
    "commonest_answer", "its commonest answer", unit="share", rank=335, bad="none",
    reading="The share of a judge's answers that are one and the same: 1 is a judge that tells nothing apart.",
)  # fmt: skip
@per_judge(answers_of, *COMPARED)
def commonest_answer(answers: Answers, judge: int) -> Estimate:
    """max over answers a of (answers equal to a) / (answers), by judge and factor level, over all texts it was asked
    about; of repeats each counts. Detail: `answer`, that answer in words, and `n`. Without an interval: it describes
    the answers there are. Undefined for a judge without two answers.

    >>> from recuse.metrics.agreement_estimates import rated
    >>> commonest_answer(rated(judge="pppf", ann="ppff")).of(judge="judge").value
    0.75
    """
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
