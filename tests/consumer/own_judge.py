"""Judges somebody might have: an OpenAI-compatible server on loopback with three models to choose from.

    python tests/consumer/own_judge.py 8123        # serves http://127.0.0.1:8123/v1 until Ctrl-C

All like longer texts, with noise of a fifth of a point per criterion. `steady-2`, the successor of `steady-1`, is one
and a half points more generous; `plain-1` is another maker's. Any key of eight characters or more is taken. The
criteria are read out of the prompt's reply form, so it can play judge for any rubric task. The noise is drawn from
model, prompt and how often it was asked before, so that a server that starts anew says the same.
"""

from __future__ import annotations

import json
import random
import re
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

GENEROSITY = {"steady-1": 0.0, "steady-2": 1.5, "plain-1": 0.0}
COUNTING = threading.Lock()
CRITERION = re.compile(r'"(\w+)": \{"score": \.\.\.')


class Judge(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    answered = 0
    times: ClassVar[Counter[tuple[str, str]]] = Counter()

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if asked["model"] not in GENEROSITY:
            self._send(404, {"error": {"message": f"no model {asked['model']}", "code": "model_not_found"}})
            return
        model, prompt = asked["model"], asked["messages"][-1]["content"]
        with COUNTING:
            Judge.answered += 1
            Judge.times[model, prompt] += 1
            before = Judge.times[model, prompt]
        text = verdict(model, prompt, random.Random(f"{model} {before} {prompt}"))
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": len(json.dumps(asked)) // 4, "completion_tokens": len(text) // 4}
        choices = [{"index": 0, "finish_reason": "stop", "message": message}]
        self._send(200, {"model": asked["model"], "choices": choices, "usage": usage})

    def _send(self, status: int, payload: dict[str, Any]) -> None:
        body = json.dumps(payload).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Quiet."""


def verdict(model: str, prompt: str, noise: random.Random) -> str:
    """A score per criterion: by the length of the prompt, and by chance."""
    quality = 6.0 + len(prompt) / 2200 + GENEROSITY[model]
    criteria = CRITERION.findall(prompt)
    scores = {name: round(min(max(noise.gauss(quality, 0.2), 0), 10), 1) for name in criteria}
    answer: dict[str, Any] = {
        name: {"score": score, "why": "It does what was asked."} for name, score in scores.items()
    }
    return json.dumps(answer | {"total": round(sum(scores.values()) / len(scores), 2)})


@contextmanager
def serving(port: int = 0) -> Iterator[int]:
    """The port it listens on."""
    server = ThreadingHTTPServer(("127.0.0.1", port), Judge)
    Judge.times.clear()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


if __name__ == "__main__":
    with serving(int(sys.argv[1]) if len(sys.argv) > 1 else 8123) as where:
        print(f"http://127.0.0.1:{where}/v1 (Ctrl-C ends it)", flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
