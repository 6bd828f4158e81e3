"""People's own ratings: how reliable one of them is, and all together; and what a scale of another length does.
Merchant-risk paper, sec. 3.5: 26 experts rate 1-10, judges 0-10, so the worst of an expert is a tenth above a
judge's."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from recuse.metrics.estimates import matrix, number, undefined
from recuse.metrics.human_alignment import people_on
from recuse.metrics.measure import itself, measure, per_subject
from recuse.papers import rank_tests
from recuse.papers.merchant_risk.ground_truth import rank_correlation
from recuse.papers.merchant_risk.offset_matrices import human_panel_offset
from recuse.papers.merchant_risk.rank_agreement import people_difference, people_groups
from recuse.papers.rank_tests import spearman
from recuse.ratings import Ratings, mean_of
from recuse.ratings.answers import without_truth
from recuse.ratings.array import numbers
from recuse.ratings.ratings_table import PERSON
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.icc import icc, icc_interval, mean_squares

BESIDE = "blinded_people"
SIMULATED = "simulated people: nobody was asked"


@measure(
    "people_reliability", "reliability of people", rank=232, bad="none",
    reading="ICC(2,1), absolute agreement: how much of the spread of one person's ratings is the texts'. The mean of "
    "all people is more reliable.",
)  # fmt: skip
def people_reliability(ratings: Ratings) -> Estimates:
    """ICC(2,1) of the people's single ratings that stand beside (`ratings.beside("blinded_people")`), by criterion, and
    of each person's mean over the criteria (`mean`); F interval over texts (Satterthwaite). Detail: `together`,
    ICC(2,k), the reliability of the mean of all k people; `people` and `texts`. A person with a gap is left out.
    Undefined below two people or two texts.

    >>> people = example("rater kind score", "p person 0/4/8; q person 1/5/9")
    >>> ratings = replace(people, beside={"blinded_people": people}.get)
    >>> round(people_reliability(ratings).of(criterion="rating").value, 3)
    0.97
    """

    def reliability(people: Ratings) -> Estimates:
        each = {}  # texts x people of each criterion
        for name in people.criteria:
            rows = people.table[(people.table["criterion"] == name) & (people.table["kind"] == PERSON)]
            rows = rows.assign(value=numbers(people.with_criterion(name), rows))
            each[name] = rows.pivot_table("value", ["item", "target"], "rater", sort=False).to_numpy(dtype=float)
        if len(each) > 1:
            each["mean"] = np.mean(list(each.values()), axis=0)
        return Estimates(("criterion",), {(name,): _reliability(values) for name, values in each.items()})

    return _of_blinded(ratings, ("criterion",), reliability)


def blinded_pairs(ratings: Ratings) -> Estimates:
    """`people_difference` of the people who stand beside; empty without."""
    return _of_blinded(ratings, ("pair",), people_difference)


def blinded_groups(ratings: Ratings) -> Estimates:
    """`people_order.people_groups` of the people who stand beside; empty without."""
    return _of_blinded(ratings, (), people_groups)


def _of_blinded(ratings: Ratings, by: tuple[str, ...], compute: Callable[[Ratings], Estimates]) -> Estimates:
    """Of the people who stand beside, saying so where nobody was asked; empty without."""
    people = ratings.beside(BESIDE)
    if people is None:
        return Estimates(by, {})
    estimates = compute(people)
    if "simulated" not in people.table or not people.table["simulated"].any():
        return estimates
    noted = {
        key: replace(e, note="; ".join(filter(None, (SIMULATED, e.note))), detail={**e.detail, "simulated": True})
        for key, e in estimates.items()
    }
    return Estimates(estimates.by, noted)


@measure(
    "scale_matched_offset", "offset of the panel, scales matched", signed=True, rank=242, bad="none",
    reading="Judges less people after people's scale is stretched to the judges': what the offset is if the worst of "
    "either means the worst.",
)  # fmt: skip
def scale_matched_offset(ratings: Ratings) -> Estimates:
    """`human_panel_offset` with people's means and SDs stretched from their scale (minimum and maximum of their
    summary) to the judges', by factor level: x' = low + (x - low_p) (high - low) / (high_p - low_p). The paper's +0.46
    (0-10 less 1-10) becomes +0.65. Undefined where people's scale is not known, or is the judges'.

    >>> people = table("target mean sd n minimum maximum", "t 5.5 1 9 1 10")
    >>> scores = example("judge target score", "a t 6; b t 4", people=people, scales=Numeric(0, 10))
    >>> scale_matched_offset(scores).of().value
    0.0
    """
    people = ratings.people
    ends = {ratings.scales[name].ends for name in ratings.headline}
    if people is None or not {"minimum", "maximum"} <= set(people.columns) or len(ends) != 1:
        return _nothing_to_match(ratings, "people's scale is not told apart from the judges'")
    low, high = float(people["minimum"].iloc[0]), float(people["maximum"].iloc[0])
    (wanted,) = ends
    if (low, high) == wanted:
        return _nothing_to_match(ratings, "people and judges rate on one scale")
    factor = (wanted[1] - wanted[0]) / (high - low)
    stretched = people.assign(mean=wanted[0] + (people["mean"] - low) * factor, sd=people["sd"] * factor)
    given, matched = human_panel_offset(ratings), {}
    for key, e in human_panel_offset(replace(ratings, people=stretched, _memory={})).items():
        scales = {"people_scale": [low, high], "judges_scale": list(wanted), "as_given": number(given[key].value)}
        matched[key] = replace(e, metric="scale_matched_offset", detail={**e.detail, **scales})
    return Estimates(ratings.within(), matched)


@per_subject((), itself)
def _nothing_to_match(part: Ratings, why: str) -> Estimate:
    return undefined("scale_matched_offset", why, method="people's scale stretched to the judges'", over="items")


def _reliability(values: Floats) -> Estimate:
    complete = values[:, np.isfinite(values).all(axis=0)]
    texts, people = complete.shape
    detail: dict[str, Any] = {"people": people, "texts": texts}
    about: dict[str, Any] = {
        "n": texts, "n_excluded": values.shape[1] - people, "over": "items", "detail": detail,
        "method": "ICC(2,1), F interval over texts",
    }  # fmt: skip
    if texts < 2 or people < 2:
        why = f"reliability needs two people and two texts; {people} people rated {texts}"
        return undefined("people_reliability", why, **about)
    squares = mean_squares(complete)
    value = float(icc(squares))
    if not np.isfinite(value):
        return undefined("people_reliability", "nothing varies", **about)
    low, high = map(float, icc_interval(squares))
    detail["together"] = number(float(icc(squares, "ICC(2,k)")))
    return Estimate(metric="people_reliability", value=value, low=low, high=high, **about)


SOURCES = ("peers", "people", "data")
PAIRWISE = "mean pairwise Spearman's rho"


@measure(
    "three_sources", "agreement of peers, people and data", ends=(-1, 1), signed=True, rank=300,
    reading="Mean rank correlation between peers', people's and the data's view of the models.",
)  # fmt: skip
def three_sources(ratings: Ratings) -> Estimates:
    """Mean of the three pairwise Spearman correlations across models, by the factor levels of the picks and of the
    scores beside them (`ratings.beside("scores")`). A model's figures: the mean score of its texts by the judges that
    did not write them, people's mean score of them, and its rank correlation with the data. Detail: the 3 x 3 matrix of
    rho with the exact permutation `p`, and the `figures`. No interval: the models are the few there are, not a sample.
    Undefined below three models with all three, and where the same judges' scores are not known.

    >>> three_sources(example("score", "1")).of().note
    "undefined: no scores of the models' texts stand beside their picks"
    """
    scores = ratings.beside("scores")
    if scores is None:
        why = "no scores of the models' texts stand beside their picks"
        nothing = undefined("three_sources", why, method=PAIRWISE, over="items")
        return Estimates(ratings.within(), {names: nothing for names, _ in ratings.each()})
    correlations = rank_correlation(ratings)
    estimates = {}
    for names, _ in ratings.each():
        data = {model: e.value for (model, *levels), e in correlations.items() if tuple(levels) == names}
        for others, part in scores.each():
            estimates[(*names, *others)] = _three_sources(_figures(part, scores, data))
    by = (*(f"picks_{name}" if name in scores.within() else name for name in ratings.within()), *scores.within())
    return Estimates(by, estimates)


def _three_sources(figures: Mapping[str, tuple[float, float, float]]) -> Estimate:
    complete = {model: row for model, row in figures.items() if not any(map(math.isnan, row))}
    named = {model: dict(zip(SOURCES, map(number, row), strict=True)) for model, row in complete.items()}
    more = dict[str, Any](n=len(complete), n_excluded=len(figures) - len(complete), over="items", method=PAIRWISE)
    if len(complete) < 3:
        return undefined(
            "three_sources", f"needs three models with all three figures; there are {len(complete)}", **more
        )
    columns = np.array(list(complete.values())).T
    rho = spearman(columns[:, None], columns[None])
    p = np.array([[rank_tests.spearman_test(a, b).p for b in columns] for a in columns])
    np.fill_diagonal(p, np.nan)
    value = float(rho[np.triu_indices(3, 1)].mean())
    if math.isnan(value):
        why = "a source gives every model the same figure"
        return undefined("three_sources", why, detail={"figures": named}, **more)
    note = "no interval: the models are all there are, not a sample of models"
    detail = matrix(SOURCES, SOURCES, rho, {}, p=p, figures=named)
    return Estimate(metric="three_sources", value=value, note=note, detail=detail, **more)


def _figures(part: Ratings, scores: Ratings, data: Mapping[str, float]) -> dict[str, tuple[float, float, float]]:
    """Per model: peers' mean score of its texts, people's mean score of them, its correlation with the data."""
    cells = part.cells()
    people = people_on(without_truth(scores, part), cells, without_truth(scores)).mean
    estimates: dict[str, tuple[float, float, float]] = {}
    for model, target in part.own().items():
        texts = cells.texts_of(target)
        peers = np.array([part.authors.get(judge) != target for judge in cells.judges])
        each = mean_of(cells.mean[peers][:, texts], axis=1)
        estimates[model] = (float(mean_of(each, 0)), float(mean_of(people[texts], 0)), data.get(model, math.nan))
    return estimates
