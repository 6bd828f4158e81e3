"""The batch interfaces of OpenAI, Anthropic and Google on loopback, written from their public documentation. They check
what the real ones check: paths, keys, purposes, fields of the order, one endpoint per file, numbers that appear once.

What a request comes to is decided by `fate`: position of the request in the whole history -> "good", "bad" or "late".
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

from loopback import Answer, ReceivedRequest

from recuse.judges import wire

KEY = "canary-9d2f6c81e4"
BAD = "this request is bad, said to canary-9d2f6c81e4"


class No(Exception):
    """The provider does not take this."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class BatchProvider:
    WIRE = ""
    BASE = ""

    def __init__(self) -> None:
        self.orders: list[dict[str, Any]] = []  # every batch: {"id", "tag", "entries": [(number, body, fate)]}
        self.polls_until_done = 0
        self.fate: Callable[[int], str] = lambda position: "good"
        self.broken: str = ""  # a whole batch comes to nothing, for this reason
        self.cut_off = 0  # so many orders are taken, and then the connection has a fault
        self.refused = 0  # so many orders are not taken, with a 429
        self.cancelled: list[str] = []  # identifiers of batches
        self.asked: list[ReceivedRequest] = []
        self._seen = 0

    def __call__(self, asked: ReceivedRequest) -> Answer:
        self.asked.append(asked)
        try:
            self.authorise(asked)
            return self.answer(asked, urlsplit(asked.target).path, json.loads(asked.body) if _is_json(asked) else None)
        except No as no:
            return Answer(no.code, self.error(no))

    # ------------------------------------------------------------------ what a provider fills in

    def authorise(self, asked: ReceivedRequest) -> None:
        raise NotImplementedError

    def answer(self, asked: ReceivedRequest, path: str, body: Any) -> Answer:
        raise NotImplementedError

    def error(self, no: No) -> Any:
        return {"error": {"message": no.message, "type": "invalid_request_error"}}

    # ------------------------------------------------------------------ what they share

    @property
    def submitted(self) -> list[str]:
        """The numbers of all requests, in the order in which they were submitted."""
        return [number for order in self.orders for number, _, _ in order["entries"]]

    def order(self, entries: list[tuple[str, Any]], tag: str = "") -> dict[str, Any]:
        numbers = [number for number, _ in entries]
        if len(set(numbers)) != len(numbers) or not all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", n) for n in numbers):
            raise No(400, "the numbers of the requests must be unique and plain")
        if self.refused:
            self.refused -= 1
            raise No(429, "Too many batches are enqueued.")
        made = []
        for number, body in entries:
            made.append((number, body, self.fate(self._seen)))
            self._seen += 1
        order = {"id": f"batch-{len(self.orders)}", "tag": tag, "entries": made, "polls": 0}
        self.orders.append(order)
        if self.cut_off:
            self.cut_off -= 1
            raise No(500, "The server had an error.")
        return order

    def ordered(self, id: str) -> dict[str, Any]:
        for order in self.orders:
            if order["id"] == id:
                return order
        raise No(404, f"No batch found with id '{id}'.")

    def cancel(self, id: str) -> None:
        order = self.ordered(id)
        order["entries"] = [(number, body, "cancelled") for number, body, _ in order["entries"]]
        self.cancelled.append(id)

    def is_done(self, order: dict[str, Any]) -> bool:
        if order["id"] in self.cancelled:
            return True
        order["polls"] += 1
        return bool(order["polls"] > self.polls_until_done)

    def good(self, body: Any) -> Any:
        text = re.search(r"Score text (\d)", json.dumps(body))
        assert text is not None
        return wire(self.WIRE).payload(
            f"about {text.group(1)}", model="ann-1", refusal=False, input_tokens=11, output_tokens=7
        )


