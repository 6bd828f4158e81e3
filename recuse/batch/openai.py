"""OpenAI batches: a file of JSON lines, uploaded; a batch made of it; a file of answers and one of errors.
Documentation: "Batch API" guide and the API reference of files and batches. A batch is done within 24 hours or expires;
what was answered until then is in the output file, the rest in the error file with the code `batch_expired`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from recuse.batch import BatchError, Lost, Progress, Result, Web
from recuse.schema import Call, RawResponse

MOST_REQUESTS = 50_000
MOST_BYTES = 200_000_000
_CALLS = ("/chat/completions", "/responses")
_DONE = ("completed", "failed", "expired", "cancelled")


def entry(number: str, call: Call) -> Mapping[str, Any]:
    """The body of the call, under OpenAI's endpoint. `BatchError` for an address that its batches do not take."""
    path = urlsplit(call.request.url).path
    for ending in _CALLS:
        if path.endswith(ending):
            body = json.loads(call.request.body)
            return {"custom_id": number, "method": "POST", "url": f"/v1{ending}", "body": body}
    raise BatchError(f"judge {call.judge}: {path} is no address that OpenAI's batches take ({', '.join(_CALLS)})")


def submit(web: Web, lines: Sequence[bytes], tag: str) -> str:
    """Uploads the lines and orders a batch of the file, tagged in its metadata; all go to the first line's endpoint."""
    endpoint = json.loads(lines[0])["url"]
    content = ("recuse.jsonl", b"\n".join(lines), "application/jsonl")
    sent = web.send("POST", web.address("/files"), data={"purpose": "batch"}, files={"file": content})
    file = web.object_of(sent)["id"]
    order = {"input_file_id": file, "endpoint": endpoint, "completion_window": "24h", "metadata": {"recuse": tag}}
    return str(web.create("/batches", order)["id"])


def progress(web: Web, batch: str) -> Progress:
    """OpenAI's own word for the state; a batch that failed as a whole has a `fault`."""
    status = web.get(f"/batches/{batch}")
    faults = [str(fault.get("message")) for fault in (status.get("errors") or {}).get("data") or ()]
    fault = "; ".join(dict.fromkeys(faults)) or "the batch failed" if status["status"] == "failed" else ""
    files = filter(None, map(status.get, ("output_file_id", "error_file_id")))
    results = [web.address(f"/files/{file}/content") for file in files]
    return Progress(status["status"] in _DONE, status["status"], results, fault)


def result(entry: Mapping[str, Any]) -> Result:
    """An answer with its status; a request that was not executed is lost, and asked again where time ran out."""
    answer, error = entry.get("response"), entry.get("error")
    if isinstance(answer, dict) and isinstance(answer.get("body"), dict):
        more = {"x-request-id": str(answer["request_id"])} if answer.get("request_id") else {}
        body = json.dumps(answer["body"], ensure_ascii=False).encode()
        headers = {"content-type": "application/json", **more}
        return str(entry["custom_id"]), RawResponse(int(answer["status_code"]), headers, body)
    error = error if isinstance(error, dict) else {}
    why = str(error.get("message") or error.get("code") or "no answer")
    return str(entry["custom_id"]), Lost(why, error.get("code") == "batch_expired")


def cancel(web: Web, batch: str) -> None:
    """Answers that are there by then come with the results."""
    web.create(f"/batches/{batch}/cancel", {})


def find(web: Web, tag: str, size: int, known: frozenset[str]) -> str | None:
    """By the tag in the metadata, page by page."""
    after: dict[str, str] = {}
    while True:
        page = web.get("/batches", {"limit": "100", **after})
        for batch in page["data"]:
            if (batch.get("metadata") or {}).get("recuse") == tag:
                return str(batch["id"])
        if not page.get("has_more") or not page["data"]:
            return None
        after = {"after": page["data"][-1]["id"]}
