"""Agreement of a judge with people, item by item: the same answer, and how much of that is more than chance.

Answers may be options (pass and fail, grades in order, options without order, which of two texts won) or numbers. A
judge that was asked repeatedly, and a text that several people rated, count once per text: one answer of the judge,
drawn at random, against one person, drawn at random. With one of each these are the textbook coefficients. Of numbers
the correlations and errors compare the judge's mean with people's mean; two options in order count as 0 and 1.

Every coefficient is a row of `COEFFICIENTS`. Which of them coincide, and when, is in docs/agreement.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from recuse.metrics.agreement_estimates import JACKKNIFE, both_rated, describe_people, estimate_of, span_of, unmet
from recuse.metrics.estimates import estimated, matrix, number, undefined
from recuse.metrics.measure import describe, per_judge
from recuse.ratings import Numeric, Ordinal, Ratings, Scale
from recuse.ratings.answers import COMPARED, Answers, answers_of_people
from recuse.schema import Estimate, Estimates, RecuseError
from recuse.schema.arrays import Floats, Mask, taken, total
from recuse.schema.verdict_rows import Detail
from recuse.statistics.agreement import correlation, options
from recuse.statistics.agreement.coefficient import Coefficient
from recuse.statistics.agreement.options import CELLS, Level, Rate, Weights, alpha_of_products, alpha_of_tables
from recuse.statistics.clusters import SHARE, clustered_share

Compute = Callable[[Answers, int, str], Estimate]
Build = Callable[..., Coefficient]
Needs = Literal["any", "options", "pass or fail", "numbers"]
GRAIN = 60  # steps of the scale that a picture of judge against people tells apart
FITS: dict[Needs, Callable[[Scale], bool]] = {  # scales of the criteria that a coefficient is measured on, by its needs
    "any": lambda scale: True,
    "options": lambda scale: not isinstance(scale, Numeric),
    "pass or fail": lambda scale: isinstance(scale, Ordinal) and len(scale.options) == 2,
    "numbers": lambda scale: isinstance(scale, Numeric),
}
COEFFICIENTS: dict[str, Row] = {}  # every coefficient by the name of its measure
LESS = "agrees with people less than you ask|agree with people less than you ask"


class Row(NamedTuple):
    """One coefficient: what it `needs`, how it is computed from answers, judge and its name, its `definition`."""

    needs: Needs
    compute: Compute
    definition: str


def coefficient(ratings: Ratings, name: str) -> Estimates:
    """The coefficient of this name in `COEFFICIENTS`, by judge and factor level. Undefined where answers are not what
    it needs. Detail: base rate, labels per option, and the constant predictor.

    >>> coefficient(rated(judge="ppff", ann="ppfp"), "cohen_kappa").of(judge="judge").value
    0.5
    """
    if name not in COEFFICIENTS:
        raise RecuseError(f"there is no coefficient {name!r}; there are {', '.join(COEFFICIENTS)}")
    row, ratings = COEFFICIENTS[name], ratings.folded()

    def compute(answers: Answers, judge: int) -> Estimate:
        return unmet(name, answers, row.needs, JACKKNIFE) or row.compute(answers, judge, name)

    return ratings.remember(("coefficient", name), lambda: per_judge(answers_of_people, *COMPARED)(compute)(ratings))


def every_coefficient(ratings: Ratings) -> Iterator[Estimates]:
    """Each coefficient, measured on the headline criteria whose scale it fits; those that fit none are passed over."""
    for name, row in COEFFICIENTS.items():
        if (part := ratings.where_scale(FITS[row.needs])) is not None:
            yield coefficient(part, name)


def _percent(answers: Answers, judge: int, metric: str) -> Estimate:
    tables = answers.tables(judge)
    return estimate_of(
        metric, answers, judge, lambda used: options.percent_agreement(tables[used]), method=SHARE, unit="share",
        span=1.0, distribution=lambda built, clusters: clustered_share(
            np.trace(tables[both_rated(answers, judge)], axis1=1, axis2=2), clusters, built.times
        ),
    )  # fmt: skip


def _alpha(answers: Answers, judge: int, metric: str) -> Estimate:
    level: Level = "interval" if not answers.options else "ordinal" if answers.ordered else "nominal"

    def build(used: Mask) -> Coefficient:
        if not answers.options:
            return alpha_of_products(answers.products(judge)[used], span_of(answers))
        return alpha_of_tables(answers.tables(judge)[used], level, np.arange(len(answers.options)))

    method = f"{level} alpha of a judge's answer and a person's, {JACKKNIFE}"
    return estimate_of(metric, answers, judge, build, method=method)


def _chance_corrected(
    build: Callable[[Floats, Weights], Coefficient], answers: Answers, judge: int, metric: str, *, graded: bool = False
) -> Estimate:
    """`graded`: distances count where there are three options in order or more."""
    weights: Weights = "quadratic" if graded and answers.ordered and len(answers.options) > 2 else "plain"
    tables, method = answers.tables(judge), f"{weights} weights, {JACKKNIFE}"
    return estimate_of(metric, answers, judge, lambda used: build(tables[used], weights), method=method)


def _confusion(answers: Answers, judge: int, metric: str) -> Estimate:
    table = total(answers.tables(judge), answers.times)
    n = float(table.sum())
    detail = matrix(answers.options, answers.options, table, {}, **answers.held)
    return Estimate(
        metric=metric, value=float(np.trace(table)) / n if n else np.nan, n=round(n), method="counts",
        over=answers.over, unit="share", span=1.0, detail=detail,
        clusters=answers.clusters_called if answers.over == "clusters" else "",
        note="" if n else "undefined: no text was rated by both",
    )  # fmt: skip


def _rate(which: Rate, answers: Answers, judge: int, metric: str) -> Estimate:
    tables = answers.tables(judge)
    used = both_rated(answers, judge)
    flat, times = tables[used].reshape(-1, 4), taken(answers.times, used)
    hits, cases = (flat @ side for side in CELLS[which][:2])
    whole = which != "F1" and bool(np.isin(cases, (0.0, 1.0)).all() and np.isin(hits, (0.0, 1.0)).all())

    def exact(_: Coefficient, clusters: Any) -> Any:
        return clustered_share(hits[cases > 0], clusters[cases > 0], taken(times, cases > 0))

    return estimate_of(
        metric, answers, judge, lambda used: options.rate(tables[used], which), method=SHARE if whole else JACKKNIFE,
        distribution=exact if whole else None, unit="" if which == "F1" else "share",
        detail={"cases": number(float(total(cases, times)))},
    )  # fmt: skip


def _of_means(
    build: Build, answers: Answers, judge: int, metric: str, *, scaled: bool = False, ranked: bool = False
) -> Estimate:
    """`ranked`: built from ranks, which belong to all items at once: it has to know how many items each stands for."""
    own, people = answers.judge_means[judge], answers.people_mean
    more: dict[str, Any] = {"unit": answers.scale.unit, "span": answers.scale.span} if scaled else {}
    if metric == "mean_error":
        more["detail"] = _text_by_text(answers, judge)

    def built(used: Mask) -> Coefficient:
        return build(own[used], people[used], *([taken(answers.times, used)] if ranked else []))

    return estimate_of(metric, answers, judge, built, method=JACKKNIFE, **more)


def _text_by_text(answers: Answers, judge: int) -> Detail:
    """For the picture of judge against people: (people's mean, the judge's, texts), to a `GRAIN`th of the range."""
    used = both_rated(answers, judge)
    values = np.column_stack([answers.people_mean, answers.judge_means[judge]])[used]
    if not len(values):
        return {}
    low, high = answers.scale.ends if np.isfinite(answers.scale.span) else (values.min(), values.max())
    grain = (high - low) / GRAIN or 1.0
    places, place = np.unique(np.round((values - low) / grain), axis=0, return_inverse=True)
    counts = np.bincount(place.ravel(), weights=taken(answers.times, used))
    dots = zip(places * grain + low, counts, strict=True)
    return {"pairs": [[number(x), number(y), int(n)] for (x, y), n in dots], "ends": [number(low), number(high)]}


def _icc(answers: Answers, judge: int, metric: str) -> Estimate:
    """ICC(2,1) with its F interval, which takes texts as independent; over clusters with the jackknife's."""
    separate = answers.over == "items"
    used = both_rated(answers, judge)
    values = np.column_stack([answers.judge_means[judge], answers.people_mean])[used]
    lost = answers.number(answers.requested[judge] & (answers.raters > 0) & ~used)
    facts = answers.facts(used, n_excluded=lost, method=f"ICC(2,1), {'F interval' if separate else JACKKNIFE}")
    if answers.number(used) < 2:
        return undefined(metric, "it needs two texts that both rated", **facts)
    squares = correlation.mean_squares(values, taken(answers.times, used))
    exact = correlation.ICC(squares)
    forms = {name: number(float(correlation.icc(squares, name))) for name in correlation.FORMS}
    detail = {"forms": forms, **describe_people(answers, judge)}
    if np.isnan(exact.value):
        return undefined(metric, exact.undefined, detail=detail, **facts)
    shared = replace(correlation.icc_of_pairs(values[:, 0], values[:, 1]), times=taken(answers.times, used))
    distribution = exact if separate else shared.jackknife(answers.clusters[used])
    return estimated(metric, exact.value, distribution, detail=detail, **facts)