class OpenAI(BatchProvider):
    WIRE, BASE = "openai_chat", "/v1"
    ENDPOINT = "/v1/chat/completions"

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, bytes] = {}

    def authorise(self, asked: ReceivedRequest) -> None:
        if asked.headers.get("authorization") != f"Bearer {KEY}":
            raise No(401, f"Incorrect API key provided: {asked.headers.get('authorization')}")

    def answer(self, asked: ReceivedRequest, path: str, body: Any) -> Answer:
        if (asked.method, path) == ("POST", "/v1/files"):
            return Answer(200, {"id": self._keep(_form(asked)), "object": "file", "purpose": "batch"})
        if (asked.method, path) == ("POST", "/v1/batches"):
            return Answer(200, self._describe(self._order(body)))
        if asked.method == "GET" and path == "/v1/batches":
            return self._list(parse_qs(urlsplit(asked.target).query))
        if asked.method == "GET" and (found := re.fullmatch(r"/v1/batches/([\w-]+)", path)):
            return Answer(200, self._describe(self.ordered(found.group(1)), polled=True))
        if asked.method == "POST" and (found := re.fullmatch(r"/v1/batches/([\w-]+)/cancel", path)):
            self.cancel(found.group(1))
            return Answer(200, {"id": found.group(1), "object": "batch", "status": "cancelling"})
        if asked.method == "GET" and (found := re.fullmatch(r"/v1/files/([\w-]+)/content", path)):
            return Answer(200, self.files[found.group(1)], {"content-type": "application/octet-stream"})
        raise No(404, f"Invalid URL ({asked.method} {path})")

    def _keep(self, form: dict[str, bytes]) -> str:
        if form.get("purpose") != b"batch" or "file" not in form:
            raise No(400, "Invalid value for purpose.")
        name = f"file-{len(self.files)}"
        self.files[name] = form["file"]
        return name

    def _order(self, body: Any) -> dict[str, Any]:
        if set(body) - {"input_file_id", "endpoint", "completion_window", "metadata", "output_expires_after"}:
            raise No(400, "Unknown parameter.")
        if body["completion_window"] != "24h" or body["endpoint"] != self.ENDPOINT:
            raise No(400, "Invalid value.")
        lines = [json.loads(line) for line in self.files[body["input_file_id"]].split(b"\n")]
        for line in lines:
            if set(line) != {"custom_id", "method", "url", "body"} or line["url"] != body["endpoint"]:
                raise No(400, "The line is not a request to the endpoint of the batch.")
        return self.order([(line["custom_id"], line["body"]) for line in lines], body["metadata"]["recuse"])

    def _describe(self, order: dict[str, Any], polled: bool = False) -> dict[str, Any]:
        found = {"id": order["id"], "object": "batch", "status": "in_progress", "metadata": {"recuse": order["tag"]}}
        if not polled or not self.is_done(order):
            return found
        if self.broken:
            faults = {"object": "list", "data": [{"code": "invalid", "line": 1, "message": self.broken}]}
            return {**found, "status": "failed", "errors": faults, "output_file_id": None, "error_file_id": None}
        if order["id"] in self.cancelled:
            return {**found, "status": "cancelled", "output_file_id": None, "error_file_id": None}
        late = any(fate == "late" for _, _, fate in order["entries"])
        names = {
            "output_file_id": self._results(order, ("good",)),
            "error_file_id": self._results(order, ("bad", "late")),
        }
        return {**found, "status": "expired" if late else "completed", **names}

    def _results(self, order: dict[str, Any], fates: tuple[str, ...]) -> str | None:
        lines = [self._result(number, body, fate) for number, body, fate in order["entries"] if fate in fates]
        name = f"{order['id']}-{fates[0]}"
        self.files[name] = b"\n".join(json.dumps(line).encode() for line in reversed(lines)) + b"\n"
        return name if lines else None

    def _result(self, number: str, body: Any, fate: str) -> dict[str, Any]:
        head = {"id": f"batch_req_{number}", "custom_id": number}
        if fate == "late":
            return {**head, "response": None, "error": {"code": "batch_expired", "message": "It was not executed."}}
        error = {"error": {"message": BAD, "type": "invalid_request_error"}}
        answer = (200, self.good(body)) if fate == "good" else (400, error)
        return {**head, "response": {"status_code": answer[0], "request_id": "r-1", "body": answer[1]}, "error": None}

    def _list(self, query: dict[str, list[str]]) -> Answer:
        newest = list(reversed(self.orders))
        ids = [order["id"] for order in newest]
        start = ids.index(query["after"][0]) + 1 if "after" in query else 0
        page = newest[start : start + 1]  # pages of one, so that turning them is tried
        more = start + 1 < len(newest)
        return Answer(200, {"object": "list", "data": [self._describe(order) for order in page], "has_more": more})


class OpenAIResponses(OpenAI):
    WIRE = "openai_responses"
    ENDPOINT = "/v1/responses"


