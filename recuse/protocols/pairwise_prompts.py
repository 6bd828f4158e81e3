"""Pairwise comparison in several ways over the same words: told that order, names and length must not matter
("plain"), not told so ("uninstructed"), and asked for the worse text in place of the better ("worse"); in both orders
(thesis "Investigating Bias in LLM Self-Evaluation", sec. 2.1.1, 2.2.1 and 5.1).

The response is the place of the better text in all of them: where the judge names the worse one, the other place.
"""

from __future__ import annotations

from collections.abc import Mapping

from recuse.protocols import grading_family, pairwise, reading, wording
from recuse.protocols.pairwise import CRITERION, facts, headline, items
from recuse.ratings.scale import Scale
from recuse.schema import Item, Judgement, Prompt, Reply
from recuse.tasks import Task

__all__ = ["FACTORS", "OFFERS", "REPEATS", "facts", "headline", "items", "prompt", "read", "scales"]

OFFERS = "prompted_choices"
FACTORS: Mapping[str, tuple[str, ...]] = {"prompt": ("plain", "uninstructed", "worse"), "order": ("ab", "ba")}
REPEATS = 1
LABELS = {"plain": "Winner", "uninstructed": "Winner", "worse": "Worse"}
OTHER = {"first": "second", "second": "first", "tie": "tie"}


def scales(task: Task) -> dict[str, Scale]:
    """The places, as in `pairwise`, and the tokens that a choice took."""
    return {**pairwise.scales(task), **grading_family.token_scale(CRITERION)}


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """Both texts in the order of the factors, asked in the way `factors["prompt"]` names, at temperature 0."""
    first, second = pairwise.names(factors)
    texts = [item.fields["texts"][side] for side in factors["order"]]
    words = wording.messages(
        task, "pairwise_prompts", task=task.data, prompt=factors["prompt"], story=item.fields["text"],
        first=texts[0], second=texts[1], first_label=first, second_label=second,
    )  # fmt: skip
    grammar = f'root ::= "{LABELS[factors["prompt"]]}: " ({pairwise.choices(factors)})'
    return Prompt(words, temperature=0.0, max_tokens=200, grammar=grammar)


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """One row, response = the place of the better text: where the worse one was asked for, the other place. The tokens
    of the call follow."""
    try:
        place = pairwise.chosen_place(reply, LABELS[factors["prompt"]], factors)
    except reading.Unreadable as failure:
        return reading.all_failed([CRITERION], failure)
    better = OTHER[place] if factors["prompt"] == "worse" else place
    return grading_family.with_tokens(Judgement(CRITERION, response=better), reply)
