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

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recuse.readers.column_names import NAMES, plain
from recuse.readers.faults import Fault, shown
from recuse.readers.json_records import ToolLog, first_record, parsed
from recuse.security.sanitize import shortened


def is_deepeval(value: Any) -> bool:
    """Whether the value is a test run of DeepEval."""
    return _any(first_record(_cases(value)), "metricsData", "metrics_data") is not None


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
    return rows, Fault.where(what, failed, "they count as unusable")


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
        given = parsed(case)
    except ValueError:
        given = {}
    metrics = [metric.get("metric_data") or {} for metric in entry.get("cached_metrics_data") or ()]
    return {"name": given.get("input"), "input": given.get("input"), "actualOutput": given.get("actual_output"),
            "metricsData": metrics}  # fmt: skip


def _any(value: Any, *names: str) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


BROKEN = "Custom function threw error"


def is_promptfoo(value: Any) -> bool:
    """Whether the value is the output of promptfoo."""
    return {"provider", "testIdx"} <= set(first_record(_rows(value)))


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
    left_out = Fault.where("results were not graded", ungraded, "they are left out")
    return result_rows, left_out + Fault.where("gradings ended in an error", broken, "they count as unusable")


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
    return {"instruction", "generator_1", "generator_2", "preference"} <= set(first_record(value))


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
    return rows, Fault.where(what, between, "each counts for the nearer output")


def _winner(preference: Any) -> str:
    if not isinstance(preference, int | float) or preference != preference:
        return ""
    if preference in (0, 1.5):
        return "tie"
    return "first" if preference < 1.5 else "second"


DEEPEVAL = ToolLog("results of DeepEval", is_deepeval, deepeval_records)
PROMPTFOO = ToolLog("results of promptfoo", is_promptfoo, promptfoo_records)
ALPACA_EVAL = ToolLog("annotations of AlpacaEval", is_alpaca_eval, alpaca_eval_records)


SAID = re.compile(r"(?:score|rating|verdict|label|grade|answer)\W{1,6}([A-Za-z]+|-?\d+(?:\.\d+)?)\W*$", re.IGNORECASE)
SHORT = 30
UNREAD = "replies hold no rating that could be read"


def is_batch(value: Any) -> bool:
    """Whether the rows are the output file of OpenAI's batch interface."""
    first = value if isinstance(value, Mapping) else first_record(value)
    return "custom_id" in first and ("response" in first or "error" in first)


def batch_records(value: Any, path: Path) -> tuple[list[dict[str, Any]], list[Fault]]:
    """One record per request and rating: item, rater, criterion, value, reason."""
    rows: list[dict[str, Any]] = []
    strange: list[str] = []
    lines = value if isinstance(value, list) else [value]
    models = {str(_body(line).get("model")) for line in lines} - {"None"}
    unknown = next(iter(models)) if len(models) == 1 else "unknown model"
    for number, line in enumerate(lines, start=1):
        body = _body(line)
        base = {"item": str(line.get("custom_id", number)), "rater": str(body.get("model") or unknown), "kind": "judge"}
        text, refused = reply_of(body)
        if line.get("error") or (line.get("response") or {}).get("status_code", 200) != 200:
            rows.append({**base, "criterion": "rating", "value": "error"})
        elif refused:
            rows.append({**base, "criterion": "rating", "value": "refused"})
        else:
            rated = list(ratings_in(text))
            if not rated:
                strange.append(f"line {number}: {shown(text)}")
            rows += [{**base, **one} for one in rated or [{"criterion": "rating", "value": "unparsed"}]]
    return rows, Fault.where(UNREAD, strange, "they count as unusable")


def _body(line: Mapping[str, Any]) -> Mapping[str, Any]:
    body = (line.get("response") or {}).get("body")
    return body if isinstance(body, Mapping) else {}


def reply_of(body: Mapping[str, Any]) -> tuple[str, bool]:
    """The reply's text, from chat completions or from responses, and whether the model refused."""
    if body.get("choices"):
        message = body["choices"][0].get("message") or {}
        return str(message.get("content") or ""), bool(message.get("refusal"))
    parts = [part for out in body.get("output") or () for part in out.get("content") or () if isinstance(part, Mapping)]
    return "".join(str(p.get("text") or "") for p in parts), any(p.get("type") == "refusal" for p in parts)


def ratings_in(text: str) -> Iterator[dict[str, Any]]:
    """Criterion, value and reason of each rating in a reply; nothing where there is none."""
    inner = re.sub(r"^```(?:json)?\s*|\s*```$", "", text.strip())
    try:
        value = parsed(inner)
    except ValueError:
        value = None
    if isinstance(value, Mapping):
        reason = next((str(v) for k, v in value.items() if plain(str(k)) in NAMES["reason"]), "")
        scalar = {
            str(k): v for k, v in value.items()
            if isinstance(v, int | float | bool)
            or (isinstance(v, str) and plain(str(k)) in NAMES["value"] and len(v) <= SHORT)
        }  # fmt: skip
        for name, rating in scalar.items():
            criterion = "rating" if plain(name) in NAMES["value"] else name
            yield {"criterion": criterion, "value": rating, "reason": reason}
    elif isinstance(value, int | float):
        yield {"criterion": "rating", "value": value}
    elif text.strip() and len(text.strip()) <= SHORT and "\n" not in text.strip():
        yield {"criterion": "rating", "value": text.strip(" .*\"'\n")}
    elif number := SAID.search(text.strip()):
        yield {"criterion": "rating", "value": number[1], "reason": text}


def is_chat_log(value: Any) -> bool:
    """Whether the rows hold a request with messages and the response to it."""
    request, response = map(first_record(value).get, ("request", "response"))
    return (
        isinstance(request, Mapping) and "messages" in request
        and isinstance(response, Mapping) and ("choices" in response or "output" in response)
    )  # fmt: skip


def chat_log_records(value: Any, path: Path) -> tuple[list[dict[str, Any]], list[Fault]]:
    """One record per call: `id`, `text`, the metadata, and the reply's ratings in columns called after the model."""
    rows, strange = [], []
    for number, call in enumerate(value, start=1):
        request, response = call.get("request") or {}, call.get("response") or {}
        judge = str(response.get("model") or request.get("model") or "judge")
        text, refused = reply_of(response)
        rated = [] if refused else list(ratings_in(text))
        if not rated and not refused:
            strange.append(f"line {number}: {shown(text)}")
        names = (judge if one["criterion"] == "rating" else f"{judge}_{one['criterion']}" for one in rated)
        values = {name: one["value"] for name, one in zip(names, rated, strict=True)}
        facts = call.get("metadata")
        rows.append({
            "id": str(call.get("id") or response.get("id") or number), **(facts if isinstance(facts, Mapping) else {}),
            "text": _last_message(request), **(values or {judge: "refused" if refused else "unparsed"}),
        })  # fmt: skip
    return rows, Fault.where(UNREAD, strange, "they count as unusable")


def _last_message(request: Mapping[str, Any]) -> str:
    messages = [
        m.get("content") for m in request.get("messages") or () if isinstance(m, Mapping) and m.get("role") == "user"
    ]
    return messages[-1] if messages and isinstance(messages[-1], str) else ""


BATCH = ToolLog("output of the OpenAI Batch API", is_batch, batch_records)
CHAT_LOG = ToolLog("a log of chat requests and replies", is_chat_log, chat_log_records)
