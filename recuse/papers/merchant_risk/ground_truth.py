"""Ground truth: do the levels that a model puts items on follow the items' true values? (Merchant-risk paper, secs.
5.1-5.3.) Ratings of kind "picks": the rater is the model, the item what it picked, the score (or ordered option) its
level; `ratings.reference` has the true values. An item picked in several repeats counts once, with its mean level
(`rank_correlation`) or the lower median (where levels are named). Picks that the reference lacks are left out and
listed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import Named, measure, per_subject
from recuse.papers import rank_tests
from recuse.papers.rank_tests import spearman
from recuse.ratings import Nominal, Ordinal, Ratings, ResponseSets, Scale
from recuse.ratings.array import numbers
from recuse.schema import Estimate, Estimates, RecuseError
from recuse.schema.arrays import Floats
from recuse.statistics.distributions import FisherZ

BONETT_WRIGHT = "Spearman's rho, Bonett-Wright interval on Fisher's scale"
ALPHA = 0.05
FEW = 50  # picks up to which the p-value comes from permutations


@dataclass(frozen=True, eq=False)
class Picks:
    """One model's picks that the reference covers, by ascending item: mean and median level, and value, shape (n,)."""

    model: str
    items: tuple[str, ...]
    mean_level: Floats
    level: Floats
    value: Floats
    unknown: tuple[str, ...]  # items the reference does not cover
    names: tuple[str, ...]  # of the items; "" where the reference has none
    lost: int  # what takes no part: rows without a level, items that the reference does not cover
    scale: Scale

    def called(self, level: float) -> str | int | float:
        """A level as it was given: an option, a whole number, or a number."""
        if isinstance(self.scale, Ordinal):
            return self.scale.options[round(level)]
        return int(level) if level == int(level) else float(level)

    def facts(self, method: str, **more: Any) -> dict[str, Any]:
        """What every estimate of these picks says of them."""
        return {"n": len(self.items), "n_excluded": self.lost, "over": "items", "method": method, **more}


def _models(part: Ratings, ratings: Ratings) -> Iterator[Picks]:
    if isinstance(part.scale, Nominal | ResponseSets):
        raise RecuseError(
            f"the levels of criterion {part.criterion} have no order; give its scale as numbers, or as options from "
            "the lowest to the highest"
        )
    truth = part.reference
    if truth is None:
        raise RecuseError("no true values: give reference=..., a table with the columns item and value")
    if missing := [name for name in ("item", "value") if name not in truth]:
        raise RecuseError(
            f"the reference lacks the column(s) {', '.join(missing)}; it has {', '.join(map(str, truth.columns))}"
        )
    truth = truth.assign(item=truth["item"].astype(str)).set_index("item")
    if (twice := truth.index[truth.index.duplicated()]).size:
        raise RecuseError(f"the reference needs one row per item; {twice[0]} has several")
    rows = part.table[(part.table["criterion"] == part.criterion) & (part.table["kind"] == "judge")]
    rows = rows.assign(item=rows["item"].astype(str), level=numbers(part, rows))
    for model, group in rows.groupby("rater", sort=False):
        levels = group[group["level"].notna()].groupby("item", sort=True)["level"]
        means, medians = levels.mean(), levels.quantile(0.5, interpolation="lower")
        picked = truth.reindex(means.index)
        known = picked["value"].notna().to_numpy()
        names = picked["name"].fillna("").astype(str)[known] if "name" in truth else [""] * int(known.sum())
        unknown = tuple(means.index[~known])
        mean, median, value = (of.to_numpy(dtype=float)[known] for of in (means, medians, picked["value"]))
        lost = len(unknown) + int(group["level"].isna().sum())
        yield Picks(str(model), tuple(means.index[known]), mean, median, value, unknown, tuple(names), lost, part.scale)


def _per_model(function: Callable[[Picks], Estimate]) -> Callable[[Ratings], Estimates]:
    @per_subject("judge", _models)
    @wraps(function)
    def each(models: Iterator[Picks]) -> Iterator[Named]:
        return ((picks.model, function(picks)) for picks in models)

    return each


@measure(
    "rank_correlation", "rank correlation with the data", ends=(-1, 1), signed=True, rank=270, bad="below",
    below="does not follow the data",
    reading="Spearman's rank correlation of the levels a model put items on with the items' true values.",
)  # fmt: skip
@_per_model
def rank_correlation(p: Picks) -> Estimate:
    """Spearman's rho of assigned level and true value, by judge and factor level; tied levels take mean ranks. The
    interval (`FisherZ`) is over items: how far would another choice of items by the same model move rho? Detail:
    `p_permutation`, exact over all arrangements of the tied levels (168,168,000 for 15 picks on five levels), by
    Student's t beyond 50 picks, and `p_method`; `p_t`, the t approximation that the paper's p-values follow (bolder:
    .0007 against an exact .0012 at rho = .775); `beyond_chance`, whether p is below .05, each judge by itself;
    `unknown`, the picks that the reference lacks. Undefined below four picks, and where all levels or all values are
    equal. `RecuseError` without a reference, or with two values of one item.

    >>> truth = table("item value", "i .1; k .1; l .4; m .9")
    >>> rank_correlation(example("item score", "i 1; k 1; l 2; m 3", reference=truth)).of(judge="j").value
    1.0
    """
    detail: dict[str, Any] = {"unknown": list(p.unknown)}
    more = p.facts(BONETT_WRIGHT, detail=detail)
    if len(p.items) < 4:
        why = f"a rank correlation needs four picks that the data cover; there are {len(p.items)}"
        return undefined("rank_correlation", why, **more)
    for what, values in (("level", p.mean_level), ("value", p.value)):
        if values.max() == values.min():
            return undefined("rank_correlation", f"all picks have the same {what}, {values[0]:g}", **more)
    rho = float(spearman(p.mean_level, p.value))
    by_t = number(rank_tests.spearman_t(rho, len(p.items)))
    test = rank_tests.spearman_test(p.mean_level, p.value) if len(p.items) <= FEW else None
    exact = {"p_permutation": number(test.p), "p_method": test.method} if test else {}
    detail |= {"p_permutation": by_t, "p_method": "Student's t", "p_t": by_t, **exact}
    chance = detail["p_permutation"]
    detail["beyond_chance"] = None if chance is None else chance < ALPHA
    return estimated("rank_correlation", rho, FisherZ(rho, len(p.items)), **more)


