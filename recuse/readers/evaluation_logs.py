"""Logs of Inspect, results of DeepEval, promptfoo and AlpacaEval, OpenAI's batches and logs of chat requests, and Label
Studio's annotations as records: what each says of which text, by whom, and what could not be read (docs/files.md)."""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from recuse.judges import read_response
from recuse.readers.column_names import NAMES, is_judge, is_person, plain
from recuse.readers.json_records import Records, ToolLog, first_record, parsed
from recuse.readers.opening import Opened, within_bounds
from recuse.readers.raw_table import shown
from recuse.schema import RawResponse, RecuseError
from recuse.security.sanitize import shortened

LEFT_OUT, UNUSABLE = "they are left out", "they count as unusable"
CACHE = "test_cases_lookup_map"  # of DeepEval
BROKEN, UNASKED = "Custom function threw error", "No assertions"  # promptfoo's reasons
SAID = re.compile(r"(?:score|rating|verdict|label|grade|answer)\W{1,6}([A-Za-z]+|-?\d+(?:\.\d+)?)\W*$", re.IGNORECASE)
SHORT = 30  # a reply of fewer letters is an answer and nothing else
UNREAD = "replies hold no rating that could be read"
LETTERS = {"C": "correct", "P": "partially correct", "I": "incorrect", "N": "refused"}  # Inspect's grades
ENDING = ".eval"  # of Inspect's packed logs
ZSTANDARD, ENCRYPTED = 93, 1  # in a zip archive
CONVERT = "write it as JSON: inspect log convert FILE --to json --output-dir OUT"
ANSWERS = ("rating", "number", "choices")  # a number as it stands, one choice, or several joined


def deepeval_records(value: Any) -> Records:
    """One record per test case and metric: item, rater (the evaluation model), criterion (the metric), value (0 to 1),
    text, reason. Of the file of a test run, dumped results, or its cache (from a test case to its metrics)."""
    for number, case in enumerate(_cases(value), start=1):
        base = {
            "item": str(case.get("name") or f"test case {number}"), "kind": "judge",
            "text": str(_any(case, "actualOutput", "actual_output") or ""), "question": str(case.get("input") or ""),
        }  # fmt: skip
        for metric in _any(case, "metricsData", "metrics_data") or ():
            if metric.get("error"):
                yield "metrics ended in an error", UNUSABLE, f"test case {number}, {metric.get('name')}"
            score = metric.get("score")
            yield {
                **base, "rater": str(_any(metric, "evaluationModel", "evaluation_model") or "deepeval"),
                "criterion": str(metric.get("name") or "rating"),
                "value": "error" if metric.get("error") or score is None else score,
                "reason": metric.get("reason") or "",
            }  # fmt: skip


def _cases(value: Any) -> list[Any]:
    if not isinstance(value, Mapping):
        return []
    if isinstance(cached := value.get(CACHE), Mapping):
        cases = []
        for case, entry in cached.items():  # which are named by their input
            given: dict[str, Any] = {}
            with suppress(ValueError):
                given = parsed(case)
            metrics = [metric.get("metric_data") or {} for metric in entry.get("cached_metrics_data") or ()]
            cases.append({**given, "name": given.get("input"), "metricsData": metrics})
        return cases
    inner = value.get("testRunData") if isinstance(value.get("testRunData"), Mapping) else value
    cases = _any(inner, "testCases", "test_cases", "testResults", "test_results")
    return cases if isinstance(cases, list) else []


def _any(value: Any, *names: str) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)


def promptfoo_records(value: Any) -> Records:
    """One record per output and graded assertion: item, target (the provider, with the prompt's label where there are
    several), rater (the grader that the assertion names, or its type), criterion (its metric), value (pass or fail),
    text, reason. What the grader could not decide is an error, though promptfoo counts it as failed."""
    results = _results(value)
    prompts = [row.get("prompt") or {} for row in results]
    short = {label: label[:60] for label in (str(prompt.get("label") or "") for prompt in prompts)}
    if len({*short.values()}) < len(short):  # prompts that begin alike are told apart by their numbers
        short = {label: f"prompt {k}" for k, label in enumerate(short, start=1)}
    for number, (result, prompt) in enumerate(zip(results, prompts, strict=True), start=1):
        label = str(prompt.get("label") or "")
        case, target = result.get("testCase") or {}, _name(result.get("provider"))
        item = (case.get("metadata") or {}).get("id") or case.get("description")
        output = (result.get("response") or {}).get("output")
        base = {
            "item": str(item or (f"test {result['testIdx']}" if "testIdx" in result else f"result {number}")),
            "target": f"{target}, {short[label]}" if label and len(short) > 1 else target,
            "text": output if isinstance(output, str) else "", "question": str(prompt.get("raw") or ""),
            "kind": "judge",
        }  # fmt: skip
        graded = list(_graded(result))
        if not graded:
            yield "results were not graded", LEFT_OUT, f"result {number}"
        for one in graded:
            if one["value"] == "error":
                place = f"result {number}, {one['rater']}: {shown(one['reason'])}"
                yield "gradings ended in an error", UNUSABLE, place
            yield {**base, **one}


