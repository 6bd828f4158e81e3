"""What names change: a judge's self-bias with names shown (A) against that with names hidden (B), and its scores of
everybody. Merchant-risk paper, sec. 4.3.2: A - B is what the name adds, 100 (1 - |B| / |A|) how much goes with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import update_wrapper
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.consensus import OVER_ITEMS, WELCH, deviations, self_bias
from recuse.metrics.estimates import THESE_TEXTS, estimated, losses, matrix, number, these_texts, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.papers.merchant_risk.judge_profiles import ZERO
from recuse.papers.rank_tests import ranks, spearman
from recuse.ratings import Cells, Ratings
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats, Mask
from recuse.statistics.clusters import Contrast, contrast, difference_of_means, own_against_others
from recuse.statistics.distributions import FisherZ, Student

SHOWN, HIDDEN = "shown", "hidden"
SINGLE = "change on its own text with the spread of the changes on others' texts, t with their number less 1"


@measure(
    "name_effect", "effect of the name", signed=True, rank=90, above="is swayed by names", below="is swayed by names",
    reading="Self-bias with names shown less self-bias with names hidden.",
)  # fmt: skip
@per_subject("judge", itself, "names")
def name_effect(part: Ratings) -> Iterator[Named]:
    """A - B by judge, over texts, paired text by text; of a judge with one text, that one's change has the spread of
    the changes on texts it did not write, and `these_texts` is the interval over repeats for the one text alone.
    Detail: `shown` A, `hidden` B; `gone_pct` = 100 (1 - |B| / |A|), unrounded, None where A is 0; `direction_kept`,
    whether A and B have the same sign, None where either is 0. Undefined where either was not asked.

    >>> rows = "a shown x 5; a hidden x 4.5; b shown x 4; b hidden x 4"
    >>> name_effect(example("judge names target score", rows, authors={"a": "x"})).of(judge="a").value
    0.5
    """
    for judge, (a, b) in self_bias_pairs(part).items():
        if worse := next((one for one in (a, b) if not one.defined), None):
            why = worse.note.removeprefix("undefined: ")
            yield judge, undefined("name_effect", why, n=a.n + b.n, method=worse.method, over=worse.over)
            continue
        directed = abs(a.value) > ZERO and abs(b.value) > ZERO
        detail = {
            "shown": number(a.value), "hidden": number(b.value),
            "gone_pct": number(percent_gone(a.value, b.value)) if abs(a.value) > ZERO else None,
            "direction_kept": (a.value > 0) == (b.value > 0) if directed else None, **_losses(part, judge, a, b),
        }  # fmt: skip
        shown, hidden = (part.where(names=level).cells() for level in (SHOWN, HIDDEN))
        each, _ = text_changes(judge, shown, hidden, deviations)
        usable, wrote = np.isfinite(each), shown.texts_of(part.authors[judge])
        own, others, clusters = each[usable & wrote], each[usable & ~wrote], shown.clusters[usable & wrote]
        about: dict[str, Any] = {
            "n_excluded": a.n_excluded + b.n_excluded, "unit": a.unit, "span": a.span, "clusters": a.clusters,
            "over": "items" if a.over == "repeats" else a.over,
        }  # fmt: skip
        if a.over == "repeats":
            assert isinstance(a.distribution, Contrast)
            assert isinstance(b.distribution, Contrast)
            beside, about["note"] = these_texts(a.distribution.minus(b.distribution))
            detail |= beside
        n_clusters, n, method = len(np.unique(clusters)), len(own), OVER_ITEMS
        if a.over == "clusters":
            about["n_clusters"] = n_clusters
        if n_clusters == 1:
            spread = own_against_others([0.0], others, step=shown.step)
            error = spread.se / math.sqrt(1 + 1 / max(len(others), 1))
            distribution: Student = replace(spread, value=a.value - b.value, se=error)
            n, method = n + len(others), SINGLE
        else:
            distribution = difference_of_means(own, np.ones(n, dtype=bool), None, clusters, step=shown.step)
        value = a.value - b.value
        yield judge, estimated("name_effect", value, distribution, n=n, method=method, detail=detail, **about)


def self_bias_pairs(part: Ratings) -> dict[str, tuple[Estimate, Estimate]]:
    """Self-bias with names shown and hidden of every judge that wrote a target."""
    if missing := [level for level in (SHOWN, HIDDEN) if level not in part.levels("names")]:
        why = f"nothing was asked with names {' and '.join(missing)}"
        return dict.fromkeys(part.own(), (undefined("self_bias", why, method=WELCH, over="repeats"),) * 2)
    of = self_bias(part).of
    return {judge: (of(judge=judge, names=SHOWN), of(judge=judge, names=HIDDEN)) for judge in part.own()}


def _losses(part: Ratings, judge: str, a: Estimate, b: Estimate) -> dict[str, Any]:
    """Losses on its own texts with names shown against those with names hidden, and the bounds they leave, infinite on
    a scale without ends."""
    sides, ends = {}, []
    for level, estimate in ((SHOWN, a), (HIDDEN, b)):
        cells = part.where(names=level).cells()
        row, own = cells.row(judge), cells.texts_of(part.authors[judge])
        lost = int(cells.lost[row, own].sum())
        sides[f"names {level}"] = lost, lost + int(cells.count[row, own].sum())
        low, high = estimate.detail.get("losses", {}).get("bounds", (estimate.value, estimate.value))
        ends.append((-math.inf if low is None else low, math.inf if high is None else high))
    return losses(sides, (ends[0][0] - ends[1][1], ends[0][1] - ends[1][0]))


def percent_gone(a: float, b: float) -> float:
    """100 (1 - |B| / |A|)."""
    return 100 * (1 - abs(b) / abs(a))


# --------------------------------------------------------------------------- on everybody's work
# Every judge on every author, names shown less names hidden: merchant-risk paper, secs. 3.3 and 3.4 (2), Fig. 5.

Change = Callable[[Ratings, str, Cells, Cells], Estimate]  # of a judge, with names shown and hidden


def _by_judge(change: Change) -> Callable[[Ratings], Estimates]:
    def each(part: Ratings) -> Iterator[Named]:
        shown, hidden = (part.where(names=level).cells() for level in (SHOWN, HIDDEN))
        return ((judge, change(part, judge, shown, hidden)) for judge in shown.judges)

    return update_wrapper(per_subject("judge", itself, "names")(each), change)


@measure(
    "name_shift", "shift by names", signed=True, rank=100, bad="none",
    reading="Mean score with names shown less mean score with names hidden, for every judge and author; the value is a "
    "judge's mean over all authors.",
)  # fmt: skip
@_by_judge
def name_shift(part: Ratings, judge: str, shown: Cells, hidden: Cells) -> Estimate:
    """Shown minus hidden by judge: the mean over all texts that it scored either way. Over repeats where every author
    has one text (`these texts only`), over texts otherwise. Detail: `authors`, and per author `shift` with `low` and
    `high`; `own` among them; `largest`, the author whose work moved most. Undefined where either way was not asked.

    >>> scores = example("judge names score", "a shown 5; a hidden 4.5; b shown 4; b hidden 4")
    >>> [name_shift(scores).of(judge=judge).value for judge in "ab"]
    [0.5, 0.0]
    """
    repeats = shown.fixed and hidden.fixed
    method = WELCH if repeats else "mean change over texts, cluster-robust t over items"
    about = {**shown.about(repeats), "method": method}
    if judge not in hidden.judges or not len(shown.items) or not len(hidden.items):
        return undefined("name_shift", "it was not asked with names shown and hidden", **about)
    each, places = text_changes(judge, shown, hidden)
    known, rows = np.isfinite(each), (shown.row(judge), hidden.row(judge))
    if not known.any():
        return undefined("name_shift", "no text has a usable score either way", **about)

    def over(used: Mask) -> Student:
        """The mean change over these texts."""
        if not repeats:
            return difference_of_means(each, used, None, shown.clusters, step=shown.step)
        sides = []
        for cells, row, texts in zip((shown, hidden), rows, (np.flatnonzero(used), places[used]), strict=True):
            weights = np.zeros(cells.mean.shape)
            weights[row, texts] = 1 / len(texts)
            moments = cells.mean, cells.variance, cells.count
            sides.append(contrast(weights, *moments, thirds=cells.cubes, step=cells.step))
        return sides[0].minus(sides[1])

    by_author = np.full((3, len(shown.target_names)), np.nan)  # shift, low, high
    for k in np.unique(shown.targets[known]):
        of_author = over(known & (shown.targets == k))
        by_author[:, k] = of_author.value, *of_author.interval(0.95)
    largest = int(np.nanargmax(np.abs(by_author[0])))
    most = [shown.target_names[largest], number(by_author[0, largest])]
    low, high = by_author[1:2], by_author[2:]
    detail = matrix([judge], shown.target_names, by_author[:1], part.own(), low=low, high=high, largest=most)
    whole = over(known)
    if about["over"] == "clusters":
        about["n_clusters"] = len(np.unique(shown.clusters))
    return estimated(
        "name_shift", whole.value, whole, n=int(shown.count[rows[0]].sum()) if repeats else int(known.sum()),
        n_excluded=int(shown.lost[rows[0]].sum() + hidden.lost[rows[1]].sum()), detail=detail,
        note=THESE_TEXTS if repeats else "", **about,
    )  # fmt: skip


@measure(
    "rank_stability", "order of the authors when names are hidden", ends=(-1, 1), bad="below", rank=101,
    below="ranks authors by their names",
    reading="Spearman's correlation of a judge's ranking of the authors with names shown and with names hidden; 1 "
    "where hiding names changes nothing.",
)  # fmt: skip
@_by_judge
def rank_stability(part: Ratings, judge: str, shown: Cells, hidden: Cells) -> Estimate:
    """Rho of a judge's mean score per author, names shown against hidden, by judge. The interval is Bonett and Wright's
    over authors, from eight on. Detail: `moved`, the authors whose rank changed, as [author, rank shown, rank hidden],
    rank 1 the best; `within_noise`, how many of the pairs of authors that changed order are closer, either way, than
    two standard errors over repeats. Undefined below three authors, and where a judge scores all alike.

    >>> rows = "shown x 5; shown y 4; shown z 3; hidden x 5; hidden y 3; hidden z 4"
    >>> rank_stability(example("names target score", rows)).of(judge="j").value
    0.5
    """
    about = dict[str, Any](over="items", method="Spearman of an author's mean scores with names shown and hidden")
    if judge not in hidden.judges:
        return undefined("rank_stability", "it was not asked with names hidden", **about)
    a, b = (_by_author(cells.mean, judge, cells, shown.target_names).round(9) for cells in (shown, hidden))
    there = np.isfinite(a) & np.isfinite(b)
    a, b = a[there], b[there]
    about |= {"n": len(a), "n_excluded": int((~there).sum())}
    if len(a) < 3:
        return undefined("rank_stability", f"an order needs three authors; there are {len(a)}", **about)
    if min(np.ptp(a), np.ptp(b)) < 1e-9:
        return undefined("rank_stability", "it gave every author the same mean, so there is no order", **about)
    rho = float(spearman(a, b))
    names = [name for name, kept in zip(shown.target_names, there, strict=True) if kept]
    first, second = ranks(-a), ranks(-b)
    moved = [[name, number(x), number(y)] for name, x, y in zip(names, first, second, strict=True) if x != y]
    detail: dict[str, Any] = {"moved": moved}
    if shown.fixed and hidden.fixed:  # of the pairs that changed order, how many lie too close to tell which is first
        swapped = [(i, j) for i in range(len(a)) for j in range(i) if (a[i] - a[j]) * (b[i] - b[j]) < 0]
        close = set()
        for means, cells in ((a, shown), (b, hidden)):
            e = _by_author(np.sqrt(cells.variance / np.maximum(cells.count, 1)), judge, cells, names)
            close |= {(i, j) for i, j in swapped if abs(means[i] - means[j]) < 2 * math.hypot(e[i], e[j])}
        detail |= {"swapped": len(swapped), "within_noise": len(close)}
    return estimated("rank_stability", rho, FisherZ(rho, len(a)), detail=detail, **about)


def text_changes(
    judge: str, shown: Cells, hidden: Cells, of: Callable[[Cells], Floats] = lambda cells: cells.mean
) -> tuple[Floats, NDArray[np.intp]]:
    """What is `of` interest (J, U), shown less hidden on each text of `shown`, and where it is among those of `hidden`
    (-1 where it is not)."""
    known = {(hidden.item_names[i], hidden.target_names[t]): u
             for u, (i, t) in enumerate(zip(hidden.items, hidden.targets, strict=True))}  # fmt: skip
    named = zip(shown.items, shown.targets, strict=True)
    places = np.array([known.get((shown.item_names[i], shown.target_names[t]), -1) for i, t in named], dtype=np.intp)
    theirs = np.append(of(hidden)[hidden.row(judge)], np.nan)[places]
    return of(shown)[shown.row(judge)] - theirs, places


def _by_author(values: Floats, judge: str, cells: Cells, names: Sequence[str]) -> Floats:
    """A judge's means over the texts of these authors, of values per judge and text."""
    known = dict(zip(cells.target_names, cells.by_target(values)[cells.row(judge)].tolist(), strict=True))
    return np.array([known.get(name, math.nan) for name in names])


