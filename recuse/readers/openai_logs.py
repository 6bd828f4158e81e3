"""Output files of OpenAI's Batch API, and of services that speak it: one line per request.

    {"custom_id": "t1", "response": {"status_code": 200, "body": {"model": ..., "choices": [...]}}, "error": null}

The judge is the model, the item the `custom_id`. A reply that is JSON gives a rating per named score, verdict or label;
any other must be the rating itself, or end in a line such as "Score: 4". What is neither counts as unusable.

Logs of requests to a chat interface with their replies: one object per call.

    {"id": "chatcmpl-1", "request": {"model": ..., "messages": [...]}, "response": {"choices": [...]},
     "metadata": {"ticket": "T1", "human_score": 4}}

The judge is the model that replied, its rating is read from the reply as that of a batch. What stands in
`metadata` are columns of their own: the item's id, and people's ratings under their names. The item's text is the last
message of the user."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recuse.readers.column_names import NAMES, plain
from recuse.readers.opening import SHOWN, Fault, parsed, shown
from recuse.readers.raw_table import ToolLog

SAID = re.compile(r"(?:score|rating|verdict|label|grade|answer)\W{1,6}([A-Za-z]+|-?\d+(?:\.\d+)?)\W*$", re.IGNORECASE)
SHORT = 30


def is_batch(value: Any) -> bool:
    """Whether the rows are the output file of OpenAI's batch interface."""
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, Mapping) and "custom_id" in first and ("response" in first or "error" in first)


def batch_records(value: Any, path: Path) -> tuple[list[dict[str, Any]], list[Fault]]:
    """One record per request and rating: item, rater, criterion, value, reason."""
    rows: list[dict[str, Any]] = []
    strange: list[str] = []
    lines = value if isinstance(value, list) else [value]
    models = {str(_body(line).get("model")) for line in lines} - {"None"}
    unknown = next(iter(models)) if len(models) == 1 else "unknown model"
    for number, line in enumerate(lines, start=1):
        body = _body(line)
        base = {
            "item": str(line.get("custom_id", number)), "rater": str(body.get("model") or unknown), "kind": "judge",
        }  # fmt: skip
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
    what = "replies hold no rating that could be read"
    return rows, [Fault.of(what, strange[:SHOWN], "they count as unusable", len(strange))] if strange else []


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
        scalar = {str(k): v for k, v in value.items() if isinstance(v, int | float | bool) or _is_label(k, v)}
        for name, rating in scalar.items():
            criterion = "rating" if plain(name) in NAMES["value"] else name
            yield {"criterion": criterion, "value": rating, "reason": reason}
    elif isinstance(value, int | float):
        yield {"criterion": "rating", "value": value}
    elif text.strip() and len(text.strip()) <= SHORT and "\n" not in text.strip():
        yield {"criterion": "rating", "value": text.strip(" .*\"'\n")}
    elif said := SAID.search(text.strip()):
        yield {"criterion": "rating", "value": said[1], "reason": text}


def _is_label(name: Any, value: Any) -> bool:
    return isinstance(value, str) and plain(str(name)) in NAMES["value"] and len(value) <= SHORT


def is_chat_log(value: Any) -> bool:
    """Whether the rows hold a request with messages and the response to it."""
    first = value[0] if isinstance(value, list) and value else None
    if not isinstance(first, Mapping):
        return False
    request, response = first.get("request"), first.get("response")
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
        found = {name: one["value"] for name, one in zip(names, rated, strict=True)}
        facts = call.get("metadata")
        rows.append({
            "id": str(call.get("id") or response.get("id") or number), **(facts if isinstance(facts, Mapping) else {}),
            "text": _last_message(request), **(found or {judge: "refused" if refused else "unparsed"}),
        })  # fmt: skip
    what = "replies hold no rating that could be read"
    return rows, [Fault.of(what, strange[:SHOWN], "they count as unusable", len(strange))] if strange else []


def _last_message(request: Mapping[str, Any]) -> str:
    said = [
        m.get("content") for m in request.get("messages") or () if isinstance(m, Mapping) and m.get("role") == "user"
    ]
    return said[-1] if said and isinstance(said[-1], str) else ""


BATCH = ToolLog("output of the OpenAI Batch API", is_batch, batch_records)
CHAT_LOG = ToolLog("a log of chat requests and replies", is_chat_log, chat_log_records)
