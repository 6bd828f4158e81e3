"""Rubric scoring: one call, one run; a score and one sentence per criterion, and the judge's own total.

Runs are independent calls at temperature 0.7, so the spread over runs is the judge's own (merchant-risk paper, sec. 3.1
and Algorithm 1). The factor `condition` shows the author's name or hides it behind a fixed label (sec. 3.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recuse.protocols import reading, wording
from recuse.schema import Item, Judge, Judgement, Prompt, RecuseError, Reply
from recuse.tasks import Task

FACTORS: Mapping[str, tuple[str, ...]] = {"condition": ("attributed", "anonymized")}
REPEATS = 10
TOTAL = "total"


def items(task: Task, judge: Judge) -> Sequence[Item]:
    return task.items


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    words = wording.messages(
        task.folder,
        "rubric",
        task=task.data,
        author_label=author_label(task, item.target, factors["condition"]),
        **item.fields,
    )
    return Prompt(words, temperature=0.7, max_tokens=700, schema=_schema(task))


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    criteria = (*task.criteria, TOTAL)
    try:
        answer = reading.json_value(reply, dict)
    except reading.Unreadable as failure:
        return reading.all_failed(criteria, failure)
    return [_one(answer, criterion, task.scale) for criterion in criteria]


def author_label(task: Task, target: str, condition: str) -> str:
    """How the prompt names the author: by its name, or by the fixed label that hides it."""
    key = "label" if condition == "attributed" else "anonymous"
    try:
        return str(task.targets[target][key])
    except KeyError:
        raise RecuseError(
            f"{task.folder / 'task.toml'}: target {target!r} has no {key!r}, by which condition {condition} names it"
        ) from None


def _one(answer: object, criterion: str, scale: tuple[float, float]) -> Judgement:
    try:
        value = reading.member(answer, criterion, criterion)
        if criterion != TOTAL:
            value = reading.member(value, "score", f"{criterion}.score")
    except reading.Unreadable as failure:
        return Judgement(criterion, status=failure.status, why=failure.why)
    return reading.score(value, criterion, scale)


def _schema(task: Task) -> dict[str, Any]:
    """The reply's JSON schema. Scores are an enumeration of the scale's steps: servers that enforce a schema by grammar
    enforce that, but not the bounds of a number."""
    steps = {"enum": _steps(task)}
    one = {
        "type": "object",
        "properties": {"score": steps, "why": {"type": "string", "maxLength": 160}},
        "required": ["score", "why"],
        "additionalProperties": False,
    }
    names = (*task.criteria, TOTAL)
    return {
        "type": "object",
        "properties": {name: steps if name == TOTAL else one for name in names},
        "required": list(names),
        "additionalProperties": False,
    }


def _steps(task: Task) -> list[int | float]:
    if "step" not in task.data["scale"]:
        raise RecuseError(f"{task.folder / 'task.toml'}: scale.step is required: it says which scores a judge may give")
    (low, high), step = task.scale, float(task.data["scale"]["step"])
    values = [round(low + i * step, 6) for i in range(round((high - low) / step) + 1)]
    return [int(v) if v == int(v) else v for v in values]
