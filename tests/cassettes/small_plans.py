"""Small plans, libraries and clients for the tests of replay and recording."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx2
from judge_limits import Limits

from recuse.cassettes.library import Library
from recuse.cassettes.matching import call_headers, canonical_json, request_key
from recuse.recording.asking import Recording
from recuse.recording.budget import Spending
from recuse.recording.progress import RecordingReport
from recuse.schema import Call, RawResponse, Request

KEY = "canary-5c1f0e7b9a44d2"
STAND_IN = "http://judges.invalid/v1"


def plan(
    url: str = STAND_IN,
    *,
    judge: str = "judge-a",
    items: Sequence[str] = ("one", "two", "three"),
    repeats: int = 4,
    temperature: float = 0.7,
    prompt: str = "Judge this text:\n",
    path: str = "/chat/completions",
    distinct: bool = False,
) -> list[Call]:
    """One cell per item. `distinct`: every repeat has a seed of its own, so no two requests are the same."""
    calls = []
    for item in items:
        cell = f"small/task/rubric/{judge}~target~attributed~{item}"
        for repeat in range(repeats):
            body: dict[str, Any] = {"model": "m-1", "temperature": temperature, "max_tokens": 50}
            body["messages"] = [{"role": "user", "content": f"{prompt}{item}: naïve café ✓"}]
            if distinct:
                body["seed"] = repeat
            request = Request(url + path, canonical_json(body))
            factors = (("condition", "attributed"), ("item", item))
            call = Call("task", "rubric", judge, item, "target", factors, repeat, request, request_key(request), cell)
            calls.append(call)
    return calls


def headers(calls: Iterable[Call], provenance: str = "recorded", **changed: Any) -> dict[str, dict[str, Any]]:
    fingerprint = {"model": "m-1", "temperature": 0.7, "prompt": "0f3a", "host": "example"} | changed
    return {call.cell: {"provenance": provenance, "judge": call.judge, "fingerprint": fingerprint} for call in calls}


def recorded(root: Path, calls: Sequence[Call], answers: Mapping[tuple[str, int], bytes] | None = None) -> None:
    """Write cassettes for the plan without any HTTP: answer n of an item is {"item": item, "run": n}."""
    library = Library(root, calls[0].cell.split("/")[0], mode="missing")
    library.expect(calls, headers(calls))
    with library.use():
        for call in calls:
            body = (answers or {}).get((call.item, call.repeat), answer_for(call))
            response = RawResponse(200, {"content-type": "application/json"}, body)
            request = call.request
            library.store(request, call_headers(call), response)


def answer_for(call: Call) -> bytes:
    return json.dumps({"item": call.item, "run": call.repeat, "judge": call.judge}).encode()


def opened(root: Path, calls: Sequence[Call], **settings: Any) -> Library:
    library = Library(root, calls[0].cell.split("/")[0], **settings)
    library.expect(calls, headers(calls))
    return library


async def send_all(calls: Sequence[Call], concurrency: int = 16, extra: Mapping[str, str] | None = None) -> list[Any]:
    """Every call through one httpx2 client; parsed bodies in the order of `calls`."""
    gate = asyncio.Semaphore(concurrency)
    async with httpx2.AsyncClient(trust_env=False, verify=False) as client:

        async def one(call: Call) -> Any:
            async with gate:
                return (await post(client, call, extra)).json()

        return await asyncio.gather(*map(one, calls))


async def post(client: httpx2.AsyncClient, call: Call, extra: Mapping[str, str] | None = None) -> httpx2.Response:
    sent = {"content-type": "application/json", **call_headers(call), **(extra or {})}
    return await client.request(call.request.method, call.request.url, content=call.request.body, headers=sent)


def recording(
    library: Library, calls: Sequence[Call], *, concurrency: int = 8, timeout: float = 30.0
) -> RecordingReport:
    """Record the plan with a client that never retries."""

    async def run() -> RecordingReport:
        async with httpx2.AsyncClient(trust_env=False, verify=False, timeout=timeout) as client:

            async def send(call: Call) -> RawResponse:
                response = await post(client, call)
                return RawResponse(response.status_code, dict(response.headers), response.content)

            limits = {call.judge: Limits(concurrency) for call in calls}
            return await record(calls, send, library, limits=limits)

    with library.use():
        return asyncio.run(run())


def files(root: Path) -> dict[str, bytes]:
    """Every file below the folder, by relative path."""
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def bomb(byte: bytes, megabytes: int = 1024) -> bytes:
    """2**30 times one byte, as a gzip file of a megabyte. The same block stands in it again and again: after a full
    flush a block needs nothing before it, so only two are compressed."""
    block, sum_, pack = byte * 2**20, 0, zlib.compressobj(9, zlib.DEFLATED, 31)
    first, again = (pack.compress(block) + pack.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    for _ in range(megabytes):
        sum_ = zlib.crc32(block, sum_)
    size = megabytes * 2**20
    return first + again * (megabytes - 1) + pack.flush()[:-8] + sum_.to_bytes(4, "little") + size.to_bytes(4, "little")


async def record(calls, send, library, *, limits=None, progress=None, grace=30.0, readable=None, spending=None):  # type: ignore[no-untyped-def]
    """Ask every call that has no recorded answer; call inside `library.use()`."""
    recording = Recording(
        calls,
        library,
        progress=progress or (lambda _: None),
        grace=grace,
        readable=readable,
        spending=spending or Spending(),
    )
    with recording.signals.installed():
        known = {call.judge: Limits() for call in calls} | (limits or {})
        await recording.ask(recording.missing, send, known)
    return recording.outcome()
