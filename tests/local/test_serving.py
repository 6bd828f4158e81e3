"""Local model servers: started, waited for, stopped whatever happens; every way to fail says what to do.

The server process is the real one; the library that loads models is replaced by a page of Python.
"""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fixtures.makers import local_models as module
from fixtures.makers.local_models import LocalServerError, serving
from recuse.panels import load_panel

Weights = tuple[list[str], str, int, bytes]
ROOT = Path(__file__).resolve().parents[2]

LIBRARY = '''
"""Looks like xllamacpp from where recuse stands. Answers 503 twice, then what it was told to load."""
import json, os, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace


def CommonParams():
    return SimpleNamespace(model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace())


class Server:
    def __init__(self, given):
        if "broken" in given.model.path:
            print("cannot load this model")
            sys.exit(3)
        loaded = {
            "model": given.model.path, "threads": given.cpuparams.n_threads, "context": given.n_ctx,
            "template": getattr(given, "chat_template", None), "pid": os.getpid(),
        }

        class Handler(BaseHTTPRequestHandler):
            asked = 0

            def do_GET(self):
                Handler.asked += 1
                body = json.dumps(loaded).encode()
                self.send_response(200 if Handler.asked > 2 else 503)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_): ...

        server = ThreadingHTTPServer((given.hostnames[0], given.port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
'''


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "xllamacpp.py").write_text(LIBRARY, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), str(ROOT)]))
    monkeypatch.syspath_prepend(folder)


@pytest.fixture
def table(weights: Weights) -> Callable[..., SimpleNamespace]:
    """A panel's [judge.server], with weights that are in the index."""

    def make(**changes: Any) -> SimpleNamespace:
        requirements, digest, size, _ = weights
        given = {"packages": requirements, "sha256": digest, "bytes": size, "context": 512, "threads": 2}
        return SimpleNamespace(**{**given, "chat_template": "{{ x }}", **changes})

    return make


@pytest.fixture
def models(weights: Weights, tmp_path: Path) -> Path:
    """Where the weights are already."""
    folder = tmp_path / "models"
    folder.mkdir()
    for name in ("small", "broken"):
        (folder / f"{name}.gguf").write_bytes(weights[3])
    return folder


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def answer(port: int) -> Any:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/any", timeout=5) as response:
        return json.load(response)


def is_gone(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.slow("whole recordings")
@pytest.mark.usefixtures("library")
def test_a_model_is_served_inside_the_block_and_gone_after_it(
    table: Callable[..., SimpleNamespace], port: int, tmp_path: Path
) -> None:
    said: list[str] = []
    with serving("small", f"http://127.0.0.1:{port}/v1", table(), tmp_path / "models", said.append):
        loaded = answer(port)
    assert loaded.pop("pid") != os.getpid()
    assert loaded == {
        "model": str(tmp_path / "models" / "small.gguf"), "threads": 2, "context": 512, "template": "{{ x }}",
    }  # fmt: skip
    assert said == ["small: fetching weights (2 MB)", "small: serving"]
    assert is_gone(port)


@pytest.mark.usefixtures("library")
def test_it_is_gone_after_an_error_too(table: Callable[..., SimpleNamespace], port: int, models: Path) -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        serving("small", f"http://127.0.0.1:{port}/v1", table(), models, lambda _: None),
    ):
        raise KeyboardInterrupt
    assert is_gone(port)


@pytest.mark.usefixtures("library")
def test_a_server_that_ends_at_once_leaves_its_words(
    table: Callable[..., SimpleNamespace], port: int, models: Path
) -> None:
    server = serving("broken", f"http://127.0.0.1:{port}/v1", table(), models, lambda _: None)
    with pytest.raises(LocalServerError) as caught, server:
        pytest.fail("served a model that cannot be loaded")
    log = models / "broken.log"
    assert str(caught.value) == f"broken: the server ended with code 3; its words are in {log}"
    assert "cannot load this model" in log.read_text(encoding="utf-8")


@pytest.mark.usefixtures("library")
def test_a_server_that_is_never_ready_is_stopped(
    table: Callable[..., SimpleNamespace], port: int, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STARTUP_S", 0.0)
    server = serving("small", f"http://127.0.0.1:{port}/v1", table(), models, lambda _: None)
    with pytest.raises(LocalServerError, match="small: not ready after 0 s; the server's words are in "), server:
        pytest.fail("served before it was ready")
    assert is_gone(port)


@pytest.mark.usefixtures("library")
def test_a_port_in_use_is_told_before_anything_is_fetched(
    table: Callable[..., SimpleNamespace], tmp_path: Path
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        server = serving("small", f"http://127.0.0.1:{number}/v1", table(), tmp_path / "models", lambda _: None)
        said = f"small: port {number} is in use; stop what listens there, or change base_url in the panel file"
        with pytest.raises(LocalServerError, match=said), server:
            pytest.fail("served on a port that was taken")
    assert not (tmp_path / "models").exists()


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("url", ["http://localhost:8080/v1", "http://10.0.0.1:8080/v1", "http://127.0.0.1/v1"])
def test_a_local_model_is_served_on_loopback_only(
    table: Callable[..., SimpleNamespace], tmp_path: Path, url: str
) -> None:
    said = f"judge small: a local model is served at http://127.0.0.1:<port>/v1, got {url}"
    with pytest.raises(LocalServerError, match=said), serving("small", url, table(), tmp_path, lambda _: None):
        pytest.fail("served elsewhere")


def test_without_the_extra_it_says_what_to_install(
    table: Callable[..., SimpleNamespace], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    server = serving("small", "http://127.0.0.1:1/v1", table(), tmp_path, lambda _: None)
    with (
        pytest.raises(LocalServerError, match=r"recording small needs the `record` extra: pip install 'recuse"),
        server,
    ):
        pytest.fail("served without a library")


@pytest.mark.usefixtures("library")
def test_a_server_ends_with_the_process_that_started_it(port: int, tmp_path: Path) -> None:
    """Even when that one is killed and cannot stop it."""
    options = {"name": "small", "model": "m", "port": port, "context": 1, "threads": 1, "chat_template": None}
    starter = """
import subprocess, sys, time
subprocess.Popen([sys.executable, *sys.argv[1:]], start_new_session=True)
time.sleep(60)
"""
    parent = subprocess.Popen([sys.executable, "-c", starter, module.__file__, json.dumps(options)])
    try:
        pid = until(lambda: answer(port)["pid"], tries=200)
    finally:
        parent.kill()
        parent.wait()
    assert pid is not None, "the server never answered"
    assert until(lambda: is_gone(port) or None, tries=200), f"server {pid} outlived the process that started it"


def until(ask: Callable[[], Any], tries: int) -> Any:
    for _ in range(tries):
        try:
            if (found := ask()) is not None:
                return found
        except (urllib.error.URLError, OSError):
            pass
        time.sleep(0.05)
    return None


@pytest.mark.skipif("RECUSE_REAL_MODELS" not in os.environ, reason="needs the record extra and 100 MB of weights")
def test_a_real_small_model_answers(tmp_path: Path) -> None:  # pragma: no cover
    panel = load_panel(ROOT / "fixtures" / "panels" / "local.toml")
    name = "smollm2-135m"
    models = Path(os.environ["RECUSE_REAL_MODELS"] or tmp_path)
    judge = panel.judges[name]
    with serving(name, judge.base_url, panel.servers[name], models, print):
        body = json.dumps({"messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 3}).encode()
        request = urllib.request.Request(
            f"{judge.base_url}/chat/completions", body, {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=120) as response:
            assert json.load(response)["choices"][0]["message"]["content"]
