"""People's own ratings: how reliable one of them is, and all together; what a scale of another length does; whether
people tell the targets apart. Merchant-risk paper, sec. 3.5: 26 experts rate 1-10, judges 0-10."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, matrix, number, undefined
from recuse.metrics.human_alignment import people_on
from recuse.metrics.measure import itself, measure, per_subject
from recuse.papers.merchant_risk.judge_profiles import human_panel_offset
from recuse.papers.merchant_risk.picks import rank_correlation
from recuse.papers.rank_tests import spearman, spearman_test
from recuse.ratings import PERSON, Ratings, Scale, mean_of, without_truth
from recuse.ratings.array import first_of, grouped, moments_of, names_at, numbers_at
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.correlation import ICC, icc, mean_squares
from recuse.statistics.distributions import Student, welch_satterthwaite
from recuse.statistics.multiplicity import holm

SIMULATED = "simulated people: nobody was asked"


@measure(
    "people_reliability", "reliability of people", rank=232, bad="none",
    reading="ICC(2,1), absolute agreement: how much of the spread of one person's ratings is the texts'. The mean of "
    "all people is more reliable.",
)  # fmt: skip
def people_reliability(ratings: Ratings) -> Estimates:
    """ICC(2,1) of the people's single ratings that stand beside (`ratings.beside("blinded_people")`), by criterion, and
    of each person's mean over the criteria (`mean`); F interval over texts (Satterthwaite). Detail: `together`, the
    ICC(2,k) of all k people's mean; `people` and `texts`. A person with a gap is left out. Undefined below two of each.

    >>> people = example("rater kind score", "p person 0/4/8; q person 1/5/9")
    >>> ratings = replace(people, beside={"blinded_people": people}.get)
    >>> round(people_reliability(ratings).of(criterion="rating").value, 3)
    0.97
    """

    def reliability(people: Ratings) -> Estimates:
        each = {}  # texts x people of each criterion
        for name in people.criteria:
            rows, values = _of_people(people.with_criterion(name))
            item, target, person = (people.coded(key)[1][rows] for key in ("item", "target", "rater"))
            text, person = grouped(item, target), grouped(person)
            shape = int(text.max(initial=-1)) + 1, int(person.max(initial=-1)) + 1
            cells = moments_of(text * shape[1] + person, values, shape[0] * shape[1])
            each[name] = cells.mean.reshape(shape)
        if len(each) > 1:
            each["mean"] = np.mean(list(each.values()), axis=0)
        return Estimates(("criterion",), {(name,): _reliability(values) for name, values in each.items()})

    return _of_blinded(ratings, ("criterion",), reliability)


def blinded_pairs(ratings: Ratings) -> Estimates:
    """`people_difference` of the people who stand beside; empty without."""
    return _of_blinded(ratings, ("pair",), people_difference)


def blinded_groups(ratings: Ratings) -> Estimates:
    """`people_groups` of the people who stand beside; empty without."""
    return _of_blinded(ratings, (), people_groups)


def _of_blinded(ratings: Ratings, by: tuple[str, ...], compute: Callable[[Ratings], Estimates]) -> Estimates:
    """Of the people who stand beside, saying so where nobody was asked; empty without."""
    people = ratings.beside("blinded_people")
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
    summary) to the judges', by factor level: x' = low + (x - low_p) (high - low) / (high_p - low_p). Undefined where
    people's scale is not known, or is the judges'.

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
    low, high = ICC(squares).interval(0.95)
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
    did not write them, people's mean score of them, and its rank correlation with the data. Detail: the matrix of rho
    with the exact permutation `p`, and the `figures`. No interval: the models are the few there are, not a sample.
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
        why = f"needs three models with all three figures; there are {len(complete)}"
        return undefined("three_sources", why, **more)
    columns = np.array(list(complete.values())).T
    rho = spearman(columns[:, None], columns[None])
    p = np.array([[spearman_test(a, b).p for b in columns] for a in columns])
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


# --------------------------------------------------------------------------- do people tell the targets apart
# Merchant-risk paper, sec. 3.5 and Fig. 7. Where people are known one by one, each person's difference between two
# targets is paired; of a summary it is unpaired (Welch), and wider.

PAIRED = "mean of each person's difference, paired t over people"
UNPAIRED = "difference of people's means, Welch's t; who rated both is not known"
ALPHA = 0.05


@measure(
    "people_difference", "people's difference between two targets", signed=True, rank=236, bad="none",
    reading="People's mean for one target less their mean for another, the better one first.",
)  # fmt: skip
def people_difference(ratings: Ratings) -> Estimates:
    """Differences of people's means, by pair of targets ("better - worse") and criterion where there are several; over
    people: targets are these. Detail: `z` = difference / standard error, `p` and `p_holm` over all pairs of that
    criterion, `told_apart`, whether p_holm is below .05. Empty without people.

    >>> scores = example("target score", "s 5; t 4", people=table("target mean sd n", "s 5 1 50; t 4 1 50"))
    >>> round(people_difference(scores).of(pair="s - t").detail["z"], 9)
    5.0
    """
    by, views = _views(ratings)
    estimates = {
        (pair, *criterion): estimate for criterion, of in views.items() for pair, estimate in _differences(*of).items()
    }
    return Estimates(("pair", *by), estimates)


@measure(
    "people_groups", "groups that people tell apart", rank=237, bad="none",
    reading="How many groups of targets people tell apart; as many as there are targets would be a full order.",
)  # fmt: skip
def people_groups(ratings: Ratings) -> Estimates:
    """How many groups the targets fall into, best first, by criterion where there are several: a target opens a new
    group where it is told apart (Holm, .05) from the best of the current one. Detail: `groups`, lists of targets with
    the best group first, and `means`. Undefined below two targets.

    >>> people = table("target mean sd n", "s 5 1 50; t 4.9 1 50; u 1 1 50")
    >>> people_groups(example("target score", "s 5; t 4; u 1", people=people)).of().detail["groups"]
    [['s', 't'], ['u']]
    """
    by, every = _views(ratings)
    estimates = {}
    for criterion, (views, scale) in every.items():
        about: dict[str, Any] = {"n": len(views), "over": "items", "method": "groups by Holm-corrected pairs"}
        if len(views) < 2:
            why = f"an order needs two targets; people rated {len(views)}"
            estimates[criterion] = undefined("people_groups", why, **about)
            continue
        pairs, groups = _differences(views, scale), [[next(iter(views))]]
        for target in list(views)[1:]:
            apart = pairs[f"{groups[-1][0]} - {target}"].detail["told_apart"]
            groups = [*groups, [target]] if apart else [*groups[:-1], [*groups[-1], target]]
        estimates[criterion] = Estimate(
            metric="people_groups", value=float(len(groups)), note="no interval: these targets, these people",
            detail={"groups": groups, "means": {name: number(view.mean) for name, view in views.items()}}, **about,
        )  # fmt: skip
    return Estimates(by, estimates)


class View(NamedTuple):
    """People's view of one target: mean, standard error of it, its degrees of freedom; each person's mean, if known."""

    mean: float
    error: float
    df: float
    persons: Mapping[str, float]


Views = Mapping[str, View]  # target -> people's view of it, the best first


def _views(ratings: Ratings) -> tuple[tuple[str, ...], dict[tuple[str, ...], tuple[Views, Scale]]]:
    """For every criterion that people rated (those of their rows, or of the summary), named where there are several:
    people's views, and the scale. The first are the names of what is named."""
    ratings = without_truth(ratings)
    rated = set(map(str, ratings.table.loc[ratings.table["kind"] == PERSON, "criterion"]))
    criteria = [name for name in ratings.criteria if name in rated]
    if not rated and ratings.people is not None:
        criteria = list(ratings.headline[:1])
    several = len(criteria) > 1
    return ("criterion",) if several else (), {
        (name,) if several else (): (_views_on(ratings.with_criterion(name), name), ratings.scales[name])
        for name in criteria
    }


