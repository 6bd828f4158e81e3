"""Lets stock vcrpy read our cassettes.

    recorder = vcr.VCR()
    recorder.register_serializer("recuse", recuse.cassettes.serializer)
    recorder.register_matcher("run", recuse.cassettes.serializer.same_run)
    with recorder.use_cassette("cassettes/.../x.jsonl", serializer="recuse", record_mode="none",
                               match_on=["method", "uri", "body", "run"]):
        ...

Reading only: what stock vcrpy would write has no checksums, no provenance and secrets in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vcr.request import Request as VcrRequest

from recuse.cassettes import lines
from recuse.cassettes.index import CassetteError, index_of
from recuse.cassettes.key import RUN_HEADER
from recuse.cassettes.stored_requests import read_requests
from recuse.cassettes.vcr_cassette import vcr_response
from recuse.schema import RawResponse, RecuseError


def deserialize(text: str) -> dict[str, Any]:
    """The cassette as vcrpy's mapping {"version": 1, "interactions": [{"request", "response"}, ...]}, in file order."""
    data = text.encode("utf-8", "surrogateescape")
    index = index_of("<cassette>", data)
    if index.faults:
        raise CassetteError("\n  ".join(("the cassette is damaged", *index.faults[:5])))
    requests = read_requests(index, data)
    interactions = [
        {"request": _request(*requests[key], run), "response": _response(data[start : start + length])}
        for (key, run), (start, length) in index.answers.items()
    ]
    return {"version": 1, "interactions": interactions}


def serialize(cassette: Mapping[str, Any]) -> str:
    raise RecuseError(
        "stock vcrpy may read Recuse cassettes, not write them; record with `pytest evals/ --record=missing` "
        'and open them with record_mode="none"'
    )


def same_run(one: VcrRequest, other: VcrRequest) -> None:
    """A vcrpy matcher: both requests are the same repeat."""
    assert one.headers.get(RUN_HEADER) == other.headers.get(RUN_HEADER), f"different {RUN_HEADER}"


def _request(method: str, url: str, body: bytes, run: int) -> dict[str, Any]:
    return {"method": method, "uri": url, "body": body, "headers": {RUN_HEADER: [str(run)]}}


def _response(line: bytes) -> dict[str, Any]:
    return vcr_response(RawResponse(*lines.read_answer(line)))
