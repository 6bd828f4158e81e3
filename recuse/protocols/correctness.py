"""Correctness: is this answer right, yes or no? Asked of every solver's answer, the judge's own among them, in several
ways over the same words: plainly, with observations first, with judged examples, with the right answer given, and after
a solution of its own (thesis "Investigating Bias in LLM Self-Evaluation", sec. 2.4 and 2.4.1).

Items have `problem`, `answer`, `solution` and `working` (what is right) and `true_right` (1 or 0).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recuse.protocols import grading_family, last_line, reading, solving, wording
from recuse.protocols.stages import Earlier, Stage, Use
from recuse.ratings.scale import Scale
from recuse.schema import Item, Judge, Judgement, Prompt, Reply
from recuse.tasks import Task

OFFERS = "prompted_verdicts"
FACTORS: Mapping[str, tuple[str, ...]] = {"prompt": ("plain", "observations", "examples", "reference", "solved")}
REPEATS = 1
LABEL = "Answer"
CHOICES = '"yes" | "no"'


def items(task: Task, judge: Judge) -> Sequence[Item]:
    """All items of the task, whoever judges."""
    return task.items


def scales(task: Task) -> dict[str, Scale]:
    """Of the tokens that a verdict took, beside the scale of the verdict itself, which is the task's."""
    return grading_family.token_scale(task.criteria[0])


def headline(task: Task) -> tuple[str, ...]:
    """The first criterion of the task, the one with the options yes and no."""
    return task.criteria[:1]


def _solving(task: Task, item: Item, factors: Mapping[str, str], earlier: Earlier) -> Prompt:
    words = wording.messages(task, "correctness.solution", task=task.data, **item.fields)
    return Prompt(words, temperature=0.0, max_tokens=120, grammar=solving.GRAMMAR)


def _solution(task: Task, item: Item, factors: Mapping[str, str], reply: Reply, earlier: Earlier) -> Any:
    number = solving.number(last_line.verdict(reply, solving.LABEL))
    lines = (line for line in last_line.lines(reply.text) if not last_line.labelled(line, solving.LABEL))
    return {"answer": f"{' '.join(lines)} Answer: {number}", "tokens": grading_family.spent(reply)}


STAGES = (
    Stage(
        "solution",
        _solving,
        _solution,
        specimen=lambda task, item, factors: {"answer": "x" * (solving.LONGEST + 16), "tokens": 0},
    ),
)


def uses(factors: Mapping[str, str]) -> Sequence[Use]:
    """Its own solution, where it is asked to solve first."""
    return [Use("solution")] if factors["prompt"] == "solved" else []


def prompt(task: Task, item: Item, factors: Mapping[str, str], earlier: Earlier) -> Prompt:
    """The question in the way `factors["prompt"]` names, at temperature 0; `earlier["solution"]` is shown where the
    judge solved the problem first."""
    chosen, own = factors["prompt"], earlier.get("solution", {}).get("answer")
    words = wording.messages(task, "correctness", task=task.data, prompt=chosen, own=own, **item.fields)
    grammar = grading_family.grammar(CHOICES, prompt=chosen, label=LABEL)
    return Prompt(words, temperature=0.0, max_tokens=200, grammar=grammar)


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply, earlier: Earlier) -> list[Judgement]:
    """One of the options of the criterion, and the tokens of the call and of the solution before it, where the server
    counts them. "observations" may give the bare option on the last line."""
    criterion = task.criteria[0]
    try:
        given = grading_family.verdict(reply, LABEL, bare=factors["prompt"] == grading_family.OBSERVED)
    except reading.Unreadable as failure:
        return reading.all_failed([criterion], failure)
    options = tuple(task.data["criterion"][0]["options"])
    before = earlier.get("solution", {}).get("tokens", 0)
    return grading_family.with_tokens(reading.option(given, criterion, options), reply, before)
