"""Panel `planted-headlines`, answered by its scripts and read by the protocols: no cassette, no network."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pandas as pd
import pytest

from recuse import elicit
from recuse.cassettes.matching import request_key
from recuse.judges import wire
from recuse.judges.canonical import canonical
from recuse.panels import Panel, load_panel
from recuse.schema import Call, RawResponse
from recuse.standins import open_source
from recuse.tasks import Task, load_task

ROOT = Path(__file__).resolve().parents[2]


@lru_cache
def planted_panel() -> Panel:
    return load_panel(ROOT / "fixtures" / "panels" / "planted-headlines.toml")


@lru_cache
def shown(protocol: str) -> Task:
    """The task with what the panel is shown by a protocol."""
    table = planted_panel().task("headlines")
    return load_task(ROOT / "fixtures" / "tasks" / "headlines").with_items(table.items[protocol])


@lru_cache
def said(protocol: str) -> pd.DataFrame:
    """The ratings of all judges of the panel, scripted ones answering in their own wire format."""
    panel = planted_panel()
    plan = elicit.plan(panel.name, shown(protocol), protocol, panel.judges, identify=request_key)
    source = open_source(panel, ROOT)

    def answered(call: Call) -> RawResponse:
        reply = source.reply(call, plan.items[call.judge, call.item, call.target].fields)
        judge = panel.judges[call.judge]
        payload = wire(judge.wire).payload(
            reply.text, model=judge.model, refusal=reply.refusal, input_tokens=1, output_tokens=1
        )
        return RawResponse(200, {}, canonical(payload))

    return elicit.ratings(plan, [(call, answered(call)) for call in plan.calls])


@pytest.fixture(scope="session")
def panel() -> Panel:
    return planted_panel()


@pytest.fixture(scope="session")
def task_of() -> Callable[[str], Task]:
    return shown


@pytest.fixture(scope="session")
def all_said() -> Callable[[str], pd.DataFrame]:
    return said
