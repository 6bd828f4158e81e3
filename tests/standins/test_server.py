"""The stand-in server over real sockets: both target forms, keep-alive, concurrency, bad requests, a clean end."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest

from recuse.standins import StandInError, server
from recuse.standins.server import ReceivedRequest, serve

HEADERS = {"content-type": "application/json"}


def echo(asked: ReceivedRequest) -> tuple[int, Mapping[str, str], bytes]:
    match asked.body.get("do"):
        case "unplanned":
            raise StandInError("run 3 of this request is not in the plan")
        case "break":
            raise ZeroDivisionError("a mistake in the answer")
        case "busy":
            return 429, {"retry-after": "7"}, b"{}"
    said = {
        "url": asked.url,
        "host": asked.host,
        "path": asked.path,
        "repeat": asked.repeat,
        "cell": asked.cell,
        "body": asked.body,
    }
    return 200, HEADERS, json.dumps(said).encode()


@pytest.fixture
def url() -> Iterator[str]:
    with serve(echo) as address:
        yield address


def connection(url: str) -> http.client.HTTPConnection:
    place = urlsplit(url)
    assert place.hostname == "127.0.0.1"
    return http.client.HTTPConnection("127.0.0.1", place.port, timeout=60)


def post(to: http.client.HTTPConnection, target: str, body: Any, **headers: str) -> tuple[int, Any]:
    to.request(
        "POST", target, json.dumps(body).encode(), {name.replace("_", "-"): value for name, value in headers.items()}
    )
    response = to.getresponse()
    return response.status, json.loads(response.read())


def test_origin_form(url: str) -> None:
    status, said = post(
        connection(url), "/v1/x?a=1", {"n": 1}, host="judge.invalid", x_recuse_repeat="4", x_recuse_cell="p/t/r/c"
    )
    assert status == 200
    assert said == {
        "url": "http://judge.invalid/v1/x?a=1",
        "host": "judge.invalid",
        "path": "/v1/x?a=1",
        "repeat": 4,
        "cell": "p/t/r/c",
        "body": {"n": 1},
    }


def test_absolute_form_names_the_host_whatever_the_host_header_says(url: str) -> None:
    status, said = post(connection(url), "http://judge.invalid:8080/v1", {}, host="127.0.0.1")
    assert (status, said["url"], said["repeat"], said["cell"]) == (200, "http://judge.invalid:8080/v1", 0, None)


def test_as_an_http_proxy_for_a_host_that_does_not_exist(url: str) -> None:
    async def ask() -> list[httpx2.Response]:
        mounts = {"all://judge.invalid": httpx2.AsyncHTTPTransport(proxy=url)}
        async with httpx2.AsyncClient(mounts=mounts, trust_env=False, verify=False, timeout=10) as client:
            calls = [
                client.post("http://judge.invalid/v1", json={"i": i}, headers={"x-recuse-repeat": str(i)})
                for i in range(100)
            ]
            return await asyncio.gather(*calls)

    responses = asyncio.run(ask())
    assert [r.json()["body"]["i"] for r in responses] == [r.json()["repeat"] for r in responses] == list(range(100))
    assert {r.json()["host"] for r in responses} == {"judge.invalid"}


def test_one_connection_serves_many_requests(url: str) -> None:
    kept = connection(url)
    kept.connect()
    before = kept.sock
    for run in range(20):
        assert post(kept, "/", {}, x_recuse_repeat=str(run))[1]["repeat"] == run
    assert kept.sock is before


def test_answers_many_connections_at_once() -> None:
    """No answer is given before all 40 have been asked, so they are asked at the same time or never."""
    everyone = threading.Barrier(40, timeout=30)

    def together(asked: ReceivedRequest) -> tuple[int, Mapping[str, str], bytes]:
        everyone.wait()
        return echo(asked)

    found: list[int] = []
    with serve(together) as url:
        threads = [
            threading.Thread(target=lambda i=i: found.append(post(connection(url), "/", {"i": i})[1]["body"]["i"]))
            for i in range(40)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(found) == list(range(40))


def test_status_and_headers_are_the_answer_s(url: str) -> None:
    to = connection(url)
    to.request("POST", "/", b'{"do": "busy"}')
    response = to.getresponse()
    assert (response.status, response.getheader("retry-after"), response.read()) == (429, "7", b"{}")


@pytest.mark.parametrize(
    ("body", "headers", "status", "reason"),
    [
        (b"{", {}, 500, "JSONDecodeError"),
        (b"{}", {"x-recuse-repeat": "last"}, 500, "ValueError"),
        (b'{"do": "unplanned"}', {}, 404, "run 3 of this request is not in the plan"),
        (b'{"do": "break"}', {}, 500, "ZeroDivisionError: a mistake in the answer"),
    ],
)
def test_a_bad_request_gets_a_reason_and_the_server_goes_on(
    url: str, body: bytes, headers: dict[str, str], status: int, reason: str
) -> None:
    to = connection(url)
    to.request("POST", "/v1", body, headers)
    response = to.getresponse()
    assert response.status == status
    assert reason in json.loads(response.read())["error"]["message"]
    assert post(connection(url), "/", {"still": "there"})[0] == 200


def test_a_client_that_goes_away_does_no_harm(url: str) -> None:
    place = urlsplit(url)
    for sent in (b"", b"POST / HTTP/1.1\r\n", b"POST / HTTP/1.1\r\ncontent-length: 100\r\n\r\n{"):
        with socket.create_connection(("127.0.0.1", place.port or 0)) as raw:
            raw.sendall(sent)
    assert post(connection(url), "/", {})[0] == 200


def test_ends_with_idle_connections_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server._Handler, "timeout", None)  # an idle connection would be kept for ever
    idle: list[http.client.HTTPConnection] = []

    def serve_and_leave() -> None:
        with serve(echo) as url:
            idle.extend(connection(url) for _ in range(5))
            for to in idle:
                post(to, "/", {})

    block = threading.Thread(target=serve_and_leave, daemon=True)
    block.start()
    block.join(timeout=30)
    waiting, port = block.is_alive(), idle[0].port
    for to in idle:
        to.close()  # so that a server that waits for them does not hold up the whole run
    assert not waiting, "the server waits for connections that nobody will use again"
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=2)


def test_two_servers_do_not_share_anything() -> None:
    with serve(echo) as one, serve(lambda asked: (200, HEADERS, b'"other"')) as other:
        assert one != other
        assert post(connection(one), "/", {})[1]["repeat"] == 0
        assert post(connection(other), "/", {})[1] == "other"


def test_an_error_in_the_block_is_told_what_the_server_could_not_answer() -> None:
    def ask_and_fail() -> None:
        with serve(echo) as url:
            post(connection(url), "/v1", {"do": "unplanned"})
            raise ValueError("what the client saw")

    with pytest.raises(ValueError, match="what the client saw") as caught:
        ask_and_fail()
    assert caught.value.__notes__ == ["stand-in server: 404 to POST /v1: run 3 of this request is not in the plan"]