@measure(
    "bias_gone_without_names", "self-bias gone without names", unit="%", rank=95,
    reading="By how many per cent self-bias shrinks when names are hidden, on average over judges. A ratio of noisy "
    "numbers: it describes these texts and has no interval.",
)  # fmt: skip
@per_subject((), itself, "names")
def bias_gone_without_names(part: Ratings) -> Estimate:
    """Mean over judges of 100 (1 - |B| / |A|), unrounded, which the paper calls attenuation. Judges with A = 0 are left
    out. No interval: a ratio whose denominator may be 0 has no method that covers. Detail: `judges` with their own
    percentages, `left_out`.

    >>> rows = "a shown x 5; a hidden x 4.5; b shown x 4; b hidden x 4"
    >>> bias_gone_without_names(example("judge names target score", rows, authors={"a": "x"})).of().value
    50.0
    """
    pairs, metric, method = self_bias_pairs(part), "bias_gone_without_names", "mean of 100 (1 - |B| / |A|)"
    kept = {j: pair for j, pair in pairs.items() if all(e.defined for e in pair) and abs(pair[0].value) > ZERO}
    if not kept:
        return undefined(metric, "no judge has a self-bias that could shrink", method=method, over="repeats")
    each = {judge: percent_gone(a.value, b.value) for judge, (a, b) in kept.items()}
    estimates = [e for pair in kept.values() for e in pair]
    return Estimate(
        metric=metric, value=math.fsum(each.values()) / len(each), n=sum(e.n for e in estimates),
        n_excluded=sum(e.n_excluded for e in estimates), unit="%", over=estimates[0].over, method=method,
        note="no interval: a ratio whose denominator may be 0 has no method that covers", detail={
            "judges": {judge: number(percent) for judge, percent in each.items()},
            "left_out": [judge for judge in pairs if judge not in kept],
        },
    )  # fmt: skip


