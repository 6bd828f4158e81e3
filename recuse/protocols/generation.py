"""Generation: a model writes its own five-level rationale set and picks three categories per level (merchant-risk
paper, sec. 2). The picks become rows: item = category code, criterion "risk_level", score = the level it was put on."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from recuse.protocols import reading, wording
from recuse.ratings.scale import Numeric, Scale
from recuse.schema import Item, Judge, Judgement, Prompt, RecuseError, Reply
from recuse.tasks import Task

OFFERS = "picks"
FACTORS: Mapping[str, tuple[str, ...]] = {}
REPEATS = 1
CRITERION = "risk_level"
PICKS_PER_LEVEL = 3


def items(task: Task, judge: Judge) -> Sequence[Item]:
    return (Item(task.name, "category-table", judge.author or judge.name, {"mccs": _categories(task.folder)}),)


def headline(task: Task) -> tuple[str, ...]:
    return (CRITERION,)


def scales(task: Task) -> dict[str, Scale]:
    levels = [float(entry["level"]) for entry in task.data["level"]]
    return {CRITERION: Numeric(min(levels), max(levels), 1.0, unit="levels")}


def prompt(task: Task, item: Item, factors: Mapping[str, str]) -> Prompt:
    words = wording.messages(task.folder, "generation", task=task.data, **item.fields)
    return Prompt(words, temperature=0.7, max_tokens=1400, schema=_schema(task, item))


def read(task: Task, item: Item, factors: Mapping[str, str], reply: Reply) -> list[Judgement]:
    """One row per pick; a level that cannot be read is one failed row, named by its level."""
    try:
        answer = reading.json_value(reply, list)
    except reading.Unreadable as failure:
        return reading.all_failed([CRITERION], failure)
    known = {int(row["mcc"]) for row in item.fields["mccs"]}
    rows: list[Judgement] = []
    for level in (int(entry["level"]) for entry in task.data["level"]):
        rows += _level(answer, level, known, {row.item for row in rows})
    return rows


def _level(answer: list[Any], level: int, known: set[int], taken: set[str | None]) -> list[Judgement]:
    def failed(why: str) -> list[Judgement]:
        return [Judgement(CRITERION, status="unparsed", why=f"level {level}: {why}", item=f"level-{level}")]

    entries = [e for e in answer if isinstance(e, dict) and e.get("level") == level and e["level"] is not True]
    if len(entries) != 1:
        return failed(f"{len(entries)} entries, one is wanted")
    picks = entries[0].get("mccs")
    if not isinstance(picks, list) or len(picks) != PICKS_PER_LEVEL or len(set(map(repr, picks))) != len(picks):
        return failed(f"mccs is not a list of {PICKS_PER_LEVEL} different codes")
    if strange := [p for p in picks if isinstance(p, bool) or not isinstance(p, int) or p not in known]:
        return failed(f"{', '.join(map(repr, strange))[:120]} is not a code of the table")
    if again := [p for p in picks if str(p) in taken]:
        return failed(f"{again[0]} was already put on another level")
    return [Judgement(CRITERION, score=float(level), item=str(pick)) for pick in picks]


@lru_cache
def _categories(folder: Path) -> list[dict[str, Any]]:
    path = folder / "mcc.csv"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [{"mcc": int(row["mcc"]), "name": row["name"]} for row in csv.DictReader(file)]
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise RecuseError(
            f"{path}: not a table of categories with the columns mcc and name ({type(error).__name__}: {error})"
        ) from None


def _schema(task: Task, item: Item) -> dict[str, Any]:
    levels = [int(entry["level"]) for entry in task.data["level"]]
    codes = {"enum": [row["mcc"] for row in item.fields["mccs"]]}
    one = {
        "type": "object",
        "properties": {
            "level": {"type": "integer", "enum": levels},
            "rationale": {"type": "string", "maxLength": 700},
            "mccs": {"type": "array", "items": codes, "minItems": PICKS_PER_LEVEL, "maxItems": PICKS_PER_LEVEL},
        },
        "required": ["level", "rationale", "mccs"],
        "additionalProperties": False,
    }
    return {"type": "array", "items": one, "minItems": len(levels), "maxItems": len(levels)}
