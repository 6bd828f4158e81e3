"""Pairwise comparison in several ways over the same words: told that order, names and length must not matter
("plain"), not told so ("uninstructed"), and asked for the worse text in place of the better ("worse"); in both orders
(thesis "Investigating Bias in LLM Self-Evaluation", sec. 2.1.1, 2.2.1 and 5.1).

The response is the place of the better text in all of them: where the judge names the worse one, the other place.
"""

from __future__ import annotations

from collections.abc import Mapping

from recuse.protocols import grading_family, last_line, pairwise, reading, wording
from recuse.protocols.pairwise import CRITERION, facts, headline, items
from recuse.ratings.scale import Numeric, Scale
from recuse.schema import Item, Judgement, Prompt, Reply
from recuse.tasks import Task

__all__ = ["FACTORS", "OFFERS", "REPEATS", "facts", "headline", "items", "prompt", "read", "scales"]

OFFERS = "prompted_choices"
FACTORS: Mapping[str, tuple[str, ...]] = {"prompt": ("plain", "uninstructed", "worse"), "order": ("ab", "ba")}
REPEATS = 1
LABELS = {"plain": "Winner", "uninstructed": "Winner", "worse": "Worse"}
OTHER = {"first": "second", "second": "first", "tie": "tie"}


def scales(task: Task) -> dict[str, Scale]:
    return {**pairwise.scales(task), f"{CRITERION}.{grading_family.TOKENS}": Numeric(0.0, 1e6, unit="tokens")}


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    first, second = pairwise.names(factors)
    texts = [item.fields["texts"][side] for side in factors["order"]]
    words = wording.messages(
        task, "pairwise_prompts", task=task.data, prompt=factors["prompt"], story=item.fields["text"],
        first=texts[0], second=texts[1], first_label=first, second_label=second,
    )  # fmt: skip
    grammar = f'root ::= "{LABELS[factors["prompt"]]}: " ({pairwise.choices(factors)})'
    return Prompt(words, temperature=0.0, max_tokens=200, grammar=grammar)


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    label = LABELS[factors["prompt"]]
    try:
        given = last_line.verdict(reply, label)
    except reading.Unreadable as failure:
        return reading.all_failed([CRITERION], failure)
    first, second = pairwise.names(factors)
    places = {first.lower(): "first", second.lower(): "second", "tie": "tie"}
    place = places.get(given.rstrip(".").lower())
    if place is None:
        why = f'"{label}: {last_line.short(given)}" is none of {first}, {second}, tie'
        return [Judgement(CRITERION, status="unparsed", why=why)]
    better = OTHER[place] if factors["prompt"] == "worse" else place
    return grading_family.with_tokens(Judgement(CRITERION, response=better), reply)
