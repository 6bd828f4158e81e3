"""Anthropic message batches: the requests in one JSON body; results as JSON lines once the whole batch has ended.
Documentation: "Batch processing" guide and the API reference of message batches. A batch expires after 24 hours:
requests that were not reached by then have the result `expired`, and are not billed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from recuse.batch import Lost, Progress, Result, Web
from recuse.schema import Call, RawResponse

MOST_REQUESTS = 100_000
MOST_BYTES = 250_000_000
_BATCHES = "/messages/batches"
_STATUS = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "timeout_error": 504,
    "overloaded_error": 529,
}  # fmt: skip


def entry(number: str, call: Call) -> Mapping[str, Any]:
    """The body of the call under its number."""
    return {"custom_id": number, "params": json.loads(call.request.body)}


def submit(web: Web, lines: Sequence[bytes], tag: str) -> str:
    """All requests in one JSON body. The tag goes nowhere: Anthropic keeps no mark of ours."""
    return str(web.create(_BATCHES, {"requests": [json.loads(entry) for entry in lines]})["id"])


def progress(web: Web, batch: str) -> Progress:
    """Anthropic's own word for the state; a batch as a whole never fails."""
    state = web.get(f"{_BATCHES}/{batch}")["processing_status"]
    # Not `results_url`: an address out of an answer could lead the key elsewhere.
    return Progress(state == "ended", state, [web.address(f"{_BATCHES}/{batch}/results")])


def result(entry: Mapping[str, Any]) -> Result:
    """An answer in the form of one to a single call; a request that was not reached is asked again."""
    number, kind, headers = str(entry["custom_id"]), entry["result"]["type"], {"content-type": "application/json"}
    if kind == "succeeded":
        message = json.dumps(entry["result"]["message"], ensure_ascii=False).encode()
        return number, RawResponse(200, headers, message)
    if kind == "errored":
        report = entry["result"].get("error") or {}
        status = _STATUS.get(str((report.get("error") or {}).get("type")), 500)
        return number, RawResponse(status, headers, json.dumps(report, ensure_ascii=False).encode())
    return number, Lost(f"the request is {kind}", again=kind == "expired")


def cancel(web: Web, batch: str) -> None:
    """Answers that are there by then come with the results."""
    web.create(f"{_BATCHES}/{batch}/cancel", {})


def find(web: Web, tag: str, size: int, known: frozenset[str]) -> str | None:
    """Anthropic's batches carry no mark of ours: the newest of this size that is none of the known ones. Should it be
    somebody else's, its results answer none of our requests; these are then reported, and submitted by the next run."""
    for batch in web.get(_BATCHES, {"limit": "100"})["data"]:
        if batch["id"] not in known and sum(batch["request_counts"].values()) == size:
            return str(batch["id"])
    return None
