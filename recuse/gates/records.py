"""What a decision is made from, typed: what had to be asked, what gates said of it, what else was measured, and what a
change touches. `decoded` reads all of it from results as results.json holds them, the only place where that is done."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from recuse.gates.limits import Limit
from recuse.gates.uses import EVERY_GATE, UseTable
from recuse.schema import Outcome
from recuse.schema.baseline_rows import Comparison
from recuse.schema.results import MeasureRow, Results
from recuse.schema.verdict_rows import EstimateRow, VerdictRow

PLACE = ("panel", "task", "protocol")


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured number: what it is about, its interval, and whatever its measure says of it in `detail`."""

    metric: str
    subject: Mapping[str, str]
    value: float  # NaN where undefined
    low: float
    high: float
    level: float = 0.95
    unit: str = ""
    n: int = 0
    note: str = ""
    detail: Mapping[str, object] = field(default_factory=dict)
    title: str = ""  # what people call the measure
    above: str = ""  # what a judge does whose value lies above its limit: "scores above people"
    below: str = ""

    @property
    def judge(self) -> str:
        """The judge that it is about; "" where it is about none."""
        return self.subject.get("judge", "")

    @property
    def panel(self) -> str:
        """The panel that it is about."""
        return self.subject.get("panel", "")


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """What a gate says of a figure. `outcome` is what the numbers say, whether or not it was accepted."""

    gate: str
    label: str
    figure: Figure
    limit: Limit
    outcome: Outcome
    accepted: bool = False
    green: bool = True  # whether the run may stay green on its account
    expired: bool = False  # accepted until a day that has passed
    of: int = 1  # how many verdicts the gate gave at once: one that is gone is missed
    test: str = ""
    more: int | None = None  # about how many observations more decide with 80 % chance
    units: str = "items"

    @property
    def excess(self) -> float:
        """How far the value lies outside the limit, in the limit's half-widths (of a one-sided limit: in the value's
        distance of the interval); below 0 inside, minus infinity without a value."""
        if math.isnan(self.figure.value):
            return -math.inf
        wide = self.limit.high - self.limit.low if self.limit.kind == "within" else 0.0
        half = wide / 2 or (self.figure.high - self.figure.low) / 2
        return self.limit.excess(self.figure.value) / half if half > 0 and math.isfinite(half) else 0.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A gate that a test had to ask about judges at a place, whether or not it did. `test`: of all its parameters."""

    gate: str
    panel: str
    task: str
    protocol: str
    judges: tuple[str, ...]
    test: str = ""


@dataclass(frozen=True, slots=True)
class PanelPlan:
    """A panel or file: its judges, the uses that decide whether a run is green (none for a study), and further ones."""

    name: str
    judges: tuple[str, ...]
    uses: tuple[str, ...]
    further: tuple[str, ...] = ()
    people_faults: tuple[str, ...] = ()  # whom of the people a judge cannot be held against as they are


@dataclass(frozen=True, slots=True)
class Plan:
    """What had to be asked. `whole`: every question was asked of all judges of the panels examined; `part`: what of
    the suite ran, where not all of it did; `unfinished`: tests that ended without a verdict, and why."""

    panels: tuple[PanelPlan, ...]
    asked: tuple[Asked, ...]
    uses: Mapping[str, UseTable]
    conditions: frozenset[str]
    peers: frozenset[str]  # gates that compare a judge with other judges
    whole: bool = True
    part: str = ""
    unfinished: tuple[tuple[str, str], ...] = ()

    def gates_of(self, use: str) -> tuple[str, ...]:
        """The gates that a use names; of the one use of a file that names none, all that were asked."""
        return self.uses[use].gates if use in self.uses else ()


@dataclass(frozen=True, slots=True)
class Change:
    """What a pull request changes: an upgrade, a judge changed in place, a limit or a result against the baseline, a
    fault of the run. `word` is what it asks for by itself; `order`: the lowest is told first."""

    kind: Literal["upgrade", "in place", "limit", "yardstick", "recording", "base", "value", "gone", "expired", "run"]
    what: str
    word: Literal["merge", "decide", "do not merge"]
    cause: str
    next: str = ""
    order: int = 0
    red: bool = False  # whether a run with a baseline must not be green


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that a decision is made from."""

    plan: Plan
    verdicts: tuple[VerdictRecord, ...]
    figures: tuple[Figure, ...]
    changes: tuple[Change, ...]
    compared: bool = False  # whether there is a baseline that nothing differs from


