"""A measured number with how sure it is, and families of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from recuse.schema.exceptions import RecuseError
from recuse.schema.notebook_tables import span, table
from recuse.schema.plain_values import builtins

if TYPE_CHECKING:
    import pandas as pd


class Distribution(Protocol):
    """Where an estimate's value would fall on repetition; lets a gate ask for another level."""

    def interval(self, level: float) -> tuple[float, float]:
        """Two-sided interval at `level`."""

    def p_value(self, limit: float, side: Literal["above", "below"]) -> float:
        """One-sided p-value against H0 "the true value is not `side` `limit`", dual to `interval`:
        p <= (1 - level) / 2 exactly when the interval at `level` lies `side` the limit."""

    def half_width_at(self, factor: float) -> float | None:
        """Half-width (95 %) the interval would have with `factor` times as many observations; None if unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A measured number with how sure it is and what it rests on.

    Undefined is `value = nan` with a `note` that says why, never 0 and never 1. `over` names the resampling unit:
    "items", "clusters", "repeats" (these texts only; the judge's sampling varies) or "calls"; `clusters` says, in the
    plural, what clusters are: "stories". `span` is the range of the criterion's scale in the estimate's unit, 10 for
    points on a 0-10 scale; None for shares, correlations and whatever else has no scale.
    """

    metric: str
    value: float
    low: float = math.nan
    high: float = math.nan
    level: float = 0.95
    unit: str = ""
    span: float | None = None  # range of the scale, in `unit`: what a limit given as a share of the range is a share of
    over: Literal["items", "clusters", "repeats", "calls"] = "items"
    n: int
    n_clusters: int | None = None
    clusters: str = ""
    n_excluded: int = 0
    method: str
    seed: int | None = None
    note: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
    distribution: Distribution | None = field(default=None, compare=False, repr=False)
    per_item: Mapping[str, float] | None = field(default=None, compare=False, repr=False)  # the value is their mean

    @property
    def defined(self) -> bool:
        """Whether there is a number: the value is neither NaN nor infinite."""
        return math.isfinite(self.value)

    @property
    def units(self) -> str:
        """What the estimate is over, in words."""
        return self.clusters or self.over

    def at(self, level: float) -> Estimate:
        """The same estimate with its interval at another level; unchanged where no sampling is known."""
        if self.distribution is None or level == self.level:
            return self
        low, high = self.distribution.interval(level)
        return replace(self, low=low, high=high, level=level)

    def record(self) -> dict[str, Any]:
        """The estimate as builtins, NaN as None: what pytest-xdist can carry and JSON can hold. Of its distribution,
        the standard error and its degrees of freedom (None: normal, or unknown with the error)."""
        kept = {f.name: builtins(getattr(self, f.name)) for f in fields(self) if f.name != "distribution"}
        return kept | dict(zip(("se", "df"), self._sampling(), strict=True))

    def to_frame(self) -> pd.DataFrame:
        """One row: metric, value, low, high, level, unit, over, n, n_clusters, n_excluded, method, note."""
        return Estimates((), {(): self}).to_frame()

    def _repr_html_(self) -> str:
        return table(self.metric, _HEAD, [_row(self)])

    def _sampling(self) -> tuple[float | None, float | None]:
        """A distribution that is not Student's is taken by the half-width of its 95 % interval."""
        half = self.distribution.half_width_at(1.0) if self.distribution is not None else None
        if half is None or not half > 0 or not math.isfinite(half):
            return None, None
        se, df = (getattr(self.distribution, name, None) for name in ("se", "df"))
        return float(half / NORMAL if se is None else se), None if df is None else float(df)


NORMAL = 1.959963984540054
"""Half the width of a normal distribution's 95 % interval, in standard errors."""


_COLUMNS = (
    "metric", "value", "low", "high", "level", "unit", "over", "n", "n_clusters", "n_excluded", "method", "note",
)  # fmt: skip
_HEAD = ("value", "interval", "level", "unit", "n", "over", "method", "note")


def _row(estimate: Estimate) -> tuple[Any, ...]:
    """What a notebook shows of an estimate, in the order of `_HEAD`."""
    inside = span(estimate.low, estimate.high)
    return (
        estimate.value,
        inside,
        estimate.level,
        estimate.unit,
        estimate.n,
        estimate.units,
        estimate.method,
        estimate.note,
    )


class Estimates(Mapping[tuple[str, ...], Estimate]):
    """Estimates of one metric for many subjects, measured together: a family that can be corrected together.

    >>> estimate = Estimate(metric="leniency", value=0.1, n=10, method="mean")
    >>> family = Estimates(("judge", "names"), {("gpt", "shown"): estimate})
    >>> family.of(judge="gpt", names="shown") is estimate
    True
    """

    def __init__(self, by: tuple[str, ...], estimates: Mapping[tuple[str, ...], Estimate]) -> None:
        self.by = by
        self._estimates = dict(estimates)

    def of(self, **subject: str) -> Estimate:
        """The estimate for one subject, every name of `by` given. `RecuseError` where there is none, listing those
        there are."""
        try:
            return self._estimates[tuple(subject[name] for name in self.by)]
        except KeyError:
            asked = ", ".join(f"{k}={v}" for k, v in subject.items())
            raise RecuseError(
                f"no estimate for {asked}; measured by ({', '.join(self.by)}): "
                + "; ".join(", ".join(key) for key in self._estimates)
            ) from None

    def to_frame(self) -> pd.DataFrame:
        """One row per subject: its names, then as `Estimate.to_frame`."""
        import pandas as pd

        rows = [(*key, *(getattr(one, name) for name in _COLUMNS)) for key, one in self.items()]
        return pd.DataFrame(rows, columns=[*self.by, *_COLUMNS])

    def _repr_html_(self) -> str:
        """One row per subject."""
        caption = ", ".join(dict.fromkeys(estimate.metric for estimate in self.values())) or "no estimates"
        return table(caption, [*self.by, *_HEAD], [(*key, *_row(one)) for key, one in self.items()])

    def __getitem__(self, key: tuple[str, ...]) -> Estimate:
        return self._estimates[key]

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return iter(self._estimates)

    def __len__(self) -> int:
        return len(self._estimates)


def members(measured: Estimate | Estimates) -> Iterator[tuple[dict[str, str], Estimate]]:
    """Each estimate with the names of its subject; a lone estimate has none."""
    if isinstance(measured, Estimate):
        yield {}, measured
        return
    for key, estimate in measured.items():
        yield dict(zip(measured.by, key, strict=True)), estimate
