"""Numbers and verdicts as builtins: what workers hand over and JSON holds (`recuse.schema.results` has the rest)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NotRequired, TypedDict

from recuse.schema.verdict_types import AcceptanceState, RemedyKind
from recuse.schema.vocabulary import Outcome


class LimitRow(TypedDict, total=False):
    """One of the three; of an accepted fault also which outcomes are accepted."""

    within: list[float] | None
    at_least: float | None
    at_most: float | None


class EstimateRow(TypedDict):
    """`recuse.schema.Estimate` as builtins; `se` and `df` of its distribution (no df: normal)."""

    metric: str
    value: float | None
    low: float | None
    high: float | None
    level: float
    unit: str
    span: float | None
    over: str
    n: int
    n_clusters: int | None
    clusters: str
    n_excluded: int
    method: str
    seed: int | None
    note: str
    detail: Mapping[str, object]
    per_item: dict[str, float] | None
    se: float | None
    df: float | None


# --------------------------------------------------------------------------- verdicts


class FamilyRow(TypedDict):
    """`recuse.schema.Family`."""

    name: str
    within: dict[str, str]
    correction: str
    members: int
    alpha: float
    undefined: int


class RuleRow(TypedDict):
    """`recuse.schema.Rule`."""

    sentence: str
    decide: str
    level: float
    pass_level: float
    fail_level: float
    limit_text: str
    of_range: LimitRow | None
    span: float | None
    family: FamilyRow | None


class PowerRow(TypedDict):
    """`recuse.schema.Power`."""

    fair: float | None
    fair_passes: float | None
    same_again: float
    smallest_fault: float | None


class RemedyRow(TypedDict):
    """`recuse.schema.Remedy`."""

    kind: RemedyKind
    finding: str
    advice: str
    paste: str
    file: str
    distance: float | None
    near_end: float | None
    observed: int | None
    needed: int | None
    units: str


class AcceptedRow(LimitRow, total=False):
    """What is accepted: a limit, outcomes, or both."""

    outcome: list[Outcome] | None


class AcceptanceRow(TypedDict):
    """`recuse.schema.Acceptance`."""

    accept: AcceptedRow
    until: str
    reason: str
    state: AcceptanceState
    otherwise: Outcome


class QuestionWords(TypedDict):
    """The question that a record belongs to."""

    question: str
    title: str
    note: str


class MeasurementRow(QuestionWords):
    """A number that no gate decides, with the question and the test it belongs to."""

    test: str
    subject: dict[str, str]
    estimate: EstimateRow


class VerdictRow(MeasurementRow):
    """`recuse.schema.Verdict`, with the question and the test it belongs to; `of`: how many came with it."""

    gate: str
    label: str
    outcome: Outcome
    rule: RuleRow
    limit: LimitRow
    reason: str
    remedy: RemedyRow | None
    accepted_fault: AcceptanceRow | None
    allowed: bool
    formerly: Outcome | None
    power: PowerRow | None
    of: NotRequired[int]
