"""From a coefficient of agreement between a judge and people to an `Estimate`, with what it is read beside: the base
rate of people's answers, and what a judge reaches that says the same of everything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import Named, measure, per_judge, per_subject
from recuse.ratings.answers import COMPARED, Answers, answers_of_people
from recuse.ratings.array import mean_of
from recuse.schema import Estimate
from recuse.schema.arrays import Floats, median_of, taken, total
from recuse.schema.number_text import of_units
from recuse.statistics.agreement import options
from recuse.statistics.agreement.coefficient import Coefficient, ratio
from recuse.statistics.agreement.options import Level

JACKKNIFE = "jackknife, t"
FEWEST = 20
"""Labels outside the commonest option (of numbers: texts) below which no interval of a chance-corrected coefficient can
be believed: where fails are few, intervals hold the truth far less often than they say."""
NO_OPTIONS = "answers are numbers here, not options; read the correlations, the concordance or alpha"
NO_NUMBERS = "answers are options here, not numbers; read kappa or alpha"
METHOD = "share of the judge's usable answers"
NOBODY_TWICE = "nobody rated these texts twice, so what one of the people gains is unknown"
SAME = "people gave every text one and the same answer, so no judge could do better"


def estimate_of(
    metric: str, answers: Answers, judge: int, coefficient: Callable[[NDArray[np.bool_]], Coefficient], *,
    method: str, detail: dict[str, Any] | None = None, distribution: Callable[[Coefficient, Any], Any] | None = None,
    **more: Any,
) -> Estimate:  # fmt: skip
    """The estimate of a coefficient that is built from the texts which both the judge and a person rated, (U,) marks.

    `distribution(coefficient, clusters)` gives its distribution where it is not the jackknife's."""
    used, known = both_rated(answers, judge), tally(answers, judge)
    built = coefficient(used)
    built = built if built.times is not None else replace(built, times=taken(answers.times, used))
    facts = answers.facts(used, n_excluded=known["unanswered"], method=method, **more)
    known |= describe_people(answers, judge) | answers.held | (detail or {})
    if built.undefined:
        return undefined(metric, built.undefined, detail=known, **facts)
    clusters = answers.clusters[used]
    over_clusters = built.jackknife(clusters) if distribution is None else distribution(built, clusters)
    return estimated(metric, built.value, over_clusters, detail=known, **facts)


def both_rated(answers: Answers, judge: int) -> NDArray[np.bool_]:
    """Texts that the judge and at least one person answered, (U,)."""
    return np.asarray(np.isfinite(answers.judged[judge]).any(axis=1) & (answers.raters > 0))


def tally(answers: Answers, judge: int) -> dict[str, Any]:
    """How many texts people rated that the judge was asked about, and how many of these it left without an answer."""
    requested = answers.requested[judge] & (answers.raters > 0)
    return {
        "people": int(np.isfinite(answers.rated).any(axis=(1, 2)).sum()), "requested": answers.number(requested),
        "unanswered": answers.number(requested & ~both_rated(answers, judge)),
    }  # fmt: skip


def describe_people(answers: Answers, judge: int) -> dict[str, Any]:
    """People's answers to the texts that both rated: `base_rate`, the share of every option, with `constant`, the
    option that is right most often; of numbers, the median and its mean absolute error."""
    used = both_rated(answers, judge)
    if answers.options:
        shares = answers.evened(answers.people_shares[used])
        if not len(shares):
            return {}
        labels = total(shares, taken(answers.times, used))
        rates = labels / answers.number(used) if answers.times is not None else shares.mean(axis=0)
        best = int(rates.argmax())
        return {
            "base_rate": {name: number(rate) for name, rate in zip(answers.options, rates, strict=True)},
            "labels": {name: number(count) for name, count in zip(answers.options, labels, strict=True)},
            "constant": {"answer": answers.name_of(best), "agrees": number(rates[best])},
        }
    means = answers.people_mean[used]
    middle = median_of(means, taken(answers.times, used)) if len(means) else np.nan
    error = answers.mean(np.abs(answers.people_mean - middle), used)
    return {"constant": {"answer": number(middle), "absolute_error": number(error)}}


def too_few(options: tuple[str, ...], counts: Floats) -> str:
    """Why labels are too few for an interval, empty where they suffice. `counts` (K,): labels per option, or of numbers
    the one number of texts."""
    if not options:
        return "" if counts.sum() >= FEWEST else f"{of_units(int(counts.sum()), 'texts')}; an interval needs {FEWEST}"
    rare = float(counts.sum() - counts.max())
    if rare >= FEWEST - 1e-9:
        return ""
    return (
        f"people's labels other than {options[int(counts.argmax())]} make {rare:.4g} texts; an interval needs {FEWEST}."
        " Label more texts, or choose texts of which more are expected to be otherwise"
    )


