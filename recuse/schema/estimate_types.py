"""A measured number with how sure it is, and families of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Protocol

from recuse.schema.errors import RecuseError
from recuse.schema.number_text import html_table, span, subject
from recuse.schema.pandas_when_used import pd
from recuse.schema.plain_values import builtins
from recuse.schema.verdict_rows import AcceptanceRow, LimitRow, PowerRow, RemedyRow, RuleRow
from recuse.schema.vocabulary import GREEN, Outcome

NORMAL = 1.959963984540054
"""Half the width of a normal distribution's 95 % interval, in standard errors."""
AGAINST_INCUMBENT = ("upgrade_shift", "upgrade_order", "upgrade_order_once", "upgrade_flips", "upgrade_slice_shift")
"""Gates that compare a candidate with the judge in use alone, where neither people nor true answers decide."""
_COLUMNS = (
    "metric", "value", "low", "high", "level", "unit", "over", "n", "n_clusters", "n_excluded", "method", "note",
)  # fmt: skip


class Distribution(Protocol):
    """Where an estimate's value would fall on repetition; lets a gate ask for another level."""

    @property
    def undefined(self) -> str:
        """Why there is no interval, in words; empty where there is one."""

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
    plural, what clusters are, "stories", or what `n` counts where an item has several: "texts". `span` is the range of
    the criterion's scale in the estimate's unit, 10 for points on a 0-10 scale; None of what has no scale.
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
        half = self.distribution.half_width_at(1.0) if self.distribution is not None else None
        if half is None or not half > 0 or not math.isfinite(half):
            return kept | {"se": None, "df": None}
        # A distribution that is not Student's is taken by the half-width of its 95 % interval.
        se, df = (getattr(self.distribution, name, None) for name in ("se", "df"))
        return kept | {"se": float(half / NORMAL if se is None else se), "df": None if df is None else float(df)}

    def to_frame(self) -> pd.DataFrame:
        """One row: metric, value, low, high, level, unit, over, n, n_clusters, n_excluded, method, note."""
        return Estimates((), {(): self}).to_frame()

    def _repr_html_(self) -> str:
        return Estimates((), {(): self})._repr_html_()


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
        if wrong := [key for key in self._estimates if not isinstance(key, tuple) or len(key) != len(by)]:
            names = ", ".join(by)
            raise RecuseError(f"what is measured by ({names}) has a tuple of as many names as key; got {wrong[0]!r}")

    def of(self, **subject: str) -> Estimate:
        """The estimate for one subject, every name of `by` given. `RecuseError`, which lists all, where it has none."""
        try:
            return self._estimates[tuple(subject[name] for name in self.by)]
        except KeyError:
            wanted = ", ".join(f"{k}={v}" for k, v in subject.items())
            raise RecuseError(
                f"no estimate for {wanted}; measured by ({', '.join(self.by)}): "
                + "; ".join(", ".join(key) for key in self._estimates)
            ) from None

    def to_frame(self) -> pd.DataFrame:
        """One row per subject: its names, then as `Estimate.to_frame`."""
        rows = [(*key, *(getattr(one, name) for name in _COLUMNS)) for key, one in self.items()]
        return pd.DataFrame(rows, columns=[*self.by, *_COLUMNS])

    def __repr__(self) -> str:
        """A line per subject: what a session shows."""
        shown = [*self.by, "metric", "value", "low", "high", "n", "over"]
        return self.to_frame()[shown].to_string(index=False)

    def _repr_html_(self) -> str:
        """One row per subject."""
        caption = ", ".join(dict.fromkeys(estimate.metric for estimate in self.values())) or "no estimates"
        head = [*self.by, "value", "interval", "level", "unit", "n", "over", "method", "note"]
        rows = [(*key, e.value, span(e.low, e.high), e.level, e.unit, e.n, e.units, e.method, e.note)
                for key, e in self.items()]  # fmt: skip
        return html_table(caption, head, rows)

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
    if not isinstance(measured, Estimates):
        raise RecuseError(f"a measure gives an Estimate or Estimates; this one gave {type(measured).__name__}")
    for key, estimate in measured.items():
        yield dict(zip(measured.by, key, strict=True)), estimate


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a gate says of an estimate. Truthy when the run may stay green on its account."""

    gate: str
    label: str = ""  # what tables call the gate, where the file gives it a short name
    subject: Mapping[str, str]
    outcome: Outcome
    estimate: Estimate  # with the interval decided on
    rule: RuleRow
    limit: LimitRow  # in the estimate's unit: {"within": [-0.5, 0.5]}, {"at_least": x} or {"at_most": x}
    reason: str  # why the limit is what it is
    remedy: RemedyRow | None = None  # None for a pass
    accepted_fault: AcceptanceRow | None = None
    allowed: bool = False  # the run may stay green: undecided by the gate's leave, or no gate of the panel's own use
    formerly: Outcome | None = None  # under the baseline's gates, where these are others
    power: PowerRow | None = None  # None where the value decides, or its distribution cannot tell

    def __bool__(self) -> bool:
        return self.outcome in GREEN or self.allowed

    def record(self) -> dict[str, Any]:
        """The verdict as builtins, NaN as None, one key per field: what pytest-xdist can carry and JSON can hold."""
        return {f.name: builtins(getattr(self, f.name)) for f in fields(self)}

    def _repr_html_(self) -> str:
        head = ("gate", "about", "outcome", "value", "interval", "limit", "why")
        why = self.remedy["finding"] if self.remedy is not None else self.estimate.note
        inside = span(self.estimate.low, self.estimate.high)
        about = subject(self.subject)
        row = (self.label or self.gate, about, self.outcome, self.estimate.value, inside, self.rule["limit_text"], why)
        return html_table("verdict", head, [row])
