"""A small task with prompts, two judges, and replies to them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recuse.judges import wire
from recuse.schema import Judge, RawResponse
from recuse.tasks import Task, load_task

TASK = """\
name = "essays"
criteria_total = "total"

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
label = "Alpha"
anonymous = "Writer 1"

[[target]]
id = "beta"
label = "Beta"
anonymous = "Writer 2"
"""


@pytest.fixture
def task(tmp_path: Path) -> Task:
    folder = tmp_path / "essays"
    (folder / "prompts").mkdir(parents=True)
    (folder / "task.toml").write_text(TASK, encoding="utf-8")
    (folder / "prompts" / "rubric.user.j2").write_text("{{ author_label }}: {{ essay }}", encoding="utf-8")
    items = [{"id": name, "target": name, "fields": {"essay": f"By {name}."}} for name in ("alpha", "beta")]
    (folder / "items.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    return load_task(folder)


@pytest.fixture
def judges() -> Callable[..., dict[str, Judge]]:
    """Ann and Bob, who speak different formats; changes are for both."""

    def make(**changes: Any) -> dict[str, Judge]:
        return {
            name: Judge(name, name.title(), kind, f"http://{name}.scripted.invalid/v1", f"{name}-1", **changes)
            for name, kind in (("ann", "openai_chat"), ("bob", "gemini_generate"))
        }

    return make


@pytest.fixture
def answer() -> Callable[..., RawResponse]:
    """A judge's HTTP answer with this text."""

    def make(judge: Judge, text: str, **more: Any) -> RawResponse:
        given = {"model": judge.model, "refusal": False, "input_tokens": 10, "output_tokens": 5, **more}
        return RawResponse(200, {}, json.dumps(wire(judge.wire).payload(text, **given)).encode())

    return make
