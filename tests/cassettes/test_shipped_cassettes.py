"""Every shipped cassette gives the same answers to stock vcrpy as to Recuse's own replay."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
import vcr
from vcr.cassette import Cassette
from vcr.persisters.filesystem import FilesystemPersister

from fixtures.makers.recorded import stored_files
from recuse.cassettes import vcrpy_adapter
from recuse.cassettes.cell_file import contents, is_packed
from recuse.cassettes.library import Library
from recuse.cassettes.matching import REPEAT_HEADER
from recuse.cassettes.record_format import index_of, read_requests
from recuse.schema import Call, RawResponse, Request

ROOT = Path(__file__).parents[2] / "cassettes"
FILES = stored_files(ROOT)
PANELS = sorted({name.split("/")[0] for name in FILES})
EACH = [pytest.param(p, marks=pytest.mark.slow("whole recordings") if p == "local" else ()) for p in PANELS]

Answer = tuple[int, dict[str, str], bytes]


def calls_of(cell: str, path: Path) -> list[Call]:
    """The calls that would ask for everything in a file, made from the requests stored in it."""
    data, _ = contents(path)
    index = index_of(path, data)
    requests = read_requests(index, data)
    return [
        Call("", "", "", "", "", (), repeat, Request(url, body, method), key, cell)
        for (key, repeat) in index.answers
        for method, url, body in [requests[key]]
    ]


def reader_of(path: Path) -> type:
    """Stock vcrpy's own reader of files, as long as that can read them."""
    return vcrpy_adapter.Persister if is_packed(path) else FilesystemPersister


def directly(panel: str, calls: list[Call]) -> Iterator[tuple[Call, RawResponse]]:
    library = Library(ROOT, panel)
    assert library.expect(calls).complete
    return library.replay(calls)


@pytest.mark.slow("whole runs", but_first=True)
@pytest.mark.parametrize("panel", EACH)
def test_stock_vcrpy_reads_the_same_status_headers_and_bytes(panel: str) -> None:
    compared = 0
    for name, path in FILES.items():
        if not name.startswith(f"{panel}/"):
            continue
        calls = calls_of(name, path)
        stock = Cassette.load(path=str(path), serializer=vcrpy_adapter, persister=reader_of(path))
        assert len(stock.requests) == len(calls) == len(stock.responses)
        for request, response, (call, direct) in zip(
            stock.requests, stock.responses, directly(panel, calls), strict=True
        ):
            assert (request.method, request.uri, request.body) == (
                call.request.method,
                call.request.url,
                call.request.body,
            ), name
            assert request.headers[REPEAT_HEADER] == str(call.repeat), name
            assert response["status"]["code"] == direct.status, name
            assert response["headers"] == {key: [value] for key, value in direct.headers.items()}, name
            assert response["body"]["string"] == direct.body, name
            compared += 1
    assert compared == sum(
        contents(path)[0].count(b'","kind":"answer","key":"')
        for name, path in FILES.items()
        if name.startswith(f"{panel}/")
    )


@pytest.mark.slow("whole runs", but_first=True)
@pytest.mark.parametrize("panel", EACH)
def test_a_real_client_gets_the_same_bytes_through_stock_vcrpy(panel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first and the last interaction of every file, through httpx2 and stock vcrpy's patch of it."""
    monkeypatch.setattr(socket.socket, "connect", _no_network)
    recorder = vcr.VCR(record_mode="none", match_on=["method", "uri", "body", "repeat"])
    recorder.register_serializer("recuse", vcrpy_adapter)
    recorder.register_matcher("repeat", vcrpy_adapter.same_repeat)
    with httpx2.Client(trust_env=False, verify=False) as client:
        for name, path in FILES.items():
            if name.startswith(f"{panel}/"):
                recorder.register_persister(reader_of(path))
                calls = calls_of(name, path)
                with recorder.use_cassette(str(path), serializer="recuse"):
                    for call, direct in directly(panel, calls[:1] + calls[1:][-1:]):
                        got = _sent(client, call)
                        assert (got.status_code, got.content) == (direct.status, direct.body), name
                        assert {key: got.headers[key] for key in direct.headers} == direct.headers, name


def _sent(client: httpx2.Client, call: Call) -> httpx2.Response:
    headers = {REPEAT_HEADER: str(call.repeat)}
    return client.request(call.request.method, call.request.url, content=call.request.body, headers=headers)


def _no_network(*_: object) -> None:
    raise AssertionError("stock vcrpy let a request out")


def test_the_shipped_panels_are_there() -> None:
    """The tests above compare nothing if nothing is found."""
    assert {"local", "published"} <= set(PANELS)
    assert len(FILES) > 400
