"""The shipped task, and replies to it as a judge would word them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recuse.tasks import Task, load_task

TASK = load_task(Path(__file__).resolve().parents[2] / "fixtures" / "tasks" / "merchant_risk")
CODES = [[m["mcc"] for m in level["mccs"]] for level in TASK.items[0].fields["rationales"]]


@pytest.fixture(scope="session")
def task() -> Task:
    return TASK


@pytest.fixture(scope="session")
def scores() -> Callable[..., dict[str, Any]]:
    """A rubric reply that is as it should be, with changes; a change to None leaves the criterion out."""

    def make(**changes: Any) -> dict[str, Any]:
        whole = {name: {"score": 7.5, "why": "Clear."} for name in TASK.criteria} | {"total": 7.5, **changes}
        return {name: value for name, value in whole.items() if value is not None}

    return make


@pytest.fixture(scope="session")
def picks() -> Callable[..., str]:
    """A generation reply that is as it should be, with one level's entry replaced (None: left out)."""

    def make(level: int = 0, entry: Any = None) -> str:
        whole = [{"level": n, "rationale": "…", "mccs": CODES[n - 1]} for n in range(1, 6)]
        if level:
            whole[level - 1 : level] = [] if entry is None else [entry]
        return json.dumps(whole)

    return make
