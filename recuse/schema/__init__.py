"""The words every part of Recuse shares: items, prompts, replies, estimates and verdicts.

This package imports no other part of Recuse. Data flows one way through these types:

    Item -> Prompt -> Reply -> ratings table -> Estimate -> Verdict
"""

from recuse.schema.builtin_values import builtins, number
from recuse.schema.calls import (
    PROVENANCES,
    STATUSES,
    Call,
    Exchange,
    Item,
    Judge,
    Judgement,
    Message,
    Prompt,
    Provenance,
    RawResponse,
    Reply,
    Request,
    SourceFixes,
    Status,
    Usage,
)
from recuse.schema.errors import JudgeClosedError, JudgeUnreachableError, RatingsError, RecuseError
from recuse.schema.estimates import NORMAL, Distribution, Estimate, Estimates, members
from recuse.schema.transcripts import Transcript, prompt_id, reply_id
from recuse.schema.verdicts import (
    OUTCOMES,
    Acceptance,
    AcceptanceState,
    Family,
    Outcome,
    Power,
    Remedy,
    RemedyKind,
    Rule,
    Verdict,
)

__all__ = [
    "NORMAL",
    "OUTCOMES",
    "PROVENANCES",
    "STATUSES",
    "Acceptance",
    "AcceptanceState",
    "Call",
    "Distribution",
    "Estimate",
    "Estimates",
    "Exchange",
    "Family",
    "Item",
    "Judge",
    "JudgeClosedError",
    "JudgeUnreachableError",
    "Judgement",
    "Message",
    "Outcome",
    "Power",
    "Prompt",
    "Provenance",
    "RatingsError",
    "RawResponse",
    "RecuseError",
    "Remedy",
    "RemedyKind",
    "Reply",
    "Request",
    "Rule",
    "SourceFixes",
    "Status",
    "Transcript",
    "Usage",
    "Verdict",
    "builtins",
    "members",
    "number",
    "prompt_id",
    "reply_id",
]
