"""The batch interfaces of OpenAI, Anthropic and Google, each with what its provider documents."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from recuse.batch import UPLOAD_URL, BatchError, Lost, Progress, Result, Web
from recuse.judges.description import segment
from recuse.schema import Call, RawResponse

OPENAI_CALLS = ("/chat/completions", "/responses")
OPENAI_DONE = ("completed", "failed", "expired", "cancelled")
ANTHROPIC_BATCHES = "/messages/batches"
ANTHROPIC_STATUS = {
    "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
    "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "timeout_error": 504,
    "overloaded_error": 529,
}  # fmt: skip
GEMINI_DONE = ("SUCCEEDED", "FAILED", "CANCELLED", "EXPIRED")


class OpenAI:
    """OpenAI batches: a file of JSON lines, uploaded; a batch made of it; a file of answers and one of errors.
    Documentation: "Batch API" guide and the API reference of files and batches. A batch is done within 24 hours or
    expires; what was answered until then is in the output file, the rest in the error file, as `batch_expired`."""

    MOST_REQUESTS = 50_000
    MOST_BYTES = 200_000_000

    def entry(self, number: str, call: Call) -> Mapping[str, Any]:
        """The body of the call, under OpenAI's endpoint. `BatchError` for an address that its batches do not take."""
        path = urlsplit(call.request.url).path
        for ending in OPENAI_CALLS:
            if path.endswith(ending):
                body = json.loads(call.request.body)
                return {"custom_id": number, "method": "POST", "url": f"/v1{ending}", "body": body}
        known = ", ".join(OPENAI_CALLS)
        raise BatchError(f"judge {call.judge}: {path} is no address that OpenAI's batches take ({known})")

    def submit(self, web: Web, lines: Sequence[bytes], tag: str) -> str:
        """Uploads the lines and orders a batch of the file, tagged in its metadata, for the first line's endpoint."""
        endpoint = json.loads(lines[0])["url"]
        content = ("recuse.jsonl", b"\n".join(lines), "application/jsonl")
        sent = web.send("POST", web.address("/files"), data={"purpose": "batch"}, files={"file": content})
        file = web.object_of(sent)["id"]
        order = {"input_file_id": file, "endpoint": endpoint, "completion_window": "24h", "metadata": {"recuse": tag}}
        return str(web.create("/batches", order)["id"])

    def progress(self, web: Web, batch: str) -> Progress:
        """OpenAI's own word for the state; a batch that failed as a whole has a `fault`."""
        status = web.get(f"/batches/{batch}")
        faults = [str(fault.get("message")) for fault in (status.get("errors") or {}).get("data") or ()]
        fault = "; ".join(dict.fromkeys(faults)) or "the batch failed" if status["status"] == "failed" else ""
        files = filter(None, map(status.get, ("output_file_id", "error_file_id")))
        results = [web.address(f"/files/{file}/content") for file in files]
        return Progress(status["status"] in OPENAI_DONE, status["status"], results, fault)

    def result(self, entry: Mapping[str, Any]) -> Result:
        """An answer with its status; a request that was not executed is lost, and asked again where time ran out."""
        answer, error = entry.get("response"), entry.get("error")
        if isinstance(answer, dict) and isinstance(answer.get("body"), dict):
            more = {"x-request-id": str(answer["request_id"])} if answer.get("request_id") else {}
            return str(entry["custom_id"]), _answer(answer["body"], int(answer["status_code"]), more)
        error = error if isinstance(error, dict) else {}
        why = str(error.get("message") or error.get("code") or "no answer")
        return str(entry["custom_id"]), Lost(why, error.get("code") == "batch_expired")

    def cancel(self, web: Web, batch: str) -> None:
        """Answers that are there by then come with the results."""
        web.create(f"/batches/{batch}/cancel", {})

    def find(self, web: Web, tag: str, size: int, known: frozenset[str]) -> str | None:
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


