"""Self-recognition of single texts: did you write this, yes or no? Asked of every judge about texts of every author,
its own among them, without the item they were written for (Panickssery, Bowman and Feng 2024, arXiv:2404.13076; thesis
"Investigating Bias in LLM Self-Evaluation", sec. 2.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recuse.protocols import last_line, wording
from recuse.ratings.scale import Ordinal, Scale
from recuse.schema import Item, Judge, Judgement, Prompt, Reply
from recuse.tasks import Task

OFFERS = "recognitions"
FACTORS: Mapping[str, tuple[str, ...]] = {}
REPEATS = 1
CRITERION = "mine"


def items(task: Task, judge: Judge) -> Sequence[Item]:
    """All items of the task, whoever judges."""
    return task.items


def headline(task: Task) -> tuple[str, ...]:
    """Whether the judge says that it wrote the text."""
    return (CRITERION,)


def scales(task: Task) -> dict[str, Scale]:
    """ "no" before "yes"."""
    return {CRITERION: Ordinal(("no", "yes"))}


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """The text, at temperature 0."""
    words = wording.messages(task, "self_recognition", task=task.data, **item.fields)
    return Prompt(words, temperature=0.0, max_tokens=200, grammar=last_line.YES_OR_NO)


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """One row, response = "yes" or "no"."""
    return [last_line.yes_or_no(reply, CRITERION)]
