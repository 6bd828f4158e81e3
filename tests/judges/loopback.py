"""A real HTTP server on loopback whose answers a function gives; for providers that have rules."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class ReceivedRequest:
    """One request as it arrived: `target` is path and query, undecoded; header names in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True)
class Answer:
    status: int
    payload: Any  # sent as JSON, bytes as they are
    headers: Mapping[str, str] | None = None


@contextmanager
def loopback(answer: Callable[[ReceivedRequest], Answer]) -> Iterator[str]:
    """Serve on 127.0.0.1 while the block runs; yields "http://127.0.0.1:<port>"."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            given = answer(ReceivedRequest(self.command, self.path, headers, body))
            data = given.payload if isinstance(given.payload, bytes) else json.dumps(given.payload).encode()
            self.send_response(given.status)
            for name, value in {"content-type": "application/json", **(given.headers or {})}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = _answer

        def log_message(self, format: str, *arguments: Any) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
