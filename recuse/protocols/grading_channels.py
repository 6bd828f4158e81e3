"""Grading with the text inside the instructions, and in a message of its own: a separate data channel as a defence
against texts that talk to the judge (thesis "Investigating Bias in LLM Self-Evaluation", sec. 2.3.1, footnote 5). In
its own message, the last one, the text is JSON, so nothing in it can end the quotation.

Attacked texts and their clean twins are asked in both ways; an attacked item names its twin's id in its field `clean`,
the same target's. On the ascending scale, without log-probabilities.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from recuse.protocols import facts as usual
from recuse.protocols import grading, grading_family, reading, wording
from recuse.protocols.grading import items
from recuse.ratings.scale import Scale
from recuse.schema import Item, Judgement, Message, Prompt, Reply
from recuse.tasks import Task

__all__ = ["FACTORS", "OFFERS", "REPEATS", "facts", "items", "prompt", "read", "scales"]

OFFERS = "channelled_scores"
FACTORS: Mapping[str, tuple[str, ...]] = {"channel": ("inline", "separate")}
REPEATS = 1


def scales(task: Task) -> dict[str, Scale]:
    """Of the tokens that a grade took, beside the grade's own scale, which is the task's."""
    return grading_family.token_scale(grading.criterion_of(task))


def facts(task: Task, item: Item) -> dict[str, Any]:
    """The text, its payload if it carries one; its `cluster` is the clean twin's item."""
    return {"cluster": item.fields.get("clean", item.id), **usual.facts(task, item)}


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """Instructions and text in one message, or the text as JSON in a message of its own (`factors["channel"]`), at
    temperature 0."""
    asked, apart = _words(task, item, factors["channel"]), factors["channel"] == "separate"
    if apart:
        data = json.dumps({name: item.fields[name] for name in task.text}, ensure_ascii=False)
        asked = (*asked, Message("user", f"DATA\n{data}"))
    return Prompt(asked, temperature=0.0, max_tokens=200, grammar=grading.grammar(task))


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """The grade, and the tokens of the call."""
    criterion = grading.criterion_of(task)
    try:
        judgement = grading_family.whole_number(grading_family.verdict(reply), criterion, task.scale)
    except reading.Unreadable as failure:
        return reading.all_failed([criterion], failure)
    return grading_family.with_tokens(judgement, reply)


def _words(task: Task, item: Item, channel: str) -> tuple[Message, ...]:
    return wording.messages(task, "grading_channels", task=task.data, channel=channel, **item.fields)