def _results(value: Any) -> list[Any]:
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
        criterion, value = str(assertion.get("metric") or "rating"), assertion.get("value")
        if not assertion.get("metric") and (rater, "rating") in known:
            # Of several assertions of one kind that no metric names, what the further ones demand.
            demanded = shortened(" ".join(str(value).split()), 60)[0] if value else "rating"
            criterion = demanded if (rater, demanded) not in known else f"{demanded}, {len(known) + 1}"
        known.add((rater, criterion))
        failed = (part.get("metadata") or {}).get("graderError") or str(part.get("reason")).startswith(BROKEN)
        value = "error" if failed else "pass" if part.get("pass") else "fail"
        yield {"rater": rater, "criterion": criterion, "value": value, "reason": part.get("reason") or ""}
    graded = not grading.get("componentResults") and grading.get("reason") != UNASKED  # which passes whatever it is
    if graded and isinstance(grading.get("pass"), bool):
        yield {"rater": "promptfoo", "criterion": "rating", "value": "pass" if grading["pass"] else "fail",
               "reason": grading.get("reason") or ""}  # fmt: skip


def _name(provider: Any) -> str:
    return str((provider.get("label") or provider.get("id") if isinstance(provider, Mapping) else provider) or "")


def alpaca_eval_records(value: Any) -> Records:
    """One record per annotation: item, rater, kind, generator_1, generator_2, winner. A preference of 1 is the first
    output, 2 the second, 0 and 1.5 a draw; one between comes from probabilities. The order shown is not kept."""
    for number, row in enumerate(value, start=1):
        preference, winner = row.get("preference"), ""
        if isinstance(preference, int | float) and preference == preference:
            winner = "tie" if preference in (0, 1.5) else "first" if preference < 1.5 else "second"
            if isinstance(preference, float) and preference not in (0, 1, 1.5, 2):
                place = f"record {number}: {preference:g}"
                yield "preferences lie between 1 and 2", "each counts for the nearer output", place
        who = str(row.get("annotator") or "")
        yield {
            "item": row.get("instruction"), "rater": who or "annotator",
            "kind": "person" if is_person(who) and not is_judge(who) else "judge",
            "generator_1": row.get("generator_1"), "generator_2": row.get("generator_2"), "winner": winner,
        }  # fmt: skip


def batch_records(value: Any) -> Records:
    """One record per request and rating: item, rater, criterion, value, reason."""
    lines = value if isinstance(value, list) else [value]
    responses = [line.get("response") or {} for line in lines]
    bodies = [body if isinstance(body := response.get("body"), Mapping) else {} for response in responses]
    models = {str(body.get("model")) for body in bodies} - {"None"}
    unknown = next(iter(models)) if len(models) == 1 else "unknown model"
    for number, (line, response, body) in enumerate(zip(lines, responses, bodies, strict=True), start=1):
        base = {"item": str(line.get("custom_id", number)), "rater": str(body.get("model") or unknown), "kind": "judge"}
        failed = line.get("error") or response.get("status_code", 200) != 200
        text, status, rated = ("", "error", []) if failed else answer_in(body)
        if not failed and status in ("unparsed", "error"):
            yield UNREAD, UNUSABLE, f"line {number}: {shown(text)}"
        yield from ({**base, **one} for one in rated or [{"criterion": "rating", "value": status}])


def answer_in(body: Mapping[str, Any]) -> tuple[str, str, list[dict[str, Any]]]:
    """What a reply says, from chat completions or from responses, read as one that is recorded: its text, its ratings,
    and what became of it where it has none. Of one that its limit cut, only a whole JSON object is an answer."""
    format_ = "openai_chat" if body.get("choices") else "openai_responses"
    reply = read_response(format_, RawResponse(200, {}, json.dumps(body).encode()))
    whole = reply.finish == "stop" or (reply.finish == "length" and reply.text.rstrip("` \n").endswith("}"))
    status = {"refusal": "refused", "error": "error"}.get(reply.finish, "unparsed")
    rated = list(ratings_in(reply.text)) if whole else []
    return reply.text, "ok" if rated else status, rated


