"""Grading under two factors at once: the words (quality and accuracy, or badness and inaccuracy) and the direction of
the scale. The thesis's positive framing is quality on the ascending scale, its negative framing badness on the reversed
one; crossed, they say which of the two moves a judge ("Investigating Bias in LLM Self-Evaluation", sec. 3.2, app. A).
Without log-probabilities; the digit is read as written."""

from __future__ import annotations

from collections.abc import Mapping

from recuse.protocols import grading, grading_family, reading
from recuse.protocols.grading import items
from recuse.schema import Item, Judgement, Prompt, Reply
from recuse.tasks import Task

__all__ = ["FACTORS", "FACTOR_NAMES", "OFFERS", "REPEATS", "WORDING", "items", "prompt", "read"]

OFFERS = "worded_scores"
FACTORS: Mapping[str, tuple[str, ...]] = {"wording": ("quality", "badness"), "framing": ("positive", "negative")}
FACTOR_NAMES = {"framing": ("direction", {"positive": "ascending", "negative": "reversed"})}
REPEATS = 1
WORDING = grading_family.WORDING


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """The question in the words of `factors["wording"]` on the scale of `factors["framing"]`, at temperature 0."""
    words = grading_family.question(task, item, asked=factors["wording"], framing=factors["framing"])
    return Prompt(words, temperature=0.0, max_tokens=200, grammar=grading.grammar(task))


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """The grade as written, whatever words and direction."""
    criterion = grading.criterion_of(task)
    try:
        return [grading_family.whole_number(grading_family.verdict(reply), criterion, task.scale)]
    except reading.Unreadable as failure:
        return reading.all_failed([criterion], failure)
