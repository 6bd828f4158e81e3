"""One signal ends a whole recording, over all its protocols; so does a lost connection."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import stamina
from hosted_panel import load, opened, plans, record
from misbehaving import Server

from recuse.recording.progress import IncompleteRecordingError

PROGRAM = Path(__file__).with_name("hosted_panel.py")
REPEATS = 4
CONCURRENCY = 4


def start(root: Path, url: str) -> subprocess.Popen[str]:
    arguments = [sys.executable, str(PROGRAM), str(root), url, str(REPEATS)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))


def wait_for(server: Server, process: subprocess.Popen[str], requests: int) -> None:
    while len(server.seen) < requests:
        assert process.poll() is None, process.communicate()[1]
        time.sleep(0.005)


def stored(root: Path, url: str) -> int:
    panel = load(root.parent, url, settings="free = true")
    planned = plans(panel, REPEATS)
    return opened(root, panel, planned, mode="replay").coverage().present


@pytest.mark.slow("interrupted recordings")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_all_protocols_with_exit_code_2(number: signal.Signals, root: Path) -> None:
    with Server(delay=0.05) as server:
        process = start(root, server.url)
        wait_for(server, process, 12)
        server.hold(CONCURRENCY)
        asked = len(server.seen)
        process.send_signal(number)
        server.flowing.set()
        _, said = process.communicate(timeout=20)
        assert process.returncode == 2
        assert f"stopped early: {number.name} received" in said
        assert "not asked: " in said
        assert len(server.seen) <= asked + CONCURRENCY  # what was on its way, and nothing of the next protocol
        assert stored(root, server.url) == len(server.seen)  # every answer is on disk


@pytest.mark.slow("interrupted recordings")
def test_the_second_signal_ends_at_once(root: Path) -> None:
    with Server(delay=60) as server:
        process = start(root, server.url)
        wait_for(server, process, CONCURRENCY)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None  # answers on their way are waited for
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        assert process.returncode == 2
        assert time.monotonic() - began < 10


def test_a_lost_connection_ends_all_protocols(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five calls in a row that reach no server are enough: the other protocols are not tried."""
    retry = stamina.retry_context
    monkeypatch.setattr(stamina, "retry_context", lambda **how: retry(on=how["on"], attempts=1, timeout=None))
    with Server() as server:
        url = server.url
    panel = load(root.parent, url, settings="free = true")
    with pytest.raises(
        IncompleteRecordingError, match="no connection: 5 calls in a row did not reach their server"
    ) as told:
        record(root, panel, plans(panel))
    failed = next(line for line in str(told.value).splitlines() if line.startswith("failed: "))
    assert int(failed.removeprefix("failed: ")) <= 5 + CONCURRENCY
    first, second = str(told.value).splitlines()[:2]
    assert first.startswith("stopped early: no connection"), "the reason stands before the counts"
    assert second.startswith(f"{failed.removeprefix('failed: ')} calls failed (ann): no answer after")