def ratings_in(text: str) -> Iterator[dict[str, Any]]:
    """Criterion, value and reason of each rating in a reply; nothing where there is none."""
    value = None
    with suppress(ValueError):
        value = parsed(re.sub(r"^```(?:json)?\s*|\s*```$", "", text.strip()))
    if isinstance(value, Mapping):
        reason = next((str(v) for k, v in value.items() if plain(str(k)) in NAMES["reason"]), "")
        for name, rating in value.items():
            called = plain(name) in NAMES["value"]
            if isinstance(rating, int | float) or (isinstance(rating, str) and called and len(rating) <= SHORT):
                yield {"criterion": "rating" if called else name, "value": rating, "reason": reason}
    elif isinstance(value, int | float):
        yield {"criterion": "rating", "value": value}
    elif text.strip() and len(text.strip()) <= SHORT and "\n" not in text.strip():
        yield {"criterion": "rating", "value": text.strip(" .*\"'\n")}
    elif number := SAID.search(text.strip()):
        yield {"criterion": "rating", "value": number[1], "reason": text}


def chat_log_records(value: Any) -> Records:
    """One record per call: `id`, `text`, the metadata, and the reply's ratings in columns called after the model."""
    for number, call in enumerate(value, start=1):
        request, response = call.get("request") or {}, call.get("response") or {}
        judge = str(response.get("model") or request.get("model") or "judge")
        text, status, rated = answer_in(response)
        if status in ("unparsed", "error"):
            yield UNREAD, UNUSABLE, f"line {number}: {shown(text)}"
        own = {judge if one["criterion"] == "rating" else f"{judge}_{one['criterion']}": one["value"] for one in rated}
        facts = call.get("metadata")
        messages = [one for one in request.get("messages") or () if isinstance(one, Mapping)]
        by_user = [one.get("content") for one in messages if one.get("role") == "user"]
        yield {
            "id": str(call.get("id") or response.get("id") or number), **(facts if isinstance(facts, Mapping) else {}),
            "text": by_user[-1] if by_user and isinstance(by_user[-1], str) else "",
            **(own or {judge: status}),
        }  # fmt: skip


def inspect_records(log: Any) -> Records:
    """One record per sample, epoch (repeat), scorer (rater) and each of its criteria; target is the evaluated model."""
    model = str((log.get("eval") or {}).get("model") or "")
    for number, sample in enumerate(log["samples"], start=1):
        given, choices = sample.get("input"), (sample.get("output") or {}).get("choices") or [{}]
        messages = given if isinstance(given, list) else ()
        users = [one for one in messages if isinstance(one, Mapping) and one.get("role") == "user"]
        question = _content_text(users[-1].get("content")) if users else given if isinstance(given, str) else ""
        base = {
            "item": str(sample.get("id", number)), "target": model, "repeat": sample.get("epoch", 1), "kind": "judge",
            "text": _content_text((choices[0].get("message") or {}).get("content")), "question": question,
        }  # fmt: skip
        scores = sample.get("scores") or {}
        if not scores:
            message = (sample.get("error") or {}).get("message")
            place = f"sample {number}" + (f": {shown(str(message))}" if message else "")
            yield "samples have no score", LEFT_OUT, place
        for scorer, score in scores.items():
            value = score.get("value")
            if value is None or value != value:  # Inspect writes NaN where a grader's reply held no grade
                place = f"sample {number}, {scorer}: {shown(str(score.get('explanation') or 'no value'))}"
                yield "scores that no grader could give", UNUSABLE, place
            own = {**base, "rater": str(scorer), "reason": score.get("explanation") or ""}
            yield from ({**own, "criterion": criterion, "value": one} for criterion, one in _values(value).items())


def _values(value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {f"value {number}": one for number, one in enumerate(value, start=1)}
    single = "unparsed" if value is None or value != value else value
    named = value if isinstance(value, Mapping) else {"rating": single}
    return {str(name): LETTERS.get(one, one) if isinstance(one, str) else one for name, one in named.items()}


def _content_text(content: Any) -> str:
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return str(content or "")


def unpacked_log(opened: Opened) -> dict[str, Any]:
    """The log as Inspect's JSON format has it: `eval` and `samples`. `RecuseError` for an archive that is damaged, too
    large, or compressed in a way that cannot be undone here."""
    try:
        with zipfile.ZipFile(io.BytesIO(opened.data)) as archive:
            members = {m.filename: m for m in archive.infolist()}
            names = [name for name in members if name.startswith("samples/") and name.endswith(".json")]
            header = next((name for name in ("header.json", "_journal/start.json") if name in members), "")
            read = [header, *names] if header else names
            within_bounds(sum(members[name].file_size for name in read), len(opened.data))
            head = parsed(_content(members[header], opened)) if header else {}
            samples = [parsed(_content(members[name], opened)) for name in sorted(names)]
    except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, struct.error) as error:
        raise RecuseError(f"the packed Inspect log is damaged ({error}); {CONVERT}") from error
    return {"eval": head.get("eval") if isinstance(head, dict) else None, "samples": samples}


