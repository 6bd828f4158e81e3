"""Headline generation: a model writes a headline and a lead for each news story, once, at temperature 1.0 (thesis
"Investigating Bias in LLM Self-Evaluation", sec. 3). The two texts become rows: criteria "headline" and "lead",
response = the text. Where the server gives log-probabilities, "perplexity" is that of the model's own words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from recuse.protocols import log_probabilities, reading, wording
from recuse.protocols.last_line import labelled
from recuse.schema import Item, Judge, Judgement, Prompt, RecuseError, Reply
from recuse.tasks import Task

OFFERS = "texts"
FACTORS: Mapping[str, tuple[str, ...]] = {}
REPEATS = 1
PARTS = ("headline", "lead")
LONGEST = {"headline": 100, "lead": 320}
"""Characters that the grammar allows, well above the words asked for; without it nothing is cut."""


def items(task: Task, judge: Judge) -> Sequence[Item]:
    """One item a story of the task folder (`stories.jsonl`), with the judge as the target: it writes its own."""
    target = judge.author or judge.name
    return tuple(Item(task.name, name, target, {"story": text}) for name, text in stories(task.folder).items())


def headline(task: Task) -> tuple[str, ...]:
    """Headline and lead; perplexity stands beside them."""
    return PARTS


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """The story, at temperature 1, with the log-probability of every token written."""
    words = wording.messages(task, "headline_generation", task=task.data, **item.fields)
    return Prompt(words, temperature=1.0, max_tokens=240, top_logprobs=1, grammar=_grammar())


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """A row for the headline and one for the lead, response = the text; a lead that the token limit cut is unparsed. A
    row "perplexity" follows where the server gave log-probabilities."""
    try:
        text = reading.answered(reply)
    except reading.Unreadable as failure:
        return reading.all_failed(PARTS, failure)
    rows = [_part(text, part, cut=part == PARTS[-1] and reply.finish == "length") for part in PARTS]
    if reply.tokens:
        rows.append(log_probabilities.perplexity("perplexity", reply.tokens))
    return rows


@lru_cache
def stories(folder: Path) -> Mapping[str, str]:
    """Story id -> text, from stories.jsonl of the task folder."""
    path = folder / "stories.jsonl"
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]
        return {row["id"]: row["text"] for row in rows}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecuseError(
            f"{path}: not a list of stories, one JSON object with id and text a line ({type(error).__name__}: {error})"
        ) from None


def _part(text: str, part: str, cut: bool) -> Judgement:
    text_of_part = labelled(text, part)
    if len(text_of_part) != 1 or not text_of_part[0]:
        what = "an empty line" if len(text_of_part) == 1 else f"{len(text_of_part)} lines"
        return Judgement(part, status="unparsed", why=f'{what} "{part.capitalize()}: ...", one with words is wanted')
    if cut:
        return Judgement(part, status="unparsed", why="the token limit cut the reply")
    return Judgement(part, response=text_of_part[0])


def _grammar() -> str:
    lines = (f'"{part.capitalize()}: " [^\\n]{{1,{LONGEST[part]}}}' for part in PARTS)
    return "root ::= " + ' "\\n" '.join(lines)