def _row(name: str, title: str, needs: Needs, compute: Compute, definition: str, **about: Any) -> None:
    describe(name, title, **about)
    COEFFICIENTS[name] = Row(needs, compute, definition)


_row(
    "krippendorff_alpha", "Krippendorff's alpha with people", "any", _alpha,
    "Krippendorff's alpha of one answer of the judge and one of a person: nominal for options, ordinal for options in "
    "order, interval for numbers. Undefined where all these answers are equal. Krippendorff (2019), Content Analysis.",
    ends=(-1, 1), rank=305, below=LESS,
    reading="Agreement beyond chance on the scale at hand: 1 is complete, 0 is chance, below 0 is worse than chance.",
)  # fmt: skip
_row(
    "percent_agreement", "same answer as people", "options", _percent,
    "mean_u sum_k a_uk b_uk, a and b the shares of option k among the judge's answers and among people's; "
    "Clopper-Pearson.", unit="share", rank=300, below="often answers otherwise than people",
    reading="Share of texts to which judge and person give the same answer. Read it beside the base rate: where people "
    "nearly always say the same, saying it always agrees as often.",
)  # fmt: skip
_row(
    "cohen_kappa", "Cohen's kappa with people", "options", partial(_chance_corrected, options.cohen_kappa, graded=True),
    "Cohen's kappa 1 - D_o / D_e of one answer of the judge and one of a person, weighted by squared distance where "
    "there are three options in order or more. Undefined where both always give one and the same answer. Cohen (1960).",
    ends=(-1, 1), rank=310, below=LESS,
    reading="Agreement beyond what judge and person would reach by chance with their own shares of each answer: 0 is "
    "chance, 1 is complete.",
)  # fmt: skip
_row(
    "scott_pi", "Scott's pi with people", "options", partial(_chance_corrected, options.scott_pi),
    "Scott's pi of one answer of the judge and one of a person; Fleiss' kappa of the two. Scott (1955).",
    ends=(-1, 1), bad="below", rank=311,
    reading="As Cohen's kappa, but chance draws both answers from shares common to judge and person: a judge with "
    "other shares than people is charged for it.",
)  # fmt: skip
_row(
    "gwet_ac", "Gwet's AC with people", "options", partial(_chance_corrected, options.gwet_ac),
    "Gwet's AC1 of one answer of the judge and one of a person. Gwet (2008).", ends=(-1, 1), bad="below", rank=312,
    reading="Agreement beyond chance where chance is small when one answer is rare; stays high where kappa falls "
    "because nearly every answer is the same. AC1, or AC2 with weights.",
)  # fmt: skip
_row(
    "confusion", "confusion with people", "options", _confusion,
    "Detail `values` (judge's option in rows, people's in columns): number of texts, shared out where several people "
    "rated one. The value is the percent agreement, without an interval of its own.", unit="share", rank=354,
    reading="How often each answer of the judge meets each answer of people; the value is the share that agrees.",
)  # fmt: skip
_row(
    "true_positive_rate", "passes it lets through", "pass or fail", partial(_rate, "true positive rate"),
    "P(judge says the better option | a person does), Clopper-Pearson. Undefined where people pass nothing. A judge "
    "that always passes has 1.", unit="share", rank=350, below="fails what people pass",
    reading="Of the texts that people pass, the share that the judge passes (sensitivity, recall).",
)  # fmt: skip
_row(
    "true_negative_rate", "fails it catches", "pass or fail", partial(_rate, "true negative rate"),
    "P(judge says the worse option | a person does), Clopper-Pearson. A judge that always passes has 0.", unit="share",
    rank=351, below="misses what people fail",
    reading="Of the texts that people fail, the share that the judge fails (specificity).",
)  # fmt: skip
_row(
    "precision", "passes that people share", "pass or fail", partial(_rate, "precision"),
    "P(a person says the better option | the judge does), Clopper-Pearson.", unit="share", bad="below", rank=352,
    reading="Of the texts that the judge passes, the share that people pass.",
)  # fmt: skip
_row(
    "f1", "F1 of passes", "pass or fail", partial(_rate, "F1"),
    "2 TP / (2 TP + FP + FN) with the better option as positive.", ends=(0, 1), bad="below", rank=353,
    reading="Harmonic mean of the passes it lets through and of the passes that people share.",
)  # fmt: skip
_row(
    "concordance", "concordance with people", "numbers", lambda answers, judge, metric: estimate_of(
        metric, answers, judge, lambda used: correlation.concordance(answers.products(judge)[used]), method=JACKKNIFE
    ),
    "Lin's concordance of one answer of the judge and one of a person, 2 cov / (var + var + (difference of means)^2), "
    "which is Cohen's kappa with quadratic weights. Lin (1989).",
    ends=(-1, 1), bad="below", rank=320, below="gives other numbers than people",
    reading="1 where the judge gives the very number a person gives; lower where it orders texts otherwise, spreads "
    "its numbers otherwise, or is generous or strict.",
)  # fmt: skip
_row(
    "icc_with_people", "intraclass correlation with people", "numbers", _icc,
    "ICC(2,1) of two columns, the judge's mean and people's mean per text; F interval, or jackknife over clusters. "
    "Detail `forms`: all six. Shrout and Fleiss (1979).", ends=(-1, 1), bad="below", rank=335,
    reading="How well judge and people tell the texts apart together: spread between texts over all spread.",
)  # fmt: skip
_row(
    "pearson", "Pearson's r with people", "numbers", partial(_of_means, correlation.pearson),
    "Pearson's r of the judge's mean and people's mean over texts. Undefined where either gives every text the same.",
    ends=(-1, 1), bad="below", rank=330,
    reading="Whether the judge's numbers lie on a line with people's: 1 on a rising line, 0 unrelated.",
)  # fmt: skip
_row(
    "spearman", "Spearman's rho with people", "numbers", partial(_of_means, correlation.spearman_rho, ranked=True),
    "Spearman's rho of the judge's mean and people's mean over texts.", ends=(-1, 1), bad="below", rank=331,
    reading="Whether the judge puts the texts in people's order: 1 the same, 0 unrelated, -1 reversed.",
)  # fmt: skip
_row(
    "kendall", "Kendall's tau-b with people", "numbers", partial(_of_means, correlation.kendall_tau, ranked=True),
    "Kendall's tau-b of the judge's mean and people's mean over texts.", ends=(-1, 1), bad="below", rank=332,
    reading="Pairs of texts that judge and people put in the same order, less those in opposite order.",
)  # fmt: skip
_row(
    "mean_error", "mean error against people", "numbers", partial(_of_means, correlation.mean_error, scaled=True),
    "Mean over texts of the judge's mean less people's mean, in the scale's unit. Detail `pairs`: people's mean, the "
    "judge's, and how many texts, to a sixtieth of the scale.",
    signed=True, rank=340, above="is generous", below="is strict",
    reading="Mean of judge minus people over texts: above 0 it gives more than people.",
)  # fmt: skip
_row(
    "absolute_error", "absolute error against people", "numbers",
    partial(_of_means, correlation.mean_absolute_error, scaled=True),
    "Mean over texts of |judge's mean - people's mean|; detail `constant`: people's median and its absolute error.",
    rank=341, above="is far from people",
    reading="Mean distance of the judge's number from people's; beside it, that of the best constant.",
)  # fmt: skip
