"""A judge on loopback that misbehaves on request, in all wire formats.

What the n-th attempt of a call gets is set by `server.script[item, run] = ["429", "reset", "ok"]`; the last entry
stays in force, and `server.default` applies to calls without a script. Every answer carries a number of its own, so
a test sees which answer it got. `python misbehaving.py` serves until killed and prints its address.
"""

from __future__ import annotations

import gzip
import json
import socket
import struct
import sys
import threading
import time
import zlib
from collections import Counter
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from recuse.judges import wire

HTML = b"<html><body>502 from some proxy</body></html>"


class Server:
    """Use as a context manager. `hits` counts requests per (item, run); `seen` keeps what arrived, headers and all."""

    def __init__(self, delay: float = 0.0) -> None:
        self.script: dict[tuple[str, int], list[str]] = {}
        self.default, self.delay = "ok", delay
        self.hits: Counter[tuple[str, int]] = Counter()
        self.seen: list[tuple[str, dict[str, str], bytes]] = []
        self.now = self.most = 0  # requests being answered at this moment, and the most there ever were
        self.echo = ""  # a text to put into every answer, headers included
        self.delays: dict[int, float] = {}  # by run, instead of `delay`
        self.usage: dict[str, int] = {}  # token counts in place of the usual ones
        self.padding = ""  # a text that only makes answers longer
        self.stopping = threading.Event()
        self.flowing = threading.Event()  # while it is not set, no request is answered
        self.flowing.set()
        self.held = 0  # requests that wait for it
        self.lock = threading.Lock()
        self._http = _Quiet(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def hold(self, clients: int) -> None:
        """Answer nothing until `flowing` is set again; returns when all of so many clients wait."""
        self.flowing.clear()
        while self.held < clients:
            time.sleep(0.005)

    def wait_to_answer(self, delay: float) -> None:
        self.stopping.wait(delay)
        with self.lock:
            self.held += 1
        self.flowing.wait()
        with self.lock:
            self.held -= 1

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self.flowing.set()
        self._http.shutdown()
        self._http.server_close()

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def requests(self) -> int:
        return sum(self.hits.values())

    def behaviour(self, item: str, run: int) -> str:
        with self.lock:
            attempt = self.hits[item, run]
            self.hits[item, run] += 1
        script = self.script.get((item, run), [self.default])
        return script[min(attempt, len(script) - 1)]


class _Quiet(ThreadingHTTPServer):
    request_queue_size = 128  # the default of 5 resets connections when many arrive at once

    def handle_error(self, *_: object) -> None:
        """A client that was killed is no news."""


def answer_text(number: int) -> str:
    return json.dumps({"number": number, "note": "naïve café ✓"}, ensure_ascii=False)


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self.reply(200, b'{"status":"ok"}')

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            with server.lock:
                server.now += 1
                server.most = max(server.most, server.now)
                server.seen.append((self.path, dict(self.headers), body))
                number = len(server.seen)
            try:
                run = int(self.headers.get("x-recuse-repeat", -1))
                server.wait_to_answer(server.delays.get(run, server.delay))
                item = str(self.headers.get("x-recuse-cell", "")).split("~")[-1]
                behave(self, server.behaviour(item, run), number, body)
            except OSError:
                self.close_connection = True
            finally:
                with server.lock:
                    server.now -= 1

        def reply(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.send_header("x-request-id", f"req-{status}")
            if server.echo:
                self.send_header("x-echo", server.echo)
                self.send_header("set-cookie", f"session={server.echo}")
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(body)

    def behave(handler: Handler, how: str, number: int, body: bytes) -> None:
        good = _payload(handler.path, number, body, server.echo + server.padding, server.usage)
        if how in _BODIES:
            status, kind, made = _BODIES[how]
            handler.reply(status, made(good) if callable(made) else made, kind)
        elif how == "broken gzip":
            handler.reply(200, gzip.compress(good)[:-9], content_encoding="gzip")
        elif how in _ENCODINGS:
            handler.reply(200, _ENCODINGS[how](good), content_encoding=how)
        elif how.isdecimal():
            handler.reply(int(how), json.dumps({"error": {"message": f"status {how} {server.echo}"}}).encode())
        elif how.startswith("429 "):
            handler.reply(429, b'{"error":{"message":"slow down"}}', retry_after=_retry_after(how[4:]))
        elif how == "hang":
            server.stopping.wait(30)
        elif how == "reset":
            _reset_mid_body(handler, good)
        elif how == "short":
            _end_mid_body(handler, good)
        else:
            raise ValueError(f"unknown behaviour {how!r}")

    return Handler


def _payload(path: str, number: int, body: bytes, echo: str, usage: dict[str, int]) -> bytes:
    """A good answer in the wire format that the path belongs to."""
    asked = json.loads(body) if body.startswith(b"{") else {}
    name = next((n for n, tail in _PATHS.items() if path.split("?")[0].endswith(tail)), "openai_chat")
    text = answer_text(number) + echo
    made = wire(name).payload(text, model=str(asked.get("model", "m")), refusal=False, input_tokens=10, output_tokens=5)
    return json.dumps(made | {"number": number} | ({"usage": usage} if usage else {})).encode()


_PATHS = {
    "openai_chat": "/chat/completions",  # and azure_openai
    "openai_responses": "/responses",
    "anthropic_messages": "/messages",
    "gemini_generate": ":generateContent",  # and vertex_generate
    "bedrock_converse": "/converse",
}


def _cut_by_length(good: bytes) -> bytes:
    payload: dict[str, Any] = json.loads(good)
    payload["choices"][0]["finish_reason"] = "length"
    return json.dumps(payload).encode()


def _refusal(good: bytes) -> bytes:
    payload: dict[str, Any] = json.loads(good)
    payload["choices"][0]["message"] = {"role": "assistant", "content": None, "refusal": "I would rather not."}
    return json.dumps(payload, indent=2).encode()


_JSON = "application/json"
_BODIES: dict[str, tuple[int, str, Any]] = {
    "ok": (200, _JSON, lambda good: good),
    "pretty": (200, _JSON, lambda good: json.dumps(json.loads(good), indent=2).encode() + b"\r\n"),
    "cut by max_tokens": (200, _JSON, _cut_by_length),
    "refusal": (200, _JSON, _refusal),
    "policy": (400, _JSON, b'{"error":{"code":"content_filter","message":"flagged"}}'),
    "malformed": (200, _JSON, lambda good: good[:-20]),
    "empty": (200, _JSON, b""),
    "a list": (200, _JSON, b"[1, 2]"),
    "html": (200, "text/html", HTML),
    "html in json's clothing": (200, _JSON, HTML),
    "wrong content type": (200, "text/plain", lambda good: good),
    "error in a choice": (200, _JSON, b'{"choices":[{"finish_reason":"error","error":{"code":502,"message":"died"}}]}'),
    "broken off": (200, _JSON, b'{"choices":[{"finish_reason":"insufficient_system_resource","message":{}}]}'),
    "flat error": (200, _JSON, b'{"object":"error","message":"CUDA out of memory","code":50002}'),
    "no choice": (200, _JSON, b'{"object":"chat.completion","choices":[]}'),
    "no candidate": (200, _JSON, b'{"candidates":[],"modelVersion":"m-1"}'),
    "queued": (200, _JSON, b'{"object":"response","status":"queued","output":[]}'),
    "in progress": (200, _JSON, b'{"object":"response","status":"in_progress","error":null,"output":[]}'),
    "error in 200": (200, _JSON, b'{"error":{"message":"overloaded","code":503}}'),
}


def _brotli(data: bytes) -> bytes:
    import brotli

    return bytes(brotli.compress(data))


def _zstd(data: bytes) -> bytes:
    try:
        from compression.zstd import compress
    except ImportError:
        from backports.zstd import compress
    return bytes(compress(data))


_ENCODINGS = {"gzip": gzip.compress, "deflate": zlib.compress, "br": _brotli, "zstd": _zstd}


def _retry_after(how: str) -> str:
    return formatdate(time.time() + float(how[5:]), usegmt=True) if how.startswith("date ") else how


def _reset_mid_body(handler: BaseHTTPRequestHandler, good: bytes) -> None:
    _start_body(handler, good)
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True
    handler.connection.close()  # with a linger time of zero this is a reset, not a goodbye


def _end_mid_body(handler: BaseHTTPRequestHandler, good: bytes) -> None:
    _start_body(handler, good)
    handler.close_connection = True


def _start_body(handler: BaseHTTPRequestHandler, good: bytes) -> None:
    handler.send_response(200)
    handler.send_header("content-type", _JSON)
    handler.send_header("content-length", str(len(good)))
    handler.end_headers()
    handler.wfile.write(good[: len(good) // 2])
    handler.wfile.flush()


if __name__ == "__main__":
    with Server(delay=float(sys.argv[1]) if len(sys.argv) > 1 else 0.0) as running:
        print(running.url, flush=True)
        threading.Event().wait()
