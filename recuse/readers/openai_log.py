"""Logs of requests to a chat interface with their replies: one object per call.

    {"id": "chatcmpl-1", "request": {"model": ..., "messages": [...]}, "response": {"choices": [...]},
     "metadata": {"ticket": "T1", "human_score": 4}}

The judge is the model that replied, its rating is read from the reply as `openai_batch` reads one. What stands in
`metadata` are columns of their own: the item's id, and people's ratings under their names. The item's text is the last
message of the user.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recuse.readers.faults import SHOWN, Fault, shown
from recuse.readers.openai_batch import ratings_in, reply_of

CALLED = "a log of chat requests and replies"


def recognises(value: Any) -> bool:
    """Whether the rows hold a request with messages and the response to it."""
    first = value[0] if isinstance(value, list) and value else None
    if not isinstance(first, Mapping):
        return False
    request, response = first.get("request"), first.get("response")
    return (
        isinstance(request, Mapping) and "messages" in request
        and isinstance(response, Mapping) and ("choices" in response or "output" in response)
    )  # fmt: skip


def records(value: Any, path: Path) -> tuple[list[dict[str, Any]], list[Fault]]:
    """One record per call: `id`, `text`, the metadata, and the reply's ratings in columns called after the model."""
    rows, strange = [], []
    for number, call in enumerate(value, start=1):
        request, response = call.get("request") or {}, call.get("response") or {}
        judge = str(response.get("model") or request.get("model") or "judge")
        text, refused = reply_of(response)
        rated = [] if refused else list(ratings_in(text))
        if not rated and not refused:
            strange.append(f"line {number}: {shown(text)}")
        found = {_column(judge, one["criterion"]): one["value"] for one in rated}
        facts = call.get("metadata")
        rows.append({
            "id": str(call.get("id") or response.get("id") or number), **(facts if isinstance(facts, Mapping) else {}),
            "text": _last_message(request), **(found or {judge: "refused" if refused else "unparsed"}),
        })  # fmt: skip
    what = "replies hold no rating that could be read"
    return rows, [Fault.of(what, strange[:SHOWN], "they count as unusable", len(strange))] if strange else []


def _column(judge: str, criterion: str) -> str:
    return judge if criterion == "rating" else f"{judge}_{criterion}"


def _last_message(request: Mapping[str, Any]) -> str:
    said = [
        m.get("content") for m in request.get("messages") or () if isinstance(m, Mapping) and m.get("role") == "user"
    ]
    return said[-1] if said and isinstance(said[-1], str) else ""
