"""How long a real judge took is recorded with its answer, and is no part of what is replayed or matched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from misbehaving import Server
from small_plans import headers, opened, plan, recording

from recuse.cassettes import record_format
from recuse.cassettes.library import Library
from recuse.cassettes.vcrpy_adapter import deserialize
from recuse.schema import RawResponse


def test_a_real_judges_time_is_kept_with_each_answer(root: Path, server: Server) -> None:
    calls = plan(server.url)
    recording(opened(root, calls, mode="missing"), calls)
    replayed = [response for _, response in opened(root, calls).replay(calls)]
    assert all(response.seconds is not None and 0 < response.seconds < 60 for response in replayed)
    assert [opened(root, calls).response(call).seconds for call in calls] == [one.seconds for one in replayed]


@pytest.mark.parametrize("provenance", ["scripted", "reconstructed"])
def test_a_stand_ins_time_is_nobodys(root: Path, server: Server, provenance: str) -> None:
    calls = plan(server.url, items=("one",))
    library = Library(root, "small", mode="missing")
    library.expect(calls, headers(calls, provenance))
    recording(library, calls)
    again = Library(root, "small")
    again.expect(calls, headers(calls, provenance))
    assert {response.seconds for _, response in again.replay(calls)} == {None}


@pytest.mark.parametrize("seconds", [None, 0.0, 1.2344, 3600.0])
def test_the_answer_is_the_same_whatever_it_took(seconds: float | None) -> None:
    line = record_format.answer_line("0" * 32, 12, 200, {"a": "b"}, b'{"x":"\\"seconds\\":9,"}', seconds)
    assert record_format.is_intact(line.removesuffix(b"\n"))
    read = record_format.read_answer(line.removesuffix(b"\n"))
    assert read == RawResponse(200, {"a": "b"}, b'{"x":"\\"seconds\\":9,"}')
    assert record_format.head_of(line)[1:3] == ("0" * 32, 12)
    assert read.seconds == (None if seconds is None else pytest.approx(seconds, abs=1e-3))
    assert RawResponse(200, {}, b"", 1.0) == RawResponse(200, {}, b"", 2.0)


def test_stock_vcrpy_is_given_nothing_of_it(root: Path, server: Server) -> None:
    calls = plan(server.url, items=("one",), repeats=1)
    recording(opened(root, calls, mode="missing"), calls)
    [path] = root.rglob("*.jsonl")
    assert b'"seconds":' in path.read_bytes()
    assert "seconds" not in json.dumps(deserialize(path.read_text()), default=str)