def decoded(results: Results, changes: Sequence[Change] = ()) -> Evidence:
    """The records in assembled results; `changes` are those that other modules found."""
    measures = results.get("measures") or {}
    verdicts = tuple(_verdict(record, measures) for record in results["verdicts"])
    figures = tuple(_figure(r["subject"], r["estimate"], measures) for r in results["measurements"])
    return Evidence(_plan(results, verdicts), verdicts, figures, tuple(changes), is_unchanged(results.get("baseline")))


def _figure(subject: Mapping[str, str], estimate: EstimateRow, measures: Mapping[str, MeasureRow]) -> Figure:
    metric, about = estimate["metric"], measures.get(estimate["metric"])
    ends = (estimate.get("value"), estimate.get("low"), estimate.get("high"))
    value, low, high = (math.nan if end is None else float(end) for end in ends)
    title, above, below = (about.get("title"), about.get("above"), about.get("below")) if about else ("", "", "")
    return Figure(
        metric, dict(subject), value, low, high, estimate.get("level") or 0.95, estimate.get("unit") or "",
        estimate.get("n") or 0, estimate.get("note") or "", estimate.get("detail") or {},
        title or metric.replace("_", " "), above or "", below or "",
    )  # fmt: skip


def _verdict(record: VerdictRow, measures: Mapping[str, MeasureRow]) -> VerdictRecord:
    accepted, remedy = record.get("accepted_fault"), record.get("remedy")
    needed, observed = (remedy.get("needed"), remedy.get("observed")) if remedy else (None, None)
    return VerdictRecord(
        record["gate"], record.get("label") or record["gate"].replace("_", " "),
        _figure(record["subject"], record["estimate"], measures), Limit.of(record["limit"]),
        accepted["otherwise"] if accepted else record["outcome"], record["outcome"] == "accepted",
        record["outcome"] in ("pass", "accepted") or bool(record.get("allowed")),
        accepted is not None and accepted.get("state") == "expired",
        record.get("of") or 1,
        record.get("test") or "", needed - observed if needed and observed and needed > observed else None,
        (remedy.get("units") if remedy else "") or "items",
    )  # fmt: skip


def _plan(results: Results, verdicts: Iterable[VerdictRecord]) -> Plan:
    asked = results.get("asked") or {}
    uses = {name: UseTable.model_validate(use) for name, use in (results.get("uses") or {}).items()}
    panels = tuple(
        PanelPlan(
            p["name"],
            tuple(j["name"] for j in p["judges"] if j["name"] in (asked.get("shown") or (j["name"],))),
            tuple(p.get("uses", (EVERY_GATE,))),
            tuple(p.get("further_uses") or ()),
            tuple(p.get("people_faults") or ()),
        )
        for p in results["panels"]
    )
    return Plan(
        panels,
        tuple(
            Asked(a["gate"], a["panel"], a["task"], a["protocol"], tuple(a["judges"]), a.get("test") or "")
            for a in asked.get("gates") or ()
        ),
        uses,
        frozenset(asked.get("conditions") or {v.gate for v in verdicts} - {g for u in uses.values() for g in u.gates}),
        frozenset(asked.get("peers") or ()),
        bool(asked.get("whole", True)),
        asked.get("part") or "",
        tuple((one["test"], one["why"]) for one in results.get("unmeasured") or ()),
    )


def is_unchanged(baseline: Comparison | None) -> bool:
    """Whether there is a baseline, and nothing differs from it."""
    kinds = ("named", "outcomes", "limits", "removed", "sources", "moved", "appeared", "vanished")
    return baseline is not None and not any(baseline.get(name) for name in kinds)
