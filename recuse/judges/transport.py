"""What goes out and what comes in, below everything that records or patches HTTP clients. Recuse tells its cassettes by
request headers (`x-recuse-...`) which call a request is; they name judges and targets, so they are taken off before a
request leaves. A response is cut off when it grows beyond what any judge's reply has, on the wire or decompressed: so
it is decompressed here, and not by the HTTP client, which knows no bound."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from functools import lru_cache
from typing import Any

import httpx2

from recuse.judges.provider_responses import LARGEST_BODY, decompressed
from recuse.schema import RecuseError

PRIVATE, OF_ENCODED = b"x-recuse-", (b"content-encoding", b"content-length")


@lru_cache
def tls() -> ssl.SSLContext:
    """What connections are encrypted by. Made once: reading the certificates takes longer than a request."""
    return httpx2.create_ssl_context(trust_env=False)


class JudgeTransport(httpx2.AsyncHTTPTransport):
    """Keeps the headers that start with x-recuse- on this machine."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(verify=tls(), trust_env=False, **settings)  # no proxy from the environment may see keys
        # Recording wraps `handle_async_request` of the class above; only below it do these two things hold.
        self._ask = self._pool.handle_async_request
        self._pool.handle_async_request = self._asked_plainly  # type: ignore[method-assign]

    async def _asked_plainly(self, request: Any) -> Any:
        request.headers = [(name, value) for name, value in request.headers if not name.lower().startswith(PRIVATE)]
        response = await self._ask(request)
        encoding = ", ".join(v.decode("latin-1") for name, v in response.headers if name.lower() == b"content-encoding")
        if encoding:
            response.headers = [(name, v) for name, v in response.headers if name.lower() not in OF_ENCODED]
        response.stream = _Bounded(response.stream, request.url.host.decode("ascii", "replace"), encoding)
        return response


class _Bounded:
    def __init__(self, stream: Any, host: str, encoding: str) -> None:
        self._stream, self._host, self._encoding = stream, host, encoding

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left, held = LARGEST_BODY, bytearray()
        async for part in self._stream:
            left -= len(part)
            if left < 0:
                raise RecuseError(
                    f"{self._host} sent more than {LARGEST_BODY // 2**20} MB in one response; no judge's reply is "
                    "that long. Look at what answers at `base_url`"
                )
            if self._encoding:
                held += part
            else:
                yield part
        if held:
            try:
                yield decompressed(bytes(held), self._encoding)
            except ValueError as error:
                raise httpx2.DecodingError(f"{self._host}: {error}. Look at what answers at `base_url`") from None

    async def aclose(self) -> None:
        await self._stream.aclose()
