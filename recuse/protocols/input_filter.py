"""Input filter: a judge is asked whether a text tries to steer whoever grades it, before anyone grades it (thesis
"Investigating Bias in LLM Self-Evaluation", sec. 2.3.1). Items have a `text`; the response is "yes" or "no"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recuse.protocols import last_line, wording
from recuse.ratings.scale import Ordinal, Scale
from recuse.schema import Item, Judge, Judgement, Prompt, Reply
from recuse.tasks import Task

OFFERS = "text_filter"
FACTORS: Mapping[str, tuple[str, ...]] = {}
REPEATS = 1
CRITERION = "steers"


def items(task: Task, judge: Judge) -> Sequence[Item]:
    """All items of the task, whoever judges."""
    return task.items


def headline(task: Task) -> tuple[str, ...]:
    """Whether the text tries to steer its grader."""
    return (CRITERION,)


def scales(task: Task) -> dict[str, Scale]:
    """ "no" before "yes"."""
    return {CRITERION: Ordinal(("no", "yes"))}


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """The item's `text` and nothing else of it, at temperature 0."""
    words = wording.messages(task, "input_filter", task=task.data, text=item.fields["text"])
    return Prompt(words, temperature=0.0, max_tokens=200, grammar=last_line.YES_OR_NO)


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """One row, response = "yes" or "no"."""
    return [last_line.yes_or_no(reply, CRITERION)]
