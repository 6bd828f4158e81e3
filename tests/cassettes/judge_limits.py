"""What a recording reads of a judge when it asks: how much at once, and how fast."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    concurrency: int = 4
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
