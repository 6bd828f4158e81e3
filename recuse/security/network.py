"""While replaying, nothing outside this machine is reached: every attempt to connect or to look up a name raises. An
audit hook watches the interpreter's own socket events, which no library, thread or C extension using Python's sockets
can avoid; it cannot be removed, so it is installed once and does nothing while idle. And the methods of `socket.socket`
that take an address are wrapped: they look a host name up before that event. This stops accidents, not an adversary:
other programs that are started, code that calls the C library itself, and imports before the first test are not seen.
Where that matters, take the network away from the whole process: docs/recording.md shows how."""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

from recuse.schema import RecuseError

_LOCAL_NAMES = frozenset({"", "localhost", "localhost.localdomain", "ip6-localhost"})
_SENDING = ("connect", "connect_ex", "sendto")
_lock = threading.Lock()
_blocking = 0
_answered: frozenset[tuple[str, int]] = frozenset()
_hooked = False


class NetworkBlockedError(RecuseError):
    """Something tried to reach the network during replay. Not an OSError, so that no client retries or hides it."""


@contextmanager
def blocked_network(answered: Iterable[tuple[str, int]] = ()) -> Iterator[None]:
    """Block everything but loopback, and of loopback the (host, port) pairs for which recordings answer."""
    global _blocking, _answered, _hooked
    with _lock:
        if not _hooked:
            sys.addaudithook(_audit)
            _hooked = True
        before, _answered = _answered, frozenset(answered) | loopback_addresses(_proxies())
        _blocking += 1
    try:
        sending: dict[str, Any] = {name: _guarded(getattr(socket.socket, name)) for name in _SENDING}
        with mock.patch.multiple(socket.socket, **sending):
            yield
    finally:
        with _lock:
            _blocking -= 1
            _answered = before


def check_address(address: Any) -> None:
    """Raise `NetworkBlockedError` unless the socket address is on this machine."""
    if not isinstance(address, tuple) or len(address) < 2:
        return  # a path (AF_UNIX) or a kernel socket
    host, port = address[0], address[1]
    check_host(host)
    if isinstance(host, str) and (host, port) in _answered:
        why = "recordings answer for that server, or it is a proxy that leads out"
        remedy = "Ask through the patched HTTP client (httpx2), which replays"
        trap = "`requests` in several threads can slip past the patch"
        raise NetworkBlockedError(f"replay blocked a connection to {host}:{port}: {why}. {remedy}; {trap}")


def check_host(host: Any) -> None:
    """Raise `NetworkBlockedError` unless the host name or address is this machine."""
    if host is not None and not is_loopback(host):
        why = "recorded runs never use the network. To record what is missing: pytest evals/ --record=missing"
        raise NetworkBlockedError(f"replay blocked a connection to {_shown(host)}: {why}")


def is_loopback(host: Any) -> bool:
    """Whether an address or host name is that of this machine."""
    name = _shown(host)
    if name.lower() in _LOCAL_NAMES:
        return True
    try:
        address = ipaddress.ip_address(name.split("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def is_local(host: str | None) -> bool:
    """Whether a host is this machine, or an address of a private network."""
    try:
        return is_loopback(host or "x") or ipaddress.ip_address(host or "x").is_private
    except ValueError:
        return False


def loopback_addresses(urls: Iterable[str]) -> set[tuple[str, int]]:
    """(host, port) of those addresses that are on this machine, by each name that they can be reached by."""
    parts = [url for url in map(urlsplit, urls) if is_loopback(url.hostname)]
    ports = {url: url.port or {"http": 80, "https": 443}.get(url.scheme, 0) for url in parts}
    return {(host, ports[url]) for url in parts for host in (url.hostname or "", "127.0.0.1", "::1", "localhost")}


def _proxies() -> Iterator[str]:
    """Those that the environment names, with a scheme or without; one on this machine is a way out that looks local."""
    for name, value in os.environ.items():
        if name.lower().endswith("_proxy") and name.lower() != "no_proxy":
            url = value if "//" in value else f"//{value}"
            with suppress(ValueError):  # what is no address leads nowhere
                if urlsplit(url).port:
                    yield url


_EVENTS = {
    "socket.connect": (check_address, 1), "socket.sendto": (check_address, 1), "socket.sendmsg": (check_address, 1),
    "socket.getaddrinfo": (check_host, 0), "socket.gethostbyname": (check_host, 0),
    "socket.gethostbyaddr": (check_host, 0), "socket.getnameinfo": (check_address, 0),
}  # fmt: skip
"""Event -> what is checked, and which of its arguments."""


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    watched = _EVENTS.get(event)  # first, and nothing else for most: Python tells of events by the hundred thousand
    if watched is not None and _blocking:
        check, at = watched
        check(arguments[at])


def _guarded(original: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(self: socket.socket, *arguments: Any) -> Any:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            check_address(arguments[-1])  # the address comes last in connect, connect_ex and sendto
        return original(self, *arguments)

    return guarded


def _shown(host: Any) -> str:
    return host.decode("ascii", "replace") if isinstance(host, (bytes, bytearray)) else str(host)
