"""The words every part of Recuse shares: items, prompts, replies, the ratings table, estimates and verdicts.

This module imports no other part of Recuse. Data flows one way through these types:

    Item -> Prompt -> Reply -> ratings table -> Estimate -> Verdict
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal, Protocol

Status = Literal["ok", "unparsed", "refused", "out_of_scale", "error"]
STATUSES: tuple[Status, ...] = ("ok", "unparsed", "refused", "out_of_scale", "error")
"""What became of a judgement. Where an earlier call of a chain failed, its stage stands before: "rubric: unparsed"."""

Provenance = Literal["recorded", "reconstructed", "scripted", "imported"]
PROVENANCES: tuple[Provenance, ...] = ("recorded", "reconstructed", "scripted", "imported")

Outcome = Literal["pass", "fail", "undecided", "not measured", "accepted"]
OUTCOMES: tuple[Outcome, ...] = ("pass", "fail", "undecided", "not measured", "accepted")


class RecuseError(Exception):
    """A mistake in what Recuse was given. The message names the place and the remedy."""


class JudgeClosedError(RecuseError):
    """No call of this judge can succeed until somebody acts: its key is not accepted, or its account is used up. The
    message names no call and is the same for all of them, so it is told once."""


class RatingsError(RecuseError):
    """The ratings table breaks its own rules; the message lists every fault with its rows."""


# --------------------------------------------------------------------------- what is asked and answered


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to be judged: `fields` are what a prompt template may show of it."""

    task: str
    id: str
    target: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a protocol asks, before any wire format: the same prompt for every provider."""

    messages: tuple[Message, ...]
    temperature: float
    max_tokens: int
    schema: Mapping[str, Any] | None = None  # JSON schema of the wanted reply, for providers that enforce one
    top_logprobs: int | None = None
    grammar: str | None = None  # the reply's shape as a GBNF grammar, for servers that enforce one
    grammar_schema: Mapping[str, Any] | None = None  # `schema` for those servers: they know no bounds of a number


@dataclass(frozen=True, slots=True)
class Judge:
    """One judge of a panel: where it is asked and how. Holds no secret, only the name of the variable that does."""

    name: str
    label: str
    wire: str  # a module of recuse.judges
    base_url: str
    model: str
    author: str | None = None  # the target whose output is this judge's own
    api_key_env: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)  # fields of the request body, merged in at every depth
    rename: Mapping[str, str] = field(default_factory=dict)  # fields of the body, "outer.inner": sent by another name
    omit: tuple[str, ...] = ()  # fields of the body, "outer.inner", that are not sent
    headers: Mapping[str, str] = field(default_factory=dict)  # further headers; none of them secret
    headers_env: Mapping[str, str] = field(default_factory=dict)  # further headers -> the variable with their value
    query: Mapping[str, str] = field(default_factory=dict)  # further query parameters; none of them secret
    structured: bool = False  # send the protocol's JSON schema along
    grammar: bool = False  # send the protocol's GBNF grammar along (llama.cpp's server)
    seeded: bool = False  # send a seed derived from item, factors and repeat
    timeout_s: float = 120.0
    concurrency: int = 4
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    input_usd_per_mtok: float | None = None
    output_usd_per_mtok: float | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request as it goes out, without its secrets. `body` is canonical JSON."""

    url: str
    body: bytes
    method: str = "POST"


@dataclass(frozen=True, slots=True)
class RawResponse:
    """What came back over HTTP, or out of a cassette: the same bytes either way."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the provider counts them. `output_tokens` is all that is billed as output, reasoning included;
    `reasoning_tokens` says how many of them were reasoning. Unknown is None, never 0."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a judge answered, after the wire format has been read and before the protocol reads the words.

    `finish` tells how the reply ended: "stop", "length" (cut by max_tokens), "refusal" (the provider's own flag),
    "error" (the payload is not what the wire format promises; `text` then says what is wrong). `reasoning` is what the
    judge thought before it answered, as far as the provider shows it; no protocol reads it.
    """

    text: str
    finish: Literal["stop", "length", "refusal", "error"] = "stop"
    model: str | None = None
    usage: Usage = Usage()
    logprobs: tuple[Mapping[str, float], ...] | None = None  # per output position: token -> log-probability
    tokens: tuple[tuple[str, float], ...] | None = None  # the tokens written, each with its log-probability
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One judge call of the plan: who is asked what, under which factors, and which of the repeats it is."""

    task: str
    protocol: str
    judge: str
    item: str
    target: str
    factors: tuple[tuple[str, str], ...]
    repeat: int
    request: Request
    key: str  # what identifies this request in a cassette, repeat excluded
    cell: str  # cassette file below cassettes/, "<panel>/<task>/<protocol>/<cell>.jsonl"
    stage: str = ""  # which of the calls before the judging one, where a protocol makes several; "" judges


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the protocol read from one reply, one per criterion; `why` says what is wrong when not ok."""

    criterion: str
    score: float | None = None
    response: str | None = None
    status: Status = "ok"
    why: str = ""
    item: str | None = None  # where one reply judges several items (a generation's picks); None: the call's item
    stage: str = ""  # where it was an earlier call of the chain whose reply could not be used


