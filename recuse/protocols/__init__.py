"""Protocols: how a judge is asked, and how its words become rows. One file per protocol; add yours to PROTOCOLS.

A protocol never guesses: what cannot be read is a named failure (unparsed, refused, out_of_scale, error), no number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from recuse.schema import Item, Judge, Judgement, Prompt, RecuseError, Reply

if TYPE_CHECKING:
    from recuse.tasks import Task

PROTOCOLS = (
    "generation",
    "rubric",
    "rubric_self_reported",
    "headline_generation",
    "grading",
    "grading_injected",
    "pairwise",
    "pairwise_evidence",
    "pairwise_length",
    "input_filter",
)


class ElicitationProtocol(Protocol):
    """What elicit.py needs to know of a protocol. A module with these names is one."""

    FACTORS: Mapping[str, tuple[str, ...]]  # what is varied on purpose: factor -> its levels, fully crossed
    REPEATS: int  # independent runs unless the panel says otherwise

    def items(self, task: Task, judge: Judge) -> Sequence[Item]:
        """What this judge is asked about."""

    def prompt(self, task: Task, item: Item, factors: Mapping[str, str]) -> Prompt: ...

    def read(self, task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
        """One judgement per wanted criterion, whatever the reply; what cannot be read carries a status and a why."""


def protocol(name: str) -> ElicitationProtocol:
    if name not in PROTOCOLS:
        raise RecuseError(f"unknown protocol {name!r}; known: {', '.join(PROTOCOLS)}")
    return cast(ElicitationProtocol, import_module(f"recuse.protocols.{name}"))


def template(name: str) -> str:
    """Under which name the task's prompts folder holds the protocol's wording: its own, unless the protocol asks with
    another one's words and says so (`WORDING`)."""
    return str(getattr(protocol(name), "WORDING", name))
