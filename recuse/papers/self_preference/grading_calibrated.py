"""AutoCalibrate: the judge infers criteria from labelled examples (draft), grades those examples by them (trial), is
shown where it was furthest off and amends them (refine); texts are then graded by the given criteria, by every draft
and by every refined one (Liu et al. 2023, arXiv:2309.13308; thesis, sec. 1.2.3). Items say in `fold` whether they may
choose the criteria ("calibration") or test them ("held_out"); labelled examples stand in `labelled.jsonl` of the task
folder: the task's text fields, `facts` (what the text should say) and `grade`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from recuse.papers.self_preference.grading_protocols import FAMILY, question
from recuse.papers.self_preference.writing_protocols import CUT, LIKELY, json_lines, line
from recuse.protocols import Earlier, Levels, Stage, Use, reading, wording
from recuse.protocols.grading import Grading, grades
from recuse.protocols.last_line import spent
from recuse.schema import Item, Prompt, Reply
from recuse.tasks import Task

CRITERIA = 3  # how many a draft has
SHOWN = 4  # labelled examples that a draft is made from
FURTHEST = 2  # misjudged examples that a refinement is shown
PER = ("criteria",)


@lru_cache
def labelled(folder: Path) -> tuple[Mapping[str, Any], ...]:
    """The labelled examples of a task."""
    return json_lines(
        folder / "labelled.jsonl", "labelled examples, one JSON object with grade, facts and the text a line",
        lambda rows: tuple({**row, "grade": int(row["grade"])} for row in rows),
    )  # fmt: skip


def _asking(task: Task, stage: str, **shown: Any) -> Prompt:
    words = wording.messages(task, f"{FAMILY}.{stage}", task=task.data, count=CRITERIA, **shown)
    lines = " ".join([f'"- " {line(task, "criterion", 8)} "\\n"'] * CRITERIA)
    return Prompt(words, temperature=0.0, max_tokens=320, grammar=f"root ::= {lines}")


def _drafting(task: Task, item: Item, levels: Levels, earlier: Earlier) -> Prompt:
    every, number = labelled(task.folder), int(levels["criteria"].rpartition("-")[2])
    start = SHOWN * (number - 1)
    shown = [every[(start + k) % len(every)] for k in range(min(SHOWN, len(every)))]
    return _asking(task, "draft", examples=shown)


def _criteria(task: Task, item: Item, levels: Levels, reply: Reply, earlier: Earlier) -> Any:
    lines = [line.strip() for line in reading.answered(reply).splitlines() if line.strip().startswith("-")]
    if not lines:
        raise reading.Unreadable("unparsed", 'no line "- criterion" in the reply')
    if reply.finish == "length":
        raise reading.Unreadable("unparsed", CUT)
    return {"text": "\n".join(lines[:CRITERIA]), "tokens": spent(reply)}


def _trying(task: Task, item: Item, levels: Levels, earlier: Earlier) -> Prompt:
    every = labelled(task.folder)
    choices = " | ".join(f'"{grade}"' for grade in grades(task))
    lines = ' "\\n" '.join(f'"{k}: " ({choices})' for k in range(1, len(every) + 1))
    words = wording.messages(task, f"{FAMILY}.trial", task=task.data, examples=every, criteria=earlier["draft"]["text"])
    return Prompt(words, temperature=0.0, max_tokens=16 * len(every), grammar=f"root ::= {lines}")


def _tried(task: Task, item: Item, levels: Levels, reply: Reply, earlier: Earlier) -> Any:
    every = labelled(task.folder)
    lines = {*re.findall(r"(?m)^[ \t]*([0-9]+)[ \t]*:[ \t]*([0-9]+)[ \t]*$", reading.answered(reply))}
    by_number = dict(lines)
    given = [by_number.get(str(k), "") for k in range(1, len(every) + 1)]
    if len(by_number) < len(lines) or not {*given} <= {*grades(task)}:
        raise reading.Unreadable("unparsed", f"not a grade for each of {len(every)} examples")
    return {"grades": [*map(int, given)], "tokens": spent(reply)}


def _refining(task: Task, item: Item, levels: Levels, earlier: Earlier) -> Prompt:
    every, grades = labelled(task.folder), earlier["trial"]["grades"]
    by_error = sorted(range(len(every)), key=lambda k: (-abs(grades[k] - every[k]["grade"]), k))
    shown = [{**every[k], "given": grades[k]} for k in by_error[:FURTHEST]]
    return _asking(task, "refine", examples=shown, criteria=earlier["draft"]["text"])


def _draft(levels: Levels, *stages: str) -> list[Use]:
    draft = {"criteria": f"draft-{levels['criteria'].rpartition('-')[2]}"}
    return [Use(stage, factors=draft) for stage in stages]


def _specimen(task: Task, item: Item, levels: Levels) -> dict[str, Any]:
    return {"text": "x" * (CRITERIA * (LIKELY["criterion"] + 3)), "tokens": 0}


STAGES = (
    Stage("draft", _drafting, _criteria, _specimen, PER),
    Stage(
        "trial", _trying, _tried, per=PER, uses=lambda levels: _draft(levels, "draft"),
        specimen=lambda task, item, levels: {"grades": [0] * len(labelled(task.folder)), "tokens": 0},
    ),
    Stage("refine", _refining, _criteria, _specimen, PER, uses=lambda levels: _draft(levels, "draft", "trial")),
)  # fmt: skip

_OWN = {"given": [], "draft": [Use("draft")], "refined": [Use("refine")]}

# What drafting cost is no part of a grade's tokens: it is paid once for all texts. A text is graded by the given
# criteria, or by those that the judge drafted or refined, the one entry of `earlier`.
CALIBRATED = Grading(
    OFFERS="calibrated_scores", WORDING=FAMILY, tokens="of the call", STAGES=STAGES,
    FACTORS={"criteria": ("given", "draft-1", "draft-2", "refined-1", "refined-2")},
    uses=lambda levels: _OWN[levels["criteria"].partition("-")[0]],
    shown=lambda task, item, levels, earlier: {
        **question(task, item, levels, {}), "criteria": next(iter(earlier.values()), {"text": ""})["text"]
    },
)  # fmt: skip
