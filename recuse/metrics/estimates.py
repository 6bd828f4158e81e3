"""From a value and its sampling distribution to an `Estimate`, and from arrays to the builtins its detail is made
of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from recuse.schema import Distribution, Estimate, number

__all__ = [
    "THESE_TEXTS",
    "Over",
    "SamplingDistribution",
    "estimated",
    "matrix",
    "number",
    "table",
    "these_texts",
    "undefined",
]

Over = Literal["items", "clusters", "repeats", "calls"]

THESE_TEXTS = "over repeats: these texts only"
"""Where every target has one fixed text, a repetition draws new replies of the judge, not new texts."""


class SamplingDistribution(Distribution, Protocol):
    """A sampling distribution of `recuse.statistics.distributions`, which says why it has no interval where it has
    none."""

    @property
    def undefined(self) -> str:
        """Why there is no interval, in words; empty where there is one."""


def estimated(
    metric: str,
    value: float,
    distribution: SamplingDistribution,
    *,
    n: int,
    method: str,
    over: Over = "items",
    note: str = "",
    level: float = 0.95,
    clusters: str = "clusters",
    **more: Any,
) -> Estimate:
    """The estimate with its interval at `level`; where the distribution has none, the note says why."""
    low, high = map(float, distribution.interval(level))  # a numpy scalar would not survive the trip to the controller
    why = f"no interval: {distribution.undefined}" if distribution.undefined else ""
    return Estimate(
        metric=metric, value=float(value), low=low, high=high, level=level, over=over, n=n, method=method,
        clusters=clusters if over == "clusters" else "", note="; ".join(part for part in (note, why) if part),
        distribution=distribution, **more,
    )  # fmt: skip


def undefined(
    metric: str, why: str, *, n: int = 0, method: str, over: Over = "items", clusters: str = "clusters", **more: Any
) -> Estimate:
    """An estimate that could not be made: NaN, and the reason in its note."""
    return Estimate(
        metric=metric,
        value=math.nan,
        n=n,
        method=method,
        over=over,
        clusters=clusters if over == "clusters" else "",
        note=f"undefined: {why}",
        **more,
    )


def these_texts(distribution: SamplingDistribution) -> tuple[dict[str, Any], str]:
    """The 95 % interval over repeats that stands beside one over texts, for these texts alone, with its degrees of
    freedom: for the detail, and as a note. What the same texts say when they are judged again is compared by it."""
    low, high = distribution.interval(0.95)
    df = getattr(distribution, "df", None)
    detail = {"these_texts": [number(low), number(high)], "these_texts_df": None if df is None else number(df)}
    return detail, "" if math.isnan(low) else f"for these texts only {low:+.2f} to {high:+.2f}, over repeats"


def table(values: NDArray[Any]) -> list[list[float | None]]:
    """A matrix as lists of builtins."""
    return [[number(v) for v in row] for row in np.asarray(values, dtype=float)]


def matrix(
    rows: Iterable[str], columns: Iterable[str], values: NDArray[Any], own: Mapping[str, str], **more: Any
) -> dict[str, Any]:
    """Detail of a heat map; `own` marks where a judge scores its own target; arrays in `more` become lists."""
    rows, columns = list(rows), list(columns)
    return {
        "kind": "matrix",
        "rows": rows,
        "columns": columns,
        "values": table(values),
        "own": [[row, own[row]] for row in rows if own.get(row) in columns],
    } | {name: table(part) if isinstance(part, np.ndarray) else part for name, part in more.items()}
