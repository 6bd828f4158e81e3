"""Do judges see what everyone knows? Targets of known tiers: base models below instruct models, say. A judge that
cannot tell them apart is of no use for anything finer, and agreement about them is cheap: it says little about texts of
one tier ("Beyond the illusion of consensus", paper 002, sec. 3.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.ratings import Ratings
from recuse.ratings.array import judges_array, mean_of
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.statistics.distributions import Student


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
    >>> estimate = tier_order(example("target score", "a 1; b 3; c 2; d 4", tiers=tiers)).of(judge="j")
    >>> estimate.value, estimate.detail["means"]
    (0.75, {'base': 2.0, 'instruct': 3.0})
    """
    array = judges_array(part)
    for judge, means in zip(array.raters, mean_of(array.means, axis=1), strict=True):
        scores = dict(zip(array.targets, means.tolist(), strict=True))
        tiers = {
            tier: np.array([scores[target] for target in targets if math.isfinite(scores.get(target, math.nan))])
            for tier, targets in part.tiers.items()
        }
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
    left = []  # jackknife: every target leaves once, with all its pairs
    for place, group in enumerate(groups):
        for k in range(len(group)):
            less, pairs = ordered_pairs([*groups[:place], np.delete(group, k), *groups[place + 1 :]])
            left.append(less / pairs if pairs else math.nan)
    values, n = np.array(left)[np.isfinite(left)], len(left)
    se = math.sqrt((n - 1) / n * float(((values - values.mean()) ** 2).sum())) if len(values) > 1 else math.nan
    gaps = {name: number(cohen_d(groups[0], groups[-1], name)) for name in get_args(Convention)}
    detail: dict[str, Any] = {
        "means": {tier: number(float(values.mean())) for tier, values in tiers.items()},
        "right": right, "pairs": total,
        "between": [[low, high, *ordered_pairs([tiers[low], tiers[high]])] for low, high in combinations(tiers, 2)],
        "cohen_d": gaps,
    }  # fmt: skip
    distribution = Student(right / total, se, n - len(groups))
    return estimated("tier_order", right / total, distribution, detail=detail, **facts)


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
