"""A task folder that is sound, and a way to break it in one place."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

SOUND = """\
name = "essays"

[scale]
minimum = 0
maximum = 10
step = 1

[[criterion]]
id = "clarity"

[[criterion]]
id = "depth"

[[target]]
id = "alpha"

[[target]]
id = "beta"
"""


@pytest.fixture
def task_folder(tmp_path: Path) -> Callable[..., Path]:
    """Write a task folder with `old` text of task.toml replaced by `new`, and these lines as items.jsonl."""

    def write(old: str = "", new: str = "", items: str | bytes | None = None, folder: str = "essays") -> Path:
        assert old in SOUND, f"{old!r} is not in the sound file"
        path = tmp_path / "tasks" / folder
        path.mkdir(parents=True)
        (path / "task.toml").write_text(SOUND.replace(old, new, 1), encoding="utf-8")
        if items is not None:
            (path / "items.jsonl").write_bytes(items.encode() if isinstance(items, str) else items)
        return path

    return write


@pytest.fixture
def line() -> Callable[..., str]:
    """One line of items.jsonl; a change to None leaves the key out."""

    def one(**changes: Any) -> str:
        item: Mapping[str, Any] = {"id": "one", "target": "alpha", "fields": {"essay": "Short."}, **changes}
        return json.dumps({key: value for key, value in item.items() if value is not None}, ensure_ascii=False)

    return one
