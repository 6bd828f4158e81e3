"""What leaves this machine and what may come in: through the real client and a server on loopback."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hosted_panel import load, opened, plans, record
from misbehaving import Server

from recuse.cassettes.matching import call_headers
from recuse.judges.client import Client
from recuse.judges.provider_responses import LARGEST_BODY
from recuse.recording.progress import IncompleteRecordingError
from recuse.schema import RecuseError


def test_no_header_that_names_judge_or_target_goes_out(root: Path, server: Server) -> None:
    panel = load(root.parent, server.url, settings="free = true")
    planned = plans(panel, repeats=1)
    record(root, panel, planned, readable=lambda call, response: None)
    assert len(server.seen) == sum(len(each.calls) for each in planned)
    sent = {name.lower() for _, headers, _ in server.seen for name in headers}
    assert sent <= {"host", "content-type", "content-length", "accept", "accept-encoding", "connection", "user-agent"}
    assert opened(root, panel, planned, mode="replay").coverage().complete  # each answer found its call


def test_one_judge_s_cookie_is_not_sent_with_another_s_call(root: Path, server: Server) -> None:
    server.echo = "session-of-ann"  # the server sets a cookie with it
    panel = load(root.parent, server.url, settings="free = true", judges=("ann", "bob"))
    record(root, panel, plans(panel, repeats=2, protocols=["rubric"]), readable=lambda call, response: None)
    assert not [headers for _, headers, _ in server.seen if "cookie" in {name.lower() for name in headers}]


class _Endless(BaseHTTPRequestHandler):
    """Sends a body without end, as fast as it is read."""

    sent = 0

    def do_POST(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        try:
            while True:
                type(self).sent += self.wfile.write(b"x" * 65536)
        except OSError:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def endless() -> Iterator[str]:
    _Endless.sent = 0
    running = ThreadingHTTPServer(("127.0.0.1", 0), _Endless)
    running.daemon_threads = True
    threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_port}/v1"
    running.shutdown()
    running.server_close()


def test_a_body_without_end_is_cut_off(root: Path, endless: str) -> None:
    panel = load(root.parent, endless, settings="free = true", concurrency=1)
    (planned,) = plans(panel, repeats=1, protocols=["rubric"])

    async def ask() -> None:
        async with Client(planned.judges, keys={}, identify=call_headers, attempts=1) as client:
            await client.send(planned.calls[0])

    library = opened(root, panel, [planned])
    with library.use(), pytest.raises(RecuseError, match="more than 16 MB in one response"):
        asyncio.run(ask())
    assert not library.has(planned.calls[0])
    assert _Endless.sent < 3 * LARGEST_BODY  # what the sockets of both sides buffer comes on top


def test_a_server_that_sends_such_bodies_is_given_up_and_told(root: Path, endless: str) -> None:
    panel = load(root.parent, endless, settings="free = true", concurrency=1)
    with pytest.raises(IncompleteRecordingError, match="no judge's reply is that long") as told:
        record(root, panel, plans(panel, protocols=["rubric"]))
    assert "failed: 5" in str(told.value)
