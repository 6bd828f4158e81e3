"""Gemini batches: a file of JSON lines, uploaded in two steps; a batch made of it; a file of answers. Documentation:
"Batch API" guide and the references of models.batchGenerateContent, batches and media.upload. A batch that has not
ended after 48 hours expires without results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from recuse.batch import UPLOAD_URL, BatchError, Lost, Progress, Result, Web
from recuse.judges.description import segment
from recuse.schema import Call, RawResponse

MOST_REQUESTS = 100_000
MOST_BYTES = 1_000_000_000
_DONE = ("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED")


def entry(number: str, call: Call) -> Mapping[str, Any]:
    """The body of the call under its number."""
    return {"key": number, "request": json.loads(call.request.body)}


def submit(web: Web, lines: Sequence[bytes], tag: str) -> str:
    """Uploads the lines as a file and orders a batch of it, the tag as its display name."""
    url, content = web.address("/files", inside="/upload"), b"\n".join(lines)
    begun = web.send(
        "POST", url,
        json={"file": {"displayName": tag}},
        headers={
            "x-goog-upload-protocol": "resumable", "x-goog-upload-command": "start",
            "x-goog-upload-header-content-length": str(len(content)),
            "x-goog-upload-header-content-type": "application/jsonl",
        },
    )  # fmt: skip
    there = begun.headers.get(UPLOAD_URL, "")
    if urlsplit(there).netloc != urlsplit(url).netloc:  # our prompts go nowhere else
        raise BatchError(f"judge {web.judge.name}: the upload was sent on to another host than {urlsplit(url).netloc}")
    # Without the key: the address itself authorises.
    sent = web.send(
        "POST", there, content=content, bare=True,
        headers={"x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0"},
    )  # fmt: skip
    file = str(web.object_of(sent)["file"]["name"])
    order = {"batch": {"displayName": tag, "inputConfig": {"fileName": file}}}
    return str(web.create(f"/models/{segment(web.judge.model)}:batchGenerateContent", order)["name"])


def progress(web: Web, batch: str) -> Progress:
    """Google's own word for the state, without its prefix. `BatchError` where it tells of another batch."""
    status = web.get(f"/{batch}")
    if status["name"] != batch:
        raise BatchError(f"judge {web.judge.name}: asked for {batch}, told of {web.shown(str(status['name']))}")
    state = str((status.get("metadata") or {}).get("state", "")).removeprefix("BATCH_STATE_").removeprefix("JOB_STATE_")
    fault = str((status.get("error") or {}).get("message", "")) or ("the batch failed" if state == "FAILED" else "")
    file = (status.get("response") or (status.get("metadata") or {}).get("output") or {}).get("responsesFile")
    results = [f"{web.address(f'/{file}:download', inside='/download')}?alt=media"] if file else []
    return Progress(state in _DONE, state, results, fault)


def result(entry: Mapping[str, Any]) -> Result:
    """An answer in the form of one to a single call."""
    number = str(entry["key"])
    if isinstance(answer := entry.get("response"), dict):
        body = json.dumps(answer, ensure_ascii=False).encode()
        return number, RawResponse(200, {"content-type": "application/json"}, body)
    error = entry.get("error") or entry.get("status") or {}
    return number, Lost(str(error.get("message") or "no answer") if isinstance(error, dict) else str(error))


def cancel(web: Web, batch: str) -> None:
    """The batch ends as CANCELLED; its file of answers is read if there is one."""
    web.create(f"/{batch}:cancel", {})


def find(web: Web, tag: str, size: int, known: frozenset[str]) -> str | None:
    """By the tag as display name, page by page."""
    page: dict[str, str] = {}
    while True:
        listing = web.get("/batches", {"pageSize": "100", **page})
        for batch in listing.get("operations") or ():
            if (batch.get("metadata") or {}).get("displayName") == tag:
                return str(batch["name"])
        if not listing.get("nextPageToken"):
            return None
        page = {"pageToken": listing["nextPageToken"]}
