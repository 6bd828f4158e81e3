"""Protocols: how a judge is asked, and how its words become rows. One file per protocol; add yours to PROTOCOLS, or
leave it in your own repository and name the module in the panel file: protocols = ["our_judges.one_word"].

A protocol never guesses: what cannot be read is a named failure (unparsed, refused, out_of_scale, error), no number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, cast

from recuse.extensions import named_module
from recuse.schema import Item, Judge, Judgement, Prompt, Reply

if TYPE_CHECKING:
    from recuse.tasks import Task

PROTOCOLS = (
    "generation",
    "rubric",
    "rubric_self_reported",
    "headline_generation",
    "grading",
    "grading_injected",
    "grading_segments",
    "pairwise",
    "pairwise_evidence",
    "pairwise_injected",
    "pairwise_length",
    "input_filter",
    "output_filter",
    "text_perplexity",
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
    needs = ("FACTORS", "REPEATS", "items", "prompt", "read")
    module = named_module(name, what="protocol", package=__name__, known=PROTOCOLS, needs=needs)
    return cast(ElicitationProtocol, module)


def template(name: str) -> str:
    """Under which name the task's prompts folder holds the protocol's wording: its own, without the package, unless the
    protocol asks with another one's words and says so (`WORDING`)."""
    return str(getattr(protocol(name), "WORDING", name.rpartition(".")[2]))
