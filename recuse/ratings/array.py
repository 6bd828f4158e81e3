"""The rating array: raters x items x targets x repeats of one criterion, people among the raters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.ratings.ratings import Ratings, remembered
from recuse.ratings.ratings_table import PERSON, combined, numbered
from recuse.ratings.scale import Scale
from recuse.schema import RecuseError
from recuse.schema.arrays import Floats, in_order
from recuse.schema.pandas_when_used import pd

Axes = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
AXES = ("rater", "item", "target")
EQUAL = 1e-12  # scores of a cell that differ by less are equal: binary rounding never passes for spread


@dataclass(frozen=True, eq=False)
class RatingArray:
    """`means`, `counts` and `requested` have shape (raters, items, targets): the mean over repeats on the ascending
    scale (NaN where nothing was usable), how many repeats it rests on, and whether a rating was requested: there is a
    row, usable or not. `people` (raters,) marks people. `clusters` (items,) says what each item belongs to, the item
    itself unless more is known, `clusters_called` what they are."""

    raters: tuple[str, ...]
    items: tuple[str, ...]
    targets: tuple[str, ...]
    people: NDArray[np.bool_]
    clusters: tuple[str, ...]
    clusters_called: str
    means: Floats
    counts: NDArray[np.int64]
    requested: NDArray[np.bool_]
    scale: Scale
    _rows: tuple[NDArray[np.intp], Floats, NDArray[np.intp]]

    @property
    def shape(self) -> tuple[int, int, int]:
        """How many raters, items and targets."""
        return len(self.raters), len(self.items), len(self.targets)

    @property
    def axes(self) -> Axes:
        """Names of raters, items and targets."""
        return self.raters, self.items, self.targets

    @property
    def judges(self) -> tuple[str, ...]:
        """The raters that are no people."""
        return tuple(name for name, person in zip(self.raters, self.people, strict=True) if not person)

    @cached_property
    def clustered(self) -> bool:
        """Whether several items share a cluster, which is then what a repetition draws."""
        return self.clusters is not self.items and len(set(self.clusters)) < len(self.items)

    @property
    def groups(self) -> NDArray[Any] | None:
        """The cluster of each item, (items,), for a jackknife; None where each is one of its own."""
        return np.array(self.clusters) if self.clustered else None

    @property
    def nested(self) -> bool:
        """Whether every target has items of its own, so that no item has texts by two targets."""
        return len(self.targets) > 1 and int(self.requested.any(axis=0).sum(axis=1).max(initial=0)) <= 1

    @property
    def values(self) -> Floats:
        """Every usable score, shape (raters, items, targets, repeats); NaN where there is none."""
        cells, values, repeats = self._rows
        depth = int(repeats.max()) + 1 if len(repeats) else 1
        full = np.full((int(np.prod(self.shape)), depth), np.nan)
        full[cells, repeats] = values
        return full.reshape(*self.shape, depth)

    @property
    def step(self) -> float:
        """The smallest difference that the scores resolve."""
        return smallest_step(self.scale, self._rows[1])

    def row(self, rater: str) -> int:
        """Place of a rater; `RecuseError` where it is not among them."""
        return place_of(self.raters, rater, "rater")

    def column(self, target: str) -> int:
        """Place of a target; `RecuseError` where it is not among them."""
        return place_of(self.targets, target, "target")

    def columns(self, authors: Mapping[str, str]) -> list[int | None]:
        """Column of each rater's own target; None where it has none here."""
        own = [authors.get(rater) for rater in self.raters]
        return [self.targets.index(target) if target in self.targets else None for target in own]

    def with_means(self, means: Floats) -> RatingArray:
        """The same array with other means; what they rest on is not known any more and counts as one repeat each."""
        nothing = np.zeros(0, dtype=np.intp)
        counts = np.isfinite(means).astype(np.int64)
        return replace(self, means=means, counts=counts, _rows=(nothing, np.zeros(0), nothing))


def array_of(ratings: Ratings, axes: Axes | None = None) -> RatingArray:
    """The array of the one criterion of `ratings` (see `Ratings.criterion`) within one combination of factor levels.

    `axes`: raters, items and targets in the wanted order; those of the table, in order of first appearance, unless
    given. Raises `RecuseError` where a factor still varies, and where the scale has no numbers."""
    criterion, table = numeric_criterion(ratings, "an array holds"), ratings.table
    known, places = zip(*map(ratings.coded, AXES), strict=True)
    rows = np.flatnonzero(ratings.having("criterion", criterion))
    axes = axes or known
    codes = [among(*each)[rows] for each in zip(known, places, axes, strict=True)]
    shape = tuple(map(len, axes))
    inside = np.all([code >= 0 for code in codes], axis=0)
    cells = np.ravel_multi_index([code[inside] for code in codes], shape).astype(np.intp)
    values = numbers_at(ratings, rows)[inside]
    size = int(np.prod(shape))
    requested = np.zeros(size, dtype=bool)
    requested[cells] = True
    repeats = table["repeat"].to_numpy(dtype=np.intp)[rows[inside]]
    order = in_order(repeats)  # sums in one order, whatever that of the rows
    cells, values, repeats = cells[order], values[order], repeats[order]
    there = np.isfinite(values)
    people = np.array([ratings.raters.get(name) == PERSON for name in axes[0]], dtype=bool)
    moments = moments_of(cells, values, size).reshape(*shape)
    return RatingArray(
        *axes, people, clusters_of(ratings, axes[1]), ratings.clusters, moments.mean, moments.count,
        requested.reshape(shape), ratings.scale, (cells[there], values[there], repeats[there]),
    )  # fmt: skip