class Anthropic(BatchProvider):
    WIRE, BASE = "anthropic_messages", "/v1"

    def authorise(self, asked: ReceivedRequest) -> None:
        if asked.headers.get("anthropic-version") != "2023-06-01":
            raise No(400, "anthropic-version: header is required")
        if asked.headers.get("x-api-key") != KEY:
            raise No(401, f"invalid x-api-key {asked.headers.get('x-api-key')}")

    def answer(self, asked: ReceivedRequest, path: str, body: Any) -> Answer:
        if (asked.method, path) == ("POST", "/v1/messages/batches"):
            if set(body) != {"requests"} or any(set(entry) != {"custom_id", "params"} for entry in body["requests"]):
                raise No(400, "requests: Field required")
            entries = [(entry["custom_id"], entry["params"]) for entry in body["requests"]]
            return Answer(200, self._describe(self.order(entries)))
        if (asked.method, path) == ("GET", "/v1/messages/batches"):
            return Answer(200, {"data": [self._describe(order) for order in reversed(self.orders)], "has_more": False})
        if asked.method == "POST" and (found := re.fullmatch(r"/v1/messages/batches/([\w-]+)/cancel", path)):
            self.cancel(found.group(1))
            return Answer(200, self._describe(self.ordered(found.group(1))))
        if found := re.fullmatch(r"/v1/messages/batches/([\w-]+)", path):
            return Answer(200, self._describe(self.ordered(found.group(1)), polled=True))
        if found := re.fullmatch(r"/v1/messages/batches/([\w-]+)/results", path):
            lines = [self._result(*entry) for entry in reversed(self.ordered(found.group(1))["entries"])]
            return Answer(200, b"\n".join(json.dumps(line).encode() for line in lines))
        raise No(404, "Not found")

    def _describe(self, order: dict[str, Any], polled: bool = False) -> dict[str, Any]:
        done = polled and self.is_done(order)
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        if not done:
            return self._batch(order, "in_progress", counts | {"processing": len(order["entries"])})
        names = {"good": "succeeded", "bad": "errored", "late": "expired", "cancelled": "canceled"}
        for _, _, fate in order["entries"]:
            counts[names[fate]] += 1
        return self._batch(order, "ended", counts)

    def _batch(self, order: dict[str, Any], status: str, counts: dict[str, int]) -> dict[str, Any]:
        elsewhere = "http://elsewhere.invalid/results" if status == "ended" else None
        head = {"id": order["id"], "type": "message_batch", "processing_status": status}
        return {**head, "request_counts": counts, "results_url": elsewhere}

    def _result(self, number: str, body: Any, fate: str) -> dict[str, Any]:
        error = {"type": "error", "error": {"type": "invalid_request_error", "message": BAD}}
        results = {
            "good": {"type": "succeeded", "message": self.good(body)},
            "bad": {"type": "errored", "error": error},
            "late": {"type": "expired"},
            "cancelled": {"type": "canceled"},
        }
        return {"custom_id": number, "result": results[fate]}


