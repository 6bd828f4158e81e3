"""Output files of OpenAI's Batch API, and of services that speak it: one line per request.

    {"custom_id": "t1", "response": {"status_code": 200, "body": {"model": ..., "choices": [...]}}, "error": null}

The judge is the model, the item the `custom_id`. A reply that is JSON gives a rating per named score, verdict or label;
any other must be the rating itself, or end in a line such as "Score: 4". What is neither counts as unusable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recuse.readers.column_names import NAMES, plain
from recuse.readers.faults import SHOWN, Fault, shown

CALLED = "output of the OpenAI Batch API"
SAID = re.compile(r"(?:score|rating|verdict|label|grade|answer)\W{1,6}([A-Za-z]+|-?\d+(?:\.\d+)?)\W*$", re.IGNORECASE)
SHORT = 30


def recognises(value: Any) -> bool:
    """Whether the rows are the output file of OpenAI's batch interface."""
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, Mapping) and "custom_id" in first and ("response" in first or "error" in first)


def records(value: Any, path: Path) -> tuple[list[dict[str, Any]], list[Fault]]:
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
        value = json.loads(inner)
    except (json.JSONDecodeError, RecursionError):
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
