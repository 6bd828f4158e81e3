"""Panels of scripted judges, each with one planted reaction to how it is asked, answered through the real plans, wire
formats, chains and readers."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pandas as pd
import pytest

from recuse.cassettes.matching import request_key
from recuse.elicitation.chains import Chain
from recuse.elicitation.plan import Plan, make_plan
from recuse.elicitation.replies import panel_ratings, read_replies
from recuse.judges import wire
from recuse.judges.description import canonical
from recuse.panels import Panel, load_panel
from recuse.ratings import Ratings
from recuse.schema import Call, RawResponse
from recuse.standins import open_source
from recuse.tasks import Task, load_task
from tests.metrics.bias.conftest import (  # noqa: F401
    make_comparisons,
    make_cube,
    make_pairs,
    make_rows,
    make_scores,
    make_scores_from,
    rate,
    thesis_ratings,
    thesis_table,
)

ROOT = Path(__file__).resolve().parents[3]
ITEMS = 48  # of each protocol, by their ids: about two texts each
ASKING = "planted-asking"


@lru_cache
def planted_panel(name: str = ASKING) -> Panel:
    return load_panel(ROOT / "fixtures" / "panels" / f"{name}.toml")


@lru_cache
def shown(task: str, protocol: str, count: int | None = ITEMS, panel: str = ASKING) -> Task:
    """The task with the first `count` items, or all, of what the panel is shown by a protocol."""
    table = planted_panel(panel).task(task)
    whole = load_task(ROOT / "fixtures" / "tasks" / task).with_items(table.items[protocol])
    kept = list(dict.fromkeys(item.id for item in whole.items))[:count]
    items = tuple(item for item in whole.items if item.id in kept)
    whole.__dict__["items"] = items  # where the cached property would put them
    return whole


@lru_cache
def table_of(
    task: str, protocol: str, judges: tuple[str, ...], count: int | None = ITEMS, panel: str = ASKING
) -> tuple[Plan, pd.DataFrame]:
    """What these judges of a panel say, asked together."""
    known = planted_panel(panel)
    asked = {name: known.judges[name] for name in judges}
    plan = make_plan(panel, shown(task, protocol, count, panel), protocol, asked, identify=request_key)
    source, chain = open_source(known, ROOT), Chain(plan)
    given: dict[Call, RawResponse] = {}

    def answered(call: Call) -> RawResponse:
        if call not in given:
            item = plan.items.get((call.judge, call.item, call.target))
            reply = source.reply(call, {} if item is None else item.fields)
            judge = known.judges[call.judge]
            sizes = {"input_tokens": call.request.body, "output_tokens": reply.text}
            counts = {name: max(len(text) // 4, 1) for name, text in sizes.items()}  # as `RequestRouter` says
            payload = wire(judge.wire).payload(reply.text, model=judge.model, refusal=reply.refusal, **counts)
            given[call] = RawResponse(200, {}, canonical(payload))
        return given[call]

    while not chain.complete:
        chain.unfold(answered)
    chain.unfold(answered)
    return plan, read_replies(plan, [(call, answered(call)) for call in chain.final_calls], chain).table


@lru_cache
def said(task: str, protocol: str, judges: tuple[str, ...]) -> Ratings:
    """The ratings of these judges. Who reads what a peer wrote is asked with these peers; all others are asked once."""
    panel = planted_panel()
    together = judges if protocol == "pairwise_discussion" else tuple(panel.judges)
    plan, table = table_of(task, protocol, together)
    own = panel.own(list(shown(task, protocol).targets))
    authors = {judge: target for judge, target in own.items() if judge in judges}
    return panel_ratings(plan, table[table["rater"].isin(judges)], authors=authors)


@pytest.fixture(scope="session")
def ratings_of() -> Callable[[str, str, tuple[str, ...]], Ratings]:
    """(task, protocol, judges) -> their ratings."""
    return said


@pytest.fixture(scope="session")
def panel() -> Panel:
    return planted_panel()


@pytest.fixture(scope="session")
def asked_directly() -> Callable[..., tuple[Plan, pd.DataFrame]]:
    """(task, protocol, judges, count) -> their plan and table."""
    return table_of
