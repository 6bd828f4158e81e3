"""Rubric scoring: one call, one run; a score and one sentence per criterion, and the judge's own total.

Runs are independent calls at temperature 0.7, so the spread over runs is the judge's own (merchant-risk paper, sec. 3.1
and Algorithm 1). The factor `condition` shows the author's name or hides it behind a fixed label (sec. 3.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from recuse.protocols import reading, wording
from recuse.ratings.scale import Numeric, Scale
from recuse.schema import Item, Judge, Judgement, Prompt, Reply
from recuse.tasks import Task

OFFERS = "scores"
FACTORS: Mapping[str, tuple[str, ...]] = {"condition": ("attributed", "anonymized")}
FACTOR_NAMES = {"condition": ("names", {"attributed": "shown", "anonymized": "hidden"})}
REPEATS = 10
_LACKING = object()
_asked = lru_cache(maxsize=16)(  # for the replies, which are thousands: each criterion, its scale, that of the task
    lambda task: [(name, task.scales.get(name), usual) for usual in [Numeric(*task.scale)] for name in scored(task)]
)


def headline(task: Task) -> tuple[str, ...]:
    """The judge's own total where the task has one, else all criteria."""
    return tuple(scales(task)) or task.criteria


def parts(task: Task) -> tuple[str, ...]:
    """The criteria of which the total claims to be the mean: all of them; none where one has a scale of its own, as
    Likert ratings of 1 to 3 for the parts and 1 to 5 for the whole."""
    own = any(not isinstance(scale, Numeric) or scale.ends != task.scale for scale in task.scales.values())
    return () if own or not scales(task) else task.criteria


def scales(task: Task) -> dict[str, Scale]:
    """Of the judge's own total (`criteria_total` of task.toml), no criterion of the task: the task's range and step."""
    whole = task.data.get("criteria_total")
    return {} if whole is None else {whole: Numeric(*task.scale, task.data["scale"].get("step"))}


def items(task: Task, judge: Judge) -> Sequence[Item]:
    """All items of the task, whoever judges."""
    return task.items


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """The text under its author's name or behind the fixed label (`factors["condition"]`), at temperature 0.7. The
    reply is an object with a score and a reason per criterion, and the total."""
    label = author_label(task, item.target, factors["condition"])
    words = wording.messages(task, "rubric", task=task.data, author_label=label, **item.fields)
    why = wording.text_schema(task, "why")
    each = {name: wording.object_schema({"score": as_steps(scale), "why": why}) for name, scale in task.scales.items()}
    # a total is a mean of scores and falls between their steps, which servers that enforce a schema by grammar need all
    # the same: they know no bounds of a number
    totals = scales(task).items()
    free, stepped = (
        wording.object_schema(each | {n: of(scale) for n, scale in totals}) for of in (as_number, as_steps)
    )
    return Prompt(words, temperature=0.7, max_tokens=700, schema=free, grammar_schema=stepped)


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """A row per criterion and one for the total, each with its score or why it has none."""
    try:
        answer = reading.json_value(reply, dict)
    except reading.Unreadable as failure:
        return reading.all_failed(scored(task), failure)
    return [one_score(answer, name, scale, usual) for name, scale, usual in _asked(task)]


def explanations(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """The reason that a reply gives for each score: response = its words; nothing where there are none."""
    try:
        answer = reading.json_value(reply, dict)
    except reading.Unreadable:
        return []
    whys = {name: part.get("why") for name in task.criteria if isinstance(part := answer.get(name), dict)}
    return [Judgement(name, response=why) for name, why in whys.items() if isinstance(why, str)]


def author_label(task: Task, target: str, condition: str) -> str:
    """How the prompt names the author: by its name, or by the fixed label that hides it."""
    about = task.targets[target]
    if condition == "attributed":
        return str(about.get("label", target))
    return str(about.get("anonymous", f"Author {list(task.targets).index(target) + 1}"))


def scored(task: Task) -> tuple[str, ...]:
    """The criteria of the task, and its total if it has one."""
    whole = task.data.get("criteria_total")
    return task.criteria if whole is None else (*task.criteria, whole)


def one_score(answer: object, criterion: str, scale: Scale | None, usual: Numeric) -> Judgement:
    """One criterion's score, with a reason beside it or bare; the total, which has no scale of its own, is bare."""
    value, part = answer.get(criterion, _LACKING) if isinstance(answer, dict) else _LACKING, ""
    if scale is not None and isinstance(value, dict):
        value, part = value.get("score", _LACKING), ".score"
    if value is _LACKING:
        return Judgement(criterion, status="unparsed", why=f"the reply lacks {criterion}{part}")
    own = usual if scale is None else scale
    if isinstance(own, Numeric):
        return reading.score(value, criterion, own.ends, own.step)
    return reading.option(value, criterion, own.options)


def as_number(scale: Scale) -> dict[str, Any]:
    """JSON schema of any number of a scale."""
    assert isinstance(scale, Numeric)  # the total's scale is made of two numbers
    return {"type": "number", "minimum": scale.minimum, "maximum": scale.maximum}


@cache  # for the prompts of a task, which are thousands
def as_steps(scale: Scale) -> dict[str, Any]:
    """JSON schema of the values of a scale one by one; of a range, where it names no step."""
    if not isinstance(scale, Numeric):
        return {"enum": list(scale.options)}
    if scale.step is None:
        return as_number(scale)
    low, high, step = scale.minimum, scale.maximum, scale.step
    values = (round(low + i * step, 6) for i in range(round((high - low) / step) + 1))
    return {"enum": [int(v) if v == int(v) else v for v in values]}