class Anthropic:
    """Anthropic message batches: the requests in one JSON body; results as JSON lines once the whole batch has ended.
    Documentation: "Batch processing" guide and the API reference of message batches. A batch expires after 24 hours:
    requests that were not reached by then have the result `expired`, and are not billed."""

    MOST_REQUESTS = 100_000
    MOST_BYTES = 250_000_000

    def entry(self, number: str, call: Call) -> Mapping[str, Any]:
        """The body of the call under its number."""
        return {"custom_id": number, "params": json.loads(call.request.body)}

    def submit(self, web: Web, lines: Sequence[bytes], tag: str) -> str:
        """All requests in one JSON body. The tag goes nowhere: Anthropic keeps no mark of ours."""
        return str(web.create(ANTHROPIC_BATCHES, {"requests": [json.loads(entry) for entry in lines]})["id"])

    def progress(self, web: Web, batch: str) -> Progress:
        """Anthropic's own word for the state; a batch as a whole never fails."""
        state = web.get(f"{ANTHROPIC_BATCHES}/{batch}")["processing_status"]
        # Not `results_url`: an address out of an answer could lead the key elsewhere.
        return Progress(state == "ended", state, [web.address(f"{ANTHROPIC_BATCHES}/{batch}/results")])

    def result(self, entry: Mapping[str, Any]) -> Result:
        """An answer in the form of one to a single call; a request that was not reached is asked again."""
        number, kind = str(entry["custom_id"]), entry["result"]["type"]
        if kind == "succeeded":
            return number, _answer(entry["result"]["message"])
        if kind == "errored":
            report = entry["result"].get("error") or {}
            return number, _answer(report, ANTHROPIC_STATUS.get(str((report.get("error") or {}).get("type")), 500))
        return number, Lost(f"the request is {kind}", again=kind == "expired")

    def cancel(self, web: Web, batch: str) -> None:
        """Answers that are there by then come with the results."""
        web.create(f"{ANTHROPIC_BATCHES}/{batch}/cancel", {})

    def find(self, web: Web, tag: str, size: int, known: frozenset[str]) -> str | None:
        """Anthropic's batches carry no mark of ours: the newest of this size that is none of the known ones. Should
        it be another's, its results answer none of our requests; these are reported, and submitted by the next run."""
        for batch in web.get(ANTHROPIC_BATCHES, {"limit": "100"})["data"]:
            if batch["id"] not in known and sum(batch["request_counts"].values()) == size:
                return str(batch["id"])
        return None


class Gemini:
    """Gemini batches: a file of JSON lines, uploaded in two steps; a batch made of it; a file of answers.
    Documentation: "Batch API" guide and the references of models.batchGenerateContent, batches and media.upload. A
    batch that has not ended after 48 hours expires without results."""

    MOST_REQUESTS = 100_000
    MOST_BYTES = 1_000_000_000

    def entry(self, number: str, call: Call) -> Mapping[str, Any]:
        """The body of the call under its number."""
        return {"key": number, "request": json.loads(call.request.body)}

    def submit(self, web: Web, lines: Sequence[bytes], tag: str) -> str:
        """Uploads the lines as a file and orders a batch of it, the tag as its display name."""
        url, content = web.address("/files", inside="/upload"), b"\n".join(lines)
        start = {
            "x-goog-upload-protocol": "resumable", "x-goog-upload-command": "start",
            "x-goog-upload-header-content-length": str(len(content)),
            "x-goog-upload-header-content-type": "application/jsonl",
        }  # fmt: skip
        begun = web.send("POST", url, json={"file": {"displayName": tag}}, headers=start)
        there, host = begun.headers.get(UPLOAD_URL, ""), urlsplit(url).netloc
        if urlsplit(there).netloc != host:  # our prompts go nowhere else
            raise BatchError(f"judge {web.judge.name}: the upload was sent on to another host than {host}")
        # Without the key: the address itself authorises.
        whole = {"x-goog-upload-command": "upload, finalize", "x-goog-upload-offset": "0"}
        file = web.object_of(web.send("POST", there, content=content, bare=True, headers=whole))["file"]["name"]
        order = {"batch": {"displayName": tag, "inputConfig": {"fileName": str(file)}}}
        return str(web.create(f"/models/{segment(web.judge.model)}:batchGenerateContent", order)["name"])

    def progress(self, web: Web, batch: str) -> Progress:
        """Google's own word for the state, without its prefix. `BatchError` where it tells of another batch."""
        status = web.get(f"/{batch}")
        if status["name"] != batch:
            raise BatchError(f"judge {web.judge.name}: asked for {batch}, told of {web.shown(str(status['name']))}")
        metadata = status.get("metadata") or {}
        state = str(metadata.get("state", "")).removeprefix("BATCH_STATE_").removeprefix("JOB_STATE_")
        fault = str((status.get("error") or {}).get("message", "")) or ("the batch failed" if state == "FAILED" else "")
        file = (status.get("response") or metadata.get("output") or {}).get("responsesFile")
        results = [f"{web.address(f'/{file}:download', inside='/download')}?alt=media"] if file else []
        return Progress(state in GEMINI_DONE, state, results, fault)

    def result(self, entry: Mapping[str, Any]) -> Result:
        """An answer in the form of one to a single call."""
        number = str(entry["key"])
        if isinstance(answer := entry.get("response"), dict):
            return number, _answer(answer)
        error = entry.get("error") or entry.get("status") or {}
        return number, Lost(str(error.get("message") or "no answer") if isinstance(error, dict) else str(error))

    def cancel(self, web: Web, batch: str) -> None:
        """The batch ends as CANCELLED; its file of answers is read if there is one."""
        web.create(f"/{batch}:cancel", {})

    def find(self, web: Web, tag: str, size: int, known: frozenset[str]) -> str | None:
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


def _answer(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> RawResponse:
    sent = json.dumps(body, ensure_ascii=False).encode()
    return RawResponse(status, {"content-type": "application/json", **(headers or {})}, sent)


OPENAI, ANTHROPIC, GEMINI = OpenAI(), Anthropic(), Gemini()
