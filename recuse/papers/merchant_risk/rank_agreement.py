"""Kendall's W: do the judges put the texts in one order, whatever level each of them scores at?

    W = (12 S) / (m^2 (k^3 - k) - m T),   S = sum over texts of (rank sum - m (k + 1) / 2)^2,
    T = sum over judges and ties of (t^3 - t)

m judges, k texts, mean ranks for ties. Merchant-risk paper, sec. 3.4 (3), which says "clear areas of agreement" and
gives no number; its tables give .81 with names shown and .80 with names hidden. Kendall and Babington Smith (1939), The
problem of m rankings, Annals of Mathematical Statistics 10, 275-287."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import special

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.papers.rank_tests import ranks
from recuse.ratings import Cells, Ratings, Scale
from recuse.ratings.answers import without_truth
from recuse.ratings.array import numbers
from recuse.ratings.ratings_table import PERSON
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.statistics.distributions import SEED, Student, generator, welch_satterthwaite
from recuse.statistics.multiplicity import holm

MANY = 50  # texts beyond which the p-value is Friedman's chi-square, which a permutation then no longer betters


@measure(
    "kendalls_w", "agreement of the judges on the order", ends=(0, 1), bad="none", rank=125,
    reading="Kendall's W: 1 where all judges rank the texts alike, 0 where their ranks have nothing in common. Judges "
    "can rank alike and all be wrong.",
)  # fmt: skip
def kendalls_w(ratings: Ratings, seed: int = SEED, draws: int = 9999) -> Estimates:
    """W by factor level, over the texts that every judge scored; targets where each has one text. Detail: `judges`,
    `texts`, `mean_rho`, the mean Spearman correlation of two judges, (m W - 1) / (m - 1) without ties; `p` that
    unrelated rankings agree as well, by random orders within each judge up to 50 texts and by Friedman's chi-square
    beyond; `p_method`. A judge that scores all texts alike has no ranking and is left out by name (`without_order`). No
    interval: these judges on these texts. Undefined below two judges with an order, and below three texts.

    >>> kendalls_w(example("judge item score", "a i 1; a k 2; a l 3; b i 5; b k 6; b l 9")).of().value
    1.0
    """
    estimates = {names: _estimate(part.cells(), seed, draws, names) for names, part in ratings.each()}
    return Estimates(ratings.within(), estimates)


def concordance(scores: Floats) -> float:
    """W of scores of shape (m, k); NaN where every judge ties all texts, m < 2 or k < 2."""
    judges, texts = scores.shape
    if judges < 2 or texts < 2:
        return math.nan
    each = ranks(scores)
    spread = float(((each.sum(axis=0) - judges * (texts + 1) / 2) ** 2).sum())
    ties = sum(float((counts**3 - counts).sum()) for counts in (np.unique(row, return_counts=True)[1] for row in each))
    most = judges**2 * (texts**3 - texts) - judges * ties
    return 12 * spread / most if most > 0 else math.nan


def _estimate(cells: Cells, seed: int, draws: int, names: tuple[str, ...]) -> Estimate:
    scored = cells.mean.round(9)
    ordered = [j for j, row in enumerate(scored) if len(np.unique(row[np.isfinite(row)])) > 1]
    common = np.isfinite(scored[ordered]).all(axis=0) & bool(ordered)
    without = [name for j, name in enumerate(cells.judges) if j not in ordered]
    texts = int(common.sum())
    detail: dict[str, Any] = {"judges": len(ordered), "texts": texts, "without_order": without}
    about: dict[str, Any] = {
        "n": texts, "n_excluded": int((~common).sum()), "over": "items", "detail": detail,
        "method": "Kendall's W over the texts that all judges scored, ties with mean ranks",
    }  # fmt: skip
    if len(ordered) < 2 or texts < 3:
        why = f"an order in common needs two judges and three texts; {len(ordered)} judges have an order on {texts}"
        return undefined("kendalls_w", why, **about)
    used = scored[ordered][:, common]
    value, judges = concordance(used), len(ordered)
    if math.isnan(value):
        return undefined("kendalls_w", "no judge tells these texts apart", **about)
    # How often unrelated rankings agree as well
    if texts > MANY:
        p, how = float(special.chdtrc(texts - 1, judges * (texts - 1) * value)), "Friedman's chi-square"
    else:
        each = ranks(used)
        drawn = generator(seed, "kendalls_w", *names).permuted(np.broadcast_to(each, (draws, judges, texts)), axis=2)
        observed, spread = (((one.sum(axis=-2) - judges * (texts + 1) / 2) ** 2).sum(axis=-1) for one in (each, drawn))
        p, how = (int((spread >= observed - 1e-9).sum()) + 1) / (draws + 1), f"{draws} random orders"
    detail |= {"mean_rho": number((judges * value - 1) / (judges - 1)), "p": number(p), "p_method": how}
    note = "no interval: these judges on these texts"
    return Estimate(metric="kendalls_w", value=value, seed=seed, note=note, **about)


# --------------------------------------------------------------------------- do people tell the targets apart
# Merchant-risk paper, sec. 3.5 and Fig. 7, which reads "a clear performance hierarchy" off five means by 26 experts.
# Its means and SDs put neighbours z = 0.35, 3.28, 0.78 and 1.44 apart: two groups, not five places.
# Where people are known one by one, each person's difference between two targets is paired; of a summary it is unpaired
# (Welch), and wider: what one person is strict about on both targets stays in it. A group of the order ends where its
# best and its worst are told apart.


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

    >>> people = table("target mean sd n", "s 5 1 50; t 4 1 50")
    >>> scores = example("target score", "s 5; t 4", people=people)
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
        means = {name: number(view.mean) for name, view in views.items()}
        estimates[criterion] = Estimate(
            metric="people_groups", value=float(len(groups)), note="no interval: these targets, these people",
            detail={"groups": groups, "means": means}, **about,
        )  # fmt: skip
    return Estimates(by, estimates)


@dataclass(frozen=True)
class View:
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
    people = ratings.table[ratings.table["kind"] == PERSON]
    rated = set(map(str, people["criterion"]))
    criteria = [name for name in ratings.criteria if name in rated]
    if not rated and ratings.people is not None:
        criteria = list(ratings.headline[:1])
    several = len(criteria) > 1
    views: dict[tuple[str, ...], tuple[Views, Scale]] = {
        (name,) if several else (): (_views_on(ratings.with_criterion(name), name), ratings.scales[name])
        for name in criteria
    }
    return ("criterion",) if several else (), views


def _views_on(one: Ratings, criterion: str) -> Views:
    rows = one.table[(one.table["kind"] == PERSON) & (one.table["criterion"] == criterion)]
    views = {}
    if len(rows):
        each = rows.assign(value=numbers(one, rows)).groupby(["target", "rater"], sort=False, observed=True)["value"]
        for target, of in each.mean().dropna().groupby(level="target", sort=False):
            mean, n = float(of.mean()), len(of)
            error = float(of.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan
            known = dict(zip(map(str, of.index.get_level_values("rater")), of.tolist(), strict=True))
            views[str(target)] = View(mean, error, n - 1.0, known)
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
        estimates[f"{a} - {b}"] = estimated(
            "people_difference", d.value, d, n=n, method=method, note="over people, on these targets", detail=detail,
            **about,
        )  # fmt: skip
    return estimates
