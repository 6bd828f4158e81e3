"""A real HTTP/1.1 server on loopback that takes POST requests, as a judge's host would or as a proxy in front of it.

Clients reach hosts that do not exist (`*.invalid`) by using this server as their HTTP proxy: request targets then come
in absolute form ("POST http://fair.scripted.invalid/v1/chat/completions"); plain origin form is understood as well.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from recuse.cassettes.matching import CELL_HEADER, REPEAT_HEADER, request_key
from recuse.judges import wire
from recuse.judges.description import canonical
from recuse.schema import Call, Judge, Provenance, Request
from recuse.standins import Source, StandInError


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request: `url` as the client means it, whichever way it got here; `repeat` and `cell` from Recuse's
    headers."""

    host: str
    path: str
    body: dict[str, Any]
    repeat: int
    cell: str | None = None

    @property
    def url(self) -> str:
        """As the client means it, with the query."""
        return f"http://{self.host}{self.path}"


Answer = Callable[[ReceivedRequest], tuple[int, Mapping[str, str], bytes]]
"""Request -> status, headers, payload. Called from several threads at once."""


@contextmanager
def serve(answer: Answer) -> Iterator[str]:
    """Serve on a free port of 127.0.0.1 while the block runs; yields "http://127.0.0.1:<port>".

    A request that `answer` rejects with `StandInError` gets a 404 and its message, any other mistake a 500; the server
    goes on. Should the block end with an error, the reasons of failed requests are added to it as notes.
    """
    server = _Server(("127.0.0.1", 0), _Handler)
    server.answer, server.failures = answer, []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, name="stand-ins")
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    except BaseException as error:
        for failure in dict.fromkeys(server.failures[:5]):
            error.add_note(f"stand-in server: {failure}")
        raise
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True  # a connection that a client keeps alive holds nobody up
    request_queue_size = 1024
    answer: Answer
    failures: list[str]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no concern of ours."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keep-alive
    timeout = 60.0  # seconds after which a connection that says nothing is closed
    wbufsize = -1  # status, headers and payload leave in one packet
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        try:
            target, body = urlsplit(self.path), json.loads(self.rfile.read(int(self.headers["content-length"])))
            path = (target.path or "/") + (f"?{target.query}" if target.query else "")
            repeat, cell = int(self.headers.get(REPEAT_HEADER, "0")), self.headers.get(CELL_HEADER)
            received = ReceivedRequest(target.netloc or self.headers["host"], path, body, repeat, cell)
            status, headers, payload = self.server.answer(received)
        except Exception as error:
            planned = isinstance(error, StandInError)
            status, reason = (404, str(error)) if planned else (500, f"{type(error).__name__}: {error}")
            self.server.failures.append(f"{status} to {self.command} {self.path}: {reason}")
            self.close_connection = True  # what is left of the request was perhaps not read
            headers = {"content-type": "application/json", "connection": "close"}
            payload = json.dumps({"error": {"message": reason}}).encode()
        self.send_response_only(status)
        for name, value in {**headers, "content-length": str(len(payload))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: failures are kept, successes are in the cassette."""


Fields = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""(judge, item, target) -> the fields of the item the judge is asked about."""


class RequestRouter:
    """An `Answer` for `serve`. A request is known by its cassette key, its repeat and, where two cells ask word for
    word the same, its cell. Nothing is answered that was not planned."""

    def __init__(
        self, calls: Iterable[Call], judges: Mapping[str, Judge], source: Source, fields: Fields, provenance: Provenance
    ) -> None:
        self._judges, self._source, self._fields, self._provenance = judges, source, fields, provenance
        self._calls: dict[tuple[str, int], list[Call]] = {}
        for call in calls:
            self._calls.setdefault((call.key, call.repeat), []).append(call)

    def __call__(self, request: ReceivedRequest) -> tuple[int, Mapping[str, str], bytes]:
        call = self._call(request)
        judge = self._judges[call.judge]
        reply = self._source.reply(call, self._fields.get((call.judge, call.item, call.target), {}))
        mark = f"({self._provenance})"
        # No tokenizer is involved: a quarter of the length is good for an estimate of the size, not for a bill.
        sizes = {"input_tokens": call.request.body, "output_tokens": reply.text}
        payload = wire(judge.wire).payload(
            reply.text, model=judge.model if judge.model.endswith(mark) else f"{judge.model} {mark}",
            refusal=reply.refusal, **{name: max(len(text) // 4, 1) for name, text in sizes.items()},
        )  # fmt: skip
        return 200, {"content-type": "application/json"}, canonical(payload)

    def _call(self, request: ReceivedRequest) -> Call:
        key = request_key(Request(request.url, canonical(request.body)))
        planned = self._calls.get((key, request.repeat), [])
        fitting = [call for call in planned if request.cell in (None, call.cell)]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            cells = ", ".join(sorted(call.cell for call in fitting))
            raise StandInError(
                f"{request.url}: {len(fitting)} calls ask the same in repeat {request.repeat} ({cells}); send "
                "x-recuse-cell"
            )
        raise StandInError(
            f"{request.url}: repeat {request.repeat} of this request (key {key}) is not in the plan of "
            f"{len(self._calls)} calls"
        )