# --------------------------------------------------------------------------- all texts in one call, or one each


@measure(
    "joint_shift", "score when all are shown, less alone", signed=True, rank=316, bad="none",
    reading="A judge's mean score where it sees all texts in one call, less its mean where it sees one per call.",
)  # fmt: skip
def joint_shift(ratings: Ratings) -> Estimates:
    """Joint less single (`ratings.beside("scores")`) over the texts judged both ways, by judge and factor level; over
    texts. Detail: `order`, Spearman's rho of targets' means both ways; `spread`, the SD of targets' means jointly by
    that alone: above 1 where seeing all makes a judge tell them further apart. Empty with nothing beside.

    >>> alone = example("target score", "s 5; t 4")
    >>> joint_shift(example("target score", "s 6; t 2", beside={"scores": alone}.get)).of(judge="j").value
    -0.5
    """
    single, estimates = ratings.beside("scores"), {}
    if single is not None and single is not ratings and single.within() == ratings.within():
        other = {names: part.cells() for names, part in single.each()}
        for names, part in ratings.each():
            for judge in part.judges if names in other else ():
                estimates[judge, *names] = _shift(judge, part.cells(), other[names])
    return Estimates(("judge", *ratings.within()), estimates)


def _shift(judge: str, joint: Cells, single: Cells) -> Estimate:
    about = dict[str, Any](
        unit=joint.scale.unit, span=joint.scale.span, over="items", method="mean over texts of joint - single"
    )
    if judge not in single.judges:
        return undefined("joint_shift", "it was not asked about one text at a time", **about)
    each, places = text_changes(judge, joint, single)
    known = np.isfinite(each)
    if not known.any():
        return undefined("joint_shift", "no text has a usable score either way", **about)
    a, b = joint.mean[joint.row(judge)][known], single.mean[single.row(judge)][places[known]]
    targets, every = joint.targets[known], np.ones(int(known.sum()), dtype=bool)
    distribution = difference_of_means(a - b, every, None, joint.items[known], step=joint.step)
    means = np.array([[v[targets == t].mean() for t in np.unique(targets)] for v in (a, b)]).round(9)
    spreads = means.std(axis=1)
    detail = {
        "joint": number(a.mean()), "single": number(b.mean()),
        "order": number(float(spearman(*means)) if means.shape[1] > 2 else math.nan),
        "spread": number(spreads[0] / spreads[1] if spreads[1] > 1e-9 else math.nan),
    }  # fmt: skip
    return estimated("joint_shift", distribution.value, distribution, n=len(a), detail=detail, **about)
