"""A judge whose key is not accepted, or whose account is used up, ends alone and is told once; the others go on."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import pytest
from hosted_panel import load, opened, plans, record
from misbehaving import Server

sys.path.append(str(Path(__file__).parents[1] / "judges"))
from loopback import Answer, ReceivedRequest, loopback

from recuse.recording.progress import IncompleteRecordingError
from recuse.schema import Call, RawResponse

CONCURRENCY = 4
REFUSALS = [
    (401, {"error": {"message": "Incorrect API key provided."}}, "Incorrect API key provided."),
    (429, {"error": {"message": "You exceeded your quota.", "code": "insufficient_quota"}}, "You exceeded your quota."),
]


def everything_reads(call: Call, response: RawResponse) -> None:
    return None


@pytest.mark.parametrize(("status", "payload", "words"), REFUSALS, ids=["key", "quota"])
def test_one_bad_key_is_told_once_and_stops_nobody_else(
    root: Path, server: Server, status: int, payload: object, words: str
) -> None:
    asked: list[ReceivedRequest] = []

    def closed(request: ReceivedRequest) -> Answer:
        asked.append(request)
        return Answer(status, payload)

    with loopback(closed) as url:
        panel = load(root.parent, server.url, settings="free = true", judges=("ann", "bob"), concurrency=CONCURRENCY)
        judges = {**panel.judges, "ann": dataclasses.replace(panel.judges["ann"], base_url=f"{url}/v1")}
        panel = dataclasses.replace(panel, judges=judges)
        planned = plans(panel)
        with pytest.raises(IncompleteRecordingError) as caught:
            record(root, panel, planned, readable=everything_reads)
    said = str(caught.value)
    assert 1 <= len(asked) <= CONCURRENCY
    assert said.count(words) == 1, said
    assert f"judge ann: HTTP {status} from 127.0.0.1: “{words}”" in said
    library = opened(root, panel, planned, mode="replay")
    calls = [call for each in planned for call in each.calls]
    assert {call.judge for call in calls if library.has(call)} == {"bob"}
    assert all(library.has(call) for call in calls if call.judge == "bob")
