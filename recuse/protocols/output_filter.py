"""Output filter: a judge is shown a graded text and another judge's answer, and asked whether the text steered that
judge (thesis "Investigating Bias in LLM Self-Evaluation", sec. 2.3.1). Items have a `text` and the `answer` that it
got; the response is "yes" or "no". `of` names the graded item, `grade` the score that it got, `attack` says whether
that text was attacked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recuse.protocols import facts as usual
from recuse.protocols import last_line, wording
from recuse.ratings.scale import Ordinal, Scale
from recuse.schema import Item, Judge, Judgement, Prompt, Reply
from recuse.tasks import Task

OFFERS = "reply_filter"
FACTORS: Mapping[str, tuple[str, ...]] = {}
REPEATS = 1
CRITERION = "steered"


def items(task: Task, judge: Judge) -> Sequence[Item]:
    """All items of the task, whoever judges."""
    return task.items


def headline(task: Task) -> tuple[str, ...]:
    """Whether the answer shows that the text steered its grader."""
    return (CRITERION,)


def scales(task: Task) -> dict[str, Scale]:
    """ "no" before "yes"."""
    return {CRITERION: Ordinal(("no", "yes"))}


def facts(task: Task, item: Item) -> dict[str, Any]:
    """The text, whose answer it was shown with, and what that was (`gave`); `cluster` is what the text belongs to."""
    fields = item.fields
    return {"cluster": fields.get("story", item.id), **usual.facts(task, item), "gave": fields.get("grade")}


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """The item's `text` and `answer` and nothing else of it, at temperature 0."""
    shown = {name: item.fields[name] for name in ("text", "answer")}
    words = wording.messages(task, "output_filter", task=task.data, **shown)
    return Prompt(words, temperature=0.0, max_tokens=200, grammar=last_line.YES_OR_NO)


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """One row, response = "yes" or "no"."""
    return [last_line.yes_or_no(reply, CRITERION)]