def _content(member: zipfile.ZipInfo, opened: Opened) -> bytes:
    """A member's content, checked by size and checksum; `zipfile` is slow where there are hundreds of thousands."""
    at = member.header_offset  # of its own header: 30 bytes, then name and further fields, whose lengths it says
    kind, flags, name, more = struct.unpack("<4s2xH18xHH", opened.data[at : at + 30])
    if kind != b"PK\x03\x04" or flags & ENCRYPTED:
        raise ValueError(f"{shown(member.filename)} is encrypted or not where the archive says")
    start = at + 30 + name + more
    plain = opened.data[start : start + member.compress_size]
    if member.compress_type == zipfile.ZIP_DEFLATED:
        plain = zlib.decompressobj(-zlib.MAX_WBITS).decompress(plain, member.file_size + 1)
    elif member.compress_type == ZSTANDARD:
        try:
            from backports.zstd import ZstdDecompressor, ZstdError
        except ImportError:
            raise RecuseError(
                f"a packed Inspect log, compressed with Zstandard; pip install backports.zstd, or {CONVERT}"
            ) from None
        try:
            plain = bytes(ZstdDecompressor().decompress(plain, member.file_size + 1))
        except ZstdError as error:
            raise ValueError(str(error)) from error
    elif member.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"compression method {member.compress_type}")
    if len(plain) != member.file_size or zlib.crc32(plain) != member.CRC:
        raise ValueError(f"{shown(member.filename)} is not what was packed")
    return plain


def label_studio_records(value: Any) -> Records:
    """One record per annotation and control: item (the task), rater, kind (who annotated is a person, the version of a
    model a judge), criterion (`from_name`), value, and what is known of the task. What was cancelled is no answer."""
    what = "answers are neither a number nor choices, such as marked words"
    own = {"item", "rater", "kind", "criterion", "value"}
    for task in value:
        data = task.get("data")
        facts = data.items() if isinstance(data, Mapping) else ()
        words = {str(k): str(v) for k, v in facts if isinstance(v, str | int | float) and str(k) not in own}
        base = {"item": str(task.get("id")), **words}
        given = [("person", one) for one in task.get("annotations") or () if not one.get("was_cancelled")]
        given += [("judge", one) for one in task.get("predictions") or () if isinstance(one, Mapping)]
        for kind, one in given:
            by = one.get("completed_by") if kind == "person" else one.get("model_version") or "prediction"
            who = by.get("email") or by.get("id") if isinstance(by, Mapping) else by
            rater = f"annotator {who}" if isinstance(who, int) and kind == "person" else str(who)
            for result in one.get("result") or ():
                criterion, value = str(result.get("from_name") or "rating"), result.get("value")
                named = (value[name] for name in ANSWERS if name in value) if isinstance(value, Mapping) else ()
                answer = next(iter(named), None)
                answer = "|".join(map(str, answer)) if isinstance(answer, list) else answer
                if answer is None or answer == "":
                    yield what, LEFT_OUT, f"task {base['item']}, {criterion}"
                else:
                    yield {**base, "rater": rater, "kind": kind, "criterion": criterion, "value": str(answer)}


LOGS = {
    "openai_batch": ToolLog("output of the OpenAI Batch API", batch_records,
        lambda value: "custom_id" in (first := value if isinstance(value, Mapping) else first_record(value))
        and ("response" in first or "error" in first)),
    "openai_log": ToolLog("a log of chat requests and replies", chat_log_records,
        lambda value: isinstance(request := first_record(value).get("request"), Mapping) and "messages" in request
        and isinstance(reply := first_record(value).get("response"), Mapping)
        and ("choices" in reply or "output" in reply)),
    "inspect": ToolLog("log of Inspect", inspect_records,
        lambda log: isinstance(log, Mapping) and "eval" in log and isinstance(log.get("samples"), list)),
    "promptfoo": ToolLog("results of promptfoo", promptfoo_records,
        lambda value: {"provider", "testIdx"} <= {*first_record(_results(value))}),
    "alpaca_eval": ToolLog("annotations of AlpacaEval", alpaca_eval_records,
        lambda value: {"instruction", "generator_1", "generator_2", "preference"} <= {*first_record(value)}),
    "deepeval": ToolLog("results of DeepEval", deepeval_records,
        lambda value: (isinstance(value, Mapping) and CACHE in value)
        or _any(first_record(_cases(value)), "metricsData", "metrics_data") is not None),
    "label_studio": ToolLog("an export of Label Studio", label_studio_records,
        lambda value: isinstance((first := first_record(value)).get("annotations"), list) and "data" in first),
}  # fmt: skip
"""By the name of their reader; the first that recognises a file reads it."""
