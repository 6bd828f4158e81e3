"""Grading part by part: headline and lead are graded one by one, each without the other, on the positive scale at
temperature 0; whoever wants the text's grade averages (GEMBA: Kocmi and Federmann 2023, arXiv:2302.14520; thesis
"Investigating Bias in LLM Self-Evaluation", sec. 1.2.2). Items and reader are those of `grading`."""

from __future__ import annotations

from collections.abc import Mapping

from recuse.protocols import grading, wording
from recuse.protocols.grading import REPEATS, items, read, scales
from recuse.schema import Item, Prompt
from recuse.tasks import Task

__all__ = ["FACTORS", "OFFERS", "REPEATS", "items", "prompt", "read", "scales"]

OFFERS = "segment_scores"
FACTORS: Mapping[str, tuple[str, ...]] = {"segment": ("headline", "lead")}


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """The story and one of headline and lead (`factors["segment"]`), at temperature 0. `KeyError` for an item without
    it."""
    segment = factors["segment"]
    words = wording.messages(
        task,
        "grading_segments",
        task=task.data,
        story=item.fields["story"],
        segment=segment,
        text=item.fields[segment],
    )
    return Prompt(words, temperature=0.0, max_tokens=200, grammar=grading.grammar(task))
