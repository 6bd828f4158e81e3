"""What results.json and a baseline hold, key by key: records are dataclasses while a run lasts (`Verdict`, `Estimate`),
and these mappings between processes and in JSON. Nothing is renamed or converted on the way. A key of `Results` may be
absent, because a part of a run is drawn as well; NaN is None."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from recuse.schema.verdict_rows import Comparison, MeasurementRow, QuestionWords, SourceRow, VerdictRow
from recuse.schema.vocabulary import JudgeWord, Outcome

Past = Mapping[tuple[str, tuple[tuple[str, str], ...]], tuple[float | None, str]]
"""(gate or measure, its subject, sorted) -> value and outcome."""
PastBaseline = tuple[str, Past]
"""The day of a baseline that was committed, and what stood in it."""
UNDESCRIBED: MeasureRow = {
    "name": "", "title": "", "reading": "", "unit": "", "bad": "none", "above": "", "below": "", "signed": False,
    "rank": 1000, "ends": None,
}  # fmt: skip
"""What is said of a measure as far as nobody described it."""


class JudgeRow(TypedDict):
    """A judge of a panel, without its address."""

    name: str
    label: str
    wire: str
    model: str
    author: str | None


class PanelRow(TypedDict):
    """A panel or file, its judges, and what they are used for."""

    name: str
    provenance: str
    description: str
    source: str
    judges: list[JudgeRow]
    tasks: list[str]
    uses: NotRequired[list[str]]
    further_uses: NotRequired[list[str]]
    rated: NotRequired[list[str]]  # which needs people's ratings meet: people_items, two_people
    read_as: NotRequired[Mapping[str, object]]  # of a file: which column was read as what
    notes: NotRequired[list[str]]
    faults: NotRequired[list[Mapping[str, object]]]
    people_faults: NotRequired[list[str]]  # whom of the people a judge cannot be held against as they are


class PlaceRow(TypedDict):
    """Where judges were asked."""

    panel: str
    task: str
    protocol: str


class AskedRow(PlaceRow):
    """A gate that had to decide, where and about whom; `test`: which asks it."""

    gate: str
    test: str
    judges: list[str]


class MeasureRow(TypedDict):
    """How a measure is spoken of (`recuse.metrics.measure`)."""

    name: str
    title: str
    reading: str
    unit: str
    bad: str
    above: str
    below: str
    signed: bool
    rank: int
    ends: list[float] | None


class Wanting(PlaceRow):
    """What a panel lacked for a question; `unfixed`: what its source does not tell."""

    missing: list[str]
    unfixed: list[str]
    unlock: list[str]


class NotAskedRow(QuestionWords, Wanting):
    """A question that lacked something, and the tests that ask it."""

    tests: list[str]


class UsageRow(PlaceRow):
    """What the answers of a judge cost; None where no price is known."""

    judge: str
    calls: int
    input_tokens: int
    output_tokens: int
    reasoning_tokens: int
    other_models: NotRequired[list[str]]  # which its answers name instead of the one that was asked
    dollars: float | None
    seconds: float | None


class ExcerptRow(PlaceRow):
    """A reply worth reading."""

    judge: str
    target: str
    factors: dict[str, str]
    repeat: int
    status: str
    why: str
    text: str
    prompt: str
    reply: str  # its address beside the report


class CassetteCounts(TypedDict):
    """Recordings, and how many of their answers were used; of all together also those of each panel."""

    files: int
    interactions: int
    used: int
    unused: int
    by_panel: NotRequired[dict[str, CassetteCounts]]
    unused_lines: NotRequired[list[str]]  # which answers nothing used


class Replayed(CassetteCounts):
    """What replaying the cassettes of a place gave, as a worker hands it over."""

    usage: list[UsageRow]
    excerpts: list[ExcerptRow]
    source: NotRequired[SourceRow]
    replies: NotRequired[RepliesRow]


class RepliesRow(TypedDict):
    """Pages written from one transcript; `further`: judge -> reply -> which of them, where it is not the first."""

    pages: dict[str, list[str]]
    further: dict[str, dict[str, int]]
    files: list[str]
    prompts: str
    replies: int
    bytes: int


class Known(TypedDict, total=False):
    """What stands beside results and is no part of them: of which commit and recordings they are, and the pages
    written from the same run (`recuse.git`)."""

    commit: str
    recorded: Mapping[str, tuple[str, str]]
    gates: str
    results: str
    tables: list[str]
    replies: Mapping[str, RepliesRow]
    history: Sequence[PastBaseline]  # committed baselines, the oldest first


class ErrorRates(TypedDict):
    """See `recuse.gates.verdict_power`."""

    false_fail: dict[str, float]  # chance that any fair judge is failed: allowed, and spent by so many families
    judges: list[dict[str, Any]]  # panel, judge, and how often it is not cleared, were it fair or recorded again
    red_again: float | None
    smallest_faults: list[dict[str, Any]]  # per gate and limit, `typical` and `worst` values that fail with 80 % chance
    sentence: NotRequired[str]


class JudgeDecisionRow(TypedDict):
    """The word on a judge for a use."""

    judge: str
    panel: str
    use: str
    word: JudgeWord
    cause: str
    gates: list[str]
    next: str
    brief: NotRequired[str]  # the first cause without its figures
    stated: bool
    accepted: bool


class DecisionRow(TypedDict):
    """See `recuse.gates.decision`."""

    word: Literal["merge", "do not merge", "decide", "no decision"]
    cause: str
    next: str
    lines: list[str]
    red: bool
    judges: list[JudgeDecisionRow]
    changes: list[dict[str, str]]  # kind, what, word, cause, next: a change, and what it asks for by itself


class UpgradeVerdictRow(TypedDict):
    """The verdict on a candidate; `rows`: its verdicts, the deciding one first; `accepted`: until when what speaks
    against it is, `expired`: where that day has passed; `open`: what is not accepted beside it."""

    panel: NotRequired[str]
    task: NotRequired[str]
    protocol: NotRequired[str]
    verdict: str
    outcome: Outcome
    incumbent: str
    candidate: str
    change: list[str]
    sentence: str
    reasons: list[str]
    rows: list[dict[str, Any]]  # `gate` and `subject` of each
    clause: str
    items: int
    more: int | None
    units: str
    missing: int
    not_measured: list[str]
    steps: NotRequired[list[str]]
    accepted: NotRequired[str]
    expired: NotRequired[str]
    open: NotRequired[str]


InPlaceRow = TypedDict("InPlaceRow", {
    "judge": str, "panel": str, "kind": str, "was": str, "is": str, "cause": str, "paste": str, "kinds": list[str],
    "word": Literal["better", "equivalent", "decide", "worse"], "steps": list[str],
})  # fmt: skip
"""A judge that is not what it was at the base commit, under the same name (`recuse.upgrade.in_place`). `kind`: what
changed most of `kinds`; `was` and `is`: the two models, or the lines of a prompt or rubric that went and came, three at
most; `paste`: the table that would declare the upgrade; `steps`: what to do, from what costs least."""


class ChangedRow(TypedDict):
    """What a change brings besides judges: what they are measured by, recordings, or that nothing can be compared."""

    kind: Literal["yardstick", "recording", "base"]
    what: str
    before: str | None
    after: str | None
    word: Literal["merge", "decide", "do not merge"]
    cause: str
    place: dict[str, str]  # the panel or task that it is about, where it is about one
    red: NotRequired[bool]  # the run must not be green, because nobody accepts it
    next: NotRequired[str]
    ids: NotRequired[list[str]]  # of recordings: the names that the provider gave the replies, as far as it gave any


class PassRateRow(TypedDict):
    """Of the `texts` that `who` answered twice or more, `disputed` have both answers. `rate` of them have `option` from
    at least half; `low` and `high` are the smallest and the largest rate for beta up to `beta`
    (`recuse.ratings.pass_rate_ranges`)."""

    criterion: str
    option: str
    other: str
    who: str  # "people", or the judge whose repeats they are
    texts: int
    disputed: int
    rate: float
    low: float
    high: float
    beta: float


class Results(TypedDict, total=False):
    """results.json."""

    schema: int
    outcome: str
    counts: dict[str, int]
    headline: str
    decision: DecisionRow | None
    panels: list[PanelRow]
    uses: dict[str, dict[str, Any]]  # as gates.toml has them (`recuse.gates.uses.UseTable`)
    asked: dict[str, Any]  # what had to be asked, and of which part of it this run is
    questions: list[dict[str, Any]]  # id, title, note, task, and the protocols it was asked by
    measures: dict[str, MeasureRow]
    factors: list[dict[str, Any]]  # `name`, and `levels` in their order, each with `name` and `words`
    tasks: list[dict[str, Any]]  # name, criteria, points between the ends of the widest scale, people_simulated
    not_asked: list[NotAskedRow]
    verdicts: list[VerdictRow]
    error_rates: ErrorRates
    sources: dict[str, SourceRow]
    measurements: list[MeasurementRow]
    upgrades: list[UpgradeVerdictRow]
    in_place: list[InPlaceRow]
    changed: list[ChangedRow]
    unmeasured: list[dict[str, str]]  # `test`: one that ended without a verdict, and `why`
    objections: list[str]
    cassettes: CassetteCounts
    usage: list[UsageRow]
    excerpts: list[ExcerptRow]
    baseline: Comparison | None
    ends: list[dict[str, Any]]  # accepted failures that end soon or have: gate, about, until, days, below 0 where over
    underspecified: list[PassRateRow]  # of a file that was checked
