"""From an HTTP request to the judge's words and back: stand-ins alone, and the whole path through the client."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pandas as pd
import pytest

from recuse.cassettes.matching import CELL_HEADER, REPEAT_HEADER, call_headers, request_key
from recuse.elicitation.plan import Plan
from recuse.elicitation.replies import read_replies
from recuse.judges import read_response
from recuse.judges.client import Client
from recuse.panels import Panel, StandIn
from recuse.schema import Call, Judge, RawResponse, Request
from recuse.standins import ScriptedReply, StandInError, StandIns, open_source

Planned = Callable[..., Plan]
Named = Callable[[str], Panel]


class Saying:
    """A source that says what it was asked, and refuses item "b"."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, Mapping[str, Any]]] = []

    def reply(self, call: Call, fields: Mapping[str, Any]) -> ScriptedReply:
        self.seen.append((call.item, fields))
        return ScriptedReply(f"{call.judge} on {call.item}, run {call.repeat}", call.item == "b")


def judge(wire_name: str, model: str = "m") -> Judge:
    return Judge("j", "J", wire_name, "http://j.invalid/v1", model)


def call(item: str, repeat: int = 0, cell: str = "p/t/r/c", body: bytes = b'{"n":1}') -> Call:
    request = Request("http://j.invalid/v1/x", body)
    return Call("t", "r", "j", item, "x", (), repeat, request, request_key(request), cell)


def asked(repeat: int = 0, cell: str = "p/t/r/c", **body: Any) -> httpx2.Request:
    headers = {REPEAT_HEADER: str(repeat), CELL_HEADER: cell}
    return httpx2.Request("POST", "http://j.invalid/v1/x", json=body or {"n": 1}, headers=headers)


def acting(*calls: Call, as_judge: Judge | None = None, source: Any = None, provenance: Any = "scripted") -> StandIns:
    who = as_judge or judge("openai_chat")
    return StandIns(source or Saying(), provenance, [(one, who, {"title": one.item}) for one in calls])


@pytest.mark.parametrize("format_", ["openai_chat", "anthropic_messages", "gemini_generate"])
def test_answers_in_the_judge_s_wire_format(format_: str) -> None:
    source = Saying()
    answers = acting(call("a"), call("a", 1), call("b", body=b'{"n":2}'), as_judge=judge(format_), source=source)
    given = answers(asked(repeat=1))
    assert (given.status_code, given.headers["content-type"]) == (200, "application/json")
    reply = read_response(format_, RawResponse(200, {}, given.content))
    assert (reply.text, reply.finish, reply.model) == ("j on a, run 1", "stop", "m (scripted)")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (1, 3)  # a quarter of their length
    refused = read_response(format_, RawResponse(200, {}, answers(asked(n=2)).content))
    assert refused.finish == "refusal"
    assert source.seen == [("a", {"title": "a"}), ("b", {"title": "b"})]


@pytest.mark.parametrize(
    ("model", "provenance", "shown"),
    [("m (scripted)", "scripted", "m (scripted)"), ("m", "reconstructed", "m (reconstructed)")],
)
def test_no_payload_passes_for_a_real_model(model: str, provenance: Any, shown: str) -> None:
    answers = acting(call("a"), as_judge=judge("openai_chat", model), provenance=provenance)
    assert json.loads(answers(asked()).content)["model"] == shown


def test_the_layout_of_the_body_does_not_matter_but_its_content_does() -> None:
    answers = acting(call("a", body=b'{"b":2.0,"a":"\xc3\xa9"}'))
    assert answers(asked(a="é", b=2)).status_code == 200
    with pytest.raises(
        StandInError,
        match=r"http://j.invalid/v1/x: repeat 0 of this request \(key [0-9a-f]{32}\) is not in the plan of 1",
    ):
        answers(asked(a="e", b=2))
    with pytest.raises(StandInError, match="repeat 5 of this request"):
        answers(asked(repeat=5, a="é", b=2))


