"""Results of promptfoo (`promptfoo eval --output results.json`): every graded assertion is a rating of an output.

Read as JSON and as JSON lines (`--output results.jsonl`: one such result a line).

    {"results": {"results": [{"testIdx": 0, "provider": {"id": ...}, "gradingResult": {"componentResults": [...]}}]}}

The target is the provider (with the prompt's label where there are several), the judge the grader that the assertion
names, or its type (llm-rubric, contains, ...). The criterion is the assertion's metric, where it has one. What the
grader could not decide is an error, though promptfoo counts it as failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recuse.readers.faults import SHOWN, Fault, shown
from recuse.security.sanitize import shortened

CALLED = "results of promptfoo"
BROKEN = "Custom function threw error"


def recognises(value: Any) -> bool:
    """Whether the value is the output of promptfoo."""
    rows = _rows(value)
    return bool(rows) and isinstance(rows[0], Mapping) and {"provider", "testIdx"} <= set(rows[0])


def records(value: Any, path: Path) -> tuple[list[dict[str, Any]], list[Fault]]:
    """One record per output and assertion: item, target, rater, criterion, value (pass or fail), text, reason."""
    rows = _rows(value)
    prompts = {str((row.get("prompt") or {}).get("label") or "") for row in rows}
    result_rows: list[dict[str, Any]] = []
    ungraded: list[str] = []
    broken: list[str] = []
    for number, row in enumerate(rows, start=1):
        base = {"item": _item(row, number), "target": _target(row, len(prompts) > 1), "text": _output(row),
                "kind": "judge"}  # fmt: skip
        graded = list(_graded(row))
        if not graded:
            ungraded.append(f"result {number}")
        broken += [f"result {number}, {one['rater']}: {shown(one['reason'])}" for one in graded
                   if one["value"] == "error"]  # fmt: skip
        result_rows += [{**base, **one} for one in graded]
    faults = []
    if ungraded:
        faults.append(Fault.of("results were not graded", ungraded[:SHOWN], "they are left out", len(ungraded)))
    if broken:
        faults.append(Fault.of("gradings ended in an error", broken[:SHOWN], "they count as unusable", len(broken)))
    return result_rows, faults


def _rows(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        inner = value.get("results")
        value = inner.get("results") if isinstance(inner, Mapping) else inner
    return value if isinstance(value, list) else []


def _graded(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    grading = row.get("gradingResult") or {}
    known: set[tuple[str, str]] = set()
    for part in grading.get("componentResults") or ():
        if not (assertion := part.get("assertion") or {}):
            continue  # of a set of assertions as a whole; each of them follows
        rater = _name(assertion.get("provider")) or str(assertion.get("type") or "assertion")
        criterion = _criterion(assertion, rater, known)
        known.add((rater, criterion))
        failed = (part.get("metadata") or {}).get("graderError") or str(part.get("reason")).startswith(BROKEN)
        value = "error" if failed else "pass" if part.get("pass") else "fail"
        yield {"rater": rater, "criterion": criterion, "value": value, "reason": part.get("reason") or ""}
    if not grading.get("componentResults") and isinstance(grading.get("pass"), bool):
        yield {"rater": "promptfoo", "criterion": "rating", "value": "pass" if grading["pass"] else "fail",
               "reason": grading.get("reason") or ""}  # fmt: skip


def _criterion(assertion: Mapping[str, Any], rater: str, known: set[tuple[str, str]]) -> str:
    """The metric's name; where a test has several assertions of one kind without one, what the further ones demand."""
    named = assertion.get("metric")
    if named or (rater, "rating") not in known:
        return str(named or "rating")
    value = assertion.get("value")
    demanded = shortened(" ".join(str(value).split()), 60)[0] if value else "rating"
    return demanded if (rater, demanded) not in known else f"{demanded}, {len(known) + 1}"


def _item(row: Mapping[str, Any], number: int) -> str:
    case = row.get("testCase") or {}
    item_id = (case.get("metadata") or {}).get("id") or case.get("description")
    return str(item_id) if item_id else f"test {row['testIdx']}" if "testIdx" in row else f"result {number}"


def _target(row: Mapping[str, Any], several: bool) -> str:
    name = _name(row.get("provider"))
    label = str((row.get("prompt") or {}).get("label") or "")
    return f"{name}, {label[:60]}" if several and label else name


def _name(provider: Any) -> str:
    if isinstance(provider, Mapping):
        return str(provider.get("label") or provider.get("id") or "")
    return str(provider or "")


def _output(row: Mapping[str, Any]) -> str:
    output = (row.get("response") or {}).get("output")
    return output if isinstance(output, str) else ""
