"""Listwise comparison: which of three or more texts for the same item is best? In three rotations, so that
each text of a list of three stands first once, at temperature 0 (thesis "Investigating Bias in LLM Self-Evaluation",
sec. 1.2.2, note 3).

An item has `story` and `texts`, a list of objects with `target` and the task's text fields. The response is the target
of the text that was chosen; where the item says which one is best (`best`, a target), that is known to measures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recuse.protocols import grading_family, last_line, reading, wording
from recuse.ratings.scale import Nominal, Scale
from recuse.schema import Item, Judge, Judgement, Prompt, Reply
from recuse.tasks import Task

OFFERS = "list_choices"
FACTORS: Mapping[str, tuple[str, ...]] = {"rotation": ("1", "2", "3")}
REPEATS = 1
CRITERION = "best"
LABEL = "Best"
LETTERS = "ABCDEFGH"


def items(task: Task, judge: Judge) -> Sequence[Item]:
    """All items of the task, whoever judges."""
    return task.items


def headline(task: Task) -> tuple[str, ...]:
    """Which text is best; the tokens stand beside it."""
    return (CRITERION,)


def scales(task: Task) -> dict[str, Scale]:
    """The targets, without an order, and the tokens that a choice took."""
    return {CRITERION: Nominal(tuple(task.targets)), **grading_family.token_scale(CRITERION)}


def facts(task: Task, item: Item) -> dict[str, Any]:
    """Which target is known to be best (`true_best`), if any, and how many texts the list has."""
    known = {"true_best": item.fields["best"]} if "best" in item.fields else {}
    return {"cluster": item.id, "length": len(item.fields["texts"]), **known}


def shown(item: Item, factors: Mapping[str, str]) -> list[Mapping[str, str]]:
    """The texts in the order of this rotation."""
    texts, start = list(item.fields["texts"]), int(factors["rotation"]) - 1
    start %= len(texts)
    return texts[start:] + texts[:start]


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """The story and its texts by letter, in the order of `factors["rotation"]`, at temperature 0."""
    texts = shown(item, factors)
    words = wording.messages(
        task, "listwise", task=task.data, story=item.fields["story"], texts=texts, letters=LETTERS[: len(texts)]
    )
    choices = " | ".join(f'"{letter}"' for letter in LETTERS[: len(texts)])
    return Prompt(words, temperature=0.0, max_tokens=200, grammar=f'root ::= "{LABEL}: " ({choices})')


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """One row, response = the target whose letter was named, and the tokens of the call."""
    try:
        given = last_line.verdict(reply, LABEL).rstrip(".").upper()
    except reading.Unreadable as failure:
        return reading.all_failed([CRITERION], failure)
    texts = shown(item, factors)
    place = LETTERS[: len(texts)].find(given) if len(given) == 1 else -1
    if place < 0:
        why = f'"{LABEL}: {last_line.short(given)}" names none of the {len(texts)} texts'
        return [Judgement(CRITERION, status="unparsed", why=why)]
    return grading_family.with_tokens(Judgement(CRITERION, response=str(texts[place]["target"])), reply)
