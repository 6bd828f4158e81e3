"""A server that misbehaves in every way: what is an answer is kept, what is not never is, and the report says so."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
import stamina
from judge_limits import Limits
from misbehaving import Server
from small_plans import files, headers, opened, plan, record, recording

from recuse.cassettes.library import Library
from recuse.cassettes.matching import call_headers, request_key
from recuse.judges import WIRES, read_response, wire
from recuse.judges.client import Client
from recuse.recording.progress import IncompleteRecordingError, RecordingReport
from recuse.schema import Call, Judge, Message, Prompt

ANSWERS = (
    "ok",
    "pretty",
    "gzip",
    "deflate",
    "br",
    "zstd",
    "cut by max_tokens",
    "refusal",
    "policy",
    "wrong content type",
)
NO_ANSWERS = {
    "429": "HTTP status 429",
    "500": "HTTP status 500",
    "502": "HTTP status 502",
    "503": "HTTP status 503",
    "529": "HTTP status 529",
    "401": "HTTP status 401",
    "404": "HTTP status 404",
    "408": "HTTP status 408",
    "empty": "the body is empty",
    "malformed": "not a complete JSON object",
    "a list": "not a complete JSON object",
    "html": "not a complete JSON object",
    "html in json's clothing": "not a complete JSON object",
    "error in 200": "the body is an error report",
    "flat error": "the body is an error report",
    "no choice": "the body holds no reply",
    "no candidate": "the body holds no reply",
    "queued": "the response is queued",
    "in progress": "the response is in_progress",
    "error in a choice": "the body is an error report",
    "broken off": '"insufficient_system_resource", which is not known to end a whole answer',
    "broken gzip": "not valid gzip",
    "reset": "ReadError",
    "short": "RemoteProtocolError",
    "hang": "ReadTimeout",
}


@pytest.mark.parametrize("how", ANSWERS)
def test_what_is_an_answer_is_kept_and_replays_as_the_client_first_read_it(
    how: str, root: Path, server: Server
) -> None:
    calls = plan(server.url, items=("a",), repeats=2)
    server.default = how
    library = opened(root, calls, mode="missing")
    heard: dict[int, object] = {}
    assert _record_hearing(library, calls, heard).complete
    replayed = opened(root, calls)
    for call in calls:
        assert json.loads(replayed.response(call).body) == heard[call.repeat]
    assert b"base64" not in b"".join(files(root).values())  # compressed bodies are stored readable


@pytest.mark.parametrize("how", NO_ANSWERS)
def test_what_is_no_answer_is_never_stored(how: str, root: Path, server: Server) -> None:
    calls = plan(server.url, items=("a",), repeats=3)
    server.script["a", 1] = [how]
    report = recording(opened(root, calls, mode="missing"), calls, timeout=3 if how == "hang" else 30)
    assert (report.stored, len(report.failed)) == (2, 1)
    call, why = report.failed[0]
    assert call.repeat == 1
    assert NO_ANSWERS[how] in why
    with pytest.raises(IncompleteRecordingError, match="repeat 1"):
        report.check()
    assert [c.repeat for c in opened(root, calls).coverage().missing] == [1]


@pytest.mark.parametrize("how", ["429", "500", "reset", "empty", "malformed"])
def test_the_next_run_asks_only_for_what_failed(how: str, root: Path, server: Server) -> None:
    calls = plan(server.url, items=("a", "b"), repeats=3)
    server.script["b", 1] = [how, "ok"]
    assert not recording(opened(root, calls, mode="missing"), calls).complete
    first = {c.repeat: opened(root, calls).response(c).body for c in calls if c.item == "a"}
    asked = server.requests
    assert recording(opened(root, calls, mode="missing"), calls).complete
    assert server.requests == asked + 1
    assert {c.repeat: opened(root, calls).response(c).body for c in calls if c.item == "a"} == first


@pytest.mark.usefixtures("headers_go_out")
def test_the_client_retries_what_passes_and_only_the_final_answer_is_stored(root: Path, server: Server) -> None:
    judges, calls = _judged("openai_chat", server)
    for run, first in enumerate(("429", "500", "503", "529", "reset", "short")):
        server.script["a", run] = [first, "ok"]
    with _no_waiting():
        report = asyncio.run(_record(opened(root, calls, mode="missing"), judges, calls, attempts=3))
    assert report.complete
    text = b"".join(files(root).values())
    assert text.count(b'"kind":"answer"') == text.count(b'"status":200') == len(calls)
    assert server.hits["a", 0] == 2


@pytest.mark.usefixtures("headers_go_out")
def test_retry_after_is_honoured_while_recording_and_costs_nothing_on_replay(root: Path, server: Server) -> None:
    judges, calls = _judged("openai_chat", server, repeats=1)
    server.script["a", 0] = ["429 0.7", "ok"]
    start = time.monotonic()
    assert asyncio.run(_record(opened(root, calls, mode="missing"), judges, calls, attempts=2)).complete
    assert time.monotonic() - start >= 0.7
    assert b'"status":429' not in b"".join(files(root).values())  # so replay has nothing to wait for
    assert [r.status for r in asyncio.run(_replay(opened(root, calls), judges, calls))] == [200]


@pytest.mark.parametrize("format_", WIRES)
def test_all_wire_formats_record_and_read_back_alike(format_: str, root: Path, server: Server) -> None:
    judges, calls = _judged(format_, server)
    assert asyncio.run(_record(opened(root, calls, mode="missing"), judges, calls)).complete
    over_http = asyncio.run(_replay(opened(root, calls), judges, calls))
    library = opened(root, calls)
    replies = [read_response(format_, library.response(call)) for call in calls]
    assert replies == [read_response(format_, response) for response in over_http]
    assert {reply.finish for reply in replies} == {"stop"}
    assert len({json.loads(reply.text)["number"] for reply in replies}) == len(calls)
    assert {reply.usage.input_tokens for reply in replies} == {10}


@pytest.mark.usefixtures("headers_go_out")
def test_refusals_and_cut_replies_stay_what_they_are_on_replay(root: Path, server: Server) -> None:
    judges, calls = _judged("openai_chat", server, repeats=3)
    server.script |= {("a", 0): ["refusal"], ("a", 1): ["cut by max_tokens"], ("a", 2): ["policy"]}
    assert asyncio.run(_record(opened(root, calls, mode="missing"), judges, calls)).complete
    responses = asyncio.run(_replay(opened(root, calls), judges, calls))
    assert [read_response("openai_chat", r).finish for r in responses[:2]] == ["refusal", "length"]
    assert responses[2].status == 400


def test_what_a_misbehaving_server_sends_is_never_partly_on_disk(root: Path, server: Server) -> None:
    calls = plan(server.url, items=("a",), repeats=12)
    for run, how in enumerate(("reset", "short", "malformed", "429")):
        server.script["a", run] = [how]
    recording(opened(root, calls, mode="missing"), calls)
    data = (root / f"{calls[0].cell}.jsonl").read_bytes()
    assert data.endswith(b"\n")
    assert all(json.loads(line) for line in data.splitlines())
    assert opened(root, calls).coverage().present == 8


# --------------------------------------------------------------------------- helpers


def _record_hearing(library: Library, calls: Sequence[Call], heard: dict[int, object]) -> RecordingReport:
    import httpx2
    from small_plans import post

    from recuse.schema import RawResponse

    async def run() -> RecordingReport:
        async with httpx2.AsyncClient(trust_env=False, verify=False) as client:

            async def send(call: Call) -> RawResponse:
                response = await post(client, call)
                heard[call.repeat] = response.json()
                return RawResponse(response.status_code, {}, response.content)

            return await record(calls, send, library)

    with library.use():
        return asyncio.run(run())


def _judged(format_: str, server: Server, repeats: int = 6) -> tuple[dict[str, Judge], list[Call]]:
    query = {"api-version": "2024-10-21"} if format_ == "azure_openai" else {}
    judge = Judge("judge-a", "A", format_, server.url, "m-1", timeout_s=5, query=query)
    request = wire(format_).request(judge, Prompt((Message("user", "Judge this."),), 0.7, 50), None)
    calls = plan(items=("a",), repeats=repeats)
    return {"judge-a": judge}, [dataclasses.replace(c, request=request, key=request_key(request)) for c in calls]


async def _record(
    library: Library, judges: dict[str, Judge], calls: Sequence[Call], attempts: int = 1
) -> RecordingReport:
    with library.use():
        async with Client(judges, keys={}, identify=call_headers, attempts=attempts) as client:
            return await record(calls, client.send, library, limits={"judge-a": Limits(3)})


async def _replay(library: Library, judges: dict[str, Judge], calls: Sequence[Call]):  # type: ignore[no-untyped-def]
    with library.use():
        async with Client(judges, keys={}, identify=call_headers, attempts=1) as client:
            return [await client.send(call) for call in calls]


@contextmanager
def _no_waiting() -> Iterator[None]:
    stamina.set_testing(True, attempts=3)
    try:
        yield
    finally:
        stamina.set_testing(False)


def test_headers_are_cut_to_the_allowed_ones(root: Path, server: Server) -> None:
    server.echo = "organisation-1234"
    calls = plan(server.url, items=("a",), repeats=1)
    library = Library(root, "small", mode="missing")
    library.expect(calls, headers(calls))
    assert recording(library, calls).complete
    assert opened(root, calls).response(calls[0]).headers == {
        "content-type": "application/json",
        "x-request-id": "req-200",
    }
