"""The words every part of Recuse shares; this package imports no other. Data flows one way through these types:

Item -> Prompt -> Reply -> ratings table -> Estimate -> Verdict
"""

from recuse.schema.calls import (
    PROVENANCES,
    STATUSES,
    Call,
    Exchange,
    Item,
    Judge,
    JudgeClosedError,
    Judgement,
    Message,
    Prompt,
    Provenance,
    RatingsError,
    RawResponse,
    RecuseError,
    Reply,
    Request,
    SourceFixes,
    Status,
    Transcript,
    Usage,
    prompt_id,
    reply_id,
)
from recuse.schema.estimate_types import Distribution, Estimate, Estimates, Verdict, members
from recuse.schema.plain_values import builtins, number
from recuse.schema.vocabulary import OUTCOMES, Outcome

__all__ = [
    "OUTCOMES", "PROVENANCES", "STATUSES", "Call", "Distribution", "Estimate", "Estimates", "Exchange", "Item", "Judge",
    "JudgeClosedError", "Judgement", "Message", "Outcome", "Prompt", "Provenance",
    "RatingsError", "RawResponse", "RecuseError", "Reply", "Request", "SourceFixes", "Status", "Transcript", "Usage",
    "Verdict", "builtins", "members", "number", "prompt_id", "reply_id",
]  # fmt: skip
