"""Rubric scoring as the merchant-risk paper's prompt words it (App. C): one call in which the judge is asked to perform
ten runs in its head and to report mean and standard deviation itself. The rows carry what was reported, not what was
sampled: criteria "<id>.mean", "<id>.sd", "final.mean", "final.sd"."""

from __future__ import annotations

from collections.abc import Mapping

from recuse.protocols import reading, rubric, wording
from recuse.ratings import Numeric
from recuse.schema import Item, Judgement, Prompt, Reply
from recuse.tasks import Task

OFFERS = "claimed_statistics"
FACTORS = rubric.FACTORS
FACTOR_NAMES = rubric.FACTOR_NAMES
REPEATS = 1
FINAL = "final"

items = rubric.items


def headline(task: Task) -> tuple[str, ...]:
    """The mean that the judge claims for its total."""
    return (f"{FINAL}.mean",)


def scales(task: Task) -> dict[str, Numeric]:
    """Of every claimed mean the task's scale, of every claimed SD what fits into it."""
    low, high = task.scale
    claimed = {"mean": Numeric(low, high), "sd": Numeric(0.0, high - low)}
    return {f"{name}.{of}": scale for of, scale in claimed.items() for name in (*task.criteria, FINAL)}


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """The text under its author's name or label (`factors["condition"]`), ten runs in one reply, at temperature 0.7."""
    label = rubric.author_label(task, item.target, factors["condition"])
    words = wording.messages(task, "rubric_self_reported", task=task.data, author_label=label, **item.fields)
    return Prompt(words, temperature=0.7, max_tokens=1500)


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """Two rows per criterion and for the total, ".mean" and ".sd", as claimed. An SD above the width of the scale is
    out of scale."""
    claimed = {f"{name}.{of}": (name, of) for name in (*task.criteria, FINAL) for of in ("mean", "sd")}
    try:
        answer = reading.json_value(reply, dict)
    except reading.Unreadable as failure:
        return reading.all_failed(claimed, failure)
    rows, on = [], scales(task)
    for criterion, (name, of) in claimed.items():
        try:
            value = reading.member(reading.member(answer, name, name), of, criterion)
            rows.append(reading.score(value, criterion, on[criterion].ends))
        except reading.Unreadable as failure:
            rows += reading.all_failed([criterion], failure)
    return rows
