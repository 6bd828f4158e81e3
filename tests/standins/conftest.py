"""The planned calls of this repo's stand-in panels."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest

from recuse.cassettes.matching import request_key
from recuse.elicitation.plan import Plan, make_plan
from recuse.panels import Panel, load_panel
from recuse.tasks import load_task

ROOT = Path(__file__).resolve().parents[2]


@lru_cache
def panel_named(name: str) -> Panel:
    return load_panel(ROOT / "fixtures" / "panels" / f"{name}.toml")


@lru_cache
def plan_of(panel: str, protocol: str = "rubric") -> Plan:
    task = load_task(ROOT / "fixtures" / "tasks" / "merchant_risk")
    return make_plan(panel, task, protocol, panel_named(panel).judges, identify=request_key)


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def panel() -> Callable[[str], Panel]:
    return panel_named


@pytest.fixture(scope="session")
def planned() -> Callable[..., Plan]:
    return plan_of