@measure(
    "misassignments", "misassignments", rank=280, above="misplaces items", unit="share",
    reading="Share of picks two or more levels away from where the true values put them.",
)  # fmt: skip
@_per_model
def misassignments(p: Picks) -> Estimate:
    """Share of picks two or more levels from where the data put them (paper, sec. 5.3), by judge and factor level. A
    pick's empirical level is its place by true value among the same model's picks: sorted by value, they receive the
    model's own levels in ascending order, so three per level stay three. Equal values are ordered by assigned level,
    which is kindest to the model, then by item. Detail: `nonadjacent`, `adjacent` (one level away) and `in_place`, each
    a list of item, name (where known), assigned, empirical and value, farthest first. No interval: ranks among one
    model's picks are not independent of each other.

    >>> truth = table("item value", "i .1; k .4; l .9")
    >>> round(misassignments(example("item score", "i 3; k 2; l 1", reference=truth)).of(judge="j").value, 3)
    0.667
    """
    more = p.facts("levels against the rank of the true value among the model's own picks", unit="share")
    if not p.items:
        return undefined("misassignments", "no pick is covered by the data", **more)
    by_value = np.lexsort((p.level, p.value))  # items ascend already, and lexsort is stable
    empirical = np.empty(len(p.items))
    empirical[by_value] = np.sort(p.level)
    step = float(getattr(p.scale, "step", None) or 1.0)
    distance = (np.abs(p.level - empirical) / step).round(9)

    def listed(wanted: NDArray[np.bool_]) -> list[dict[str, Any]]:
        return [
            {
                "item": p.items[i], "name": p.names[i], "assigned": p.called(p.level[i]),
                "empirical": p.called(empirical[i]), "value": number(p.value[i]),
            }
            for i in np.argsort(-distance, kind="stable") if wanted[i]
        ]  # fmt: skip

    far, near = distance > 1, (distance > 0) & (distance <= 1)
    return Estimate(
        metric="misassignments", value=float(far.mean()),
        note="no interval: ranks among one model's picks are not independent",
        detail={"nonadjacent": listed(far), "adjacent": listed(near), "in_place": listed(distance == 0)}, **more,
    )  # fmt: skip


@measure(
    "progression", "steps that rise", rank=290, unit="share", below="does not rise with the data",
    reading="Share of steps from one level to the next in which the mean true value rises; 1 is smooth.",
)  # fmt: skip
@_per_model
def progression(p: Picks) -> Estimate:
    """Share of steps from one assigned level in use to the next at which the mean value rises, by judge and factor
    level. Detail: `levels` with picks, mean value and `isotonic`, the closest never-falling sequence (least squares,
    weighted by picks); `falls`, the steps down and by how much; `violation`, the share of the between-level variance
    that sequence cannot follow. No interval, as for `misassignments`. Undefined below two levels in use.

    >>> truth = table("item value", "i .1; k .9; l .4")
    >>> progression(example("item score", "i 1; k 2; l 3", reference=truth)).of(judge="j").value
    0.5
    """
    levels = sorted(set(p.level.tolist()))
    more = p.facts("share of level-to-level steps in which the mean true value rises", unit="share")
    if len(levels) < 2:
        return undefined("progression", f"steps need two levels in use; there are {len(levels)}", **more)
    counts = np.array([np.sum(p.level == level) for level in levels], dtype=float)
    means = np.array([math.fsum(p.value[p.level == level].tolist()) for level in levels]) / counts
    smooth = never_falling(means, counts)
    steps = np.diff(means).round(12)
    sides = zip(levels, levels[1:], steps, strict=False)
    falls = [{"from": p.called(a), "to": p.called(b), "by": number(-step)} for a, b, step in sides if step < 0]
    centre = np.average(means, weights=counts)
    left, spread = (float((counts * (means - fit) ** 2).sum()) for fit in (smooth, centre))
    table = [
        {"level": p.called(level), "picks": int(count), "mean_value": number(mean), "isotonic": number(fit)}
        for level, count, mean, fit in zip(levels, counts, means, smooth, strict=True)
    ]
    return Estimate(
        metric="progression", value=float(np.mean(steps > 0)), note="no interval: one set of picks per model",
        detail={"levels": table, "falls": falls, "violation": number(left / spread) if spread > 0 else None}, **more,
    )  # fmt: skip


def never_falling(values: Floats, weights: Floats) -> Floats:
    """The closest never-falling sequence to values (n,), least squares with these weights: neighbours that fall are
    pooled to their mean until none do. To import scipy's costs more than all that it is asked for here."""
    blocks: list[tuple[float, float, int]] = []  # mean, weight and length
    for mean, weight in zip(values.tolist(), weights.tolist(), strict=True):
        length = 1
        while blocks and blocks[-1][0] >= mean:
            before, own, more = blocks.pop()
            mean, weight, length = (before * own + mean * weight) / (own + weight), own + weight, length + more
        blocks.append((mean, weight, length))
    means, _, lengths = zip(*blocks, strict=True)
    return np.repeat(means, lengths)