# --------------------------------------------------------------------------- what is concluded


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

    @property
    def defined(self) -> bool:
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
        """The estimate as builtins, NaN as None: what pytest-xdist can carry and JSON can hold."""
        return {f.name: builtins(getattr(self, f.name)) for f in fields(self) if f.name != "distribution"}


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
        try:
            return self._estimates[tuple(subject[name] for name in self.by)]
        except KeyError:
            asked = ", ".join(f"{k}={v}" for k, v in subject.items())
            raise RecuseError(
                f"no estimate for {asked}; measured by ({', '.join(self.by)}): "
                + "; ".join(", ".join(key) for key in self._estimates)
            ) from None

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


def number(value: float) -> float | None:
    """A builtin float, None for NaN; what is 0 but for rounding becomes 0."""
    cleaned = round(float(value), 12)
    return None if math.isnan(cleaned) else cleaned + 0.0


def builtins(value: Any) -> Any:
    """The same value in builtins only, NaN as None."""
    if isinstance(value, Estimate):
        return value.record()
    if is_dataclass(value):
        return {f.name: builtins(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): builtins(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [builtins(v) for v in value]
    if hasattr(value, "item") and callable(value.item):  # a numpy scalar
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Verdicts corrected together: the members of one measurement that share the levels `within`."""

    name: str
    within: Mapping[str, str]  # {"names": "shown"}
    correction: str  # "holm", "bonferroni" or "none"
    members: int  # how many took part
    undefined: int = 0  # how many could not be measured, and took no part: no decision on them can be wrong

    def __str__(self) -> str:
        """ "self_bias, names shown"."""
        return ", ".join([self.name, *(f"{factor} {level}" for factor, level in self.within.items())])


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How a verdict was reached: as data, and as one sentence."""

    sentence: str  # "within [-0.5, +0.5]; the whole 99 % interval must lie inside (Holm over 5: self_bias)"
    decide: Literal["interval", "point"]
    level: float  # confidence level of the interval decided on, after correction
    limit_text: str  # "within [-0.5, +0.5] points, 5 % of the scale's range of 10"
    of_range: Mapping[str, Any] | None = None  # the limit as shares of the scale's range, where it is told so
    span: float | None = None  # that range, in the estimate's unit
    family: Family | None = None


RemedyKind = Literal[
    "outside",  # the value is outside the limit; `distance` says how far
    "straddles",  # the interval reaches across a bound; `needed` observations would decide
    "on the bound",  # the same, and no feasible number would
    "no interval",  # there is nothing to decide on
    "level unknown",  # the interval is known at a lower level than asked for
    "not measured",
    "beyond",  # outside what an accepted fault accepts as well
    "expired",  # the accepted fault is over
    "not needed",  # the accepted fault accepts what passes by itself
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
    needed: int | None = None  # about how many would decide, if the value stays; None where not known
    units: str = ""  # "repeats", "stories"


AcceptanceState = Literal["applied", "exceeded", "expired", "no longer needed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """The accepted fault that a verdict met, and what became of it."""

    accept: Mapping[str, Any]  # {"within": [-0.5, 0.9]}, {"outcome": ["undecided"]}, or both
    until: str  # ISO date, the last day
    reason: str
    state: AcceptanceState
    otherwise: Outcome  # what the numbers say by themselves


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a gate says of an estimate. Truthy when the run may stay green on its account."""

    gate: str
    label: str = ""  # what tables call the gate, where the file gives it a short name
    subject: Mapping[str, str]
    outcome: Outcome
    estimate: Estimate  # with the interval decided on
    rule: Rule
    limit: Mapping[str, Any]  # in the estimate's unit: {"within": [-0.5, 0.5]}, {"at_least": x} or {"at_most": x}
    reason: str  # why the limit is what it is
    remedy: Remedy | None = None  # None for a pass
    accepted_fault: Acceptance | None = None
    allowed: bool = False  # undecided, and the gate allows that
    blocks: bool = True  # whether a known fault of this kind bars the judge; a slip in its arithmetic does not

    def __bool__(self) -> bool:
        return self.outcome in ("pass", "accepted") or (self.outcome == "undecided" and self.allowed)

    def record(self) -> dict[str, Any]:
        """The verdict as builtins, NaN as None, one key per field: what pytest-xdist can carry and JSON can hold."""
        return {f.name: builtins(getattr(self, f.name)) for f in fields(self)}