def numeric_criterion(ratings: Ratings, what: str) -> str:
    """The one criterion of ratings whose values can be averaged. `RecuseError` where a factor still varies, though
    `what` is made of one combination of levels, and where the scale has no numbers."""
    if ratings.factors:
        raise RecuseError(
            f"{what} one combination of factor levels; {', '.join(ratings.factors)} still vary. Use each(), or "
            f"where({ratings.factors[0]}=...)"
        )
    if not ratings.scale.counts:
        raise RecuseError(
            f"criterion {ratings.criterion} has options without distances ({ratings.scale}); it cannot be averaged. "
            "Give its scale as two ordered options or as numbers"
        )
    return ratings.criterion


def among(known: Sequence[str], places: NDArray[np.intp], wanted: Sequence[str]) -> NDArray[np.intp]:
    """Places among the `known` names as places among the wanted ones; -1 for one that is not there."""
    if wanted == known:
        return places
    place = {name: number for number, name in enumerate(wanted)}
    return np.array([*(place.get(name, -1) for name in known), -1], dtype=np.intp)[places]


def coded(column: pd.Series[Any]) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """The different entries of a column as texts, in order of first appearance, and the place of each row's among them,
    (rows,), -1 for nothing. A text is made of each different entry, not of each row."""
    codes, entries = pd.factorize(column)
    if not (codes < 0).any():
        every = tuple(map(str, entries.tolist()))
        if entries.dtype != object or len({*every}) == len(every):
            return every, np.asarray(codes, dtype=np.intp)
    names = tuple(dict.fromkeys(map(str, column.unique())))  # as 1 and "1" are one name
    place = {name: number for number, name in enumerate(names)}
    places = np.array([*(place[str(entry)] for entry in entries.tolist()), -1], dtype=np.intp)
    return names, places[codes]


def recoded(names: Sequence[str], places: NDArray[np.intp]) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """The same of some of the rows: only the names that occur in them, in order of first appearance."""
    if len(names) == 1 and len(places) and places.min() == 0:
        return tuple(names), places
    codes, seen = numbered(places, len(names))
    return names_at(names, seen), codes


def names_at(names: Sequence[str], places: NDArray[np.intp]) -> tuple[str, ...]:
    """The name at each of the places; without a look at each where there is one name, or all are wanted in order."""
    if len(names) == 1:
        return tuple(names) * len(places)
    if len(names) == len(places) and np.array_equal(places, np.arange(len(places))):
        return tuple(names)
    return tuple(map(names.__getitem__, places.tolist()))


def grouped(*codes: Any) -> NDArray[np.intp]:
    """The number of each row's group, (rows,), in order of first appearance: rows that are alike in all `codes`, which
    are columns or arrays."""
    folded, count = np.zeros(len(codes[0]), dtype=np.int64), 1
    for code in codes:
        folded, count = combined(folded, count, code)
    return numbered(folded, count)[0]


def first_of(groups: NDArray[np.intp]) -> NDArray[np.intp]:
    """The first row of each group, of groups that are numbered in order of first appearance."""
    first = np.full(int(groups.max(initial=-1)) + 2, -1)  # the last is of those without a group, -1
    first[groups[::-1]] = np.arange(len(groups) - 1, -1, -1)
    return first[:-1][first[:-1] >= 0]


@remembered
def judges_array(ratings: Ratings, axes: Axes | None = None) -> RatingArray:
    """`Ratings.array()` without people; on other axes where these are given."""
    single = ratings.single()
    return array_of(single, axes or (ratings.judges, single.coded("item")[0], single.targets))


@remembered
def arrays_by_level(ratings: Ratings, factor: str) -> dict[str, RatingArray]:
    """One array of the judges per level of a factor, all on the axes of the whole table: a judge, item or target that
    was left out under one level is empty there. No array where the factor was not varied.

    Raises `RecuseError` where another factor varies."""
    rows = np.flatnonzero(~ratings.having("kind", PERSON) & ratings.having("criterion", ratings.criterion))
    raters, items, targets = (recoded(names, places[rows])[0] for names, places in map(ratings.coded, AXES))
    axes = raters, items, targets
    return {level: judges_array(ratings.where(**{factor: level}), axes) for level in ratings.levels(factor)}


def place_of(names: tuple[str, ...], name: str, kind: str) -> int:
    """Place of a name of this kind; `RecuseError` where it is not among them."""
    if name not in names:
        raise RecuseError(f"{kind} {name} is not in the ratings; they hold {', '.join(names)}")
    return names.index(name)


