"""While replaying, nothing leaves this machine: every way out is tried, and loopback stays open."""

from __future__ import annotations

import _socket
import asyncio
import http.client
import socket
import threading
import urllib.request
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
import requests
from misbehaving import Server
from small_plans import opened, plan, recorded

from recuse.cassettes.cell_cassette import MissingInteractionError
from recuse.security.network import NetworkBlockedError, blocked_network, is_loopback

OUTSIDE = "192.0.2.7"  # reserved for documentation: nothing answers there, so only a block ends the attempt at once
NAME = "judge.example"


def _asyncio_connection() -> None:
    asyncio.run(asyncio.wait_for(asyncio.open_connection(OUTSIDE, 80), 5))


async def _httpx2_async() -> None:
    async with httpx2.AsyncClient(trust_env=False) as client:
        await client.get(f"http://{OUTSIDE}/")


def _udp() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.sendto(b"x", (OUTSIDE, 53))


def _udp_message() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.sendmsg([b"x"], [], 0, (OUTSIDE, 53))


def _connect(address: object, family: int = socket.AF_INET, kind: str = "connect") -> None:
    with socket.socket(family) as s:
        s.settimeout(0.2)
        getattr(s, kind)(address)


def _c_level_socket() -> None:
    s = _socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        s.settimeout(2)
        s.connect((OUTSIDE, 80))
    finally:
        s.close()


def _http_client() -> None:
    http.client.HTTPConnection(OUTSIDE, timeout=2).request("GET", "/")


SOCKETS: dict[str, Callable[[], object]] = {
    "raw socket": lambda: _connect((OUTSIDE, 80)),
    "raw socket, host name": lambda: _connect((NAME, 80)),
    "raw socket, connect_ex": lambda: _connect((OUTSIDE, 80), kind="connect_ex"),
    "raw socket, IPv6": lambda: _connect(("2001:db8::1", 80), socket.AF_INET6),
    "the C module's socket": _c_level_socket,
    "UDP": _udp,
    "UDP, sendmsg": _udp_message,
    "create_connection": lambda: socket.create_connection((OUTSIDE, 80), timeout=2),
    "getaddrinfo": lambda: socket.getaddrinfo(NAME, 80),
    "gethostbyname": lambda: socket.gethostbyname(NAME),
    "asyncio streams": _asyncio_connection,
}
CLIENTS: dict[str, Callable[[], object]] = {
    "httpx2": lambda: httpx2.get(f"http://{OUTSIDE}/", trust_env=False),
    "httpx2, async": lambda: asyncio.run(_httpx2_async()),
    "httpx2, host name": lambda: httpx2.get(f"https://{NAME}/", trust_env=False),
    "requests": lambda: requests.get(f"http://{OUTSIDE}/", timeout=2),
    "requests, https": lambda: requests.get(f"https://{NAME}/", timeout=2),
    "urllib": lambda: urllib.request.urlopen(f"http://{OUTSIDE}/", timeout=2),
    "http.client": _http_client,
}


@pytest.mark.parametrize("way", SOCKETS)
@pytest.mark.parametrize("thread", [False, True], ids=["main thread", "another thread"])
def test_no_socket_gets_out(way: str, thread: bool) -> None:
    with blocked_network():
        error = _in_thread(SOCKETS[way]) if thread else _error_of(SOCKETS[way])
    assert isinstance(error, NetworkBlockedError), repr(error)
    assert "replay blocked a connection to" in str(error)


@pytest.mark.parametrize("way", CLIENTS)
def test_no_client_gets_out_even_where_vcrpy_is_not_in_its_way(way: str) -> None:
    with blocked_network():
        error = _error_of(CLIENTS[way])
    while isinstance(error, BaseExceptionGroup):  # anyio reports what its connection attempts raised as a group
        (error,) = error.exceptions
    assert isinstance(error, NetworkBlockedError), repr(error)


