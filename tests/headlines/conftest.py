"""Panel `planted-headlines`, answered by its scripts and read by the protocols: no cassette, no network."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pandas as pd
import pytest

from recuse.cassettes.matching import request_key
from recuse.elicitation.panel_ratings import panel_ratings
from recuse.elicitation.plan import Plan, make_plan
from recuse.elicitation.replies import read_replies
from recuse.judges import wire
from recuse.judges.description import canonical
from recuse.panels import Panel, load_panel
from recuse.protocols import protocol as known_protocol
from recuse.ratings import Ratings
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
def said(protocol: str) -> tuple[Plan, pd.DataFrame]:
    """The plan of one protocol and the table of all judges, scripted ones answering in their own wire format."""
    panel = planted_panel()
    plan = make_plan(panel.name, shown(protocol), protocol, panel.judges, identify=request_key)
    source = open_source(panel, ROOT)

    def answered(call: Call) -> RawResponse:
        reply = source.reply(call, plan.items[call.judge, call.item, call.target].fields)
        judge = panel.judges[call.judge]
        payload = wire(judge.wire).payload(
            reply.text, model=judge.model, refusal=reply.refusal, input_tokens=1, output_tokens=1
        )
        return RawResponse(200, {}, canonical(payload))

    return plan, read_replies(plan, [(call, answered(call)) for call in plan.calls]).table


@lru_cache
def rated(kind: str, judges: tuple[str, ...]) -> Ratings | None:
    """What these judges said by the protocol that offers `kind`, with what they said by the others beside it; None for
    a kind that the panel was not asked for."""
    panel = planted_panel()
    kinds = {known_protocol(name).OFFERS: name for name in panel.task("headlines").protocols}
    if kind not in kinds:
        return None
    plan, table = said(kinds[kind])
    authors = {judge: target for judge, target in panel.own(list(shown("grading").targets)).items() if judge in judges}
    table = table[table["rater"].isin(judges)]
    return panel_ratings(plan, table, authors=authors, beside=lambda other: rated(other, judges))


@pytest.fixture(scope="session")
def panel() -> Panel:
    return planted_panel()


@pytest.fixture(scope="session")
def task_of() -> Callable[[str], Task]:
    return shown


@pytest.fixture(scope="session")
def ratings_of() -> Callable[[str, tuple[str, ...]], Ratings | None]:
    return rated
