"""One judge per wire format, a call of it, and payloads as providers send them."""

from __future__ import annotations

import os
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from recuse.judges import WIRES, wire
from recuse.schema import Call, Judge, Message, Prompt

PROMPT = Prompt(
    (Message("system", "Be fair."), Message("user", "Score “this”.")),
    temperature=0.7,
    max_tokens=200,
    schema={"type": "object"},
)


@pytest.fixture(params=WIRES)
def wire_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def judge() -> Callable[..., Judge]:
    def make(wire: str = "openai_chat", **changes: Any) -> Judge:
        query = {"query": {"api-version": "2024-10-21"}} if wire == "azure_openai" else {}
        values = (
            {"name": "ann", "label": "Ann", "base_url": "http://api.example/v1", "model": "ann-1"} | query | changes
        )
        return Judge(wire=wire, **values)

    return make


@pytest.fixture
def prompt() -> Prompt:
    return PROMPT


@pytest.fixture
def call() -> Callable[..., Call]:
    """The call of a judge, `repeat` saying which run."""

    def make(judge: Judge, repeat: int = 0) -> Call:
        request = wire(judge.wire).request(judge, PROMPT, None)
        factors = (("condition", "attributed"),)
        return Call("essays", "rubric", judge.name, "one", "alpha", factors, repeat, request, "key", "cell")

    return make


class Provider:
    """A real HTTP server on loopback that gives the scripted answers in turn, the last one for ever."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, dict[str, str], bytes]] = []  # path, headers, body
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                number = len(provider.asked)
                provider.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                answer = provider.answers[min(number, len(provider.answers) - 1)]
                provider.leaving.wait(answer.delay)
                if answer.reset:
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    os.close(self.connection.detach())
                    self.close_connection = True
                    return
                self.send_response(answer.status)
                for name, value in {**answer.headers, "content-length": str(len(answer.body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                for at in range(len(answer.body) if answer.trickle else 0):
                    self.wfile.write(answer.body[at : at + 1])
                    if provider.leaving.wait(answer.trickle):
                        return
                self.wfile.write(b"" if answer.trickle else answer.body)

            def log_message(self, format: str, *arguments: Any) -> None:
                """Quiet."""

        class Quiet(ThreadingHTTPServer):
            def handle_error(self, request: Any, client_address: Any) -> None:
                """Clients go away when they have waited long enough."""

        self.leaving = threading.Event()
        self._server = Quiet(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Provider:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.leaving.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@dataclass
class Answer:
    status: int = 200
    body: bytes = b'{"choices": [{"message": {"content": "Good."}}]}'
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    trickle: float = 0.0  # seconds between two bytes of the body
    reset: bool = False  # the connection breaks before an answer


@pytest.fixture
def provider() -> Iterator[Callable[..., Provider]]:
    """`provider({"status": 429}, {})`: a server with one scripted answer per mapping."""
    with ExitStack() as running:
        yield lambda *answers: running.enter_context(Provider(*(Answer(**answer) for answer in answers)))