def unmet(metric: str, answers: Answers, needs: str, method: str) -> Estimate | None:
    """An undefined estimate where answers are not what is needed: "options", "pass or fail" (two of them in order), or
    "numbers", as which two options in order count; nothing else is asked of them."""
    why = NO_NUMBERS if needs == "numbers" and not answers.counts else ""
    if needs in ("options", "pass or fail") and not answers.options:
        why = NO_OPTIONS
    elif needs == "pass or fail" and not (answers.ordered and len(answers.options) == 2):
        why = f"two options in order are needed, such as fail and pass; there are {', '.join(answers.options)}"
    return undefined(metric, why, method=method, over=answers.over) if why else None


def span_of(answers: Answers) -> float:
    """How far two numbers can lie apart: the scale's range, or that of the answers where the scale has no end."""
    if np.isfinite(answers.scale.span):
        return float(answers.scale.span)
    given = np.concatenate([answers.judged.ravel(), answers.rated.ravel()])
    given = given[np.isfinite(given)]
    return float(np.ptp(given)) if len(given) else 0.0


def agreement_by_text(answers: Answers, judge: int) -> Floats:
    """Per text how far the judge agrees with people, (U,), from 0 to 1: the share of them who give its answer; of
    numbers, 1 less the distance of the means as a share of the range. NaN where either is missing."""
    if answers.options:
        return np.asarray((answers.judge_shares[judge] * answers.people_shares).sum(axis=1))
    return np.asarray(1 - np.abs(answers.judge_means[judge] - answers.people_mean) / max(span_of(answers), 1e-12))


@measure(
    "gain_over_constant", "gain over a constant answer, less people's own", signed=True, rank=295, counts=True,
    below="gains less than people over always giving one answer",
    reading="How much of the disagreement with people goes away when the judge is asked instead of always giving the "
    "answer that is right most often (of numbers: people's mean), less what goes away when one of the people is asked. "
    "One more person would have 0.",
)  # fmt: skip
@per_judge(answers_of_people, *COMPARED)
def gain_over_constant(answers: Answers, judge: int) -> Estimate:
    """(D_people - D_judge) / D_constant, by judge and factor level, over the texts that two people rated: D the mean
    disagreement with a person (unequal answers; of numbers, squared differences) of the judge, of another person, and
    of the constant, the answer with the smallest D on these texts.

    It is the judge's gain 1 - D_judge / D_constant less that of one person over the others. On numbers a
    person's own gain is 2 ICC - 1, below 0 where people agree little: a constant is then nearer to one person than
    another person is. Detail: `judge_gain` and `people_gain`; with one person the judge's alone. A text that the judge
    was asked about and did not answer counts as a constant answer: it gains nothing. Undefined where no two people
    rated one text, and where people all say the same.

    >>> gain = gain_over_constant(rated(judge="ppff", ann="ppfp", bea="pfff")).of(judge="judge")
    >>> gain.value, gain.detail["judge_gain"], gain.detail["people_gain"]
    (0.5, 0.5, 0.0)
    """
    requested = answers.requested[judge] & (answers.raters > 0)
    twice = requested & (answers.raters > 1)
    used = twice if twice.any() else requested
    times, m = taken(answers.times, used), answers.raters.astype(float)
    # per text D_constant - D_judge, D_constant - D_people (0 with one person) and D_constant, (U,); the constant is
    # taken as known: its disagreement is at its smallest, so a repetition moves it little
    if answers.options:
        tables, people = answers.tables(judge), np.nan_to_num(answers.evened(answers.people_shares))
        best = int(total(people[used], times).argmax())
        without, largest = 1.0 - people[:, best], 1.0
        gained = np.trace(tables, axis1=1, axis2=2) - tables.sum(axis=(1, 2)) * people[:, best]
        each = np.nan_to_num(answers.person_shares)
        alike = ratio((each.sum(axis=0) ** 2).sum(axis=1) - (each**2).sum(axis=(0, 2)), m * (m - 1))
        own = np.nan_to_num(without - 1.0 + alike)
    else:
        one, _, _, xx, yy, xy = answers.products(judge).T
        rated = used & np.isfinite(answers.people_mean)
        numbers = answers.rated - (answers.mean(answers.people_mean, rated) if rated.any() else 0.0)
        person = mean_of(numbers, axis=2)
        without, largest = np.nan_to_num(mean_of(mean_of(numbers**2, axis=2), axis=0)), span_of(answers) ** 2
        gained = one * without - (xx + yy - 2 * xy)
        crossed = ratio(np.nansum(person, axis=0) ** 2 - np.nansum(person**2, axis=0), m * (m - 1))
        own = np.nan_to_num(2 * crossed - without)
    whole = float(total(without[used], times))
    why = SAME if not whole > 1e-12 else "" if twice.any() else NOBODY_TWICE
    gain = Coefficient(
        np.column_stack([gained - own, without])[used], lambda s: ratio(s[:, 0], s[:, 1]), lambda s: why,
        "difference", lambda s: float(largest * answers.number(used) / s[1]), times=times,
    )  # fmt: skip
    detail = {} if why == SAME else {"judge_gain": number(float(total(gained[used], times)) / whole)}
    if not why:
        detail["people_gain"] = number(float(total(own[used], times)) / whole)
    return estimate_of(
        "gain_over_constant", answers, judge, lambda _: gain, method=f"(D_people - D_judge) / D_constant, {JACKKNIFE}",
        detail=detail, distribution=lambda built, _: built.jackknife(answers.clusters[used]),
    )  # fmt: skip


