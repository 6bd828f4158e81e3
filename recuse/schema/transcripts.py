"""What was asked and said, word for word: for people to read, never measured again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recuse.schema.calls import Call, Exchange, Prompt

__all__ = ["Transcript", "prompt_id", "reply_id"]


@dataclass(frozen=True)
class Transcript:
    """Every call of one panel, task and protocol, in the order in which they were made. `levels`: factor levels of a
    call -> the same in plain words; `labels`: judge -> what it is called; `candidate`: whose upgrade is asked about."""

    panel: str
    task: str
    protocol: str
    candidate: str
    provenance: str
    labels: Mapping[str, str]
    levels: Mapping[tuple[tuple[str, str], ...], str]
    exchanges: Sequence[Exchange]


def reply_id(call: Call) -> str:
    """Of a reply, among those of its judge: the same in every run, since it depends on what was asked about alone."""
    levels = [f"{factor}={level}" for factor, level in call.factors]
    return "r" + _short(call.stage, call.item, call.target, *levels, str(call.repeat))


def prompt_id(prompt: Prompt) -> str:
    """Of a prompt, by its words."""
    return "p" + _short(*(part for message in prompt.messages for part in (message.role, message.content)))


def _short(*words: str) -> str:
    return hashlib.blake2b("\0".join(words).encode("utf-8", "backslashreplace"), digest_size=6).hexdigest()
