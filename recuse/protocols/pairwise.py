"""Pairwise comparison: which of two texts is better, or neither, at temperature 0; the verdict on the last line.

Both orders of every pair are asked, under both ways to name the texts, so that a preference for a place ("first") can
be told from one for a letter ("A") and from one for a text. The response is a place: "first", "second" or "tie".

An item has `story` (its id) and `text` (its words), `a` and `b` (who meets: authors, or variants of one text), `texts`
(for a and b each headline and lead) and `words` (how many these have). Its target is the author of a.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recuse.protocols import last_line, reading, wording
from recuse.ratings.scale import Nominal, Scale
from recuse.schema import Item, Judge, Judgement, Message, Prompt, Reply
from recuse.tasks import Task

OFFERS = "choices"
FACTORS: Mapping[str, tuple[str, ...]] = {"order": ("ab", "ba"), "labels": ("plain", "swapped")}
REPEATS = 1
WORDING = "pairwise"
CRITERION = "winner"
LABEL = "Winner"


def items(task: Task, judge: Judge) -> Sequence[Item]:
    """All items of the task, whoever judges."""
    return task.items


def scales(task: Task) -> dict[str, Scale]:
    """The places, without an order: "first", "second", "tie"."""
    return {CRITERION: Nominal(("first", "second", "tie"))}


def headline(task: Task) -> tuple[str, ...]:
    """The winner."""
    return (CRITERION,)


def facts(task: Task, item: Item) -> dict[str, Any]:
    """Who meets whom: `a` and `b`, how many words each text has, and what the pair belongs to (`cluster`)."""
    fields = item.fields
    counted = {side: len(" ".join(map(str, text.values())).split()) for side, text in fields["texts"].items()}
    known = {name: fields[name] for name in ("clean", "attacked", "payload", "class") if name in fields}
    sizes = {f"words_{side}": fields.get("words", counted)[side] for side in ("a", "b")}
    return {"cluster": fields.get("story", item.id), "a": fields["a"], "b": fields["b"], **sizes, **known}


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """The story and both texts, in the order and under the names of the factors, at temperature 0."""
    grammar = f'root ::= "{LABEL}: " ({choices(factors)})'
    return Prompt(question(WORDING, task, item, factors), temperature=0.0, max_tokens=300, grammar=grammar)


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """One row, response = the place of the text that was named: "first", "second" or "tie"."""
    try:
        return [Judgement(CRITERION, response=chosen_place(reply, LABEL, factors))]
    except reading.Unreadable as failure:
        return reading.all_failed([CRITERION], failure)


def chosen_place(reply: Reply, label: str, factors: Mapping[str, str]) -> str:
    """Where the text stood that the last line names, "<label>: A": "first", "second" or "tie". Raises `Unreadable`."""
    given = last_line.verdict(reply, label)
    first, second = names(factors)
    place = {first.lower(): "first", second.lower(): "second", "tie": "tie"}.get(given.rstrip(".").lower())
    if place is None:
        why = f'"{label}: {last_line.short(given)}" is none of {first}, {second}, tie'
        raise reading.Unreadable("unparsed", why)
    return place


def names(factors: Mapping[str, str]) -> tuple[str, str]:
    """What the first and the second text are called."""
    return ("B", "A") if factors.get("labels") == "swapped" else ("A", "B")


def choices(factors: Mapping[str, str]) -> str:
    """The three verdicts as alternatives of a grammar."""
    return " | ".join(f'"{name}"' for name in (*names(factors), "tie"))


def question(words: str, task: Task, item: Item, factors: Mapping[str, str]) -> tuple[Message, ...]:
    """The messages of template `words`, with the pair in the order and under the names that the factors say."""
    first, second = names(factors)
    texts = [item.fields["texts"][side] for side in factors["order"]]
    return wording.messages(
        task,
        words,
        task=task.data,
        story=item.fields["text"],
        first=texts[0],
        second=texts[1],
        first_label=first,
        second_label=second,
    )
