"""Shared by the tests of recording: the misbehaving server of the cassette tests, and a panel that asks it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "cassettes")]

from misbehaving import Server  # noqa: E402


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        yield running


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "cassettes"