class Gemini(BatchProvider):
    WIRE, BASE = "gemini_generate", "/v1beta"

    def __init__(self) -> None:
        super().__init__()
        self.files: dict[str, bytes] = {}
        self.sent_on = ""  # where an upload is sent on to, if not to this server

    def authorise(self, asked: ReceivedRequest) -> None:
        if "upload_id=" in asked.target:
            if "x-goog-api-key" in asked.headers:
                raise No(400, "the second step of an upload wants no key")
        elif asked.headers.get("x-goog-api-key") != KEY:
            raise No(400, f"API key not valid: {asked.headers.get('x-goog-api-key')}")

    def answer(self, asked: ReceivedRequest, path: str, body: Any) -> Answer:
        if (asked.method, path) == ("POST", "/upload/v1beta/files"):
            return self._upload(asked)
        if (asked.method, path) == ("POST", "/v1beta/models/ann-1:batchGenerateContent"):
            return Answer(200, self._describe(self._order(body)))
        if (asked.method, path) == ("GET", "/v1beta/batches"):
            return self._list(parse_qs(urlsplit(asked.target).query))
        if asked.method == "POST" and (found := re.fullmatch(r"/v1beta/(batches/[\w-]+):cancel", path)):
            self.cancel(found.group(1))
            return Answer(200, {})
        if found := re.fullmatch(r"/v1beta/(batches/[\w-]+)", path):
            return Answer(200, self._describe(self.ordered(found.group(1)), polled=True))
        if (found := re.fullmatch(r"/download/v1beta/(files/[\w-]+):download", path)) and "alt=media" in asked.target:
            return Answer(200, self.files[found.group(1)])
        raise No(404, f"{asked.method} {path} is not found")

    def _upload(self, asked: ReceivedRequest) -> Answer:
        if asked.headers.get("x-goog-upload-command") == "start":
            if asked.headers.get("x-goog-upload-protocol") != "resumable":
                raise No(400, "unknown protocol")
            there = self.sent_on or f"http://{asked.headers['host']}"
            length = asked.headers["x-goog-upload-header-content-length"]
            return Answer(200, {}, {"x-goog-upload-url": f"{there}/upload/v1beta/files?upload_id={length}"})
        if asked.headers.get("x-goog-upload-command") != "upload, finalize" or "upload_id=" not in asked.target:
            raise No(400, "unknown command")
        if asked.target.rpartition("=")[2] != str(len(asked.body)):
            raise No(400, "not the announced length")
        name = f"files/f{len(self.files)}"
        self.files[name] = asked.body
        return Answer(200, {"file": {"name": name}})

    def _order(self, body: Any) -> dict[str, Any]:
        batch = body["batch"]
        if set(body) != {"batch"} or set(batch) != {"displayName", "inputConfig"}:
            raise No(400, "Invalid JSON payload received.")
        lines = [json.loads(line) for line in self.files[batch["inputConfig"]["fileName"]].split(b"\n")]
        return self.order([(line["key"], line["request"]) for line in lines], batch["displayName"])

    def order(self, entries: list[tuple[str, Any]], tag: str = "") -> dict[str, Any]:
        try:
            return super().order(entries, tag)
        finally:
            if self.orders and not self.orders[-1]["id"].startswith("batches/"):
                self.orders[-1]["id"] = f"batches/{self.orders[-1]['id']}"

    def _describe(self, order: dict[str, Any], polled: bool = False) -> dict[str, Any]:
        metadata = {"displayName": order["tag"], "state": "BATCH_STATE_RUNNING"}
        if not polled or not self.is_done(order):
            return {"name": order["id"], "metadata": metadata}
        if self.broken:
            metadata["state"] = "BATCH_STATE_FAILED"
            return {
                "name": order["id"],
                "metadata": metadata,
                "done": True,
                "error": {"code": 3, "message": self.broken},
            }
        if order["id"] in self.cancelled:
            metadata["state"] = "BATCH_STATE_CANCELLED"
            error = {"code": 1, "message": "cancelled"}
            return {"name": order["id"], "metadata": metadata, "done": True, "error": error}
        if any(fate == "late" for _, _, fate in order["entries"]):
            metadata["state"] = "BATCH_STATE_EXPIRED"
            return {"name": order["id"], "metadata": metadata, "done": True}
        metadata["state"] = "BATCH_STATE_SUCCEEDED"
        file = f"files/{order['id'].rpartition('/')[2]}"
        lines = [self._result(*entry) for entry in reversed(order["entries"])]
        self.files[file] = b"\n".join(json.dumps(line).encode() for line in lines)
        return {"name": order["id"], "metadata": metadata, "done": True, "response": {"responsesFile": file}}

    def _result(self, number: str, body: Any, fate: str) -> dict[str, Any]:
        if fate == "good":
            return {"key": number, "response": self.good(body)}
        return {"key": number, "error": {"code": 3, "message": BAD}}

    def _list(self, query: dict[str, list[str]]) -> Answer:
        start = int(query.get("pageToken", ["0"])[0])
        page = list(reversed(self.orders))[start : start + 1]
        more = {"nextPageToken": str(start + 1)} if start + 1 < len(self.orders) else {}
        return Answer(200, {"operations": [self._describe(order) for order in page], **more})


PROVIDERS: dict[str, type[BatchProvider]] = {
    "openai": OpenAI,
    "openai_responses": OpenAIResponses,
    "anthropic": Anthropic,
    "gemini": Gemini,
}


def _is_json(asked: ReceivedRequest) -> bool:
    return asked.headers.get("content-type", "").startswith("application/json") and bool(asked.body)


def _form(asked: ReceivedRequest) -> dict[str, bytes]:
    """The fields of a multipart form (RFC 7578)."""
    boundary = re.search(r'boundary="?([^";]+)', asked.headers["content-type"])
    assert boundary is not None
    found = {}
    for part in asked.body.split(b"--" + boundary.group(1).encode())[1:-1]:
        head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        name = re.search(rb'name="([^"]+)"', head)
        assert name is not None
        found[name.group(1).decode()] = content.removesuffix(b"\r\n")
    return found
