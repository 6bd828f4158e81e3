"""What a whole panel of judges is like: whether it agrees less on the better targets, where a fine judgement is needed
most, whether temperature changes how well it agrees, and how many independent judges it is worth."""

from __future__ import annotations

from typing import Any

import numpy as np

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.human_alignment import people_on
from recuse.metrics.measure import itself, measure, per_subject
from recuse.papers.illusion.judge_pairs import (
    all_pairs,
    coefficient_from,
    common_items,
    estimate_of,
    mean_known,
    sample_agreement,
    units_of,
)
from recuse.papers.rank_tests import kendall, spearman, spearman_t, spearman_test
from recuse.ratings import RatingArray, Ratings
from recuse.ratings.answers import against_truth
from recuse.ratings.array import among, arrays_by_level, judges_array, mean_of
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.schema.factors import TEMPERATURE
from recuse.statistics.distributions import FisherZ

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
    agreement = sample_agreement(all_pairs(array.means).sum(axis=0))
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
        return np.stack([mean_known(sample_agreement(sums[:, k])) for k in range(len(levels))], axis=1)

    def of_levels(value: float) -> dict[str, Any]:
        each = by_level(shares.sum(axis=0)[None])[0]
        return {"levels": [[level, number(float(r))] for level, r in zip(levels, each, strict=True)]}

    first, about = arrays[levels[0]], dict[str, Any](n=common_items(shares), method=method)
    coefficient = coefficient_from(shares, lambda sums: np.asarray(by_level(sums) @ weights), lambda sums: "", "plain")
    if coefficient.undefined:
        return undefined(metric, "agreement is undefined at some level", **about, **units_of(first, part.clusters))
    return estimate_of(metric, coefficient, first, part.clusters, of_levels, **about)


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
        return np.asarray(count / (1 + (count - 1) * mean_known(sample_agreement(sums))))

    def of_value(value: float) -> dict[str, Any]:
        together = number((count / value - 1) / (count - 1))
        return {"of": "errors" if known else "scores", "judges": count, "correlation": together}

    why = "" if count > 1 else "one judge is worth one judge"
    coefficient = coefficient_from(shares, worth, lambda sums: why, "plain")
    return estimate_of(
        "effective_judges", coefficient, array, part.clusters, of_value, n=common_items(shares),
        method="k / (1 + (k - 1) r), r the mean correlation of errors; jackknife over items, t",
    )  # fmt: skip
