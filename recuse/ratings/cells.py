"""Judge x text cells: the repeats of one judge on one text, and what a repetition would move. A text is an item of a
target. Where every target has one text and judges were asked repeatedly, a repetition draws new repeats on these texts
(`over` = "repeats"); otherwise new items (`over` = "items", or "clusters" where items share something)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recuse.ratings import array
from recuse.ratings.ratings import Ratings
from recuse.ratings.ratings_table import JUDGE, numbered
from recuse.ratings.scale import Scale
from recuse.schema.arrays import Floats, distinct, in_order, taken


@dataclass(frozen=True, eq=False)
class Cells(array.Moments):
    """Moments of judges x texts, (J, U), over usable repeats. `items`, `targets` and `clusters` (U,) say what each text
    is, as places in `item_names`, `target_names` and `cluster_names`. `lost` (J, U) counts repeats that were not
    usable, by status in `lost_by`. People are not among the judges."""

    criterion: str
    judges: tuple[str, ...]
    item_names: tuple[str, ...]
    target_names: tuple[str, ...]
    cluster_names: tuple[str, ...]
    items: NDArray[np.intp]
    targets: NDArray[np.intp]
    clusters: NDArray[np.intp]
    lost: NDArray[np.int64]
    lost_by: Mapping[tuple[str, str], Mapping[str, int]]  # (judge, target) -> status -> count
    scale: Scale
    clusters_called: str
    _rows: tuple[NDArray[np.intp], Floats]  # cell of each usable score in order of repeat, and the score
    times: Floats | None = None  # (U,): how many texts with these scores each stands for, 1 unless they were counted

    @cached_property
    def fixed(self) -> bool:
        """Whether every target has one text and some cell was repeated: then only repeats can vary."""
        return self.times is None and len(self.items) == len(self.target_names) and bool((self.count > 1).any())

    @property
    def over(self) -> Literal["repeats", "items", "clusters"]:
        """What a repetition would draw: repeats where texts are fixed, clusters where items share one, else items."""
        if self.fixed:
            return "repeats"
        return "items" if len(self.cluster_names) == len(self.item_names) else "clusters"

    def about(self, repeats: bool) -> dict[str, Any]:
        """Units, and what a repetition would draw, where texts are fixed `repeats` or items, as an estimate says it."""
        over = "repeats" if repeats else "items" if self.fixed else self.over
        return {"over": over, "unit": self.scale.unit, "span": self.scale.span, "clusters": self.clusters_called}

    def row(self, judge: str) -> int:
        """Place of a judge; `RecuseError` where it is not among them."""
        return array.place_of(self.judges, judge, "judge")

    def texts_of(self, target: str | None) -> NDArray[np.bool_]:
        """Which texts are this target's, shape (U,); none where it has none."""
        return np.asarray(self.targets == (self.target_names.index(target) if target in self.target_names else -1))

    @cached_property
    def _by_cell(self) -> Floats:
        cells, values = self._rows
        return values[in_order(cells)]

    def repeats(self, judge: int) -> tuple[Floats, NDArray[np.int64]]:
        """The usable scores of the judge at this place, those of one text after those of another, each in order of
        repeat, and how many each text has, (U,)."""
        start, end = (int(self.count[:k].sum()) for k in (judge, judge + 1))
        return self._by_cell[start:end], self.count[judge]

    @cached_property
    def cubes(self) -> Floats:
        """Sums of cubes about each cell's mean, shape (J, U): the skewness of its repeats."""
        cells, values = self._rows
        deviations = values - self.mean.ravel()[cells]
        cubes: Floats = np.bincount(cells, weights=deviations**3, minlength=self.count.size).astype(np.float64)
        return cubes.reshape(self.count.shape)

    @cached_property
    def step(self) -> float:
        """The smallest difference that the scores resolve."""
        return array.smallest_step(self.scale, self._rows[1])

    def by_target(self, values: Floats) -> Floats:
        """Mean over each target's texts of values (J, U), shape (J, T); NaN where a judge has none."""
        each = (self.targets == k for k in range(len(self.target_names)))
        return np.stack([array.mean_of(values[:, at], axis=1, times=taken(self.times, at)) for at in each], axis=1)

    def number(self, texts: NDArray[np.bool_]) -> int:
        """How many different items these texts (U,) are of."""
        if self.times is None:
            return distinct(self.items[texts])
        return int(self.times[texts][np.unique(self.items[texts], return_index=True)[1]].sum())

    def replies(self, counts: NDArray[Any]) -> int:
        """How many these counts per text (..., U) are together."""
        return int(counts.sum() if self.times is None else (counts * self.times).sum())


def cells_of(ratings: Ratings) -> Cells:
    """Cells of the one criterion of `ratings` within one combination of factor levels, for every judge and text of the
    table. A judge that was never asked has empty cells: it is not forgotten.

    Raises `RecuseError` where a factor still varies, where the scale has no numbers, and where nothing was asked."""
    criterion, table = array.numeric_criterion(ratings, "cells hold"), ratings.table

    def rows_of_judges() -> tuple[NDArray[np.intp], array.Axes, tuple[NDArray[np.intp], ...]]:
        """The rows of judges; the judges, items and targets in them, and which of these each of the rows is about."""
        rows = np.flatnonzero(ratings.having("kind", JUDGE))
        (judges, judge), (items, item), (targets, target) = (
            array.recoded(names, places[rows]) for names, places in map(ratings.coded, array.AXES)
        )
        return rows, (judges, items, targets), (judge, item, target)

    judged, names, places = ratings.remember_of_rows("judged", rows_of_judges)
    of_criterion = ratings.having("criterion", criterion)[judged]
    rows = judged[of_criterion]
    judge, item, target = (codes[of_criterion] for codes in places)
    text, codes = numbered(item * len(names[2]) + target, len(names[1]) * len(names[2]))
    shape = len(names[0]), len(codes)
    cells = judge * shape[1] + text
    values, repeats = array.numbers_at(ratings, rows), table["repeat"].to_numpy(dtype=np.intp)[rows]
    items, targets = np.divmod(codes, len(names[2]))
    times = array.times_of(ratings, array.names_at(names[1], items))
    cluster_names, cluster_places = array.cluster_places_of(ratings, names[1])
    usable = np.isfinite(values)
    by_repeat = in_order(repeats)  # sums in one order, whatever that of the rows
    by_repeat = by_repeat[usable[by_repeat]]
    moments = array.moments_of(cells[by_repeat], values[by_repeat], shape[0] * shape[1]).reshape(*shape)
    statuses = table["status"].iloc[rows[~usable]]
    lost_by: dict[tuple[str, str], Counter[str]] = {}
    each = np.ones(len(statuses)) if times is None else times[text[~usable]]
    lost = zip(judge[~usable], target[~usable], statuses, each, strict=True)
    for of, whose, status, number in sorted(lost, key=lambda row: str(row[2])):
        lost_by.setdefault((names[0][of], names[2][whose]), Counter())[str(status)] += int(number)
    return Cells(
        moments.count, moments.mean, moments.squares, criterion, *names, cluster_names,
        items, targets, cluster_places[items] if len(items) else items,
        np.bincount(cells[~usable], minlength=shape[0] * shape[1]).reshape(shape), lost_by, ratings.scale,
        ratings.clusters, (cells[by_repeat], values[by_repeat]), times,
    )  # fmt: skip
