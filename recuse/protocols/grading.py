"""Grading: one whole number for one text, on a scale that runs up ("positive": the highest number is the best grade) or
down ("negative": the same grades in reverse order), at temperature 0 (thesis "Investigating Bias in LLM
Self-Evaluation", sec. 3.2).

The score is the digit as written; whoever compares framings converts. Where the server gives log-probabilities, rows
"<criterion>.expected" and "<criterion>.mass" say how the digit came about.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from recuse.protocols import grading_family, last_line, log_probabilities, reading, wording
from recuse.ratings.scale import Numeric, Scale
from recuse.schema import Item, Judge, Judgement, Prompt, RecuseError, Reply
from recuse.tasks import Task

OFFERS = "scores"
FACTORS: Mapping[str, tuple[str, ...]] = {"framing": ("positive", "negative")}
FACTOR_NAMES = {"framing": ("direction", {"positive": "ascending", "negative": "reversed"})}
REPEATS = 1
WORDING = "grading"
LABEL = "Rating"


def items(task: Task, judge: Judge) -> Sequence[Item]:
    """All items of the task, whoever judges. `RecuseError` where the task has several criteria."""
    criterion_of(task)
    return task.items


def criterion_of(task: Task) -> str:
    """The one criterion; `RecuseError` where the task has several, before anything is asked."""
    if len(task.criteria) != 1:
        raise RecuseError(
            f"{task.folder / 'task.toml'}: protocol grading asks for one grade, and the task has the criteria "
            f"{', '.join(task.criteria)}; ask by the protocol rubric, or leave one criterion"
        )
    return task.criteria[0]


def scales(task: Task) -> dict[str, Scale]:
    """Of what log-probabilities say beside the grade: the expected grade, and the mass of all grades."""
    criterion = criterion_of(task)
    return {f"{criterion}.expected": Numeric(*task.scale), f"{criterion}.mass": Numeric(0.0, 1.0, unit="share")}


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """The text under the legend of `factors["framing"]`, at temperature 0, with the log-probabilities of the likeliest
    tokens."""
    words = wording.messages(task, WORDING, task=task.data, framing=factors["framing"], **item.fields)
    return Prompt(words, temperature=0.0, max_tokens=200, top_logprobs=10, grammar=grammar(task))


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """The grade as written, whatever the framing. Where it is on the scale and the server gave log-probabilities, rows
    ".expected" and ".mass" follow."""
    criterion = criterion_of(task)
    try:
        given = last_line.verdict(reply, LABEL)
    except reading.Unreadable as failure:
        return reading.all_failed([criterion], failure)
    grade = grading_family.whole_number(given, criterion, task.scale, LABEL)
    if grade.score is None:
        return [grade]
    return [grade, *log_probabilities.weighted(criterion, f"{grade.score:g}", grades(task), reply)]


def grammar(task: Task) -> str:
    """Of a reply that is a grade of the scale and nothing else."""
    choices = " | ".join(f'"{grade}"' for grade in grades(task))
    return f'root ::= "{LABEL}: " ({choices})'


def grades(task: Task) -> list[str]:
    """The whole numbers of the scale, as a judge writes them."""
    low, high = task.scale
    return [str(number) for number in range(math.ceil(low), math.floor(high) + 1)]
