"""What a recording will cost, said before it starts, and how it goes: done, spent, time left."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TextIO
from urllib.parse import urlsplit

from recuse.cassettes.network import is_loopback
from recuse.schema import Call, Judge, RecuseError, Request

BYTES_PER_TOKEN = 4  # a rule of thumb for English prose and JSON; replies are bounded by max_tokens instead


class BudgetError(RecuseError):
    """A recording may cost more than was allowed; nothing was asked."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Expected calls and input tokens, and the largest possible number of output tokens and dollars.

    `dollars` is None where the panel file names no price; a server on this machine costs nothing."""

    judge: str
    calls: int
    input_tokens: int
    output_tokens: int
    dollars: float | None

    def __str__(self) -> str:
        money = "price unknown" if self.dollars is None else f"at most ${self.dollars:,.2f}"
        return (
            f"{self.judge}: {self.calls:,} calls, about {self.input_tokens:,} tokens in, "
            f"at most {self.output_tokens:,} out, {money}"
        )


def expected_costs(calls: Iterable[Call], judges: Mapping[str, Judge]) -> list[Cost]:
    """One `Cost` per judge, in the order of `judges`, for calls that are still to be made."""
    by_judge: dict[str, list[Call]] = {name: [] for name in judges}
    for call in calls:
        by_judge[call.judge].append(call)
    return [_cost(judges[name], found) for name, found in by_judge.items() if found]


def cost_text(costs: Iterable[Cost]) -> str:
    costs = list(costs)
    if not costs:
        return "nothing to record: every call of the plan has its answer"
    total = _total(costs)
    return "\n".join(["to record:", *(f"  {cost}" for cost in costs), *([f"  {total}"] if len(costs) > 1 else [])])


def check_budget(costs: Iterable[Cost], budget_usd: float, allowed: bool) -> None:
    """`BudgetError` unless the largest possible cost is known and within `budget_usd`, or `allowed` (--yes)."""
    costs = list(costs)
    unknown = [cost.judge for cost in costs if cost.dollars is None]
    dollars = sum(cost.dollars or 0.0 for cost in costs)
    if allowed or (not unknown and dollars <= budget_usd):
        return
    why = (
        f"no price is known for {', '.join(unknown)}"
        if unknown
        else f"it may cost ${dollars:,.2f}, the budget is ${budget_usd:,.2f}"
    )
    raise BudgetError(
        f"{cost_text(costs)}\nnot started: {why}. Add --yes to go ahead, "
        "or set `price` and `budget_usd` in the panel file"
    )


def tokens_of(request: Request) -> tuple[int, int]:
    """About how many tokens a request carries, and how many its answer may have at most."""
    return -(-len(request.body) // BYTES_PER_TOKEN), _largest_answer(request.body)


def _cost(judge: Judge, calls: list[Call]) -> Cost:
    counts = [tokens_of(call.request) for call in calls]
    asked, answered = sum(i for i, _ in counts), sum(o for _, o in counts)
    return Cost(judge.name, len(calls), asked, answered, _dollars(judge, asked, answered))


def _dollars(judge: Judge, asked: int, answered: int) -> float | None:
    host = urlsplit(judge.base_url).hostname or ""
    if judge.input_usd_per_mtok is not None and judge.output_usd_per_mtok is not None:
        return (asked * judge.input_usd_per_mtok + answered * judge.output_usd_per_mtok) / 1e6
    return 0.0 if is_loopback(host) or host.endswith(".invalid") else None


def _largest_answer(body: bytes) -> int:
    """The request's own bound on its answer, in whichever of the three wire formats it is spelled."""
    try:
        value: Any = json.loads(body)
    except ValueError:
        return 0
    value = value if isinstance(value, dict) else {}
    config = value.get("generationConfig")
    found = (
        value.get("max_tokens")
        or value.get("max_completion_tokens")
        or (config.get("maxOutputTokens") if isinstance(config, dict) else None)
    )
    return found if isinstance(found, int) else 0


def _total(costs: list[Cost]) -> Cost:
    known = [cost.dollars for cost in costs if cost.dollars is not None]
    dollars = sum(known) if len(known) == len(costs) else None
    return Cost(
        "all judges",
        sum(c.calls for c in costs),
        sum(c.input_tokens for c in costs),
        sum(c.output_tokens for c in costs),
        dollars,
    )


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a recording is. `seconds` since it started."""

    total: int
    stored: int
    failed: int
    seconds: float

    def __str__(self) -> str:
        rate = self.stored / self.seconds if self.seconds > 0 else 0.0
        left = self.total - self.stored - self.failed
        failed = f", {self.failed} failed" if self.failed else ""
        remaining = f", about {_span(left / rate)} left" if rate > 0 and left else ""
        return f"recorded {self.stored} of {self.total}{failed}, {_rate(rate)}{remaining}"


Report = Callable[[Progress], None]


class ProgressLine:
    """Writes progress to a stream: rewrites one line on a terminal, adds a line now and then elsewhere."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._clock = stream, clock
        self._terminal = stream.isatty()
        self._pause = 0.5 if self._terminal else 30.0
        self._last = -1e9

    def __call__(self, progress: Progress) -> None:
        now, ended = self._clock(), progress.stored + progress.failed >= progress.total
        if not ended and now - self._last < self._pause:
            return
        self._last = now
        start, end = ("\r\x1b[K", "\n" if ended else "") if self._terminal else ("", "\n")
        self._stream.write(f"{start}{progress}{end}")
        self._stream.flush()


def _rate(per_second: float) -> str:
    return f"{per_second:.1f} per second" if per_second >= 1 else f"{per_second * 60:.1f} per minute"


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
