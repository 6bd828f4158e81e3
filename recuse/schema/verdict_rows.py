"""Numbers and verdicts as builtins: what workers hand over and JSON holds (`recuse.schema.results` has the rest)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NotRequired, TypedDict

from recuse.schema.details import Slice
from recuse.schema.estimate_types import AcceptanceState, RemedyKind
from recuse.schema.vocabulary import Outcome


class LimitRow(TypedDict, total=False):
    """One of the three; of an accepted failure also which outcomes are accepted."""

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


# --------------------------------------------------------------------------- a baseline as its file holds it


class SourceRow(TypedDict, total=False):
    """Digests of what was asked at a place, of what it is measured by, and of the settings of each judge."""

    items: str
    prompt: str
    rubric: str
    scale: str
    people: str
    truth: str
    provenance: str  # the word itself
    judges: dict[str, str]


class Figures(TypedDict, total=False):
    """Of an estimate, what a test of a change needs."""

    value: float | None
    se: float | None
    df: float | None
    low: float | None
    high: float | None
    level: float | None
    unit: str
    over: str
    n: int | None
    n_clusters: int | None
    n_excluded: int | None
    per_item: dict[str, float]
    these_texts: list[float | None]
    these_texts_df: float | None
    slice: Slice
    cells: dict[str, float | None]


class EntryRow(TypedDict):
    """Which verdict or measurement of a baseline; `what`: the gate or the metric."""

    kind: Literal["verdict", "measurement"]
    what: str
    subject: dict[str, str]


class BaselineEntry(EntryRow):
    """A verdict or measurement as a baseline keeps it; the last two of a verdict."""

    question: str
    figures: Figures
    outcome: NotRequired[Outcome]
    limit: NotRequired[LimitRow]


class Examined(TypedDict):
    """Which tests came to a conclusion, about which judges of each panel, and what these are used for."""

    tests: list[str]
    judges: dict[str, list[str]]
    uses: dict[str, list[str]]


class StatedGates(TypedDict):
    """What a gates file decides with: tables in TOML's own keys, without their words."""

    run: dict[str, object]
    uses: dict[str, dict[str, object]]
    gates: dict[str, dict[str, object]]
    accepted: list[dict[str, object]]


class Because(TypedDict):
    """Why a baseline was written although something stood against it."""

    reason: str
    covers: list[str]


class Baseline(TypedDict):
    """See `recuse.gates.baseline_file`."""

    schema: int
    because: Because | None
    gates: StatedGates
    asked: Examined
    sources: dict[str, SourceRow]
    entries: list[BaselineEntry]


class NamedRow(EntryRow):
    """A change beyond chance, its test, and why it is red ("" where it is not)."""

    before: float
    after: float
    change: float
    low: float
    high: float
    level: float
    test: str
    beyond: str


class OutcomeRow(EntryRow):
    """A verdict with another outcome."""

    before: Outcome
    after: Outcome
    named: bool


class MovedRow(EntryRow):
    """A difference that cannot be tested."""

    field: str
    before: object
    after: object
    delta: float | None


class BriefRow(EntryRow):
    """An entry that only one side has."""

    outcome: Outcome | None
    value: float | None


class WouldBe(TypedDict):
    """What a verdict would be without a change of the gates."""

    subject: dict[str, str]
    outcome: Outcome
    now: Outcome


class LimitChangeRow(TypedDict):
    """What a gates file now says otherwise; see `recuse.gates.limit_changes`."""

    gate: str
    where: dict[str, str]
    key: str
    before: object
    after: object
    change: str
    subject: NotRequired[dict[str, str | list[str]]]
    otherwise: NotRequired[list[WouldBe]]
    about: NotRequired[str]
    consequence: NotRequired[str]
    sentence: NotRequired[str]


class Comparison(TypedDict):
    """What differs from a baseline; see `recuse.gates.baseline_changes`."""

    path: str
    because: Because | None
    named: list[NamedRow]
    outcomes: list[OutcomeRow]
    limits: list[LimitChangeRow]
    removed: list[str]
    sources: list[str]
    moved: list[MovedRow]
    appeared: list[BriefRow]
    vanished: list[BriefRow]
    tested: int
    summary: NotRequired[str]
    objections: NotRequired[list[str]]
