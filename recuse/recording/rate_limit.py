"""Rate limits of one judge: requests and tokens per minute, spread evenly so that no minute exceeds them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What one judge allows. None: no limit of that kind."""

    concurrency: int = 4
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


class RateLimit:
    """Hands out the next moment at which a request of so many tokens may start (virtual scheduling, no bursts)."""

    def __init__(
        self,
        limits: Limits,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._limits, self._clock, self._sleep = limits, clock, sleep
        self._next = 0.0  # earliest start of the next request
        self.counts_tokens = limits.tokens_per_minute is not None

    async def wait(self, tokens: int) -> None:
        """Return when the request may start. Requests start in the order in which they asked."""
        now = self._clock()
        start = max(now, self._next)
        self._next = start + self._spacing(tokens)
        if start > now:
            await self._sleep(start - now)

    def _spacing(self, tokens: int) -> float:
        """Seconds that this request takes out of the minute, under whichever limit is tighter."""
        by_count = 60.0 / self._limits.requests_per_minute if self._limits.requests_per_minute else 0.0
        by_tokens = tokens * 60.0 / self._limits.tokens_per_minute if self._limits.tokens_per_minute else 0.0
        return max(by_count, by_tokens)