def test_cells_that_ask_the_same_are_told_apart_by_name() -> None:
    answers = acting(call("a", cell="one"), call("b", cell="two"))
    assert b"j on a" in answers(asked(cell="one")).content
    assert b"j on b" in answers(asked(cell="two")).content
    with pytest.raises(StandInError, match="not in the plan of 2 calls for cell three"):
        answers(asked(cell="three"))


# --------------------------------------------------------------------------- the whole path


def over_http(panel: Panel, plan: Plan, root: Path, calls: list[Call]) -> list[tuple[Call, RawResponse]]:
    fields = {place: item.fields for place, item in plan.items.items()}
    known = [(one, plan.judges[one.judge], fields[one.judge, one.item, one.target]) for one in plan.calls]
    acted = StandIns(open_source(panel, root), panel.provenance, known)

    async def ask() -> list[RawResponse]:
        at_once = asyncio.Semaphore(64)
        async with Client(plan.judges, keys={}, identify=call_headers, stand_ins=acted, attempts=1) as client:

            async def one(call: Call) -> RawResponse:
                async with at_once:
                    return await client.send(call)

            return await asyncio.gather(*map(one, calls))

    return list(zip(calls, asyncio.run(ask()), strict=True))


@pytest.mark.slow("whole recordings")
def test_the_published_matrix_comes_back_over_http(panel: Named, planned: Planned, root: Path) -> None:
    plan = planned("published")
    table = read_replies(plan, over_http(panel("published"), plan, root, list(plan.calls))).table
    assert len(table) == 500 * 6
    assert (table["status"] == "ok").all()
    finals = table[table["criterion"] == "total"].groupby(["names", "rater", "target"])["score"].mean()
    scores = pd.read_csv(root / "fixtures" / "published" / "scores.csv")
    scores = scores.assign(names=scores["condition"].map({"attributed": "shown", "anonymized": "hidden"}))
    printed = scores[scores["criterion"] == "final"].set_index(["names", "judge", "target"])["mean"]
    printed.index.names = finals.index.names
    pd.testing.assert_series_equal(finals.sort_index(), printed.sort_index(), check_names=False, atol=1e-9, rtol=0)


@pytest.mark.parametrize("protocol", ["rubric_self_reported", "generation"])
def test_the_other_protocols_come_back_too(panel: Named, planned: Planned, root: Path, protocol: str) -> None:
    plan = planned("published", protocol)
    table = read_replies(plan, over_http(panel("published"), plan, root, list(plan.calls))).table
    table = table[table["score"].notna()]  # beside the levels, texts and the rules they keep are read
    assert (table["status"] == "ok").all()
    assert len(table) == {"rubric_self_reported": 50 * 12, "generation": 5 * 15}[protocol]


def test_planted_judges_answer_in_all_three_wire_formats(panel: Named, planned: Planned, root: Path) -> None:
    plan = planned("planted")
    chosen = [c for c in plan.calls if c.judge in ("refuses", "wrong-totals", "constant") and c.target == "grok-4"]
    assert len({plan.judges[c.judge].wire for c in chosen}) == 3
    answers = over_http(panel("planted"), plan, root, chosen)
    for one, response in answers:
        assert read_response(plan.judges[one.judge].wire, response).model == f"{one.judge} (scripted)"
    # As asked without the client.
    source = open_source(panel("planted"), root)
    for one, response in answers:
        assert read_response(plan.judges[one.judge].wire, response).text == source.reply(one, {}).text


def test_a_call_outside_the_plan_is_an_error_with_the_reason(panel: Named, planned: Planned, root: Path) -> None:
    plan = planned("planted")
    stranger = dataclasses.replace(plan.calls[0], repeat=99)
    with pytest.raises(StandInError, match="repeat 99 of this request"):
        over_http(panel("planted"), plan, root, [stranger])


def test_a_recorded_panel_has_no_stand_in(panel: Named, root: Path) -> None:
    with pytest.raises(StandInError, match=r"local.toml: panel local is recorded from real judges"):
        open_source(panel("local"), root)


def test_a_table_needs_a_folder(panel: Named, root: Path) -> None:
    broken = dataclasses.replace(panel("published"), stand_in=StandIn(kind="table"))
    with pytest.raises(StandInError, match="needs `folder`"):
        open_source(broken, root)
