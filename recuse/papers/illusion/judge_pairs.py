"""Pairs of judges at three resolutions, from one set of sums: for two judges and one target, over the items that both
judged, n, x, y, x^2, y^2, xy about one common centre. From these follow the correlation over single texts (sample
level), ICC(2,1) of two raters (absolute), and the two means that order the targets (model level). So leaving an item
out, or drawing items again, only changes sums. Arrays: judges x items x targets; sums end in (..., targets, 6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from recuse.metrics.estimates import estimated, undefined
from recuse.metrics.measure import measure
from recuse.papers.rank_tests import spearman
from recuse.ratings import RatingArray, Ratings, mean_of
from recuse.ratings.array import array_of, judges_array
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.coefficient import Coefficient, Form, ratio
from recuse.statistics.agreement.correlation import pearson_of_sums
from recuse.statistics.agreement.icc import icc, squares_of_pairs

Level = Callable[[Floats], Floats]  # from sums (..., targets, 6) to agreement: one of the functions below


def all_pairs(means: Floats) -> Floats:
    """Shares of every two judges of means (judges, items, targets), each pair once: (items, pairs, targets, 6)."""
    centre, nothing = _centre(means), np.empty((means.shape[1], 0, means.shape[2], 6))
    parts = [pair_shares(means[a], means[a + 1 :], centre) for a in range(len(means) - 1)]
    return np.concatenate([nothing, *parts], axis=1)


def shares_of_judge(array: RatingArray, judge: int) -> Floats:
    """Shares of one judge against every other: (items, others, targets, 6)."""
    return pair_shares(array.means[judge], np.delete(array.means, judge, axis=0), _centre(array.means))


def coefficient_of(shares: Floats, level: Level) -> Coefficient:
    """A level of agreement of shares (items, pairs, targets, 6), mean over pairs of the mean over targets, as a
    coefficient that items can be left out of."""

    def why(sums: Floats) -> str:
        n = sums[..., 0]
        if not len(n):
            return "no other judge to agree with"
        if level is model_agreement and int((n > 0).all(axis=0).sum()) < FEWEST_TARGETS:
            return f"an order of targets needs {FEWEST_TARGETS} that both judges rated"
        if not (n >= FEWEST_ITEMS).any() and level is not model_agreement:
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


def estimate_of(
    metric: str, coefficient: Coefficient, array: RatingArray, clusters: str,
    of_value: Callable[[float], dict[str, Any]] = lambda value: {}, **facts: Any,
) -> Estimate:  # fmt: skip
    """The coefficient with its interval by the jackknife over items, or what they share; `of_value`: detail of a value
    that is defined."""
    facts = {**units_of(array, clusters), "detail": {}, **facts}
    if coefficient.undefined:
        return undefined(metric, coefficient.undefined, **facts)
    facts["detail"] = {**facts["detail"], **of_value(coefficient.value)}
    return estimated(metric, coefficient.value, coefficient.jackknife(array.groups), **facts)


def units_of(array: RatingArray, clusters: str) -> dict[str, Any]:
    """What a jackknife over items or their clusters is over, as facts of an `Estimate`."""
    if not array.clustered:
        return {"over": "items"}
    return {"over": "clusters", "clusters": clusters, "n_clusters": len(set(array.clusters))}


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


def sample_agreement(sums: Floats, fewest: int = FEWEST_ITEMS) -> Floats:
    """Pearson's r over items of every pair and target, (...); NaN with fewer than so many items, and where a judge
    gives every text the same."""
    return np.where(sums[..., 0] > fewest - 0.5, pearson_of_sums(sums), np.nan)


def absolute_agreement(sums: Floats) -> Floats:
    """ICC(2,1) of every pair and target, (...); NaN with fewer than `FEWEST_ITEMS` items, and where nothing varies.
    Shrout and Fleiss (1979), two raters."""
    return np.where(sums[..., 0] >= FEWEST_ITEMS, icc(squares_of_pairs(sums)), np.nan)


def model_agreement(sums: Floats) -> Floats:
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
# averaged, each text has one number per judge, and what criteria disagree on cancels. "Beyond the illusion of
# consensus" (paper 002, sec. 2.1) uses the first across temperatures and the second per model, and compares one with
# the other.


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
            each = [pair_shares(one[place], np.delete(one, place, axis=0), _centre(means)) for one in means]
            shares = sum(each[1:], start=each[0])
            agreement = coefficient_from(
                shares, lambda sums: mean_known(sample_agreement(sums)),
                lambda sums: "" if len(sums) else "no other judge to agree with",
            )  # fmt: skip
            about: dict[str, Any] = {
                "n": int((shares[..., 0] > 0).any(axis=1).sum()), "detail": {"criteria": len(means)},
                "method": "mean over pairs of judges and targets; jackknife over items, t",
            }  # fmt: skip
            estimates[judge, *names] = estimate_of(metric, agreement, array, part.clusters, **about)
    return Estimates(("judge", *ratings.factors), estimates)
