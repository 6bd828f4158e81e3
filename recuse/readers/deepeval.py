"""Results of DeepEval: the file of a test run (`testCases`, `metricsData`) or dumped results (`test_results`).

Its cache is read as well (`test_cases_lookup_map`: from a test case to its metrics).

    {"testCases": [{"name": ..., "actualOutput": ..., "metricsData": [{"name": ..., "score": 0.8, ...}]}]}

The judge is the evaluation model, the criterion the metric; scores run from 0 to 1.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recuse.readers.faults import SHOWN, Fault

CALLED = "results of DeepEval"


def recognises(value: Any) -> bool:
    """Whether the value is a test run of DeepEval."""
    cases = _cases(value)
    return bool(cases) and isinstance(cases[0], Mapping) and _any(cases[0], "metricsData", "metrics_data") is not None


def records(value: Any, path: Path) -> tuple[list[dict[str, Any]], list[Fault]]:
    """One record per test case and metric: item, rater, criterion, value (a score), text, reason."""
    rows: list[dict[str, Any]] = []
    failed: list[str] = []
    for number, case in enumerate(_cases(value), start=1):
        base = {
            "item": str(case.get("name") or f"test case {number}"),
            "text": str(_any(case, "actualOutput", "actual_output") or ""),
            "kind": "judge",
        }
        for metric in _any(case, "metricsData", "metrics_data") or ():
            if metric.get("error"):
                failed.append(f"test case {number}, {metric.get('name')}")
            score = metric.get("score")
            rows.append({
                **base, "rater": str(_any(metric, "evaluationModel", "evaluation_model") or "deepeval"),
                "criterion": str(metric.get("name") or "rating"),
                "value": "error" if metric.get("error") or score is None else score,
                "reason": metric.get("reason") or "",
            })  # fmt: skip
    what = "metrics ended in an error"
    return rows, [Fault.of(what, failed[:SHOWN], "they count as unusable", len(failed))] if failed else []


def _cases(value: Any) -> list[Any]:
    if not isinstance(value, Mapping):
        return []
    if isinstance(cached := value.get("test_cases_lookup_map"), Mapping):
        return [_cached(case, entry) for case, entry in cached.items()]
    inner = value.get("testRunData") if isinstance(value.get("testRunData"), Mapping) else value
    cases = _any(inner, "testCases", "test_cases", "testResults", "test_results")
    return cases if isinstance(cases, list) else []


def _cached(case: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """A test case of the cache, which is named by its input."""
    try:
        asked = json.loads(case)
    except ValueError:
        asked = {}
    metrics = [metric.get("metric_data") or {} for metric in entry.get("cached_metrics_data") or ()]
    return {"name": asked.get("input"), "actualOutput": asked.get("actual_output"), "metricsData": metrics}


def _any(value: Any, *names: str) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)
