"""Grading: one whole number for one text, on a scale that runs up ("positive": the highest number is the best grade) or
down ("negative": the same grades in reverse order), at temperature 0 (thesis "Investigating Bias in LLM
Self-Evaluation", sec. 3.2).

The score is the digit as written; whoever compares framings converts. Where the server gives log-probabilities, two
more rows say how the digit came about: "<criterion>.expected", the grades weighted by their probabilities (G-Eval's
formula, thesis eq. 2, renormalised over the grades), and "<criterion>.mass", the probability that all grades together
had; "<criterion>.perplexity" is that of the whole verdict.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from recuse.protocols import last_line, reading, wording
from recuse.protocols.headline_generation import perplexity
from recuse.schema import Item, Judge, Judgement, Prompt, Reply
from recuse.tasks import Task

FACTORS: Mapping[str, tuple[str, ...]] = {"framing": ("positive", "negative")}
REPEATS = 1
WORDING = "grading"
LABEL = "Rating"


def items(task: Task, judge: Judge) -> Sequence[Item]:
    return task.items


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    words = wording.messages(task.folder, WORDING, task=task.data, framing=factors["framing"], **item.fields)
    grammar = f'root ::= "{LABEL}: " ({" | ".join(f'"{grade}"' for grade in grades(task))})'
    return Prompt(words, temperature=0.0, max_tokens=200, top_logprobs=10, grammar=grammar)


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    (criterion,) = task.criteria
    try:
        given = last_line.verdict(reply, LABEL)
    except reading.Unreadable as failure:
        return reading.all_failed([criterion], failure)
    grade = _grade(given, criterion, task)
    return [grade, *_probabilities(reply, grade, grades(task))] if grade.status == "ok" else [grade]


def grades(task: Task) -> list[str]:
    """The whole numbers of the scale, as a judge writes them."""
    low, high = task.scale
    return [str(number) for number in range(math.ceil(low), math.floor(high) + 1)]


def _grade(given: str, criterion: str, task: Task) -> Judgement:
    if not re.fullmatch(r"[-+]?[0-9]{1,9}(?:\.[0-9]{1,9})?\.?", given):
        why = f'"{LABEL}: {last_line.short(given)}" is not a whole number'
        return Judgement(criterion, status="unparsed", why=why)
    number = float(given)
    if number != round(number):
        return Judgement(criterion, status="out_of_scale", why=f"{criterion} is {number:g}, not a whole number")
    return reading.score(number, criterion, task.scale)


def _probabilities(reply: Reply, grade: Judgement, known: Sequence[str]) -> list[Judgement]:
    """Rows on the position at which the digit was written; none without log-probabilities."""
    if not reply.tokens or not reply.logprobs:
        return []
    places = [at for at, (token, _) in enumerate(reply.tokens) if token.strip() == f"{grade.score:g}"]
    if not places:
        return []
    there = reply.logprobs[places[-1]]
    weights = {g: math.fsum(math.exp(lp) for token, lp in there.items() if token.strip() == g) for g in known}
    mass, name = math.fsum(weights.values()), grade.criterion
    if mass > 0:
        expected = math.fsum(float(g) * weight for g, weight in weights.items()) / mass
        row = Judgement(f"{name}.expected", score=expected)
    else:
        row = Judgement(f"{name}.expected", status="unparsed", why="no grade is among the recorded likeliest tokens")
    return [
        row,
        Judgement(f"{name}.mass", score=mass),
        Judgement(f"{name}.perplexity", score=perplexity(reply.tokens)),
    ]
