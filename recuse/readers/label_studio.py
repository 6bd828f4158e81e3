"""The JSON export of Label Studio: a list of tasks, each with people's annotations and models' predictions.

    [{"id": 7, "data": {...}, "predictions": [{"model_version": "gpt", "result": [...]}],
      "annotations": [{"completed_by": {"email": ...}, "result": [
          {"from_name": "helpful", "type": "rating", "value": {"rating": 4}}]}]}]

An item is a task, a criterion the control (`from_name`) that was answered by a number or by choices. Who annotated is a
person, the version of a model a judge. Cancelled annotations are no answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recuse.readers.faults import SHOWN, Fault

CALLED = "an export of Label Studio"
ANSWERS = ("rating", "number", "choices")


def recognises(value: Any) -> bool:
    """Whether the value is a list of tasks with annotations."""
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, Mapping) and isinstance(first.get("annotations"), list) and "data" in first


def records(value: Any, path: Path) -> tuple[list[dict[str, Any]], list[Fault]]:
    """One record per annotation and control: item, rater, kind, criterion, value, and what is known of the task."""
    rows: list[dict[str, Any]] = []
    other: list[str] = []
    for task in value:
        base = {"item": str(task.get("id")), **_data_columns(task.get("data"))}
        for who, kind, results in _answered(task):
            for result in results:
                criterion = str(result.get("from_name") or "rating")
                if (answer := _answer(result.get("value"))) is None:
                    other.append(f"task {base['item']}, {criterion}")
                else:
                    rows.append({**base, "rater": who, "kind": kind, "criterion": criterion, "value": answer})
    what = "answers are neither a number nor choices, such as marked words"
    return rows, [Fault.of(what, other[:SHOWN], "they are left out", len(other))] if other else []


def _answered(task: Mapping[str, Any]) -> Iterator[tuple[str, str, list[Any]]]:
    for annotation in task.get("annotations") or ():
        if not annotation.get("was_cancelled"):
            who = annotation.get("completed_by")
            who = who.get("email") or who.get("id") if isinstance(who, Mapping) else who
            yield f"annotator {who}" if isinstance(who, int) else str(who), "person", annotation.get("result") or []
    for prediction in task.get("predictions") or ():
        if isinstance(prediction, Mapping):
            yield str(prediction.get("model_version") or "prediction"), "judge", prediction.get("result") or []


def _answer(value: Any) -> str | None:
    """A number as it stands, one choice, or several joined; None for what is no answer."""
    given = next((value[name] for name in ANSWERS if name in value), None) if isinstance(value, Mapping) else None
    if isinstance(given, list):
        return "|".join(map(str, given)) or None
    return None if given is None else str(given)


def _data_columns(data: Any) -> dict[str, str]:
    """What the task's data say in one word or text, under names that no record has."""
    taken = {"item", "rater", "kind", "criterion", "value"}
    told = data.items() if isinstance(data, Mapping) else ()
    return {str(k): str(v) for k, v in told if isinstance(v, str | int | float) and str(k) not in taken}
