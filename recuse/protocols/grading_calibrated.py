"""AutoCalibrate: the judge infers criteria from labelled examples (draft), grades those examples by them (trial), is
shown where it was furthest off and amends them (refine); texts are then graded by the given criteria, by every draft
and by every refined one (Liu et al. 2023, arXiv:2309.13308; thesis "Investigating Bias in LLM Self-Evaluation", sec.
1.2.3). Which criteria are kept is for the measure to say, on texts other than those it is told by.

The labelled examples stand in `labelled.jsonl` of the task folder: the task's text fields, `facts` (what the text
should say) and `grade`. Items say in `fold` whether they may choose the criteria ("calibration") or test them
("held_out").
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from recuse.protocols import grading, grading_family, reading, wording
from recuse.protocols.grading import items
from recuse.protocols.stages import Earlier, Stage, Use
from recuse.ratings.scale import Scale
from recuse.schema import Item, Judgement, Message, Prompt, RecuseError, Reply
from recuse.tasks import Task

__all__ = ["FACTORS", "OFFERS", "REPEATS", "STAGES", "WORDING", "items", "prompt", "read", "scales", "uses"]

OFFERS = "calibrated_scores"
FACTORS: Mapping[str, tuple[str, ...]] = {"criteria": ("given", "draft-1", "draft-2", "refined-1", "refined-2")}
REPEATS = 1
WORDING = grading_family.WORDING
CRITERIA = 3  # how many a draft has
LONGEST = 80  # characters of each that the grammar allows
SHOWN = 4  # labelled examples that a draft is made from
FURTHEST = 2  # misjudged examples that a refinement is shown
LINES = " ".join([f'"- " [^\\n]{{8,{LONGEST}}} "\\n"'] * CRITERIA)
PER = ("criteria",)


def scales(task: Task) -> dict[str, Scale]:
    """Of the tokens that a grade took, beside the grade's own scale, which is the task's."""
    return grading_family.token_scale(grading.criterion_of(task))


@lru_cache
def labelled(folder: Path) -> tuple[Mapping[str, Any], ...]:
    """The labelled examples of a task."""
    path = folder / "labelled.jsonl"
    try:
        rows = tuple(json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip())
        return tuple({**row, "grade": int(row["grade"])} for row in rows)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RecuseError(
            f"{path}: not a list of labelled examples, one JSON object with grade, facts and the text a line "
            f"({type(error).__name__}: {error})"
        ) from None


def _words(task: Task, stage: str, **told: Any) -> tuple[Message, ...]:
    return wording.messages(task, f"{WORDING}.{stage}", task=task.data, **told)


def _drafting(task: Task, item: Item, factors: Mapping[str, str], earlier: Earlier) -> Prompt:
    every, number = labelled(task.folder), int(factors["criteria"].rpartition("-")[2])
    start = SHOWN * (number - 1)
    shown = [every[(start + k) % len(every)] for k in range(min(SHOWN, len(every)))]
    words = _words(task, "draft", examples=shown, count=CRITERIA)
    return Prompt(words, temperature=0.0, max_tokens=160, grammar=f"root ::= {LINES}")


def _criteria(task: Task, item: Item, factors: Mapping[str, str], reply: Reply, earlier: Earlier) -> Any:
    lines = [line.strip() for line in reading.answered(reply).splitlines() if line.strip().startswith("-")]
    if len(lines) < 1:
        raise reading.Unreadable("unparsed", 'no line "- criterion" in the reply')
    return {"text": "\n".join(lines[:CRITERIA]), "tokens": grading_family.spent(reply)}


def _trying(task: Task, item: Item, factors: Mapping[str, str], earlier: Earlier) -> Prompt:
    every = labelled(task.folder)
    choices = " | ".join(f'"{grade}"' for grade in grading.grades(task))
    lines = ' "\\n" '.join(f'"{k}: " ({choices})' for k in range(1, len(every) + 1))
    words = _words(task, "trial", examples=every, criteria=earlier["draft"]["text"])
    return Prompt(words, temperature=0.0, max_tokens=16 * len(every), grammar=f"root ::= {lines}")


def _tried(task: Task, item: Item, factors: Mapping[str, str], reply: Reply, earlier: Earlier) -> Any:
    every = labelled(task.folder)
    given = dict(re.findall(r"(?m)^\s*(\d+)\s*:\s*(\d+)\s*$", reading.answered(reply)))
    grades = [int(given.get(str(k), -1)) for k in range(1, len(every) + 1)]
    low, high = task.scale
    if not all(low <= grade <= high for grade in grades):
        raise reading.Unreadable("unparsed", f"not a grade for each of {len(every)} examples")
    return {"grades": grades, "tokens": grading_family.spent(reply)}


def _refining(task: Task, item: Item, factors: Mapping[str, str], earlier: Earlier) -> Prompt:
    every, grades = labelled(task.folder), earlier["trial"]["grades"]
    by_error = sorted(range(len(every)), key=lambda k: (-abs(grades[k] - every[k]["grade"]), k))
    shown = [{**every[k], "given": grades[k]} for k in by_error[:FURTHEST]]
    words = _words(task, "refine", examples=shown, criteria=earlier["draft"]["text"], count=CRITERIA)
    return Prompt(words, temperature=0.0, max_tokens=160, grammar=f"root ::= {LINES}")


def _draft_of(factors: Mapping[str, str]) -> dict[str, str]:
    return {"criteria": f"draft-{factors['criteria'].rpartition('-')[2]}"}


STAGES = (
    Stage(
        "draft",
        _drafting,
        _criteria,
        specimen=lambda task, item, factors: {"text": "x" * (CRITERIA * (LONGEST + 3)), "tokens": 0},
        per=PER,
    ),
    Stage(
        "trial",
        _trying,
        _tried,
        specimen=lambda task, item, factors: {"grades": [0] * len(labelled(task.folder)), "tokens": 0},
        per=PER,
        uses=lambda factors: [Use("draft", factors=_draft_of(factors))],
    ),
    Stage(
        "refine",
        _refining,
        _criteria,
        specimen=lambda task, item, factors: {"text": "x" * (CRITERIA * (LONGEST + 3)), "tokens": 0},
        per=PER,
        uses=lambda factors: [
            Use("draft", factors=_draft_of(factors)), Use("trial", factors=_draft_of(factors))
        ],
    ),
)  # fmt: skip


def uses(factors: Mapping[str, str]) -> Sequence[Use]:
    """The criteria that a text is graded by, where they are the judge's own."""
    kind = factors["criteria"].partition("-")[0]
    return {"given": [], "draft": [Use("draft")], "refined": [Use("refine")]}[kind]


def prompt(task: Task, item: Item, factors: Mapping[str, str], earlier: Earlier) -> Prompt:
    """The text with the given criteria, or with those that the judge drafted or refined (the one entry of `earlier`),
    at temperature 0."""
    own = next(iter(earlier.values()), {"text": ""})["text"]
    words = grading_family.question(task, item, criteria=own)
    return Prompt(words, temperature=0.0, max_tokens=200, grammar=grading.grammar(task))


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply, earlier: Earlier) -> list[Judgement]:
    """The grade, and the tokens of this call. What drafting cost is no part of it: it is paid once for all texts."""
    criterion = grading.criterion_of(task)
    try:
        judgement = grading_family.whole_number(grading_family.verdict(reply), criterion, task.scale)
    except reading.Unreadable as failure:
        return reading.all_failed([criterion], failure)
    return grading_family.with_tokens(judgement, reply)