@pytest.mark.parametrize("way", ["httpx2", "httpx2, async", "requests", "requests, https", "urllib"])
def test_with_a_library_in_use_a_stray_request_is_a_miss_and_nothing_goes_out(way: str, root: Path) -> None:
    calls = plan(items=("a",))
    recorded(root, calls)
    library = opened(root, calls)
    with library.use():
        assert isinstance(_error_of(CLIENTS[way]), MissingInteractionError)


def test_loopback_stays_open(server: Server) -> None:
    with blocked_network():
        assert httpx2.get(f"http://127.0.0.1:{server.port}/", trust_env=False).json() == {"status": "ok"}
        assert requests.get(f"http://localhost:{server.port}/", timeout=2).json() == {"status": "ok"}
        one, other = socket.socketpair()
        one.send(b"x")
        assert other.recv(1) == b"x"
        one.close()
        other.close()


def test_but_not_to_a_server_for_which_recordings_answer(server: Server, root: Path) -> None:
    calls = plan(server.url, items=("a",), repeats=1)
    recorded(root, calls)
    with opened(root, calls).use():
        for host in ("127.0.0.1", "localhost"):
            with pytest.raises(NetworkBlockedError, match="recordings answer for that server"):
                _connect((host, server.port))
    assert server.requests == 0


def test_afterwards_the_network_is_as_before() -> None:
    names = ("connect", "connect_ex", "sendto")
    before = [getattr(socket.socket, name) for name in names] + [socket.getaddrinfo]
    with pytest.raises(ZeroDivisionError), blocked_network():
        raise ZeroDivisionError
    assert [getattr(socket.socket, name) for name in names] + [socket.getaddrinfo] == before
    error = _error_of(lambda: _connect((OUTSIDE, 80)))
    assert error is None or isinstance(error, OSError)


def test_blocks_may_be_nested(server: Server) -> None:
    with blocked_network():
        with blocked_network([("127.0.0.1", server.port)]), pytest.raises(NetworkBlockedError):
            _connect(("127.0.0.1", server.port))
        _connect(("127.0.0.1", server.port))
        with pytest.raises(NetworkBlockedError):
            _connect((OUTSIDE, 80))


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1", "localhost", b"localhost", "LOCALHOST", ""]
)
def test_what_is_loopback(host: str | bytes) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "10.0.0.1", "127.0.0.1.example", "localhost.example", "1.127.0.0", "::ffff:10.0.0.1", "2130706433"],
)
def test_what_is_not(host: str) -> None:
    assert not is_loopback(host)


def _error_of(attempt: Callable[[], object]) -> BaseException | None:
    try:
        attempt()
    except BaseException as error:
        return error
    return None


def _in_thread(attempt: Callable[[], object]) -> BaseException | None:
    found: list[BaseException | None] = []
    thread = threading.Thread(target=lambda: found.append(_error_of(attempt)))
    thread.start()
    thread.join(10)
    return found[0]


@pytest.mark.parametrize("address", ["http://127.0.0.1:{}", "127.0.0.1:{}", "//127.0.0.1:{}/"])
def test_a_proxy_on_this_machine_is_no_way_out(
    server: Server, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:  # fmt: skip
    monkeypatch.setenv("HTTP_PROXY", address.format(server.port))
    monkeypatch.setenv("FTP_PROXY", "http://localhost:none")  # leads nowhere
    with blocked_network(), pytest.raises(NetworkBlockedError, match="a proxy that leads out"):
        requests.get("http://judge.example/", timeout=2)
    assert server.requests == 0


def test_looking_up_the_name_of_an_address_is_blocked_too() -> None:
    with blocked_network(), pytest.raises(NetworkBlockedError):
        socket.getnameinfo(("192.0.2.1", 443), 0)
    with blocked_network():
        assert socket.getnameinfo(("127.0.0.1", 443), socket.NI_NUMERICHOST | socket.NI_NUMERICSERV)[0] == "127.0.0.1"
