"""What goes out and what comes in, below everything that records or patches HTTP clients.

Recuse tells its cassettes by request headers (`x-recuse-...`) which call a request is; they name judges and targets, so
they are taken off before a request leaves. A response is cut off when it grows beyond what any judge's reply has.
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from functools import lru_cache
from typing import Any

import httpx2

from recuse.schema import RecuseError

PRIVATE = b"x-recuse-"
LARGEST_RESPONSE = 16 * 2**20  # bytes on the wire


@lru_cache
def tls() -> ssl.SSLContext:
    """What connections are encrypted by. Made once: reading the certificates takes longer than a request."""
    return httpx2.create_ssl_context(trust_env=False)


class ResponseTooLargeError(RecuseError):
    """A server sent more than a judge's reply can have; nothing of it was kept."""


class JudgeTransport(httpx2.AsyncHTTPTransport):
    """`private`: keep the headers that start with x-recuse- on this machine. Only stand-ins, served by the recording
    itself, are told which call they answer."""

    def __init__(self, *, private: bool = True, largest: int = LARGEST_RESPONSE, **settings: Any) -> None:
        super().__init__(verify=tls(), trust_env=False, **settings)  # no proxy from the environment may see keys
        # Recording wraps `handle_async_request` of the class above; only below it do these two things hold.
        self._pool = _Pool(self._pool, private, largest)  # type: ignore[assignment]


class _Pool:
    def __init__(self, pool: Any, private: bool, largest: int) -> None:
        self._pool, self._private, self._largest = pool, private, largest

    async def handle_async_request(self, request: Any) -> Any:
        if self._private:
            request.headers = [(name, value) for name, value in request.headers if not name.lower().startswith(PRIVATE)]
        response = await self._pool.handle_async_request(request)
        response.stream = _Bounded(response.stream, self._largest, request.url.host.decode("ascii", "replace"))
        return response

    async def __aenter__(self) -> _Pool:
        await self._pool.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._pool.__aexit__(*error)

    async def aclose(self) -> None:
        await self._pool.aclose()


class _Bounded:
    def __init__(self, stream: Any, largest: int, host: str) -> None:
        self._stream, self._largest, self._host = stream, largest, host

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._largest
        async for part in self._stream:
            left -= len(part)
            if left < 0:
                raise ResponseTooLargeError(
                    f"{self._host} sent more than {self._largest // 2**20} MB in one response; no judge's reply is "
                    "that long. Look at what answers at `base_url`"
                )
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
