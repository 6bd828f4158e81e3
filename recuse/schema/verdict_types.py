"""What a gate says of an estimate: outcome, rule, remedy and accepted fault."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal

from recuse.schema.estimate_types import Estimate
from recuse.schema.notebook_tables import span, subject, table
from recuse.schema.plain_values import Deferred, Deferring, builtins
from recuse.schema.vocabulary import GREEN, Outcome

AGAINST_INCUMBENT = ("upgrade_shift", "upgrade_order", "upgrade_order_once", "upgrade_flips", "upgrade_slice_shift")
"""Gates that compare a candidate with the judge in use alone, where neither people nor true answers decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Verdicts corrected together: the members of one measurement. Name and `within` are no other family's."""

    name: str  # the gate
    within: Mapping[str, str]  # {"panel": "published", "task": "merchant_risk", "protocol": "rubric"}
    correction: str  # "holm"
    members: int  # how many took part
    alpha: float  # the chance that any of them is failed although its true value keeps the limit
    undefined: int = 0  # how many could not be measured, and took no part: no decision on them can be wrong

    def __str__(self) -> str:
        """ "leniency, published, merchant_risk, rubric"."""
        return ", ".join([self.name, *(self.within[name] for name in sorted(self.within, key=_place))])


def _place(name: str) -> tuple[int, str]:
    order = ("panel", "task", "protocol")
    return (order.index(name) if name in order else len(order), name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How a verdict was reached: as data, and as one sentence."""

    sentence: str  # "within [-0.5, +0.5]; passes if its 95 % interval lies inside, fails if its 99.9 % ... outside"
    decide: Literal["interval", "point"]
    level: float  # confidence level of the interval decided on
    pass_level: float  # of the interval that must lie inside the limit
    fail_level: float  # of the interval that must lie outside, after correction
    limit_text: str  # "within [-0.5, +0.5] points, 5 % of the scale's range of 10"
    of_range: Mapping[str, Any] | None = None  # the limit as shares of the scale's range, where it is told so
    span: float | None = None  # that range, in the estimate's unit
    family: Family | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What a gate can show of one estimate, with the observations there are: forecasts by the estimate's own
    distribution."""

    fair: float | None  # true value of a judge without the fault; None where the file does not tell one
    fair_passes: float | None  # the chance that such a judge passes
    same_again: float  # the chance to pass if the true value is the one measured and everything is recorded anew
    smallest_fault: float | None  # the true value nearest the limit that fails with a chance of 80 %


RemedyKind = Literal[
    "outside",  # the value is outside the limit; `distance` says how far
    "straddles",  # the interval reaches across a bound; `needed` observations would decide
    "on the bound",  # the same, and no feasible number would
    "lost answers",  # it would pass, but for what the answers that were lost may have said
    "no interval",  # there is nothing to decide on
    "level unknown",  # the interval is known at a lower level than asked for
    "not measured",
    "beyond",  # outside what an accepted fault accepts as well
    "expired",  # the accepted fault is over
    "allowance expired",  # undecided was allowed until a date that has passed
    "accepted",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """What is wrong with a verdict that is not a pass and what to do: as data, and as two texts of whole sentences."""

    kind: RemedyKind
    finding: str  # "+0.77 is above +0.5 by 0.27."
    advice: str = ""  # what to do about it
    paste: str = ""  # an accepted fault for `file`, as TOML, its date and reason left open
    file: str = ""  # "evals/gates.toml"
    distance: float | None = None  # from the value to the nearest bound, in the estimate's unit; negative inside
    near_end: float | None = None  # from the nearer end of the interval to that bound, where the whole is outside
    observed: int | None = None  # how many of `units` there are
    needed: int | None = None  # about how many decide with 80 % chance, if the true value is the one measured
    units: str = ""  # "repeats", "stories"


AcceptanceState = Literal["applied", "exceeded", "expired"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """The accepted fault that a verdict met, and what became of it."""

    accept: Mapping[str, Any]  # {"within": [-0.5, 0.9]}, {"outcome": ["undecided"]}, or both
    until: str  # ISO date, the last day
    reason: str
    state: AcceptanceState
    otherwise: Outcome  # what the numbers say by themselves


@dataclass(frozen=True, kw_only=True)
class Verdict(Deferring):
    """What a gate says of an estimate. Truthy when the run may stay green on its account. What to do about it and what
    the gate could have shown are worked out for who asks, and are plain data wherever a verdict is handed over."""

    gate: str
    label: str = ""  # what tables call the gate, where the file gives it a short name
    subject: Mapping[str, str]
    outcome: Outcome
    estimate: Estimate  # with the interval decided on
    rule: Rule
    limit: Mapping[str, Any]  # in the estimate's unit: {"within": [-0.5, 0.5]}, {"at_least": x} or {"at_most": x}
    reason: str  # why the limit is what it is
    remedy: Deferred[Remedy | None] = Deferred(None)  # None for a pass
    accepted_fault: Acceptance | None = None
    allowed: bool = False  # the run may stay green: undecided by the gate's leave, or no gate of the panel's own use
    formerly: Outcome | None = None  # under the baseline's gates, where these are others
    power: Deferred[Power | None] = Deferred(None)  # None where the value decides, or its distribution cannot tell

    def __bool__(self) -> bool:
        return self.outcome in GREEN or self.allowed

    def record(self) -> dict[str, Any]:
        """The verdict as builtins, NaN as None, one key per field: what pytest-xdist can carry and JSON can hold."""
        return {f.name: builtins(getattr(self, f.name)) for f in fields(self)}

    def _repr_html_(self) -> str:
        head = ("gate", "about", "outcome", "value", "interval", "limit", "why")
        why = self.remedy.finding if self.remedy is not None else self.estimate.note
        inside = span(self.estimate.low, self.estimate.high)
        about = subject(self.subject)
        row = (self.label or self.gate, about, self.outcome, self.estimate.value, inside, self.rule.limit_text, why)
        return table("verdict", head, [row])
