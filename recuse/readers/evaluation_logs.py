"""Results of DeepEval, promptfoo and AlpacaEval.

Results of DeepEval: the file of a test run (`testCases`, `metricsData`) or dumped results (`test_results`).

Its cache is read as well (`test_cases_lookup_map`: from a test case to its metrics).

    {"testCases": [{"name": ..., "actualOutput": ..., "metricsData": [{"name": ..., "score": 0.8, ...}]}]}

The judge is the evaluation model, the criterion the metric; scores run from 0 to 1.

Results of promptfoo (`promptfoo eval --output results.json`): every graded assertion is a rating of an output.

Read as JSON and as JSON lines (`--output results.jsonl`: one such result a line).

    {"results": {"results": [{"testIdx": 0, "provider": {"id": ...}, "gradingResult": {"componentResults": [...]}}]}}

The target is the provider (with the prompt's label where there are several), the judge the grader that the assertion
names, or its type (llm-rubric, contains, ...). The criterion is the assertion's metric, where it has one. What the
grader could not decide is an error, though promptfoo counts it as failed.

Annotations of AlpacaEval (`annotations.json`): which of two outputs an annotator prefers.

    [{"instruction": ..., "generator_1": ..., "generator_2": ..., "annotator": ..., "preference": 1.0}, ...]

A preference of 1 is the first output, 2 the second, 0 and 1.5 a draw; one between comes from probabilities and goes to
the nearer. Outputs are shown to the annotator in an order that the file does not keep: nothing is known of position.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recuse.readers.opening import SHOWN, Fault, parsed, shown
from recuse.readers.raw_table import ToolLog
from recuse.security.sanitize import shortened


def is_deepeval(value: Any) -> bool:
    """Whether the value is a test run of DeepEval."""
    cases = _cases(value)
    return bool(cases) and isinstance(cases[0], Mapping) and _any(cases[0], "metricsData", "metrics_data") is not None


def deepeval_records(value: Any, path: Path) -> tuple[list[dict[str, Any]], list[Fault]]:
    """One record per test case and metric: item, rater, criterion, value (a score), text, reason."""
    rows: list[dict[str, Any]] = []
    failed: list[str] = []
    for number, case in enumerate(_cases(value), start=1):
        base = {
            "item": str(case.get("name") or f"test case {number}"),
            "text": str(_any(case, "actualOutput", "actual_output") or ""), "question": str(case.get("input") or ""),
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
        asked = parsed(case)
    except ValueError:
        asked = {}
    metrics = [metric.get("metric_data") or {} for metric in entry.get("cached_metrics_data") or ()]
    return {"name": asked.get("input"), "input": asked.get("input"), "actualOutput": asked.get("actual_output"),
            "metricsData": metrics}  # fmt: skip


def _any(value: Any, *names: str) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


BROKEN = "Custom function threw error"


def is_promptfoo(value: Any) -> bool:
    """Whether the value is the output of promptfoo."""
    rows = _rows(value)
    return bool(rows) and isinstance(rows[0], Mapping) and {"provider", "testIdx"} <= set(rows[0])


def promptfoo_records(value: Any, path: Path) -> tuple[list[dict[str, Any]], list[Fault]]:
    """One record per output and assertion: item, target, rater, criterion, value (pass or fail), text, reason."""
    rows = _rows(value)
    prompts = {str((row.get("prompt") or {}).get("label") or "") for row in rows}
    result_rows: list[dict[str, Any]] = []
    ungraded: list[str] = []
    broken: list[str] = []
    for number, row in enumerate(rows, start=1):
        base = {"item": _item(row, number), "target": _target(row, len(prompts) > 1), "text": _output(row),
                "question": str((row.get("prompt") or {}).get("raw") or ""), "kind": "judge"}  # fmt: skip
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


def is_alpaca_eval(value: Any) -> bool:
    """Whether the rows are annotations of AlpacaEval."""
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, Mapping) and {"instruction", "generator_1", "generator_2", "preference"} <= set(first)


def alpaca_eval_records(value: Any, path: Path) -> tuple[list[dict[str, Any]], list[Fault]]:
    """One record per annotation: item, rater, kind, generator_1, generator_2, winner."""
    rows: list[dict[str, Any]] = []
    between = []
    for number, row in enumerate(value, start=1):
        preference = row.get("preference")
        if isinstance(preference, float) and preference not in (0.0, 1.0, 1.5, 2.0) and preference == preference:
            between.append(f"record {number}: {preference:g}")
        rows.append({
            "item": row.get("instruction"), "rater": str(row.get("annotator") or "annotator"), "kind": "judge",
            "generator_1": row.get("generator_1"), "generator_2": row.get("generator_2"), "winner": _winner(preference),
        })  # fmt: skip
    what = "preferences lie between 1 and 2"
    faults = [Fault.of(what, between[:SHOWN], "each counts for the nearer output", len(between))] if between else []
    return rows, faults


def _winner(preference: Any) -> str:
    if not isinstance(preference, int | float) or preference != preference:
        return ""
    if preference in (0, 1.5):
        return "tie"
    return "first" if preference < 1.5 else "second"


DEEPEVAL = ToolLog("results of DeepEval", is_deepeval, deepeval_records)
PROMPTFOO = ToolLog("results of promptfoo", is_promptfoo, promptfoo_records)
ALPACA_EVAL = ToolLog("annotations of AlpacaEval", is_alpaca_eval, alpaca_eval_records)
