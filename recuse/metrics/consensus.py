"""Consensus deviation: how far a judge's score lies from the mean of all other judges on the same text.

    Bias(i, u) = s_iu - mean over the judges k != i with a score of u of s_ku,    s_iu = mean over repeats

Merchant-risk paper, secs. 4.1-4.3 and appendix F. The judge itself is left out of its reference, so its own score moves
its bias one for one; including it would shrink every bias by (n - 1) / n. Deviations on a text add up to zero: the
measure is relative, and a panel that is lenient as a whole shows nothing here. A missing score costs the judge it
belongs to; the others' reference is the judges that did score the text.

What is concluded about a judge is concluded over texts: Student's t of its deviations, texts (or what they share) as
clusters. What holds for a text by itself, a cell of a matrix or the self-bias on the one text, has an interval over
repeats: how far would new replies of the same judges on the same text move it? Var Bias(i, u) = s2_iu / R_iu + sum_k
s2_ku / R_ku / (n - 1)^2 (`recuse.statistics.clusters`)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from recuse.metrics.estimates import THESE_TEXTS, estimated, losses_of_judge, number, these_texts, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.ratings import Cells, Ratings
from recuse.ratings.array import beyond_others, mean_of, moments_of
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats, Mask, distinct, number_of
from recuse.statistics.clusters import Contrast, contrast, difference_of_means, own_against_others, pooled_spread
from recuse.statistics.distributions import Student

OVER_ITEMS = "mean deviation over texts, cluster-robust t over items"
MOST_PAIRED = 20_000
"""Clusters up to which a result keeps the deviation of each, for a later recording of the same items to be paired with;
more of them tell a change apart unpaired, and would fill a baseline."""
PREDICTION = "own text against the spread of the judge's deviations on others' texts, t with their number less 1"
WELCH = "linear contrast of cell means, t and Hall's interval, quiet cells by the scale's step"
ONE_JUDGE = "no consensus: one judge"


@measure(
    "self_bias", "self-bias", signed=True, rank=20, above="promotes itself", below="holds itself down",
    reading="A judge's score of its own work less its peers' mean for the same work: its general leniency and what "
    "separates judges on any text are part of it, so it describes and does not decide. Self-preference decides.",
)  # fmt: skip
def self_bias(ratings: Ratings) -> Estimates:
    """Mean Bias(i, u) over the texts u that judge i wrote, by judge and factor level; paper, sec. 4.3.1.

    Over repeats, n counts the repeats it rests on, the judge's own and those of its peers on that text; over items, the
    items. Undefined with one judge, and where no text of its own has a usable score of its own and of a peer.

    >>> self_bias(example("judge target score", "x a 9; y a 8; z a 7", authors={"x": "a"})).of(judge="x").value
    1.5
    """
    return _family(ratings, "self_bias")


@measure(
    "leniency", "leniency", signed=True, rank=110, counts=True, above="is more lenient than its peers",
    below="is harsher than its peers",
    reading="A judge's scores of others' work less its peers' mean for the same work.",
)  # fmt: skip
def leniency(ratings: Ratings) -> Estimates:
    """Mean Bias(i, u) over the texts u that judge i did not write, by judge and factor level.

    Covers all judges; undefined for an author with no other target. Relative like every consensus deviation: a peer
    inflates its own target by d lowers the others' leniency by d / (n - 1) / (number of their targets).

    >>> ratings = example("judge target score", "a x 5; a y 3; b x 4; b y 3", authors={"a": "x", "b": "y"})
    >>> leniency(ratings).of(judge="a").value
    0.0
    """
    return _family(ratings, "leniency")


@measure(
    "self_preference", "self-preference", signed=True, rank=30, above="prefers its own work",
    below="disfavours its own work",
    reading="Self-bias less leniency: what a judge adds on its own work beyond its general level. Where it wrote one "
    "text, it is compared with how far the judge's deviations on others' lie apart: a handful of texts cannot tell.",
)  # fmt: skip
def self_preference(ratings: Ratings) -> Estimates:
    """self_bias - leniency, by judge and factor level: what a judge adds on its own text beyond its general level.

    A lenient judge has a positive self-bias without preferring itself; here its level cancels, and so does the quality
    of the texts, since each is compared with the peers' view of the same text.

    Over texts. Of a judge with one text, that text is compared with the spread of its deviations on the T - 1 others,
    T - 2 degrees of freedom (docs/statistics.md has what that makes of the merchant-risk study). Detail `these_texts`:
    the interval over repeats, for the one text alone; `spread`, and `pooled`: the interval with the spread of all
    judges, which is not the one decided on, since judges differ in it.

    >>> ratings = example("judge target score", "a x 5; a y 3; b x 4; b y 3", authors={"a": "x", "b": "y"})
    >>> self_preference(ratings).of(judge="a").value
    1.0
    """
    return _family(ratings, "self_preference")


def _estimate(
    cells: Cells, metric: str, judge: int, each: Floats, plus: Mask, minus: Mask | None, pooled: tuple[float, float]
) -> Estimate:
    bias, wanted = each[judge], plus if minus is None else plus | minus
    usable = np.isfinite(bias)
    own, others = plus & usable, None if minus is None else minus & usable
    # over repeats what is said of fixed texts, over texts what is said of the judge
    repeats = cells.fixed and metric == "self_bias"
    about = {**cells.about(repeats), "method": WELCH if repeats else OVER_ITEMS}
    if not own.any() or (others is not None and not others.any()):
        what = "text of its own" if metric != "leniency" and not own.any() else "text of another"
        lost_by = (
            f"{target}: {', '.join(f'{count} {status}' for status, count in counts.items())}"
            for (name, target), counts in cells.lost_by.items() if name == cells.judges[judge]
        )  # fmt: skip
        because = f" ({phrase})" if (phrase := "; ".join(lost_by)) else ""
        usable_none = f"no {what} has a usable score of its own and of a peer{because}"
        why = ONE_JUDGE if len(cells.judges) < 2 else usable_none if wanted.any() else f"there is no {what}"
        replies, lost = cells.replies(cells.count[judge]), cells.replies(cells.lost[judge])
        return undefined(metric, why, n=replies, n_excluded=lost, **about)
    used = own if others is None else own | others
    detail = losses_of_judge(cells, judge, lambda: mean_of(np.delete(cells.mean, judge, axis=0), axis=0), plus, minus)
    if repeats:
        n, lost, about["note"] = int(cells.count[:, used].sum()), int(cells.lost[:, wanted].sum()), THESE_TEXTS
        distribution: Student = over_repeats(cells, judge, own, others)
    else:
        n, lost = cells.number(used), number_of(wanted & ~usable, cells.times)
        distribution = difference_of_means(bias, own, others, cells.clusters, step=cells.step, times=cells.times)
        if others is not None and distinct(cells.clusters[own]) == 1:
            distribution, about["method"] = own_against_others(bias[own], bias[others], step=cells.step), PREDICTION
            # beside the comparison of a single text: the spread, and the interval with the spread of all judges
            of_all = Student(distribution.value, pooled[0] * math.sqrt(1 / own.sum() + 1 / others.sum()), pooled[1])
            detail["spread"] = number(float(bias[others].std(ddof=1))) if others.sum() > 1 else None
            detail["pooled"] = [number(end) for end in of_all.interval(0.95)]
        if cells.fixed:
            beside, about["note"] = these_texts(over_repeats(cells, judge, own, others))
            detail |= beside
        if cells.over == "clusters":
            about["n_clusters"] = distinct(cells.clusters[used])
    per_item, names = None, cells.cluster_names
    if cells.times is None and not cells.fixed and len(names) <= MOST_PAIRED:  # within clusters that have both sides
        mean, *less = (moments_of(cells.clusters[side], bias[side], len(names)).mean
                       for side in (own, others) if side is not None)  # fmt: skip
        contrasts = zip(names, mean - less[0] if less else mean, strict=True)
        per_item = {name: float(value) for name, value in contrasts if value == value}
    about |= {"n": n, "n_excluded": lost, "detail": detail, "per_item": per_item}
    return estimated(metric, distribution.value, distribution, **about)


@per_subject("judge", itself)
def _family(part: Ratings, metric: str) -> Iterator[Named]:
    """One contrast per judge and factor level: mean deviation on one side of the texts, less that on the other."""
    cells = part.cells()
    bias = part.remember(deviations, partial(deviations, cells))
    pooled = math.nan, 0.0  # spread over texts that are not their own of all judges together, and degrees of freedom
    if cells.times is None:  # single texts, and no patterns
        rows = (row[~cells.texts_of(part.authors.get(judge))] for judge, row in zip(cells.judges, bias, strict=True))
        known = [row for row in (row[np.isfinite(row)] for row in rows) if len(row) > 1]
        pooled = pooled_spread([(float(row.std(ddof=1)), len(row) - 1) for row in known], len(bias))
    authors = [judge for judge in part.own() if judge in cells.judges]
    for judge in cells.judges if metric == "leniency" else authors:
        own = cells.texts_of(part.authors.get(judge))
        plus, minus = {"self_bias": (own, None), "leniency": (~own, None), "self_preference": (own, ~own)}[metric]
        yield judge, _estimate(cells, metric, cells.row(judge), bias, plus, minus, pooled)


def deviations(cells: Cells) -> Floats:
    """Bias of every judge on every text, shape (J, U); NaN without a score of its own or of a peer."""
    return beyond_others(cells.mean)


def over_repeats(cells: Cells, judge: int, plus: Mask, minus: Mask | None = None) -> Contrast:
    """Of the mean deviation over the texts `plus`, less that over `minus`: these texts, new replies. A text's weight is
    on the judge's own cell, and less it shared equally by the peers that scored it."""
    weights = np.asarray(plus / plus.sum() - (0.0 if minus is None else minus / minus.sum()), dtype=float)
    there = np.isfinite(cells.mean)
    there[judge] = False
    counts = there.sum(axis=0)
    full = np.where(there, -np.divide(weights, counts, out=np.zeros(len(weights)), where=counts > 0), 0.0)
    full[judge] = weights
    return contrast(full, cells.mean, cells.variance, cells.count, thirds=cells.cubes, step=cells.step)
