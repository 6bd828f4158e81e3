"""Text generation: a model answers each writing prompt of a task once. The text becomes a row: criterion "response".

The prompts stand in `prompts.jsonl` of the task folder, one JSON object with an id a line; a template shows them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from recuse.protocols import reading, wording
from recuse.schema import Item, Judge, Judgement, Prompt, RecuseError, Reply
from recuse.tasks import Task

OFFERS = "texts"
FACTORS: Mapping[str, tuple[str, ...]] = {}
REPEATS = 1
CRITERION = "response"


def items(task: Task, judge: Judge) -> Sequence[Item]:
    """One item a writing prompt of the task folder (`prompts.jsonl`), with the judge as the target: it writes its
    own."""
    target = judge.author or judge.name
    return tuple(Item(task.name, name, target, fields) for name, fields in prompts(task.folder).items())


def headline(task: Task) -> tuple[str, ...]:
    """The text."""
    return (CRITERION,)


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """The writing prompt, at temperature 1, without a grammar."""
    words = wording.messages(task, "text_generation", task=task.data, **item.fields)
    return Prompt(words, temperature=1.0, max_tokens=90)


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """The text as it stands; one that the token limit cut is a text too, and says so by breaking off."""
    try:
        text = reading.answered(reply).strip()
    except reading.Unreadable as failure:
        return reading.all_failed([CRITERION], failure)
    if not text:
        return [Judgement(CRITERION, status="unparsed", why="the reply is empty")]
    return [Judgement(CRITERION, response=text)]


@lru_cache
def prompts(folder: Path) -> Mapping[str, Mapping[str, Any]]:
    """Prompt id -> its other fields, from prompts.jsonl of the task folder."""
    path = folder / "prompts.jsonl"
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]
        return {row["id"]: {name: value for name, value in row.items() if name != "id"} for row in rows}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecuseError(
            f"{path}: not a list of prompts, one JSON object with an id a line ({type(error).__name__}: {error})"
        ) from None