@measure(
    "commonest_answer", "its commonest answer", unit="share", rank=335, counts=True,
    reading="The share of a judge's answers that are one and the same: 1 is a judge that tells nothing apart.",
)  # fmt: skip
@per_judge(answers_of_people, *COMPARED)
def commonest_answer(answers: Answers, judge: int) -> Estimate:
    """max over answers a of (answers equal to a) / (answers), by judge and factor level, over all texts it was asked
    about; of repeats each counts. Detail: `answer`, that answer in words, and `n`. Without an interval: it describes
    the answers there are. Undefined for a judge without two answers.

    >>> commonest_answer(rated(judge="pppf", ann="ppff")).of(judge="judge").value
    0.75
    """
    each = answers.judged[judge]
    there = np.isfinite(each)
    values, place = np.unique(each[there], return_inverse=True)
    times = None if answers.times is None else np.broadcast_to(answers.times[:, None], each.shape)[there]
    counts = np.bincount(place, weights=times).astype(float)
    if answers.either_way:
        values = np.arange(float(len(answers.options)))
        counts = answers.evened(np.bincount(each[there].astype(int), times, len(values)).astype(float))
    n = int(counts.sum())
    if n < 2:
        return undefined("commonest_answer", "the judge gave fewer than two answers", method=METHOD, n=n)
    best = int(counts.argmax())
    value = float(values[best])
    answer = answers.name_of(int(value)) if answers.options else f"{value:g}"
    share, detail = float(counts[best] / n), {"answer": answer, "n": int(counts[best])}
    return Estimate(metric="commonest_answer", value=share, unit="share", n=n, method=METHOD, detail=detail)


@measure(
    "people_alpha", "people's agreement among themselves", ends=(-1, 1), rank=306, counts=True,
    reading="Krippendorff's alpha of all people who rated the texts: what a judge's agreement is to be compared with.",
)  # fmt: skip
@per_subject("rater", answers_of_people, *COMPARED)
def people_alpha(answers: Answers, level: Level | None = None) -> list[Named]:
    """Krippendorff's alpha of people, gaps and all, by factor level (and criterion): nominal for options, ordinal for
    options in order, interval for numbers, unless `level` says otherwise. A person's repeats count by their mean (of
    options: the commonest). Detail, for options: Fleiss' kappa, Gwet's AC1 and the share of equal pairs.

    Undefined with one person, and where all ratings are equal.

    >>> round(people_alpha(rated(judge="pppp", ann="ppff", bea="ppfp")).of(rater="people").value, 4)
    0.5333
    """
    fitting: Level = level or ("interval" if not answers.options else "ordinal" if answers.ordered else "nominal")
    rated = answers.raters >= 2
    facts = answers.facts(rated, method=f"{fitting} alpha, {JACKKNIFE}")
    if not rated.any():
        return [("people", undefined("people_alpha", "no two people rated one text", **facts))]
    detail: dict[str, Any] = {"people": int(np.isfinite(answers.rated).any(axis=(1, 2)).sum())}
    alpha: Coefficient
    times = taken(answers.times, rated)
    if answers.options:
        shares = answers.person_shares[:, rated]
        codes = np.where(np.isfinite(shares[:, :, 0]), np.nan_to_num(shares).argmax(axis=2), np.nan)
        counts = options.counts_of(codes, len(answers.options))

        def made(build: Callable[[Floats], Coefficient]) -> Coefficient:
            one = build(counts)
            observed, chance = np.hsplit(one.shares, [-len(answers.options)])
            return replace(one, shares=np.hstack([observed, answers.evened(chance)]), times=times)

        alpha = made(lambda counts: options.alpha_of_counts(counts, fitting, np.arange(len(answers.options))))
        detail["fleiss_kappa"] = number(made(options.scott_pi).value)
        detail["gwet_ac1"] = number(made(options.gwet_ac).value)
        detail["percent_agreement"] = number(made(options.percent_agreement).value)
    else:
        alpha = options.krippendorff_alpha(answers.person_means[:, rated], fitting)
    alpha = replace(alpha, times=times)
    if alpha.undefined:
        return [("people", undefined("people_alpha", alpha.undefined, detail=detail, **facts))]
    distribution = alpha.jackknife(answers.clusters[rated])
    return [("people", estimated("people_alpha", alpha.value, distribution, detail=detail, **facts))]
