"""Response set: all options that are reasonable, at temperature 1, asked ten times: how often each set is chosen is the
judge's response-set distribution of an item (Guerdan et al., "Validating LLM-as-a-Judge Systems in the Absence of Gold
Labels", sec. 2). Asked of the same tasks as `forced_choice`.

The response is a set, its options joined by bars in the task's order: "toxic|not toxic". An empty set is not
admissible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recuse.protocols import forced_choice, reading
from recuse.protocols.forced_choice import (
    FACTORS,
    REPEATS,
    SEEDED,
    TEMPERATURE,
    chosen_options,
    criterion_of,
    items,
    options_of,
    quoted,
)
from recuse.ratings.scale import ResponseSets, Scale
from recuse.schema import Item, Judgement, Prompt, Reply
from recuse.tasks import Task

__all__ = ["FACTORS", "OFFERS", "REPEATS", "SEEDED", "items", "prompt", "read", "scales"]

OFFERS = "response_sets"


def scales(task: Task) -> dict[str, Scale]:
    """Sets over the options of the task's criterion."""
    return {criterion_of(task): ResponseSets(options_of(task))}


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """Item and options, for one or more of these; the same for every repeat."""
    words = forced_choice.question("response_set", task, item)
    return Prompt(words, temperature=TEMPERATURE, max_tokens=40, grammar=grammar(options_of(task)))


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """One row, response = the set, as "a|b" in the task's order."""
    criterion, scale = criterion_of(task), ResponseSets(options_of(task))
    try:
        chosen = chosen_options(reply, scale.options)
    except reading.Unreadable as failure:
        return reading.all_failed([criterion], failure)
    return [Judgement(criterion, response=scale.written(chosen))]


def grammar(options: Sequence[str]) -> str:
    """Of a reply that names one or more options, each at most once and in the order of `options`: from the k-th on, the
    k-th and perhaps later ones, or later ones alone."""
    last = len(options) - 1
    rules = ["root ::= from0"]
    for k, option in enumerate(map(quoted, options)):
        rules.append(f"from{k} ::= {option}" + (f' (", " from{k + 1})? | from{k + 1}' if k < last else ""))
    return "\n".join(rules)