def smallest_step(scale: Scale, scores: Floats) -> float:
    """The smallest difference between two scores: the scale's step; where it has none, the smallest that was seen, and
    at least a hundredth of the range."""
    known = getattr(scale, "step", 1.0)
    if known:
        return float(known)
    gaps = np.diff(np.unique(scores.round(9)))
    seen = float(gaps.min()) if len(gaps) else 0.0
    return max(seen, scale.span / 100) if np.isfinite(scale.span) else seen


def numbers_at(ratings: Ratings, rows: NDArray[np.intp]) -> Floats:
    """The values of these rows of the table, which are of the one criterion, on the ascending scale; NaN where none is
    usable. Made once of all rows of the criterion."""

    def made() -> Floats:
        table, every = ratings.table, np.full(len(ratings.table), np.nan)
        usable = np.flatnonzero(ratings.having("status", "ok") & ratings.having("criterion", ratings.criterion))
        every_row = len(usable) == len(table)
        given = (table[name] if every_row else table[name].iloc[usable] for name in ("score", "response"))
        every[usable] = ratings.scale.numbers(*given)
        return every

    return ratings.remember_of_rows(("numbers", ratings.criterion), made)[rows]


def clusters_of(ratings: Ratings, items: tuple[str, ...]) -> tuple[str, ...]:
    """What each item belongs to: its `cluster` among the texts, or the item itself."""

    def clusters() -> dict[str, str]:
        texts = ratings.texts
        if texts is None or "cluster" not in texts:
            return {}
        facts = texts[["item", "cluster"]].drop_duplicates("item").astype(str)
        return dict(zip(facts["item"], facts["cluster"], strict=True))

    known = ratings.remember_of_rows("clusters", clusters)
    return tuple([known.get(item, item) for item in items]) if known else items


def times_of(ratings: Ratings, items: Sequence[str]) -> Floats | None:
    """How many items each of these stands for; None unless they were counted by their answers."""
    times = ratings.times
    return None if times is None else np.array([times[item] for item in items], dtype=float)


def cluster_places_of(ratings: Ratings, items: tuple[str, ...]) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """The clusters of different items in order of first appearance, and which of them each item belongs to."""
    clusters = clusters_of(ratings, items)
    if clusters is items:
        return items, np.arange(len(items), dtype=np.intp)
    names = tuple(dict.fromkeys(clusters))
    return names, among(clusters, np.arange(len(items), dtype=np.intp), names)


def mean_of(values: Floats, axis: int | tuple[int, ...], times: Floats | None = None) -> Floats:
    """Mean of what is there; NaN where nothing is. `times`, along the last axis: how often each is there."""
    there = np.isfinite(values)
    known = np.where(there, values, 0.0)
    sums, counts = ((part if times is None else part * times).sum(axis=axis) for part in (known, there))
    return np.asarray(np.divide(sums, counts, out=np.full(np.shape(sums), np.nan), where=counts > 0))


def beyond_others(values: Floats) -> Floats:
    """Each value less the mean of the others' in its column, shape (K, N); NaN where it or every other is missing."""
    there = np.isfinite(values)
    known = np.where(there, values, 0.0)
    others = there.sum(axis=0) - there
    peers = np.divide(known.sum(axis=0) - known, others, out=np.full(there.shape, np.nan), where=others > 0)
    return np.asarray(values - peers)


# --------------------------------------------------------------------------- sums over the rows of a cell
# What measures need of a cell, computed here alone: counts, means, sums of squares. Each is a sum over the rows of the
# cell, the sum of squares about the cell's own mean, so that it keeps its digits where scores lie close together.


@dataclass(frozen=True, eq=False)
class Moments:
    """Per cell, all of one shape: usable scores, their mean (NaN without one), and the sum of squares about it."""

    count: NDArray[np.int64]
    mean: Floats
    squares: Floats

    @cached_property
    def variance(self) -> Floats:
        """Sample variance, divisor n - 1; NaN below two scores."""
        nothing = np.full(self.mean.shape, np.nan)
        return np.asarray(np.divide(self.squares, self.count - 1, out=nothing, where=self.count > 1))

    def reshape(self, *shape: int) -> Moments:
        """The same moments in cells of another shape."""
        return Moments(self.count.reshape(shape), self.mean.reshape(shape), self.squares.reshape(shape))


def moments_of(cells: NDArray[np.intp], values: Floats, size: int) -> Moments:
    """Moments of `values` by cell number in [0, size); NaN values are left out."""
    there = np.isfinite(values)
    if not there.all():
        cells, values = cells[there], values[there]
    count = np.bincount(cells, minlength=size)
    sums = np.bincount(cells, weights=values, minlength=size)
    mean = np.divide(sums, count, out=np.full(size, np.nan), where=count > 0)
    deviations = values - mean[cells]
    squares: Floats = np.bincount(cells, weights=deviations * deviations, minlength=size).astype(np.float64)
    largest = np.zeros(size)
    np.maximum.at(largest, cells, np.abs(deviations))
    squares[largest < EQUAL] = 0.0
    return Moments(count.astype(np.int64), mean, squares)
