"""What a whole panel of judges is like: whether it agrees less on the better targets, whether temperature changes how
well it agrees, how many independent judges it is worth, how far apart its scores of one text lie, how each judge uses
the scale, and whether it keeps known tiers in order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.human_alignment import people_on
from recuse.metrics.measure import Named, itself, measure, per_judge, per_subject
from recuse.papers.illusion import resolution
from recuse.papers.illusion.resolution import all_pairs, common_items, estimate_of, mean_known, sample_r, units_of
from recuse.papers.rank_tests import kendall, spearman, spearman_t, spearman_test
from recuse.ratings import Numeric, RatingArray, Ratings, against_truth, arrays_by_level, judges_array, mean_of
from recuse.ratings.array import among
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.schema.factors import TEMPERATURE
from recuse.statistics.agreement.coefficient import Coefficient, ratio
from recuse.statistics.clusters import SHARE, clustered_share
from recuse.statistics.distributions import FisherZ, Student

FEWEST = 5
FEW = 20  # targets up to which the t approximation is not good enough, so that p comes from permutations


@measure(
    "quality_agreement", "quality and agreement", signed=True, rank=625,
    reading="Spearman's rho over targets of the mean score and the judges' agreement on single texts. Below 0: the "
    "better the target, the less judges agree. Scores near an end of the scale agree more by themselves.",
)  # fmt: skip
@per_subject((), lambda part, ratings: judges_array(part))
def quality_agreement(array: RatingArray) -> Estimate:
    """Spearman's rho over targets of the mean score of all judges and their mean pairwise Pearson r over the target's
    items, by factor level (paper 002, sec. 3.1). Detail: Pearson, Kendall's tau-b, p of rho = 0 by the t approximation
    that papers print and, up to 20 targets, by permutation; the two figures of each target. Undefined below five
    targets that have both.

    >>> rows = "; ".join(f"{j} t{i} {t} {k + i + (j == 'y') * k * (i % 2)}" for j in "xy" for i in range(6)
    ...                  for k, t in enumerate("abcde"))
    >>> quality_agreement(example("judge item target score", rows)).of().value
    -1.0
    """
    agreement = sample_r(all_pairs(array.means).sum(axis=0))
    quality = mean_of(mean_of(array.means, axis=1), axis=0)
    return correlation_with_quality(quality, mean_of(agreement, axis=0), array.targets)


def correlation_with_quality(quality: Floats, agreement: Floats, targets: tuple[str, ...]) -> Estimate:
    """The estimate from one mean score and one agreement per target: what `quality_agreement` says of ratings, and what
    a published table allows. Arrays of shape (targets,)."""
    known = np.isfinite(quality) & np.isfinite(agreement)
    n = int(known.sum())
    facts: dict[str, Any] = {
        "n": n, "n_excluded": len(known) - n, "n_clusters": n, "over": "clusters", "clusters": "targets",
        "method": "Spearman's rho over targets, Bonett and Wright's interval",
    }  # fmt: skip
    if n < FEWEST:
        return undefined("quality_agreement", f"it needs {FEWEST} targets; there are {n}", **facts)
    x, y = np.round(quality[known], 10), np.round(agreement[known], 10)
    rho = float(spearman(x, y))
    if not np.isfinite(rho):
        return undefined("quality_agreement", "all targets have one and the same figure", **facts)
    each = {targets[k]: [number(float(quality[k])), number(float(agreement[k]))] for k in np.flatnonzero(known)}
    detail = {
        "pearson": number(float(np.corrcoef(x, y)[0, 1])), "kendall": number(float(kendall(x, y))),
        "p_permutation": number(spearman_test(x, y).p) if n <= FEW else None, "p_t": number(spearman_t(rho, n)),
        "targets": each,
    }  # fmt: skip
    return estimated("quality_agreement", rho, FisherZ(rho, n), detail=detail, **facts)


@measure(
    "agreement_change", "agreement as the temperature rises", signed=True, bad="none", rank=655,
    reading="How much agreement on single texts changes from the lowest to the highest temperature, along a straight "
    "line: 0 where judges agree as well at any temperature.",
)  # fmt: skip
@per_subject((), itself, TEMPERATURE)
def agreement_change(part: Ratings) -> Estimate:
    """Slope over the levels of `temperature` of the mean Pearson r over pairs of judges and targets, times the range of
    the levels. Items are judged at every level and leave together (jackknife). Detail: r at each level. Undefined where
    the levels are no numbers or fewer than two. Paper 002, sec. 3.1 and App. D, compares curves by eye.

    >>> rows = "x 0.0 0/1/2/3/4/5; y 0.0 0/1/2/3/4/5; x 1.0 0/1/2/3/4/5; y 1.0 0/2/2/4/4/6"
    >>> agreement_change(example("judge temperature score", rows, factors=["temperature"])).of().value < 0
    True
    """
    arrays, metric = arrays_by_level(part, TEMPERATURE), "agreement_change"
    method = "least squares over levels of the mean r over pairs and targets; jackknife over items, t"
    try:
        levels = sorted(arrays, key=float)
    except ValueError:
        return undefined(metric, f"levels are no numbers: {', '.join(arrays)}", method=method)
    if len(levels) < 2:
        return undefined(metric, "it was not varied", method=method)
    x = np.array([float(level) for level in levels])
    weights = (x - x.mean()) / float(((x - x.mean()) ** 2).sum()) * float(np.ptp(x))
    shares = np.stack([all_pairs(arrays[level].means) for level in levels], axis=1)

    def by_level(sums: Floats) -> Floats:
        """(B, levels, pairs, targets, 6) to (B, levels)."""
        return np.stack([mean_known(sample_r(sums[:, k])) for k in range(len(levels))], axis=1)

    first, about = arrays[levels[0]], dict[str, Any](n=common_items(shares), method=method)
    coefficient = resolution.coefficient_from(
        shares, lambda sums: np.asarray(by_level(sums) @ weights), lambda sums: "", "plain"
    )
    if coefficient.undefined:
        return undefined(metric, "agreement is undefined at some level", **about, **units_of(first))
    each = map(number, by_level(shares.sum(axis=0)[None])[0].tolist())
    detail = {"levels": [list(one) for one in zip(levels, each, strict=True)]}
    return estimate_of(metric, coefficient, first, detail=detail, **about)


@measure(
    "effective_judges", "independent judges that the panel is worth", bad="none", rank=650,
    reading="The variance of the panel's mean error is that of so many judges whose errors are unrelated (Kish's "
    "design effect). Where people's ratings are unknown, everything judges have in common counts as shared error: the "
    "panel is worth at least this much.",
)  # fmt: skip
@per_subject((), lambda part, ratings: (part, ratings))
def effective_judges(seen: tuple[Ratings, Ratings]) -> Estimate:
    """k / (1 + (k - 1) r) of k judges, by factor level; r the mean over pairs and targets of the correlation over items
    of their errors, judge less people's mean; without people of the scores, a lower bound (detail `of` says which). r
    below 0 gives more than k: errors that cancel. Undefined with one judge, or below five common items in every target.

    >>> round(effective_judges(example("judge score", "x 0/1/2/3/4; y 1/2/3/4/5")).of().value, 4)
    1.0
    """
    part, ratings = seen
    array = judges_array(part)
    people: Floats = np.full((len(array.items), len(array.targets)), np.nan)  # their mean, or the right answer
    if ratings.persons:
        cells, held = part.cells(), against_truth(ratings)
        rows = among(cells.item_names, cells.items, array.items)
        columns = among(cells.target_names, cells.targets, array.targets)
        people[rows, columns] = people_on(against_truth(ratings, part), cells, held).mean
    known, count = bool(np.isfinite(people).any()), len(array.raters)
    shares = all_pairs(array.means - people if known else array.means)

    def worth(sums: Floats) -> Floats:
        return np.asarray(count / (1 + (count - 1) * mean_known(sample_r(sums))))

    why = "" if count > 1 else "one judge is worth one judge"
    coefficient = resolution.coefficient_from(shares, worth, lambda sums: why, "plain")
    method = "k / (1 + (k - 1) r), r the mean correlation of errors; jackknife over items, t"
    about: dict[str, Any] = {"n": common_items(shares), "method": method}
    if not coefficient.undefined:
        together = number((count / coefficient.value - 1) / (count - 1))
        about["detail"] = {"of": "errors" if known else "scores", "judges": count, "correlation": together}
    return estimate_of("effective_judges", coefficient, array, **about)


# --------------------------------------------------------------------------- spread, scale and tiers

POINTS = (2, 3, 4)  # of the scale 1 to 10, whose range is 9 (paper 002, App. C); on others, the same share of the range
MOST_LISTED = 20


@measure(
    "wide_spread", "texts that judges score far apart", unit="share", bad="above", rank=640,
    reading="Share of the texts whose highest and lowest score by the judges lie more than two ninths of the scale's "
    "range apart: more than 2 points on 1-10.",
)  # fmt: skip
@per_subject((), lambda part, ratings: judges_array(part))
def wide_spread(array: RatingArray) -> Estimate:
    """Share of the texts scored by all judges with max - min > 2/9 of the range, over judges' means, by factor level.
    Detail: the shares above 2, 3 and 4 ninths, mean and median spread in points, the pairs' mean absolute differences,
    and the widest texts. Undefined where the scale has no ends, or no text has a score of every judge.

    >>> wide_spread(example("judge item score", "x i 5; y i 6; x k 2; y k 9", scales=Numeric(1, 10))).of().value
    0.5
    """
    means = array.means.reshape(len(array.raters), -1)
    complete = np.isfinite(means).all(axis=0)
    requested = array.requested.any(axis=0).ravel()
    facts: dict[str, Any] = {
        "unit": "share", "n": int(complete.sum()), "n_excluded": int((requested & ~complete).sum()),
        "method": SHARE, **units_of(array),
    }  # fmt: skip
    span = float(array.scale.span) if np.isfinite(array.scale.span) else 0.0
    if len(array.raters) < 2 or not complete.any() or not span:
        why = "the scale has no ends" if not span else "no text has a score of every judge, of two or more"
        return undefined("wide_spread", why, **facts)
    apart = np.round(np.ptp(means[:, complete], axis=0), 10)
    wide = [apart > np.round(points / 9 * span, 10) for points in POINTS]
    items = np.repeat(np.array(array.clusters), len(array.targets))[complete]
    widest = []
    for text in np.flatnonzero(complete)[np.argsort(-apart, kind="stable")[:MOST_LISTED]].tolist():
        item, target = divmod(text, len(array.targets))
        scores = {judge: number(score) for judge, score in zip(array.raters, means[:, text], strict=True)}
        widest.append({"item": array.items[item], "target": array.targets[target], "scores": scores})
    # two judges, their mean difference and mean absolute difference (Bland and Altman's bias, and its size)
    pairs = ((a, b, means[a, complete] - means[b, complete]) for a, b in combinations(range(len(array.raters)), 2))
    detail = {
        "above": {f"{points}/9": number(float(hits.mean())) for points, hits in zip(POINTS, wide, strict=True)},
        "mean": number(float(apart.mean())), "median": number(float(np.median(apart))),
        "pairs": [[array.raters[a], array.raters[b], number(d.mean()), number(np.abs(d).mean())] for a, b, d in pairs],
        "widest": widest,
    }  # fmt: skip
    return estimated("wide_spread", float(wide[0].mean()), clustered_share(wide[0], items), detail=detail, **facts)


@measure(
    "scale_use", "spread of its scores beside its peers'", rank=645,
    reading="SD of a judge's scores over the SD of its peers' on the same texts: below 1 it keeps to the middle, above "
    "1 it uses more of the scale.",
)  # fmt: skip
@per_judge(lambda part, ratings: judges_array(part))
def scale_use(array: RatingArray, judge: int) -> Estimate:
    """SD of a judge's means over texts / mean SD of the other judges', over the texts that all scored, by judge and
    factor level; jackknife over items. Detail: mean, SD, skewness, excess kurtosis (population moments), shares of
    texts at either end of the scale, lowest and highest score; `slip`: it alone never leaves the lower half of the
    scale, as one that takes 1-10 for 1-5. Undefined without a peer, and where peers give every text the same.

    >>> scale_use(example("judge item score", "x i 0; x k 1; x l 2; y i 0; y k 2; y l 4")).of(judge="x").value
    0.5
    """
    count = len(array.raters)
    means = array.means.reshape(count, -1)
    complete = np.isfinite(means).all(axis=0)
    # about each judge's own middle, so that one that always says the same has no spread of rounding errors
    middle = np.round(means[:, complete].mean(axis=1, keepdims=True), 3) if complete.any() else 0.0
    x = np.where(complete, means - middle, 0.0).T  # texts x judges
    items = np.repeat(np.arange(len(array.items)), len(array.targets))
    shares = np.column_stack([complete.astype(float), x, x**2])

    def ratio_of_sds(sums: Floats) -> Floats:
        n, total, squares = sums[:, :1], sums[:, 1 : count + 1], sums[:, count + 1 :]
        sd = np.sqrt(np.maximum(n * squares - total**2, 0.0))
        return ratio(sd[:, judge], (sd.sum(axis=1) - sd[:, judge]) / max(count - 1, 1))

    few = "fewer than two texts have a score of every judge" if complete.sum() < 2 else ""
    why = few if count > 1 else "no other judge to compare with"
    coefficient = Coefficient(shares, ratio_of_sds, lambda sums: why, "plain")
    n, method = int(complete.sum()), "ratio of SDs, jackknife over items, t"
    facts: dict[str, Any] = {"n": n, "method": method, **units_of(array)}
    if coefficient.undefined:
        return undefined("scale_use", coefficient.undefined, **facts)
    scores = means[judge, complete]
    centred = scores - scores.mean()
    sd = float(np.sqrt((centred**2).mean()))
    shape = {
        "mean": number(float(scores.mean())), "sd": number(sd),
        "lowest": number(float(scores.min())), "highest": number(float(scores.max())),
        "skewness": number(float((centred**3).mean() / sd**3)) if sd > 0 else None,
        "excess_kurtosis": number(float((centred**4).mean() / sd**4 - 3)) if sd > 0 else None,
    }  # fmt: skip
    slip = False
    if isinstance(array.scale, Numeric) and np.isfinite(array.scale.span):
        low, high = array.scale.minimum, array.scale.maximum
        shape["at_lowest_end"] = number(float((scores <= low).mean()))
        shape["at_highest_end"] = number(float((scores >= high).mean()))
        in_lower_half = means[:, complete].max(axis=1) <= (low + high) / 2
        slip = bool(in_lower_half[judge] and not np.delete(in_lower_half, judge).any())
    distribution = coefficient.jackknife(np.array(array.clusters)[items])
    return estimated("scale_use", coefficient.value, distribution, detail=shape | {"slip": slip}, **facts)


# --------------------------------------------------------------------------- do judges see what everyone knows?
# Targets of known tiers: base models below instruct models, say (paper 002, sec. 3.2).


@measure(
    "tier_order", "known tiers kept in order", unit="share", bad="below", rank=630,
    below="does not keep targets of known tiers in order",
    reading="Share of the pairs of targets from two tiers of which the judge's mean is higher for the higher tier: "
    "one half is chance, 1 keeps all of them in order.",
)  # fmt: skip
@per_subject("judge", itself)
def tier_order(part: Ratings) -> Iterator[Named]:
    """Share of pairs of targets from different tiers (`ratings.tiers`, lowest first) whose mean scores lie in the known
    order, ties counting half, by judge and factor level. Targets are the sample. Detail: mean per tier, each two tiers
    by themselves, Cohen's d of the highest over the lowest in three conventions. Undefined below two tiers with scores.

    >>> tiers = {"base": ("a", "b"), "instruct": ("c", "d")}
    >>> tier_order(example("target score", "a 1; b 3; c 2; d 4", tiers=tiers)).of(judge="j").value
    0.75
    """
    array = judges_array(part)
    for judge, means in zip(array.raters, mean_of(array.means, axis=1), strict=True):
        known = {name: mean for name, mean in zip(array.targets, means.tolist(), strict=True) if math.isfinite(mean)}
        tiers = {tier: np.array([known[t] for t in targets if t in known]) for tier, targets in part.tiers.items()}
        yield judge, order_of_tiers({tier: kept for tier, kept in tiers.items() if len(kept)})


def order_of_tiers(tiers: dict[str, Floats]) -> Estimate:
    """The estimate from mean scores by tier, the lowest tier first: what `tier_order` says of one judge, and what a
    table of published means allows."""
    targets = sum(map(len, tiers.values()))
    facts: dict[str, Any] = {
        "n": targets, "n_clusters": targets, "over": "clusters", "clusters": "targets", "unit": "share",
        "method": "share of pairs of targets from two tiers; jackknife over targets, t",
    }  # fmt: skip
    if len(tiers) < 2:
        return undefined("tier_order", "targets of two tiers are needed", **facts)
    groups = list(tiers.values())
    right, total = ordered_pairs(groups)
    left = [  # jackknife: every target leaves once, with all its pairs
        ordered_pairs([*groups[:place], np.delete(group, k), *groups[place + 1 :]])
        for place, group in enumerate(groups) for k in range(len(group))
    ]  # fmt: skip
    values, n = np.array([less / pairs for less, pairs in left if pairs]), len(left)
    se = math.sqrt((n - 1) / n * float(((values - values.mean()) ** 2).sum())) if len(values) > 1 else math.nan
    detail: dict[str, Any] = {
        "means": {tier: number(float(values.mean())) for tier, values in tiers.items()},
        "right": right, "pairs": total,
        "between": [[low, high, *ordered_pairs([tiers[low], tiers[high]])] for low, high in combinations(tiers, 2)],
        "cohen_d": {name: number(cohen_d(groups[0], groups[-1], name)) for name in get_args(Convention)},
    }  # fmt: skip
    return estimated("tier_order", right / total, Student(right / total, se, n - len(groups)), detail=detail, **facts)


Convention = Literal["sample", "population", "averaged"]


def cohen_d(low: ArrayLike, high: ArrayLike, convention: Convention = "sample") -> float:
    """(mean of high - mean of low) / SD, NaN with fewer than two values in a group or without any spread. SD by
    `convention` (papers seldom say which): "sample", pooled with divisor n1 + n2 - 2 (Cohen 1988); "population", pooled
    with divisor n1 + n2; "averaged", the root of the mean of the two variances with divisors n1 and n2."""
    a, b = (np.asarray(side, dtype=float) for side in (low, high))
    if min(len(a), len(b)) < 2:
        return math.nan
    squares = [float(((side - side.mean()) ** 2).sum()) for side in (a, b)]
    variance = {
        "sample": sum(squares) / (len(a) + len(b) - 2),
        "population": sum(squares) / (len(a) + len(b)),
        "averaged": (squares[0] / len(a) + squares[1] / len(b)) / 2,
    }[convention]
    return float(b.mean() - a.mean()) / math.sqrt(variance) if variance > 0 else math.nan


def ordered_pairs(groups: Sequence[ArrayLike]) -> tuple[float, int]:
    """(pairs in the known order, all pairs) of values from two different groups, the lowest group first; a tie counts
    as half. Of two groups this is the Mann-Whitney statistic.

    >>> ordered_pairs([[1, 2], [2, 3]])
    (3.5, 4)
    """
    right, total = 0.0, 0
    for low, high in combinations(groups, 2):
        apart = np.asarray(high, dtype=float)[:, None] - np.asarray(low, dtype=float)
        right += float((apart > 0).sum() + (apart == 0).sum() / 2)
        total += apart.size
    return right, total
