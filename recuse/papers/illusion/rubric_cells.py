"""What the measures of rubrics and knowledge share: correlations of pairs of judges by where the rubric came from, on
the same texts, and the estimate of any function of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import Over, estimated, undefined
from recuse.papers.illusion.pair_correlations import PairCorrelations
from recuse.ratings import Ratings
from recuse.ratings.array import RatingArray, arrays_by_level
from recuse.ratings.factors import RUBRIC
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.statistics.distributions import Side, Student

__all__ = ["BASELINE", "GROUNDED", "JACKKNIFE", "RubricCells", "jackknifed", "rubric_cells"]

BASELINE = "checklist"
GROUNDED = ("independent", "dimensions", "shared")
"""Sources whose rubrics are written after a judge has said what it knows."""
JACKKNIFE = "correlations of the same pairs on the same texts, jackknife over {units}, t"


@dataclass(frozen=True, eq=False)
class RubricCells:
    """Two or more sources side by side: `scores` (sources, judges, texts), NaN where there is none; `items` and
    `targets` (texts,); `units` (texts,), what a repetition draws."""

    sources: tuple[str, ...]
    judges: tuple[str, ...]
    scores: Floats
    items: tuple[str, ...]
    targets: tuple[str, ...]
    units: tuple[str, ...]
    over: Over
    called: str

    def pairs(self) -> PairCorrelations:
        """How each two judges correlate under each source, over `units`."""
        return PairCorrelations.of(self.scores, self.units)

    def only(self, texts: NDArray[np.bool_]) -> RubricCells:
        """The same with these texts (texts,) alone."""
        kept = np.flatnonzero(texts)

        def of(names: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(names[k] for k in kept)

        return RubricCells(
            self.sources, self.judges, self.scores[:, :, kept], of(self.items), of(self.targets), of(self.units),
            self.over, self.called,
        )  # fmt: skip

    def facts(self, pairs: PairCorrelations) -> dict[str, Any]:
        """How many items, and clusters where they come in such, have a text that two judges scored under all sources;
        as facts of an `Estimate`."""
        units = {name for name, used in zip(dict.fromkeys(self.units), pairs.used, strict=True) if used}
        both = np.isfinite(self.scores).all(axis=0).sum(axis=0) >= 2
        items = {
            item for item, unit, there in zip(self.items, self.units, both, strict=True) if there and unit in units
        }
        if self.over == "items":
            return {"n": len(items), "over": "items"}
        return {"n": len(items), "over": "clusters", "clusters": self.called, "n_clusters": len(units)}

    def pair_names(self) -> list[str]:
        """ "a / b" for each pair of `pairs`, in its order."""
        return [f"{self.judges[i]} / {self.judges[j]}" for i, j in self.pairs().pairs]


def rubric_cells(ratings: Ratings, *sources: str) -> Iterator[tuple[tuple[str, ...], RubricCells]]:
    """(levels, cells) for every criterion and level of the other factors that has all of `sources`."""
    for names, part in ratings.each(RUBRIC):
        arrays = arrays_by_level(part, RUBRIC)
        if all(source in arrays for source in sources):
            yield names, _cells(part, {source: arrays[source] for source in sources})


def jackknifed(
    metric: str, cells: RubricCells, of: Callable[[Floats], Floats], *, reach: float = math.inf, **more: Any
) -> Estimate:
    """The estimate of a function of the correlations, (..., sources, pairs) -> (...): its value on all texts, and its
    interval by leaving out one unit after the other, on as many degrees of freedom less one (Efron and Tibshirani 1993,
    ch. 11), as far as the function can `reach` on either side of 0. Pairs without a correlation are left out, which the
    note says; undefined where none is left."""
    pairs, count = cells.pairs(), math.comb(len(cells.judges), 2)
    facts = {**cells.facts(pairs), "method": JACKKNIFE.format(units=cells.called), **more}
    facts["detail"] = {**more.get("detail", {}), "texts": int(pairs.texts.max(initial=0))}
    if count == 0:
        return undefined(metric, "one judge has nobody to agree with", **facts)
    if not pairs.pairs:
        return undefined(metric, LEFT_OUT.format(which="every pair of judges"), **facts)
    value = float(of(pairs.r()))
    if not math.isfinite(value):
        return undefined(metric, "there is no agreement of which to take a share", **facts)
    left = of(pairs.without_each()[pairs.used])
    known = len(left) > 2 and bool(np.isfinite(left).all())
    spread = float(np.sum((left - left.mean()) ** 2)) if known else math.nan
    error = math.sqrt((len(left) - 1) / len(left) * spread)
    distribution = LeavingOut(value, error, max(len(left) - 1, 1), reach=reach)
    gone = count - len(pairs.pairs)
    note = f"left out: {LEFT_OUT.format(which=f'{gone} of {count} pairs')}" if gone else ""
    return estimated(metric, value, distribution, note=note, **facts)


LEFT_OUT = "{which}: fewer than three texts in common, or one score for all of them"


@dataclass(frozen=True, slots=True)
class LeavingOut(Student):
    """The jackknife's distribution: Student's t on one degree of freedom less than there are units, for a value that
    cannot lie further than `reach` from 0."""

    reach: float = field(default=math.inf, kw_only=True)

    def interval(self, level: float) -> tuple[float, float]:
        low, high = Student.interval(self, level)
        return (low, high) if math.isnan(low) else (max(low, -self.reach), min(high, self.reach))

    def p_value(self, limit: float, side: Side) -> float:
        beyond = limit >= self.reach if side == "above" else limit <= -self.reach
        return 1.0 if beyond else Student.p_value(self, limit, side)

    @property
    def undefined(self) -> str:
        if math.isnan(self.se):
            return "with one unit less there is nothing to correlate"
        return "" if self.se > 0 else "no unit changes anything, so how far new ones would cannot be estimated"


def _cells(part: Ratings, arrays: dict[str, RatingArray]) -> RubricCells:
    first = next(iter(arrays.values()))
    raters, items, targets = first.axes
    scores = np.stack([array.means.reshape(len(raters), -1) for array in arrays.values()])
    return RubricCells(
        tuple(arrays),
        raters,
        scores,
        tuple(item for item in items for _ in targets),
        tuple(target for _ in items for target in targets),
        tuple(unit for unit in first.clusters for _ in targets),
        "clusters" if first.clustered else "items",
        part.clusters if first.clustered else "items",
    )