def _of_people(one: Ratings) -> tuple[NDArray[np.intp], Floats]:
    """The rows of people with a usable answer to the one criterion, and their values."""
    rows = np.flatnonzero(one.having("kind", PERSON) & one.having("criterion", one.criterion))
    values = numbers_at(one, rows)
    return rows[np.isfinite(values)], values[np.isfinite(values)]


def _views_on(one: Ratings, criterion: str) -> Views:
    views = {}
    if (one.having("kind", PERSON) & one.having("criterion", criterion)).any():
        rows, values = _of_people(one)
        (targets, target), (raters, rater) = ((names, of[rows]) for names, of in map(one.coded, ("target", "rater")))
        pair = grouped(target, rater)
        first, means = first_of(pair), moments_of(pair, values, int(pair.max(initial=-1)) + 1).mean
        for k in dict.fromkeys(target.tolist()):
            there = target[first] == k
            of, n = means[there], int(there.sum())
            error = float(of.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan
            known = dict(zip(names_at(raters, rater[first[there]]), of.tolist(), strict=True))
            views[targets[k]] = View(float(of.mean()), error, n - 1.0, known)
    elif one.people is not None:
        people = one.people
        people = people[people["criterion"] == criterion] if "criterion" in people else people
        summaries = zip(people["target"], people["mean"], people["sd"], people["n"], strict=True)
        views = {str(t): View(float(m), float(sd) / math.sqrt(n), n - 1.0, {}) for t, m, sd, n in summaries}
    return dict(sorted(views.items(), key=lambda named: -named[1].mean))


def _differences(views: Views, scale: Scale) -> dict[str, Estimate]:
    about: dict[str, Any] = {"unit": getattr(scale, "unit", ""), "span": getattr(scale, "span", None)}
    pairs, made = list(combinations(views, 2)), []
    for one, other in ((views[a], views[b]) for a, b in pairs):
        each = np.array([one.persons[name] - other.persons[name] for name in one.persons if name in other.persons])
        if (n := len(each)) > 1:
            made.append((Student(float(each.mean()), float(each.std(ddof=1) / math.sqrt(n)), n - 1.0), n, PAIRED))
        else:
            se, df = welch_satterthwaite([one.error**2, other.error**2], [one.df, other.df])
            made.append((Student(one.mean - other.mean, se, df), int(one.df + other.df + 2), UNPAIRED))
    p = [2 * d.p_value(0.0, "above" if d.value > 0 else "below") if not d.undefined else math.nan for d, _, _ in made]
    corrected: Floats = holm(np.minimum(p, 1.0))
    estimates = {}
    for (a, b), (d, n, method), by_itself, both in zip(pairs, made, p, corrected, strict=True):
        z = d.value / d.se if d.se > 0 else math.nan
        detail = {"z": number(z), "p": number(by_itself), "p_holm": number(both), "told_apart": bool(both < ALPHA)}
        facts = {**about, "n": n, "method": method, "note": "over people, on these targets", "detail": detail}
        estimates[f"{a} - {b}"] = estimated("people_difference", d.value, d, **facts)
    return estimates
