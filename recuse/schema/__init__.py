"""The words every part of Recuse shares; this package imports no other. Data flows one way through these types:

Item -> Prompt -> Reply -> ratings table -> Estimate -> Verdict

Here stand those of what is asked of a judge and what it answers, and of all of it word for word, for people to read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from recuse.schema.errors import JudgeClosedError, RatingsError, RecuseError
from recuse.schema.estimate_types import Distribution, Estimate, Estimates, Verdict, members
from recuse.schema.plain_values import builtins, number, value_type
from recuse.schema.vocabulary import OUTCOMES, Outcome

__all__ = [
    "OUTCOMES", "PROVENANCES", "STATUSES", "Call", "Distribution", "Estimate", "Estimates", "Exchange", "Item", "Judge",
    "JudgeClosedError", "Judgement", "Message", "Outcome", "Prompt", "Provenance",
    "RatingsError", "RawResponse", "RecuseError", "Reply", "Request", "SourceFixes", "Status", "Transcript", "Usage",
    "Verdict", "builtins", "members", "number", "prompt_id", "reply_id",
]  # fmt: skip

Status = Literal["ok", "unparsed", "refused", "out_of_scale", "error"]
STATUSES: tuple[Status, ...] = ("ok", "unparsed", "refused", "out_of_scale", "error")
"""What became of a judgement. Where an earlier call of a chain failed, its stage stands before: "rubric: unparsed"."""
Provenance = Literal["recorded", "reconstructed", "scripted", "imported"]
PROVENANCES: tuple[Provenance, ...] = ("recorded", "reconstructed", "scripted", "imported")
SourceFixes = Literal["margins", "cells", "pairs"]
"""Which joint distributions the source of a panel fixes; see `recuse.panels`."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to be judged: `fields` are what a prompt template may show of it."""

    task: str
    id: str
    target: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt."""

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


@value_type
class Request:
    """One HTTP request as it goes out, without its secrets. `body` is canonical JSON but for the order of
    a schema's members, which is the order in which a judge writes its reply."""

    url: str
    body: bytes
    method: str = "POST"


@value_type
class RawResponse:
    """What came back over HTTP, or out of a cassette: the same bytes either way. `seconds`: how long it took when it
    was recorded, where that was measured."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float | None = field(default=None, compare=False)


@value_type
class Usage:
    """Tokens as the provider counts them. `output_tokens` is all that is billed as output, reasoning included;
    `reasoning_tokens` says how many of them were reasoning. Unknown is None, never 0."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None


@value_type
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


@value_type
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
    prompt: Prompt | None = field(default=None, compare=False, repr=False)  # what the request says, in any wire format


@value_type
class Judgement:
    """What the protocol read from one reply, one per criterion; `why` says what is wrong when not ok."""

    criterion: str
    score: float | None = None
    response: str | None = None
    status: Status = "ok"
    why: str = ""
    item: str | None = None  # where one reply judges several items (a generation's picks); None: the call's item
    target: str | None = None  # where one call judges the texts of several; None: the call's target
    stage: str = ""  # where it was an earlier call of the chain whose reply could not be used


@value_type
class Exchange:
    """One call as it went: what was asked, what came back, and what the protocol read in it (nothing where the reply
    is one that a later prompt was made from)."""

    call: Call
    reply: Reply
    judgements: Sequence[Judgement]


@dataclass(frozen=True)
class Transcript:
    """Every call of one panel, task and protocol, in the order in which they were made. `levels`: factor levels of a
    call -> the same in plain words; `labels`: judge -> what it is called; `candidate`: whose upgrade is asked about.
    `people`: (item, target) -> what people said of it, item "" where only a mean per target is known; `headline`: the
    criteria that this is of."""

    panel: str
    task: str
    protocol: str
    candidate: str
    provenance: str
    labels: Mapping[str, str]
    levels: Mapping[tuple[tuple[str, str], ...], str]
    exchanges: Sequence[Exchange]
    people: Mapping[tuple[str, str], Sequence[float | str]] = field(default_factory=dict)
    headline: Sequence[str] = ()


def reply_id(call: Call) -> str:
    """Of a reply, among those of its judge: the same in every run, since it depends on what was asked about alone."""
    levels = [f"{factor}={level}" for factor, level in call.factors]
    return "r" + _short(call.stage, call.item, call.target, *levels, str(call.repeat))


def prompt_id(prompt: Prompt) -> str:
    """Of a prompt, by its words."""
    return "p" + _short(*(part for message in prompt.messages for part in (message.role, message.content)))


def _short(*words: str) -> str:
    return hashlib.blake2b("\0".join(words).encode("utf-8", "backslashreplace"), digest_size=6).hexdigest()
