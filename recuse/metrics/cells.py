"""Judge x target cells: the independent runs of one judge on one fixed text, and linear contrasts of their means.

Most measures of a judge panel are weighted sums of cell means. `Cells.contrast` gives such a sum its standard error
from the variances of the runs, so every measure states only its weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import RUNS_ONLY, estimated, matrix, require_columns
from recuse.schema import Estimate, RecuseError
from recuse.statistics import distributions

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
WELCH = "linear contrast of cell means, Welch-Satterthwaite t"


@dataclass(frozen=True, eq=False)
class Cells:
    """All arrays have shape (J, T), judges x targets, in order of first appearance in the ratings.

    `scores[i][j]` holds the usable scores in order of repeat, `mean` and `variance` (n - 1) summarise them; a cell
    without a usable run has mean NaN, one with a single run has variance NaN. `excluded` counts runs that were not
    usable, by status in `lost`.
    """

    criterion: str
    condition: str
    judges: tuple[str, ...]
    targets: tuple[str, ...]
    scores: tuple[tuple[Floats, ...], ...]
    mean: Floats
    variance: Floats
    runs: NDArray[np.int64]
    excluded: NDArray[np.int64]
    lost: Mapping[tuple[str, str], Mapping[str, int]]

    @property
    def sd(self) -> Floats:
        return np.sqrt(self.variance)

    def row(self, judge: str) -> int:
        return self._place(self.judges, judge, "judge")

    def column(self, target: str) -> int:
        return self._place(self.targets, target, "target")

    def _place(self, names: tuple[str, ...], name: str, kind: str) -> int:
        if name not in names:
            raise RecuseError(
                f"{kind} {name} is not in the ratings (condition {self.condition}); they hold {', '.join(names)}"
            )
        return names.index(name)

    def contrast(self, weights: Floats) -> distributions.Student:
        return distributions.contrast(weights, self.mean, self.variance, self.runs)

    def estimate(
        self, metric: str, weights: Floats, *, less: float = 0.0, note: str = RUNS_ONLY, **more: Any
    ) -> Estimate:
        """The contrast sum(weights * mean) - less, with its interval over runs; n counts the runs it rests on."""
        law, used = self.contrast(weights), weights != 0
        law = distributions.Student(law.value - less, law.se, law.df)
        return estimated(
            metric, law.value, law, n=int(self.runs[used].sum()), n_excluded=int(self.excluded[used].sum()),
            unit="points", method=WELCH, note=note, **more,
        )  # fmt: skip

    def intervals(self, weights: Callable[[int, int], Floats], level: float = 0.95) -> tuple[Floats, Floats]:
        """Low and high of the contrast weights(i, j) for every cell."""
        ends = [
            [self.contrast(weights(i, j)).interval(level) for j in range(len(self.targets))]
            for i in range(len(self.judges))
        ]
        both = np.array(ends, dtype=float).reshape(len(self.judges), len(self.targets), 2)
        return both[:, :, 0], both[:, :, 1]

    def matrix(self, values: Floats, own: Mapping[str, str], **more: Any) -> dict[str, Any]:
        return matrix(
            self.judges, self.targets, values, own, condition=self.condition, criterion=self.criterion, **more
        )

    def zeros(self) -> Floats:
        return np.zeros((len(self.judges), len(self.targets)))

    def require_complete(self, purpose: str) -> None:
        """Raise `RecuseError` naming every judge x target cell without a usable run."""
        holes = [
            (judge, target)
            for i, judge in enumerate(self.judges)
            for j, target in enumerate(self.targets)
            if not self.runs[i, j]
        ]
        if holes:
            told = "; ".join(
                f"{judge} on {target} ({_told(self.lost.get((judge, target), {}))})" for judge, target in holes
            )
            raise RecuseError(
                f"{purpose} needs every judge to score every target; criterion {self.criterion}, condition "
                f"{self.condition} has no usable run for: {told}. Record the missing calls (pytest evals/ "
                "--record=missing), or leave the judge out of the panel"
            )


def cells_of(ratings: pd.DataFrame, criterion: str, condition: str) -> Cells:
    """The cells of one criterion under one condition, for every judge and target of the table; people (`judge`
    "human:...") are left out. A judge never asked under this condition has empty cells: it is not forgotten.

    Raises `RecuseError` where a column is missing, where no row fits, and where one cell would mix several tasks,
    protocols or texts of one target: the runs of one fixed text are what is averaged here.
    """
    require_columns(
        ratings, "task", "protocol", "judge", "item", "target", "criterion", "repeat", "score", "status", "condition"
    )
    asked = ratings[~ratings["judge"].astype(str).str.startswith("human:")]
    rows = asked[(asked["criterion"] == criterion) & (asked["condition"] == condition)].sort_values(
        "repeat", kind="stable"
    )
    if rows.empty:
        raise RecuseError(
            f"no ratings of criterion {criterion} under condition {condition}; the table has criteria "
            f"{_listed(ratings, 'criterion')} and conditions {_listed(ratings, 'condition')}"
        )
    _one_text_per_target(asked)
    judges, targets = (tuple(asked[name].drop_duplicates()) for name in ("judge", "target"))
    ok = rows["status"].eq("ok")
    found = {
        key: group.to_numpy(dtype=float) for key, group in rows[ok].groupby(["judge", "target"], sort=False)["score"]
    }
    lost: dict[tuple[str, str], dict[str, int]] = {}
    for judge, target, status in (
        rows.loc[~ok, ["judge", "target", "status"]].sort_values("status").itertuples(index=False)
    ):
        counts = lost.setdefault((str(judge), str(target)), {})
        counts[str(status)] = counts.get(str(status), 0) + 1
    scores = tuple(tuple(found.get((judge, target), np.empty(0)) for target in targets) for judge in judges)
    return Cells(
        criterion, condition, judges, targets, scores,
        mean=_each(scores, _mean), variance=_each(scores, _variance),
        runs=np.array([[len(cell) for cell in row] for row in scores], dtype=np.int64),
        excluded=np.array([[sum(lost.get((j, t), {}).values()) for t in targets] for j in judges], dtype=np.int64),
        lost=lost,
    )  # fmt: skip


def conditions_of(ratings: pd.DataFrame) -> list[str]:
    """The conditions of the table, in order of first appearance."""
    require_columns(ratings, "condition")
    return [str(condition) for condition in ratings["condition"].dropna().drop_duplicates()]


def _one_text_per_target(rows: pd.DataFrame) -> None:
    for name in ("task", "protocol"):
        if rows[name].nunique() > 1:
            raise RecuseError(
                f"cells are made of one {name} at a time; the ratings hold {_listed(rows, name)}. Select one first"
            )
    items = rows.groupby("target", sort=False)["item"].nunique()
    if (many := items[items > 1]).size:
        raise RecuseError(
            f"runs are averaged over one fixed text per target, but {many.index[0]} has {many.iloc[0]} items; select "
            "one item, or use a measure over items"
        )


def _mean(scores: Floats) -> float:
    return math.fsum(scores.tolist()) / len(scores) if len(scores) else math.nan


def _variance(scores: Floats) -> float:
    """With n - 1; exactly 0 where all scores are equal but for rounding, which never passes for spread."""
    if len(scores) < 2:
        return math.nan
    if scores.max() - scores.min() < 1e-12:
        return 0.0
    mean = _mean(scores)
    return math.fsum(((scores - mean) ** 2).tolist()) / (len(scores) - 1)


def _each(scores: tuple[tuple[Floats, ...], ...], summary: Callable[[Floats], float]) -> Floats:
    return np.array([[summary(cell) for cell in row] for row in scores], dtype=float)


def _listed(rows: pd.DataFrame, column: str) -> str:
    return ", ".join(map(str, rows[column].dropna().drop_duplicates())) or "none"


def _told(statuses: Mapping[str, int]) -> str:
    total = sum(statuses.values())
    return (
        f"{total} runs: " + ", ".join(f"{count} {status}" for status, count in statuses.items())
        if total
        else "never asked"
    )
