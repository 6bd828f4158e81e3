"""Grading from 0 to 100: the question of `grading_family`, with a scale of a hundred steps and no legend (thesis
"Investigating Bias in LLM Self-Evaluation", sec. 1.2.2). On the ascending scale, without log-probabilities."""

from __future__ import annotations

from collections.abc import Mapping

from recuse.protocols import grading, grading_family, reading
from recuse.protocols.grading import items
from recuse.ratings.scale import Numeric, Scale
from recuse.schema import Item, Judgement, Prompt, Reply
from recuse.tasks import Task

__all__ = ["FACTORS", "OFFERS", "REPEATS", "WORDING", "headline", "items", "prompt", "read", "scales"]

OFFERS = "hundred_scores"
FACTORS: Mapping[str, tuple[str, ...]] = {}
REPEATS = 1
WORDING = grading_family.WORDING
TOP = 100


def headline(task: Task) -> tuple[str, ...]:
    """A criterion of its own, "<criterion>.hundred": its numbers are on no scale of the task."""
    return (_criterion(task),)


def scales(task: Task) -> dict[str, Scale]:
    """Whole numbers from 0 to 100, and the tokens that a grade took."""
    return {_criterion(task): Numeric(0, TOP, 1), **grading_family.token_scale(_criterion(task))}


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """The bare question of the family with 100 as the highest number, at temperature 0."""
    words = grading_family.question(task, item, top=TOP)
    grammar = f'root ::= "{grading_family.LABEL}: " ("100" | [1-9] [0-9] | [0-9])'
    return Prompt(words, temperature=0.0, max_tokens=200, grammar=grammar)


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """The grade from 0 to 100, and the tokens of the call."""
    criterion = _criterion(task)
    try:
        judgement = grading_family.whole_number(grading_family.verdict(reply), criterion, (0, TOP))
    except reading.Unreadable as failure:
        return reading.all_failed([criterion], failure)
    return grading_family.with_tokens(judgement, reply)


def _criterion(task: Task) -> str:
    return f"{grading.criterion_of(task)}.hundred"
