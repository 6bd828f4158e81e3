"""Results of promptfoo (`promptfoo eval --output results.json`): every graded assertion is a rating of an output.

    {"results": {"results": [{"testIdx": 0, "provider": {"id": ...}, "gradingResult": {"componentResults": [...]}}]}}

The target is the provider (with the prompt's label where there are several), the judge the grader that the assertion
names, or its type (llm-rubric, contains, ...). The criterion is the assertion's metric, where it has one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recuse.readers.faults import SHOWN, Fault

CALLED = "results of promptfoo"


def recognises(value: Any) -> bool:
    inner = value.get("results") if isinstance(value, Mapping) else None
    rows = inner.get("results") if isinstance(inner, Mapping) else None
    return isinstance(rows, list) and bool(rows) and isinstance(rows[0], Mapping) and "provider" in rows[0]


def records(value: Any, path: Path) -> tuple[list[dict[str, Any]], list[Fault]]:
    """One record per output and assertion: item, target, rater, criterion, value (pass or fail), text, reason."""
    rows = value["results"]["results"]
    prompts = {str((row.get("prompt") or {}).get("label") or "") for row in rows}
    found: list[dict[str, Any]] = []
    ungraded: list[str] = []
    for number, row in enumerate(rows, start=1):
        base = {"item": _item(row, number), "target": _target(row, len(prompts) > 1), "text": _output(row),
                "kind": "judge"}  # fmt: skip
        graded = list(_graded(row))
        if not graded:
            ungraded.append(f"result {number}")
        found += [{**base, **one} for one in graded]
    what = "results were not graded"
    return found, [Fault.of(what, ungraded[:SHOWN], "they are left out", len(ungraded))] if ungraded else []


def _graded(row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    grading = row.get("gradingResult") or {}
    for part in grading.get("componentResults") or ():
        assertion = part.get("assertion") or {}
        kind = str(assertion.get("type") or "assertion")
        yield {
            "rater": _name(assertion.get("provider")) or kind,
            "criterion": str(assertion.get("metric") or "rating"),
            "value": "pass" if part.get("pass") else "fail",
            "reason": part.get("reason") or "",
        }
    if not grading.get("componentResults") and isinstance(grading.get("pass"), bool):
        yield {"rater": "promptfoo", "criterion": "rating", "value": "pass" if grading["pass"] else "fail",
               "reason": grading.get("reason") or ""}  # fmt: skip


def _item(row: Mapping[str, Any], number: int) -> str:
    case = row.get("testCase") or {}
    told = (case.get("metadata") or {}).get("id") or case.get("description")
    return str(told) if told else f"test {row['testIdx']}" if "testIdx" in row else f"result {number}"


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
