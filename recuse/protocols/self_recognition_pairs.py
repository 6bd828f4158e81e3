"""Self-recognition in pairs: which of these two texts did you write? In both orders, on the pairs of `pairwise`, so
that a judge is asked about pairs with a text of its own and, as a yardstick, about pairs without one (Panickssery,
Bowman and Feng 2024, arXiv:2404.13076; thesis "Investigating Bias in LLM Self-Evaluation", sec. 2.4). The response is a
place, "first" or "second"."""

from __future__ import annotations

from collections.abc import Mapping

from recuse.protocols import last_line, pairwise, reading, wording
from recuse.protocols.pairwise import facts, items
from recuse.ratings.scale import Nominal, Scale
from recuse.schema import Item, Judgement, Prompt, Reply
from recuse.tasks import Task

__all__ = ["FACTORS", "OFFERS", "REPEATS", "facts", "headline", "items", "prompt", "read", "scales"]

OFFERS = "recognition_choices"
FACTORS: Mapping[str, tuple[str, ...]] = {"order": ("ab", "ba")}
REPEATS = 1
CRITERION = "mine"
LABEL = "Mine"


def headline(task: Task) -> tuple[str, ...]:
    """Which text the judge says that it wrote."""
    return (CRITERION,)


def scales(task: Task) -> dict[str, Scale]:
    """The places, without an order: "first" and "second"; there is no tie."""
    return {CRITERION: Nominal(("first", "second"))}


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """Both texts in the order of the factors, without the story, at temperature 0."""
    first, second = pairwise.names(factors)
    texts = [item.fields["texts"][side] for side in factors["order"]]
    words = wording.messages(
        task, "self_recognition_pairs", task=task.data,
        first=texts[0], second=texts[1], first_label=first, second_label=second,
    )  # fmt: skip
    grammar = f'root ::= "{LABEL}: " ("{first}" | "{second}")'
    return Prompt(words, temperature=0.0, max_tokens=200, grammar=grammar)


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """One row, response = the place of the text that was named: "first" or "second"."""
    try:
        given = last_line.verdict(reply, LABEL)
    except reading.Unreadable as failure:
        return reading.all_failed([CRITERION], failure)
    first, second = pairwise.names(factors)
    place = {first.lower(): "first", second.lower(): "second"}.get(given.rstrip(".").lower())
    if place is None:
        why = f'"{LABEL}: {last_line.short(given)}" is neither {first} nor {second}'
        return [Judgement(CRITERION, status="unparsed", why=why)]
    return [Judgement(CRITERION, response=place)]
