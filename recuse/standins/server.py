"""A real HTTP/1.1 server on loopback that takes POST requests, as a judge's host would or as a proxy in front of it.

Clients reach hosts that do not exist (`*.invalid`) by using this server as their HTTP proxy: request targets then come
in absolute form ("POST http://fair.scripted.invalid/v1/chat/completions"); plain origin form is understood as well.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from recuse.cassettes.matching import CELL_HEADER, REPEAT_HEADER, request_key
from recuse.judges import wire
from recuse.judges.description import canonical
from recuse.schema import Call, Judge, Provenance, Request
from recuse.standins import Source, StandInError

LARGEST_BODY = 16 * 2**20  # bytes
IDLE_S = 60.0  # a connection that says nothing for so long is closed


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
def serve(answer: Answer, port: int = 0) -> Iterator[str]:
    """Serve on 127.0.0.1 (a free port unless one is given) while the block runs; yields "http://127.0.0.1:<port>".

    A request that is no POST of a JSON object gets a 4xx and a reason, one that `answer` rejects with `StandInError` a
    404 and its message, any other mistake of `answer` a 500; the server goes on. Should the block end with an error,
    the reasons of failed requests are added to it as notes. On leaving, connections are closed and threads joined.
    """
    server = _Server(answer, port)
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
        server.close_connections()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # so that server_close() joins the threads
    request_queue_size = 1024

    def __init__(self, answer: Answer, port: int) -> None:
        self.answer = answer
        self.failures: list[str] = []
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """Wake the threads that wait for a next request on a kept-alive connection."""
        with self._lock:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no concern of ours."""


class _Rejected(Exception):
    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # keep-alive
    server_version, sys_version = "recuse-stand-in", ""
    timeout = IDLE_S
    wbufsize = -1  # status, headers and payload leave in one packet
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        try:
            status, headers, payload = self.server.answer(self._received())
        except _Rejected as error:
            self._fail(error.status, str(error))
        except StandInError as error:
            self._fail(404, str(error))
        except Exception as error:
            self._fail(500, f"{type(error).__name__}: {error}")
        else:
            self._send(status, headers, payload)

    def _refuse_method(self) -> None:
        self._fail(405, f"{self.command} is not served: stand-ins answer POST, over plain http")

    do_GET = do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_CONNECT = _refuse_method

    def _received(self) -> ReceivedRequest:
        target = urlsplit(self.path)
        body = self._json_object()
        host = target.netloc or self.headers.get("host", "")
        path = (target.path or "/") + (f"?{target.query}" if target.query else "")
        repeat = self.headers.get(REPEAT_HEADER, "0")
        if not repeat.isdecimal():
            raise _Rejected(400, f"header {REPEAT_HEADER} must be a whole number from 0, got {repeat!r}")
        return ReceivedRequest(host, path, body, int(repeat), self.headers.get(CELL_HEADER))

    def _json_object(self) -> dict[str, Any]:
        length = self.headers.get("content-length", "")
        if not length.isdecimal():
            raise _Rejected(411, "a request needs a Content-Length")
        if int(length) > LARGEST_BODY:
            raise _Rejected(413, f"the body has {length} bytes; at most {LARGEST_BODY} are read")
        try:
            body = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError) as error:
            raise _Rejected(400, f"the body is not JSON: {error}") from None
        if not isinstance(body, dict):
            raise _Rejected(400, f"the body must be a JSON object, not {type(body).__name__}")
        return body

    def _fail(self, status: int, reason: str) -> None:
        self.server.failures.append(f"{status} to {self.command} {self.path}: {reason}")
        self.close_connection = True  # what is left of the request was perhaps not read
        payload = json.dumps({"error": {"message": reason}}).encode()
        self._send(status, {"content-type": "application/json"}, payload)

    def _send(self, status: int, headers: Mapping[str, str], payload: bytes) -> None:
        self.send_response_only(status)
        for name, value in {**headers, "content-length": str(len(payload))}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()
        if self.command != "HEAD":
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
        payload = wire(judge.wire).payload(
            reply.text, model=judge.model if judge.model.endswith(mark) else f"{judge.model} {mark}",
            refusal=reply.refusal, input_tokens=reply.input_tokens, output_tokens=reply.output_tokens,
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
