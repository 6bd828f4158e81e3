"""Solving: a model answers each problem of a task once, its working on one line and a number on the last. Both become
rows: criteria "working" and "answer". Where the right number is known (field `solution`), that says what the model can
do (thesis "Investigating Bias in LLM Self-Evaluation", sec. 2.4)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from recuse.protocols import last_line, reading, wording
from recuse.protocols.text_generation import prompts
from recuse.schema import Item, Judge, Judgement, Prompt, Reply
from recuse.tasks import Task

OFFERS = "texts"
FACTORS: Mapping[str, tuple[str, ...]] = {}
REPEATS = 1
LABEL = "Answer"
PARTS = ("working", "answer")
LONGEST = 120  # characters of working that the grammar allows
TEMPERATURE = 0.7

GRAMMAR = f'root ::= [^\\n]{{5,{LONGEST}}} "\\n" "{LABEL}: " [0-9]{{1,6}}'


def items(task: Task, judge: Judge) -> Sequence[Item]:
    """One item a problem of the task folder (`prompts.jsonl`), with the judge as the target: it writes its own."""
    target = judge.author or judge.name
    return tuple(Item(task.name, name, target, fields) for name, fields in prompts(task.folder).items())


def headline(task: Task) -> tuple[str, ...]:
    """The working and the answer."""
    return PARTS


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    """The problem, for a line of working and a whole number."""
    words = wording.messages(task, "solving", task=task.data, **item.fields)
    return Prompt(words, temperature=TEMPERATURE, max_tokens=120, grammar=GRAMMAR)


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """Two rows: the working without the line of the answer, and the number as its digits. Without a number both
    fail."""
    try:
        given = number(last_line.verdict(reply, LABEL))
    except reading.Unreadable as failure:
        return reading.all_failed(PARTS, failure)
    working = " ".join(line for line in last_line.lines(reply.text) if not last_line.labelled(line, LABEL))
    return [Judgement("working", response=working), Judgement("answer", response=given)]


def number(given: str) -> str:
    """A whole number as its digits, "1,200" and "1200." read as 1200; `Unreadable` for anything else."""
    digits = re.sub(r"(?<=\d),(?=\d{3}\b)", "", given.strip().rstrip("."))
    if not re.fullmatch(r"-?[0-9]{1,9}", digits):
        raise reading.Unreadable("unparsed", f'"{LABEL}: {last_line.short(given)}" is not a whole number')
    return str(int(digits))
