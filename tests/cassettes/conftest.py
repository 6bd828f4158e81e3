"""Shared by the tests of replay and recording: a misbehaving server on loopback, and small plans that ask it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from misbehaving import Server


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "cassettes"


@pytest.fixture
def headers_go_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server can tell calls apart although Recuse's own client asks it, which normally keeps its headers here."""
    monkeypatch.setattr("recuse.judges.client.PRIVATE", b"x-of-nobody-")
