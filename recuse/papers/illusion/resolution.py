"""Agreement of judges with each other at three resolutions: which target is better (rankings of systems), which text
(filters, rewards), and by how much (thresholds). "Beyond the illusion of consensus", paper 002, sec. 2.1 and 3.2.

All from one set of sums: for two judges and one target, over the items that both judged, n, x, y, x^2, y^2, xy about
one common centre. So leaving an item out, or drawing items again, only changes sums. Arrays: judges x items x targets;
sums end in (..., targets, 6)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from recuse.metrics.estimates import estimated, matrix, number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.papers.rank_tests import spearman
from recuse.ratings import RatingArray, Ratings, judges_array, mean_of
from recuse.ratings.array import array_of
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.coefficient import Coefficient, Form, ratio
from recuse.statistics.agreement.correlation import icc, mean_squares, pearson_of_sums, squares_of_pairs
from recuse.statistics.distributions import FisherZ, Student

JACKKNIFE = "mean over pairs of judges and targets; jackknife over items, t"
OF_TARGETS = "mean over pairs of judges; Bonett and Wright's interval of one Spearman correlation over targets"
AVERAGED = (1, 2, 5, 10, 20, 50, 100)  # texts per target for which the correlation of two judges' averages is told


@measure(
    "model_agreement", "agreement on which target is better", ends=(-1, 1), bad="below", rank=610,
    below="ranks targets otherwise than its peers",
    reading="Spearman's rho over targets of two judges' mean scores, averaged over the other judges: 1 is the same "
    "order. It says nothing about single texts.",
)  # fmt: skip
@per_subject("judge", itself)
def model_agreement(part: Ratings) -> Iterator[Named]:
    """Mean over the other judges of Spearman's rho over targets of the two mean scores, by judge and factor level; each
    target by the items that both judged. The interval is over targets (other systems like these), for one pair of
    judges; the mean of several pairs varies less. Undefined below three targets, or without another judge.

    >>> rows = "x a 1/1/1; x b 3/3/3; x c 2/2/2; y a 2/2/2; y b 4/4/4; y c 3/3/3"
    >>> model_agreement(example("judge target score", rows)).of(judge="x").value
    1.0
    """
    return _by_judge(part, "model_agreement", model_rho, OF_TARGETS)


@measure(
    "sample_agreement", "agreement on single texts", ends=(-1, 1), bad="below", rank=600,
    below="rates single texts otherwise than its peers",
    reading="Pearson's r of two judges over the texts of one target, averaged over targets and the other judges: 1 "
    "means that they put single texts in the same order, 0 that one tells nothing about the other.",
)  # fmt: skip
@per_subject("judge", itself)
def sample_agreement(part: Ratings) -> Iterator[Named]:
    """Mean over targets and the other judges of Pearson's r over a target's items, by judge and factor level (paper
    002, sec. 2.1; its two forms are `agreement_of_means` and `pooled_agreement`). Detail: a matrix of judges, the mean
    per target, and the mean by Fisher's z. Undefined with fewer than five common items per target, or where a judge
    gives every text of a target the same; such targets are left out and counted.

    >>> round(sample_agreement(example("judge score", "x 0/1/2/3/4; y 1/2/3/4/5")).of(judge="x").value, 4)
    1.0
    """
    return _by_judge(part, "sample_agreement", sample_r, JACKKNIFE)


@measure(
    "absolute_agreement", "same score for a single text", ends=(-1, 1), bad="below", rank=605,
    below="gives single texts other scores than its peers",
    reading="Intraclass correlation ICC(2,1) of two judges over the texts of one target, averaged over targets and the "
    "other judges. Below agreement on single texts where one judge is more generous or spreads its scores wider.",
)  # fmt: skip
@per_subject("judge", itself)
def absolute_agreement(part: Ratings) -> Iterator[Named]:
    """Mean over targets and the other judges of ICC(2,1) of the two judges over a target's items, by judge and factor
    level (Shrout and Fleiss 1979; paper 002, sec. 2.1). Detail and undefined cases as `sample_agreement`.

    >>> round(absolute_agreement(example("judge score", "x 0/1/2/3/4; y 1/2/3/4/5")).of(judge="x").value, 4)
    0.8333
    """
    return _by_judge(part, "absolute_agreement", absolute_icc, JACKKNIFE)


@measure(
    "panel_agreement", "the panel's agreement on single texts", ends=(-1, 1), bad="below", rank=595,
    below="does not give single texts the same scores",
    reading="Intraclass correlation ICC(2,1) of two of these judges over the texts of one target, averaged over "
    "targets and pairs. A panel whose scores are used text by text is to be validated text by text: that it ranks "
    "systems well says nothing about it.",
)  # fmt: skip
@per_subject((), itself)
def panel_agreement(part: Ratings) -> Estimate:
    """Mean over all pairs of judges and all targets of ICC(2,1) over a target's items, by factor level: what
    `absolute_agreement` says of one judge, of the panel, for the gate. Undefined as that.

    >>> round(panel_agreement(example("judge score", "x 0/1/2/3/4; y 1/2/3/4/5")).of().value, 4)
    0.8333
    """
    array = judges_array(part)
    shares = all_pairs(array.means)
    coefficient = coefficient_of(shares, absolute_icc)
    detail = {} if coefficient.undefined else {"judges": len(array.raters)}
    about: dict[str, Any] = {"n": common_items(shares), "n_excluded": lost_texts(array), "method": JACKKNIFE}
    return estimate_of("panel_agreement", coefficient, array, detail=detail, **about)


@measure(
    "resolution_gap", "agreement lost between systems and single texts", signed=True, rank=615,
    reading="Agreement on which target is better less agreement on single texts. What averaging hides: a leaderboard "
    "may be sound while the scores of single texts are not.",
)  # fmt: skip
@per_subject((), itself)
def resolution_gap(part: Ratings) -> Estimate:
    """Mean rho over targets less mean r over texts, over all pairs of judges, by factor level (paper 002, sec. 3.2).
    Detail: `model`, `sample` and `absolute`; `ranking_noise` = model - sample and `offset` = sample - absolute;
    `panel_icc`, ICC(2,1) of all judges at once, averaged over targets; `pairs_differ`, whether some pairs of judges
    agree better; `averaged`: the correlation to expect between averages of m texts per target (`agreement_of_averages`;
    the paper's noise that averaging absorbs). Undefined below three targets or five common items per target.

    >>> x, y = "x a 0/1/2/1/1; x b 3/4/5/4/4; x c 6/7/8/7/7", "y a 1/1/0/1/2; y b 4/4/3/4/5; y c 7/7/6/7/8"
    >>> round(resolution_gap(example("judge target score", f"{x}; {y}")).of().value, 6)
    1.5
    """
    array = judges_array(part)
    shares = all_pairs(array.means)
    model, sample, absolute = (coefficient_of(shares, level) for level in (model_rho, sample_r, absolute_icc))
    method = "mean over pairs of judges and targets"
    facts: dict[str, Any] = {"n": common_items(shares), "method": method, **units_of(array)}
    if why := model.undefined or sample.undefined:
        return undefined("resolution_gap", why, **facts)
    averages = agreement_of_averages(shares.sum(axis=0), AVERAGED)
    offset = Coefficient(sample.shares, lambda sums: sample.of(sums) - absolute.of(sums), lambda sums: "")
    # ICC(2,1) of all judges over the items that all rated, averaged over targets
    squares = mean_squares(np.moveaxis(array.means, 0, -1).swapaxes(0, 1))
    values = np.where(squares.n >= FEWEST_ITEMS, icc(squares), np.nan)
    # Do some pairs of judges agree better than others? F of a one-way analysis of variance with repeated measures over
    # targets, which all pairs share (the paper takes them as independent), and its p; None where nothing varies
    each = sample_r(shares.sum(axis=0)).T
    targets, pairs = int(np.isfinite(each).all(axis=1).sum()), each.shape[1]
    df, rest = max(pairs - 1, 0), max((targets - 1) * (pairs - 1), 0)
    varied = mean_squares(each) if df and rest else None
    f = float(varied.raters / varied.rest) if varied and varied.rest > 0 else np.nan
    differ = {"f": number(f), "df": df, "df_rest": rest, "p": number(float(special.fdtrc(df, rest, f)))}
    detail = {
        "model": number(model.value), "sample": number(sample.value), "absolute": number(absolute.value),
        "ranking_noise": number(model.value - sample.value), "offset": number(sample.value - absolute.value),
        "offset_interval": [number(end) for end in offset.jackknife(array.groups).interval(0.95)],
        "panel_icc": number(float(mean_known(values[None])[0])),
        "averaged": [[m, number(r)] for m, r in zip(AVERAGED, averages, strict=True)],
        "pairs_differ": differ, "judges": len(array.raters), "targets": len(array.targets),
    }  # fmt: skip
    why = "items and targets both vary here, and no interval that was tried holds its level"
    unknown = Student(math.nan, math.nan, 0, why=(why, ""))
    return estimated("resolution_gap", model.value - sample.value, unknown, detail=detail, **facts)


def _by_judge(part: Ratings, metric: str, level: Level, method: str) -> Iterator[Named]:
    array = judges_array(part)
    count, centre = len(array.raters), _centre(array.means)

    def against_others(place: int) -> Floats:
        return pair_shares(array.means[place], np.delete(array.means, place, axis=0), centre)

    values = [level(against_others(place).sum(axis=0)) for place in range(count)] if count > 1 else []
    pairs = np.full((count, count), np.nan)
    for place, of in enumerate(values):  # averaged over targets
        pairs[place, np.arange(count) != place] = of if of.ndim == 1 else mean_known(of[:, None])
    for place, judge in enumerate(array.raters):
        shares = against_others(place)
        coefficient = coefficient_of(shares, level)
        facts: dict[str, Any] = {
            "n": common_items(shares), "n_excluded": lost_texts(array, place), "method": method,
            "detail": matrix(array.raters, array.raters, pairs, {}),
        }  # fmt: skip
        if values and values[place].ndim == 2:  # of each target, not of their order
            of, known = values[place], np.isfinite(values[place])
            each = mean_known(np.moveaxis(of, 0, -1)[:, None])
            fisher = np.tanh(mean_known(np.arctanh(np.clip(of, -1 + 1e-12, 1 - 1e-12))[None])[0])
            facts["detail"] |= {
                "by_target": {t: number(v) for t, v in zip(array.targets, each, strict=True)},
                "cells": int(known.sum()), "undefined_cells": int((~known).sum()), "fisher": number(float(fisher)),
            }  # fmt: skip
        if level is not model_rho:
            yield judge, estimate_of(metric, coefficient, array, **facts)
            continue
        targets = int((shares[..., 0] > 0).any(axis=(0, 1)).sum())
        facts |= {"over": "clusters", "clusters": "targets", "n_clusters": targets}
        if coefficient.undefined:
            yield judge, undefined(metric, coefficient.undefined, **facts)
        else:
            yield judge, estimated(metric, coefficient.value, FisherZ(coefficient.value, targets), **facts)


# --------------------------------------------------------------------------- from sums over pairs of judges

Level = Callable[[Floats], Floats]  # from sums (..., targets, 6) to agreement: one of the functions below


def all_pairs(means: Floats) -> Floats:
    """Shares of every two judges of means (judges, items, targets), each pair once: (items, pairs, targets, 6)."""
    centre, nothing = _centre(means), np.empty((means.shape[1], 0, means.shape[2], 6))
    parts = [pair_shares(means[a], means[a + 1 :], centre) for a in range(len(means) - 1)]
    return np.concatenate([nothing, *parts], axis=1)


def coefficient_of(shares: Floats, level: Level) -> Coefficient:
    """A level of agreement of shares (items, pairs, targets, 6), mean over pairs of the mean over targets, as a
    coefficient that items can be left out of."""

    def why(sums: Floats) -> str:
        n = sums[..., 0]
        if not len(n):
            return "no other judge to agree with"
        if level is model_rho and int((n > 0).all(axis=0).sum()) < FEWEST_TARGETS:
            return f"an order of targets needs {FEWEST_TARGETS} that both judges rated"
        if not (n >= FEWEST_ITEMS).any() and level is not model_rho:
            return f"no target has {FEWEST_ITEMS} items that both judges rated"
        return "" if np.isfinite(mean_known(level(sums[None]))).all() else "a judge gives every text the same score"

    return coefficient_from(shares, lambda sums: mean_known(level(sums)), why)


def coefficient_from(
    shares: Floats, of: Callable[[Floats], Floats], why: Callable[[Floats], str], form: Form = "correlation"
) -> Coefficient:
    """The same of any function of the sums (B, ...) over shares (items, ...), with `why` it is undefined."""
    items, *inner = shares.shape
    return Coefficient(
        shares.reshape(items, -1), lambda sums: of(sums.reshape(-1, *inner)), lambda sums: why(sums.reshape(inner)),
        form,
    )  # fmt: skip


def estimate_of(metric: str, coefficient: Coefficient, array: RatingArray, **facts: Any) -> Estimate:
    """The coefficient with its interval by the jackknife over items, or what they share."""
    facts = {**units_of(array), **facts}
    if coefficient.undefined:
        return undefined(metric, coefficient.undefined, **facts)
    return estimated(metric, coefficient.value, coefficient.jackknife(array.groups), **facts)


def units_of(array: RatingArray) -> dict[str, Any]:
    """What a jackknife over items or their clusters is over, as facts of an `Estimate`."""
    clusters = {"over": "clusters", "clusters": array.clusters_called, "n_clusters": len(set(array.clusters))}
    return clusters if array.clustered else {"over": "items"}


def common_items(shares: Floats) -> int:
    """How many items two judges have in common, of shares (items, ..., 6)."""
    return int((shares[..., 0] > 0).any(axis=tuple(range(1, shares.ndim - 1))).sum())


def lost_texts(array: RatingArray, judges: int | slice = slice(None)) -> int:
    """Texts that judges were asked about and that have no usable score of them."""
    return int((array.requested[judges] & ~np.isfinite(array.means[judges])).sum())


def _centre(means: Floats) -> float:
    """Any number near the scores: sums about it lose no digits."""
    known = means[np.isfinite(means)]
    return float(np.round(known.mean(), 3)) if len(known) else 0.0


FEWEST_ITEMS = 5  # items of a target below which a correlation over them is mostly chance
FEWEST_TARGETS = 3  # targets below which an order of targets says nothing


def pair_shares(own: Floats, others: Floats, centre: float) -> Floats:
    """Each item's 1, x, y, x^2, y^2, xy of one judge (items, targets) against others (others, items, targets), 0 where
    either is missing: shape (items, others, targets, 6)."""
    x, y = own[None] - centre, others - centre
    there = np.isfinite(x) & np.isfinite(y)
    x, y = (np.where(there, side, 0.0) for side in np.broadcast_arrays(x, y))
    stacked = np.stack([there.astype(float), x, y, x * x, y * y, x * y], axis=-1)
    return np.asarray(np.moveaxis(stacked, 1, 0))


def sample_r(sums: Floats, fewest: int = FEWEST_ITEMS) -> Floats:
    """Pearson's r over items of every pair and target, (...); NaN with fewer than so many items, and where a judge
    gives every text the same."""
    return np.where(sums[..., 0] > fewest - 0.5, pearson_of_sums(sums), np.nan)


def absolute_icc(sums: Floats) -> Floats:
    """ICC(2,1) of every pair and target, (...); NaN with fewer than `FEWEST_ITEMS` items, and where nothing varies.
    Shrout and Fleiss (1979), two raters."""
    return np.where(sums[..., 0] >= FEWEST_ITEMS, icc(squares_of_pairs(sums)), np.nan)


def model_rho(sums: Floats) -> Floats:
    """Spearman's rho over targets of the two judges' means of every pair, (...) without the axis of targets; each
    target by the items that both judged. Targets without any are left out; NaN below `FEWEST_TARGETS` of them."""
    n = sums[..., 0]
    kept = np.flatnonzero((n > 0).reshape(-1, n.shape[-1]).all(axis=0))
    if len(kept) < FEWEST_TARGETS:
        return np.full(n.shape[:-1], np.nan)
    count = n[..., kept]
    x, y = (np.round(sums[..., kept, k] / count, 10) for k in (1, 2))  # equal means stay equal whatever the rounding
    return spearman(x, y)


def agreement_of_averages(sums: Floats, texts: Sequence[int]) -> list[float]:
    """The correlation to expect between two judges' averages of m texts per target, for each m of `texts`, mean over
    pairs of sums (pairs, targets, 6): (T + W / m) / sqrt((T_x + W_x / m) (T_y + W_y / m)), T the covariance (variances)
    of the judges' target means, freed of the texts' share, W those of texts within targets."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    known = n >= 2
    count, targets, parts = np.where(known, n, 2.0), known.sum(axis=-1), []
    for squares, a, b in ((xy, x, y), (xx, x, x), (yy, y, y)):
        within = np.where(known, (squares - a * b / count) / (count - 1), np.nan)
        p, q = (side - mean_of(side, axis=-1)[:, None] for side in (np.where(known, s / count, np.nan) for s in (a, b)))
        between = np.where(targets > 1, mean_of(p * q, axis=-1) * targets / np.maximum(targets - 1, 1), np.nan)
        parts.append((between - mean_known((within / count)[:, None]), mean_known(within[:, None])))
    averaged = []
    for m in texts:
        shared, own, other = (t + w / m for t, w in parts)
        each = ratio(shared, np.sqrt(np.maximum(own, 0) * np.maximum(other, 0)))
        averaged.append(float(mean_known(np.clip(each, -1, 1)[None])[0]))
    return averaged


def mean_known(values: Floats) -> Floats:
    """Mean over pairs of the mean over targets, of what is defined: (B, pairs, targets) or (B, pairs) to (B,)."""
    while values.ndim > 1:
        values = mean_of(values, axis=-1)
    return values


# --------------------------------------------------------------------------- single texts of several criteria
# Pooled, every criterion of every text is one pair of scores, and what differs between criteria counts as agreement;
# averaged, each text has one number per judge, and what criteria disagree on cancels (paper 002, sec. 2.1).


@measure(
    "pooled_agreement", "agreement on single criteria, pooled", ends=(-1, 1), bad="below", rank=601,
    reading="Pearson's r of two judges over the criteria of all texts of one target, averaged over targets and the "
    "other judges. Criteria that all judges score higher than others raise it.",
)  # fmt: skip
def pooled_agreement(ratings: Ratings) -> Estimates:
    """Mean over targets and the other judges of Pearson's r over the items and criteria of a target together (paper
    002: 100 texts by 5 criteria), by judge and factor level; items leave with all their criteria. No estimate of one
    criterion only. Undefined as `sample_agreement`.

    >>> rows = "; ".join(f"{j} t{i} {c} {i + k}" for j in "xy" for i in range(5) for k, c in enumerate("ab"))
    >>> round(pooled_agreement(example("judge item criterion score", rows)).of(judge="x").value, 4)
    1.0
    """
    return _of_criteria(ratings, "pooled_agreement", lambda means: means)


@measure(
    "agreement_of_means", "agreement on the mean of the criteria", ends=(-1, 1), bad="below", rank=602,
    reading="Pearson's r of two judges' mean over the criteria of a text, over the texts of one target, averaged over "
    "targets and the other judges.",
)  # fmt: skip
def agreement_of_means(ratings: Ratings) -> Estimates:
    """Mean over targets and the other judges of Pearson's r over a target's items of the mean of the criteria, by judge
    and factor level. A text counts where the judge scored all criteria. Otherwise as `pooled_agreement`.

    >>> rows = "; ".join(f"{j} t{i} {c} {i + k}" for j in "xy" for i in range(5) for k, c in enumerate("ab"))
    >>> round(agreement_of_means(example("judge item criterion score", rows)).of(judge="x").value, 4)
    1.0
    """
    return _of_criteria(ratings, "agreement_of_means", lambda means: means.mean(axis=0)[None])


def _of_criteria(ratings: Ratings, metric: str, form: Callable[[Floats], Floats]) -> Estimates:
    """`form`: from means (criteria, judges, items, targets) to what is compared, of the same shape; an item's shares
    are summed over its criteria."""
    wanted = ratings.headline if len(ratings.headline) > 1 else ratings.parts
    estimates: dict[tuple[str, ...], Estimate] = {}
    if len(wanted) < 2:
        return Estimates(("judge", *ratings.factors), estimates)
    for names, part in replace(ratings, headline=wanted[:1], _memory={}).each():
        array = judges_array(part)
        others = [array_of(part.with_criterion(name), array.axes).means for name in wanted[1:]]
        means = form(np.stack([array.means, *others]))
        for place, judge in enumerate(array.raters):
            shares = np.sum([pair_shares(one[place], np.delete(one, place, 0), _centre(means)) for one in means], 0)
            agreement = coefficient_from(
                shares, lambda sums: mean_known(sample_r(sums)),
                lambda sums: "" if len(sums) else "no other judge to agree with",
            )  # fmt: skip
            n, detail = int((shares[..., 0] > 0).any(axis=1).sum()), {"criteria": len(means)}
            estimates[judge, *names] = estimate_of(metric, agreement, array, n=n, method=JACKKNIFE, detail=detail)
    return Estimates(("judge", *ratings.factors), estimates)
