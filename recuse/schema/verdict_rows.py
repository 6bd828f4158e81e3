"""Numbers and verdicts as builtins: what workers hand over and JSON holds (`recuse.schema.results` has the rest)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict, TypeVar, cast

from recuse.schema.vocabulary import Outcome

# What a measure says besides its number, the `detail` of an estimate, by kind of figure. Measures choose their own
# keys; who reads a matrix names the kind once, `detail_as(Matrix, estimate["detail"])`. An estimate may be of several
# kinds at once. Keys that a drawing merely prints (`n.detail.get("tau")`) have no kind.

Values = Sequence[Sequence[float | None]]
"""A row of values per name of a row, one per name of a column."""
Gap = tuple[float | None, float | None, float | None, float | None]
"""Two texts as far apart as low to high: how many pairs, and the share that the order turns."""
RemedyKind = Literal[
    "outside",  # the value is outside the limit; `distance` says how far
    "straddles",  # the interval reaches across a bound; `needed` observations would decide
    "on the bound",  # the same, and no feasible number would
    "lost answers",  # it would pass, but for what the answers that were lost may have said
    "no interval",  # there is nothing to decide on
    "level unknown",  # the interval is known at a lower level than asked for
    "not measured",
    "beyond",  # outside what an accepted failure accepts as well
    "expired",  # the accepted failure is over
    "allowance expired",  # undecided was allowed until a date that has passed
    "accepted",
]
Kind = TypeVar("Kind")


def detail_as(kind: type[Kind], detail: Mapping[str, object]) -> Kind:
    """The detail as one of its kinds, unchecked: it came out of JSON, and its metric says of which kind it is."""
    return cast("Kind", detail)


class Matrix(TypedDict):
    """One value per row (who judges, or is measured) and column. `own`: (row, column) of what is one's own; `n` and
    `sd` of each cell, and the ends of its interval; `criterion`: what of the judgement it is of."""

    rows: Sequence[str]
    columns: Sequence[str]
    values: Values
    own: NotRequired[Sequence[Sequence[str]]]
    low: NotRequired[Values | None]
    high: NotRequired[Values | None]
    sd: NotRequired[Values | None]
    n: NotRequired[Values | None]
    kind: NotRequired[Literal["matrix"]]
    criterion: NotRequired[str]


class Detail(TypedDict, total=False):
    """What any measure but a matrix may say."""

    slice: dict[str, str] | None  # column and level of the texts that the number is of, where some were looked for
    losses: dict[str, Any]  # of a comparison of two sides, both of which lose answers (docs/statistics.md)
    these_texts: list[float | None] | None  # the interval for these texts alone, where only replies are new
    these_texts_df: float | None
    pairs: list[list[float | None]]  # people's mean, the judge's mean, how many texts
    ends: list[float | None]  # of the scale
    judge_human: float | None  # a judge's agreement with people, and that of people with one another
    human_human: float | None
    same_answers: list[str]  # two who never differ
    held_against: str  # who stands in people's place
    margin: float | None
    power: float | None
    people: list[dict[str, Any]]  # does the judge as well as one: person, won, advantage, p, n
    groups: list[dict[str, Any]]  # a share of the texts, surest first: errors among its labels, and at_most possible
    bound: float | None
    constant: dict[str, Any] | None  # the commonest `answer`, and how often it `agrees` with people
    judge_alone: float | None
    labels: int  # for a mean as people would rate: there are, and the wanted interval takes
    labels_needed: int | None
    slices: list[dict[str, Any]]  # the likeliest fault first: column, level, mean, difference to the rest, p, n
    by_status: dict[str, int]  # how many replies ended in which way
    bins: list[Gap]  # by how far apart two texts are


class LimitRow(TypedDict, total=False):
    """One of the three."""

    within: list[float] | None
    at_least: float | None
    at_most: float | None


class EstimateRow(TypedDict, total=False):
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
    detail: Detail
    per_item: dict[str, float] | None
    se: float | None
    df: float | None


class FamilyRow(TypedDict):
    """Verdicts corrected together: the members of one measurement. Name and `within` are no other family's."""

    name: str  # the gate
    within: dict[str, str]  # {"panel": "published", "task": "merchant_risk", "protocol": "rubric"}
    alpha: float  # the chance that any of them is failed although its true value keeps the limit
    correction: str
    members: int  # how many took part
    undefined: int  # how many could not be measured, and took no part: no decision on them can be wrong


class RuleRow(TypedDict):
    """How a verdict was reached: as data, and as one sentence."""

    sentence: str  # "within [-0.5, +0.5]; passes if its 95 % interval lies inside, fails if its 99.9 % ... outside"
    decide: Literal["interval", "point"]
    level: float  # confidence level of the interval decided on
    pass_level: float  # of the interval that must lie inside the limit
    fail_level: float  # of the interval that must lie outside, after correction
    limit_text: str  # "within [-0.5, +0.5] points, 5 % of the scale's range of 10"
    of_range: LimitRow | None  # the limit as shares of the scale's range, where it is told so
    span: float | None  # that range, in the estimate's unit
    family: FamilyRow | None


class PowerRow(TypedDict):
    """What a gate can show of one estimate with its observations: forecasts by the estimate's own distribution."""

    fair: float | None  # true value of a judge without the fault; None where the file does not tell one
    fair_passes: float | None  # the chance that such a judge passes
    same_again: float  # the chance to pass if the true value is the one measured and everything is recorded anew
    smallest_fault: float | None  # the true value nearest the limit that fails with a chance of 80 %


class RemedyRow(TypedDict):
    """What is wrong with a verdict that is not a pass and what to do: as data, and as two texts of whole sentences."""

    kind: RemedyKind
    finding: str  # "+0.77 is above +0.5 by 0.27."
    advice: str  # what to do about it
    paste: str  # an accepted failure for `file`, as TOML, its date and reason left open
    file: str  # "evals/gates.toml"
    distance: float | None  # from the value to the nearest bound, in the estimate's unit; negative inside
    near_end: float | None  # from the nearer end of the interval to that bound, where the whole is outside
    observed: int | None  # how many of `units` there are
    needed: int | None  # about how many decide with 80 % chance, if the true value is the one measured
    units: str  # "repeats", "stories"


class AcceptedRow(LimitRow, total=False):
    """What is accepted: a limit, outcomes, or both."""

    outcome: list[Outcome] | None


class AcceptanceRow(TypedDict):
    """The accepted failure that a verdict met, and what became of it. Void: expired, and not accepted by the gates that
    these are compared with either, so it never held."""

    accept: AcceptedRow
    until: str  # ISO date, the last day
    reason: str
    state: Literal["applied", "exceeded", "expired", "void"]
    otherwise: Outcome  # what the numbers say by themselves


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


class Figures(EstimateRow, total=False):
    """Of an estimate, what a test of a change needs; `cells`: "row / column" of a matrix -> value."""

    these_texts: list[float | None]
    these_texts_df: float | None
    slice: dict[str, str]
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


class LimitChangeRow(TypedDict):
    """What a gates file now says otherwise; see `recuse.gates.baseline_changes`."""

    gate: str
    where: dict[str, str]
    key: str
    before: object
    after: object
    change: str
    subject: NotRequired[dict[str, str | list[str]]]
    otherwise: NotRequired[list[dict[str, Any]]]  # `subject`, `outcome` without the change, and `now`
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
