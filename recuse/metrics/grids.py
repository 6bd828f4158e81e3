"""Grids: what every judge gave every author's text on every story, on one scale on which more is better.

Rows come from the protocol `grading`: item is the story, target the author, score the digit as the judge wrote it. In
the negative framing the digits run the other way, 1 the best, so low + high - digit (6 - digit on 1..5) brings them to
the positive scale (thesis on bias in LLM self-evaluation, sec. 3.2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import require_columns
from recuse.schema import RecuseError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FRAMINGS", "OVERALL", "Grid", "Own", "Scale", "cube", "grids_of", "mean_of", "positive_scale"]

Floats = NDArray[np.float64]
Own = Mapping[str, str]
Scale = tuple[float, float]

POSITIVE, NEGATIVE = "positive", "negative"
FRAMINGS = (POSITIVE, NEGATIVE)
OVERALL = "overall"
SCALE: Scale = (1.0, 5.0)
AXES = ("item", "judge", "target")


@dataclass(frozen=True, eq=False)
class Grid:
    """`scores` has shape (I, J, T), stories x judges x authors: the mean over repeats, NaN where no reply was usable.
    `asked` (same shape) marks the cells that have rows at all. All grids of one table share their axes."""

    stories: tuple[str, ...]
    judges: tuple[str, ...]
    targets: tuple[str, ...]
    scores: Floats
    asked: NDArray[np.bool_]

    @property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        return self.stories, self.judges, self.targets

    def row(self, judge: str) -> int:
        return _place(self.judges, judge, "judge")

    def column(self, target: str) -> int:
        return _place(self.targets, target, "target")

    def own_column(self, judge: str, own: Own) -> int | None:
        """The author column of the judge's own texts; None where it wrote none of them."""
        target = own.get(judge)
        return self.targets.index(target) if target in self.targets else None

    def authors(self, own: Own) -> list[tuple[str, int, int]]:
        """(judge, row, own column) for every judge that wrote a target; `RecuseError` where either is not there."""
        return [(judge, self.row(judge), self.column(target)) for judge, target in own.items()]

    def with_row(self, judge: int, scores: Floats) -> Grid:
        """The same grid with one judge's scores, shape (I, T), replaced."""
        changed = self.scores.copy()
        changed[:, judge, :] = scores
        return replace(self, scores=changed)

    def scores_on(self, axes: tuple[tuple[str, ...], ...]) -> Floats:
        """The scores on other axes; NaN for stories, judges and authors that are not there."""
        scores = self.scores
        for axis, (names, wanted) in enumerate(zip(self.axes, axes, strict=True)):
            places = [names.index(name) if name in names else len(names) for name in wanted]
            padding = [(0, int(k == axis)) for k in range(3)]
            scores = np.pad(scores, padding, constant_values=np.nan).take(places, axis=axis)
        return scores


def grids_of(ratings: pd.DataFrame, scale: Scale = SCALE, *, criterion: str = OVERALL) -> dict[str, Grid]:
    """The grid of each framing in the table, on the positive scale. People ("human:...") are left out.

    A table without a column `framing` has the one framing "positive". Raises `RecuseError` for an unknown framing, a
    score outside `scale`, no row of the criterion, and several tasks or protocols in one table.
    """
    import pandas as pd

    require_columns(ratings, "task", "protocol", "judge", "item", "target", "criterion", "score", "status")
    rows = ratings[(ratings["criterion"] == criterion) & ~ratings["judge"].astype(str).str.startswith("human:")]
    _check(ratings, rows, criterion)
    framing = rows["framing"] if "framing" in rows.columns else pd.Series(POSITIVE, index=rows.index)
    scores = positive_scale(rows["score"].where(rows["status"] == "ok"), framing, scale)
    stories, judges, targets = (tuple(map(str, rows[name].astype(str).drop_duplicates())) for name in AXES)
    axes = (stories, judges, targets)
    found: dict[str, Grid] = {}
    for name in FRAMINGS:
        here = framing == name
        if here.any():
            asked = cube(rows[here], pd.Series(1.0, index=rows.index[here]), axes)
            found[name] = Grid(stories, judges, targets, cube(rows[here], scores[here], axes), np.isfinite(asked))
    return found


def cube(rows: pd.DataFrame, values: pd.Series[Any], axes: tuple[tuple[str, ...], ...]) -> Floats:
    """Mean of `values` (one per row) in each cell of stories x judges x authors; NaN where there is none. Rows outside
    the axes are left out."""
    import pandas as pd

    shape = tuple(map(len, axes))
    codes = [
        pd.Index(axis).get_indexer(pd.Index(rows[name].astype(str))) for axis, name in zip(axes, AXES, strict=True)
    ]
    numbers = values.to_numpy(dtype=float)
    kept = np.all([code >= 0 for code in codes], axis=0) & np.isfinite(numbers)
    cells = np.ravel_multi_index([code[kept] for code in codes], shape)
    size = int(np.prod(shape))
    sums = np.bincount(cells, weights=numbers[kept], minlength=size)
    return _ratio(sums, np.bincount(cells, minlength=size)).reshape(shape)


def positive_scale(scores: pd.Series[Any], framing: pd.Series[Any], scale: Scale = SCALE) -> pd.Series[Any]:
    """Scores with those of the negative framing turned round: low + high - score."""
    low, high = scale
    unknown = sorted(set(framing.dropna().astype(str)) - set(FRAMINGS))
    if unknown or framing.isna().any():
        raise RecuseError(f"framing is one of {', '.join(FRAMINGS)}; found {', '.join(unknown) or 'an empty one'}")
    outside = scores.notna() & ~scores.between(low, high)
    if outside.any():
        raise RecuseError(
            f"scores lie between {low:g} and {high:g}; row {scores.index[outside][0]} has {scores[outside].iloc[0]:g}. "
            "Give the task's scale, or mend the protocol's reader"
        )
    return scores.where(framing != NEGATIVE, low + high - scores)


def mean_of(values: Floats, axis: int | tuple[int, ...]) -> Floats:
    """Mean of what is there; NaN where nothing is."""
    there = np.isfinite(values)
    return _ratio(np.where(there, values, 0.0).sum(axis=axis), there.sum(axis=axis))


def _ratio(sums: NDArray[Any], counts: NDArray[Any]) -> Floats:
    result: Floats = np.divide(sums, counts, out=np.full(np.shape(sums), np.nan), where=counts > 0)
    return result


def _check(ratings: pd.DataFrame, rows: pd.DataFrame, criterion: str) -> None:
    if rows.empty:
        known = ", ".join(map(str, ratings["criterion"].drop_duplicates())) or "none"
        raise RecuseError(f"no judge's ratings of criterion {criterion}; the table has criteria {known}")
    for name in ("task", "protocol"):
        if rows[name].nunique() > 1:
            listed = ", ".join(map(str, rows[name].drop_duplicates()))
            raise RecuseError(f"a grid is made of one {name} at a time; the ratings hold {listed}. Select one first")


def _place(names: tuple[str, ...], name: str, kind: str) -> int:
    if name not in names:
        raise RecuseError(f"{kind} {name} is not in the ratings; they hold {', '.join(names)}")
    return names.index(name)
