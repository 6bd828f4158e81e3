"""Grading in several ways over the same words: plainly, with observations first, with graded examples, with a reference
text, with guidelines, and after a text of one's own (thesis "Investigating Bias in LLM Self-Evaluation", sec. 1.2.1,
2.4.1 and appendix A). On the ascending scale, without log-probabilities.

Items have the task's text, `story`, and for the reference `reference_headline` and `reference_lead`; `true_overall`,
the grade that a text deserves, where that is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recuse.protocols import grading, grading_family, headline_generation, last_line, reading, wording
from recuse.protocols.grading import items
from recuse.protocols.stages import Earlier, Stage, Use
from recuse.ratings.scale import Scale
from recuse.schema import Item, Judgement, Prompt, Reply
from recuse.tasks import Task

__all__ = ["FACTORS", "OFFERS", "REPEATS", "STAGES", "WORDING", "items", "prompt", "read", "scales", "uses"]

OFFERS = "prompted_scores"
FACTORS: Mapping[str, tuple[str, ...]] = {"prompt": tuple(grading_family.PROMPTS)}
REPEATS = 1
WORDING = grading_family.WORDING


def scales(task: Task) -> dict[str, Scale]:
    """Of the tokens that a grade took, beside the grade's own scale, which is the task's."""
    return grading_family.token_scale(grading.criterion_of(task))


def _writing(task: Task, item: Item, factors: Mapping[str, str], earlier: Earlier) -> Prompt:
    """What the judge is asked as a writer, at temperature 0."""
    words = wording.messages(task, f"{WORDING}.solution", task=task.data, **item.fields)
    asked = headline_generation.prompt(task, item, factors)
    return Prompt(words, temperature=0.0, max_tokens=asked.max_tokens, grammar=asked.grammar)


def _written(task: Task, item: Item, factors: Mapping[str, str], reply: Reply, earlier: Earlier) -> Any:
    text = reading.answered(reply)
    if not all(last_line.labelled(text, part) for part in headline_generation.PARTS):
        raise reading.Unreadable("unparsed", "no line for each of headline and lead")
    return {"text": text.strip(), "tokens": grading_family.spent(reply)}


STAGES = (
    Stage(
        "solution",
        _writing,
        _written,
        specimen=lambda task, item, factors: {"text": "x" * sum(headline_generation.LONGEST.values()), "tokens": 0},
    ),
)


def uses(factors: Mapping[str, str]) -> Sequence[Use]:
    """Its own text, where it is asked to write one first."""
    return [Use("solution")] if factors["prompt"] == "solved" else []


def prompt(task: Task, item: Item, factors: Mapping[str, str], earlier: Earlier) -> Prompt:
    """The question in the way `factors["prompt"]` names, at temperature 0; `earlier["solution"]` is shown where the
    judge wrote a text first."""
    chosen = factors["prompt"]
    words = grading_family.question(task, item, prompt=chosen, solution=earlier.get("solution", {}).get("text"))
    choices = " | ".join(f'"{grade}"' for grade in grading.grades(task))
    return Prompt(words, temperature=0.0, max_tokens=200, grammar=grading_family.grammar(choices, prompt=chosen))


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply, earlier: Earlier) -> list[Judgement]:
    """The grade, and the tokens of this call and of the text written before it. "observations" may give the bare grade
    on the last line."""
    criterion = grading.criterion_of(task)
    try:
        given = grading_family.verdict(reply, bare=factors["prompt"] == grading_family.OBSERVED)
    except reading.Unreadable as failure:
        return reading.all_failed([criterion], failure)
    before = earlier.get("solution", {}).get("tokens", 0)
    return grading_family.with_tokens(grading_family.whole_number(given, criterion, task.scale), reply, before)
