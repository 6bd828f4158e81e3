"""Agreement of a judge with people, item by item: the same answer, and how much of that is more than chance.

Answers may be options (pass and fail, grades in order, options without order, which of two texts won) or numbers. A
judge that was asked repeatedly, and a text that several people rated, count once per text: one answer of the judge,
drawn at random, against one person, drawn at random. With one of each these are the textbook coefficients.
Which coefficients coincide, and when, is in docs/agreement.md.
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
    estimate_of,
    needs_options,
    span_of,
)
from recuse.metrics.estimates import number, undefined
from recuse.metrics.measure import measure
from recuse.ratings import Ratings
from recuse.ratings.answers import Answers
from recuse.ratings.array import mean_of
from recuse.schema import Estimate, Estimates
from recuse.statistics.agreement import Coefficient
from recuse.statistics.agreement import pairs as two
from recuse.statistics.agreement.coefficient import ratio
from recuse.statistics.agreement.krippendorff import Level, alpha_of_products, alpha_of_tables
from recuse.statistics.agreement.options import Weights
from recuse.statistics.clusters import SHARE, clustered_share

__all__ = [
    "cohen_kappa", "gain_over_constant", "gwet_ac", "krippendorff_alpha", "percent_agreement", "scott_pi",
]  # fmt: skip

Floats = NDArray[np.float64]
NOBODY_TWICE = "nobody rated these texts twice, so what one of the people gains is unknown"
SAME = "people gave every text one and the same answer, so no judge could do better"


@measure(
    "percent_agreement", "same answer as people", unit="share", bad="below", rank=300,
    below="often answers otherwise than people|often answer otherwise than people",
    reading="Share of texts to which judge and person give the same answer. Read it beside the base rate: where people "
    "nearly always say the same, saying it always agrees as often.",
)  # fmt: skip
def percent_agreement(ratings: Ratings) -> Estimates:
    """Share of texts to which the judge gives a person's answer, by judge and factor level: mean_u sum_k a_uk b_uk, a
    and b the shares of option k among the judge's answers and among people's. Undefined for numbers.

    >>> from recuse.metrics.agreement_example import rated
    >>> percent_agreement(rated(judge="ppff", ann="ppfp")).of(judge="judge").value
    0.75
    """

    def compute(answers: Answers, judge: int) -> Estimate:
        if nothing := needs_options("percent_agreement", answers, SHARE):
            return nothing
        tables = answers.tables(judge)

        def distribution(coefficient: Coefficient, clusters: Any) -> Any:
            return clustered_share(np.trace(tables[both_rated(answers, judge)], axis1=1, axis2=2), clusters)

        return estimate_of(
            "percent_agreement", answers, judge, lambda used: two.percent(tables[used]), method=SHARE,
            distribution=distribution, unit="share", span=1.0,
        )  # fmt: skip

    return by_judge(ratings, compute)


@measure(
    "cohen_kappa", "Cohen's kappa with people", ends=(-1, 1), bad="below", rank=310,
    below="agrees with people hardly more than by chance|agree with people hardly more than by chance",
    reading="Agreement beyond what judge and person would reach by chance with their own shares of each answer: 0 is "
    "chance, 1 is complete.",
)  # fmt: skip
def cohen_kappa(ratings: Ratings, weights: Weights = "plain") -> Estimates:
    """Cohen's kappa of one answer of the judge and one of a person, by judge and factor level: 1 - D_o / D_e. `weights`
    linear and quadratic are for options in order. Detail: base rate, labels per option, the constant predictor, whose
    kappa is 0. Undefined where both always give one and the same answer, and for numbers (see `concordance`).

    >>> from recuse.metrics.agreement_example import rated
    >>> cohen_kappa(rated(judge="ppff", ann="ppfp")).of(judge="judge").value
    0.5
    """
    return _chance_corrected(ratings, "cohen_kappa", two.cohen, weights)


@measure(
    "scott_pi", "Scott's pi with people", ends=(-1, 1), bad="below", rank=311,
    reading="As Cohen's kappa, but chance draws both answers from shares common to judge and person: a judge with "
    "other shares than people is charged for it.",
)  # fmt: skip
def scott_pi(ratings: Ratings, weights: Weights = "plain") -> Estimates:
    """Scott's pi of one answer of the judge and one of a person, by judge and factor level; Fleiss' kappa of the two.
    Undefined as Cohen's kappa.

    >>> from recuse.metrics.agreement_example import rated
    >>> round(scott_pi(rated(judge="ppff", ann="ppfp")).of(judge="judge").value, 4)
    0.4667
    """
    return _chance_corrected(ratings, "scott_pi", two.scott, weights)


@measure(
    "gwet_ac", "Gwet's AC with people", ends=(-1, 1), bad="below", rank=312,
    reading="Agreement beyond chance where chance is small when one answer is rare; stays high where kappa falls "
    "because nearly every answer is the same. AC1, or AC2 with weights.",
)  # fmt: skip
def gwet_ac(ratings: Ratings, weights: Weights = "plain") -> Estimates:
    """Gwet's AC1 (with weights: AC2) of one answer of the judge and one of a person, by judge and factor level.

    >>> from recuse.metrics.agreement_example import rated
    >>> round(gwet_ac(rated(judge="ppff", ann="ppfp")).of(judge="judge").value, 4)
    0.5294
    """
    return _chance_corrected(ratings, "gwet_ac", two.gwet, weights)


@measure(
    "krippendorff_alpha", "Krippendorff's alpha with people", ends=(-1, 1), bad="below", rank=305,
    below="agrees with people hardly more than by chance|agree with people hardly more than by chance",
    reading="Agreement beyond chance on the scale at hand: 1 is complete, 0 is chance, below 0 is worse than chance.",
)  # fmt: skip
def krippendorff_alpha(ratings: Ratings, level: Level | None = None) -> Estimates:
    """Krippendorff's alpha of one answer of the judge and one of a person, by judge and factor level, for any scale:
    nominal for options, ordinal for options in order, interval for numbers, unless `level` says otherwise.
    Undefined where all these answers are equal.

    >>> from recuse.metrics.agreement_example import rated
    >>> round(krippendorff_alpha(rated(judge="1245", ann="1355")).of(judge="judge").value, 4)
    0.9186
    """

    def compute(answers: Answers, judge: int) -> Estimate:
        fitting: Level = level or ("interval" if not answers.options else "ordinal" if answers.ordered else "nominal")

        def build(used: NDArray[np.bool_]) -> Coefficient:
            if not answers.options:
                return alpha_of_products(answers.products(judge)[used], span_of(answers))
            return alpha_of_tables(answers.tables(judge)[used], fitting, np.arange(len(answers.options)))

        method = f"{fitting} alpha of a judge's answer and a person's, {JACKKNIFE}"
        return estimate_of("krippendorff_alpha", answers, judge, build, method=method)

    return by_judge(ratings, compute)


@measure(
    "gain_over_constant", "gain over a constant answer, less people's own", signed=True, bad="below", rank=295,
    below="gains less than people over always giving one answer|gain less than people over always giving one answer",
    reading="How much of the disagreement with people goes away when the judge is asked instead of always giving the "
    "answer that is right most often (of numbers: people's mean), less what goes away when one of the people is asked. "
    "One more person would have 0.",
)  # fmt: skip
def gain_over_constant(ratings: Ratings) -> Estimates:
    """(D_people - D_judge) / D_constant, by judge and factor level, over the texts that two people rated: D the mean
    disagreement with a person (unequal answers; of numbers, squared differences) of the judge, of another person, and
    of the constant, the answer with the smallest D on these texts.

    It is the judge's gain 1 - D_judge / D_constant less that of one person over the others. On numbers a
    person's own gain is 2 ICC - 1, below 0 where people agree little: a constant is then nearer to one person than
    another person is. Detail: `judge_gain` and `people_gain`; with one person the judge's alone. A text that the judge
    was asked about and did not answer counts as a constant answer: it gains nothing. Undefined where no two people
    rated one text, and where people all say the same.

    >>> from recuse.metrics.agreement_example import rated
    >>> gain = gain_over_constant(rated(judge="ppff", ann="ppfp", bea="pfff")).of(judge="judge")
    >>> gain.value, gain.detail["judge_gain"], gain.detail["people_gain"]
    (0.5, 0.5, 0.0)
    """
    method = f"(D_people - D_judge) / D_constant, {JACKKNIFE}"

    def compute(answers: Answers, judge: int) -> Estimate:
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
            "gain_over_constant", answers, judge, lambda _: gain, method=method, detail=detail,
            distribution=lambda built, _: built.jackknife(answers.clusters[used]),
        )  # fmt: skip

    return by_judge(ratings, compute)


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


def _chance_corrected(
    ratings: Ratings, metric: str, build: Callable[[Floats, Weights], Coefficient], weights: Weights
) -> Estimates:
    method = f"{weights} weights, {JACKKNIFE}"

    def compute(answers: Answers, judge: int) -> Estimate:
        if nothing := needs_options(metric, answers, method):
            return nothing
        if weights != "plain" and not answers.ordered:
            return undefined(metric, "options without an order have no distances", method=method, over=answers.over)
        tables = answers.tables(judge)
        return estimate_of(metric, answers, judge, lambda used: build(tables[used], weights), method=method)

    return by_judge(ratings, compute)
