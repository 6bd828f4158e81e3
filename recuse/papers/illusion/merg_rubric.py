"""The rubric of MERG's third stage: five dimensions with anchors and weights, asked for and checked."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from recuse.protocols import reading
from recuse.schema import RecuseError
from recuse.tasks import Task

Rubric = Mapping[str, Any]
"""`dimensions`: five of {name, anchors: four texts}; `weights`: five numbers that sum to 1."""

DIMENSIONS = 5
ANCHORS = 4  # what is poor (2), adequate (5), strong (8) and exceptional (10)
LONGEST = {"phrase": 200, "name": 40, "anchor": 120}  # characters, unless [rubric] of task.toml says otherwise
TOLERANCE = 0.005  # of the sum of the weights: 0.33 three times is meant well


def read_rubric(answer: Mapping[str, Any], names: Sequence[str]) -> Rubric:
    """The rubric a judge wrote. `Unreadable` unless there are exactly five dimensions with a name and four anchors
    each, and five positive weights that sum to 1. `names` are those that were given, if any were. Two dimensions may
    have one name: that a judge repeats itself is its own rubric, and shows in how it agrees with others."""
    given = reading.member(answer, "dimensions", "dimensions")
    if not isinstance(given, list) or len(given) != DIMENSIONS:
        count = len(given) if isinstance(given, list) else "no"
        raise reading.Unreadable("unparsed", f"the rubric has {count} dimensions; exactly {DIMENSIONS} are wanted")
    named = [names[place] if names else reading.phrase(one, "name") for place, one in enumerate(given)]
    dimensions = [
        {"name": name, "anchors": reading.phrases(one, "anchors", ANCHORS)}
        for name, one in zip(named, given, strict=True)
    ]
    return {"dimensions": dimensions, "weights": _weights(reading.member(answer, "weights", "weights"))}


def _weights(given: object) -> list[float]:
    numbers = given if isinstance(given, list) else []
    if len(numbers) != DIMENSIONS or any(isinstance(n, bool) or not isinstance(n, int | float) for n in numbers):
        raise reading.Unreadable("unparsed", f"weights is not a list of {DIMENSIONS} numbers")
    if min(numbers) <= 0 or abs(math.fsum(numbers) - 1) > TOLERANCE:
        shown = ", ".join(f"{n:g}" for n in numbers)
        raise reading.Unreadable("unparsed", f"the weights {shown} are not positive numbers that sum to 1")
    return [float(n) for n in numbers]


def rubric_schema(task: Task, *, named: bool, tenths: bool = False) -> dict[str, Any]:
    """The reply's JSON schema. `named`: names are given, not asked. `tenths`: the weights are one of the 101 lists of
    tenths that sum to 1, none above 0.4, for servers that enforce a schema by grammar: a grammar cannot add."""
    name = {} if named else {"name": phrase(longest(task, "name"))}
    anchors = listing(phrase(longest(task, "anchor")), ANCHORS)
    weights = {"enum": weight_lists()} if tenths else listing({"type": "number"})
    return exactly({"dimensions": listing(exactly({**name, "anchors": anchors})), "weights": weights})


def weight_lists() -> list[list[float]]:
    """Every list of five tenths, each from 0.1 to 0.4, that sums to 1."""
    tenths = itertools.product(range(1, 5), repeat=DIMENSIONS)
    return [[n / 10 for n in each] for each in tenths if sum(each) == 10]


def specimen_rubric(task: Task) -> Rubric:
    """A rubric as long as they come."""
    one = {"name": "x" * longest(task, "name"), "anchors": ["x" * longest(task, "anchor")] * ANCHORS}
    return {"dimensions": [one] * DIMENSIONS, "weights": [0.2] * DIMENSIONS}


def universal_rubric(task: Task) -> Rubric:
    """The rubric that task.toml gives for all prompts: five tables [[universal]]. `RecuseError` for another one."""
    tables = task.data.get("universal", [])
    try:
        rubric = read_rubric({"dimensions": tables, "weights": [table.get("weight") for table in tables]}, ())
    except reading.Unreadable as failure:
        raise RecuseError(f"{task.folder / 'task.toml'}: [[universal]]: {failure.why}") from None
    return rubric


def longest(task: Task, what: str) -> int:
    """How many characters a phrase, a name or an anchor may have."""
    return int(task.data.get("rubric", {}).get(f"longest_{what}", LONGEST[what]))


# --------------------------------------------------------------------------- schemas


def phrase(longest: int | None = None) -> dict[str, Any]:
    """JSON schema of a text; a server that enforces the schema ends it at its `longest`, where there is one."""
    ends = {} if longest is None else {"maxLength": longest}
    return {"type": "string", "minLength": 1, **ends}


def listing(of: Mapping[str, Any], count: int = DIMENSIONS) -> dict[str, Any]:
    """JSON schema of a list of so many entries, by default as many as there are dimensions."""
    return {"type": "array", "items": of, "minItems": count, "maxItems": count}


def exactly(properties: Mapping[str, Any]) -> dict[str, Any]:
    """JSON schema of an object with these members and no others."""
    return {
        "type": "object", "properties": dict(properties), "required": list(properties), "additionalProperties": False,
    }  # fmt: skip
