"""Small files of our own making in every shape that is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """`file("name.csv", content)`: the content written as it stands."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture(autouse=True)
def no_chances(no_drawn_judges: None) -> None:
    """What is read is tested here, and that every number follows."""
