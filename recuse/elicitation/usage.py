"""What the replies cost: calls, tokens and dollars per judge, from the usage blocks of the replies, and the time they
took, as recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recuse.schema import Call, Judge, Reply

if TYPE_CHECKING:
    from recuse.elicitation.plan import Plan

__all__ = ["Usages", "dollars"]


class Usages:
    """Counts while the replies are read; unknown stays None, never 0."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._judges = {**plan.judges, **plan.panel_judges}  # one that judges nothing here may have written for others
        self._calls = dict.fromkeys(self._judges, 0)
        self._input: dict[str, int | None] = dict.fromkeys(self._judges, 0)
        self._output: dict[str, int | None] = dict.fromkeys(self._judges, 0)
        self._seconds: dict[str, float | None] = dict.fromkeys(self._judges, 0.0)
        self._reasoning = dict.fromkeys(self._judges, 0)  # among the output tokens, where a provider tells

    def count(self, call: Call, reply: Reply, seconds: float | None = None) -> None:
        """Add one reply. What it does not say is unknown for its whole judge."""
        judge, usage, so_far = call.judge, reply.usage, self._seconds[call.judge]
        self._seconds[judge] = None if so_far is None or seconds is None else so_far + seconds
        self._calls[judge] += 1
        self._input[judge] = _plus(self._input[judge], usage.input_tokens)
        self._output[judge] = _plus(self._output[judge], usage.output_tokens)
        self._reasoning[judge] += usage.reasoning_tokens or 0

    def rows(self) -> list[dict[str, Any]]:
        """One record per judge, as builtins."""
        plan = self._plan
        return [
            {
                "panel": plan.panel, "judge": name, "task": plan.task.name, "protocol": plan.protocol,
                "calls": self._calls[name], "input_tokens": self._input[name], "output_tokens": self._output[name],
                "reasoning_tokens": self._reasoning[name],
                "seconds": None if self._seconds[name] is None else round(self._seconds[name] or 0.0, 3),
                "dollars": dollars(judge, self._input[name], self._output[name]),
            }
            for name, judge in self._judges.items()
            if name in plan.judges or self._calls[name]
        ]  # fmt: skip


def dollars(judge: Judge, input_tokens: int | None, output_tokens: int | None) -> float | None:
    """Cost at the panel's prices (USD per million tokens); None where a price or a count is unknown."""
    if None in (judge.input_usd_per_mtok, judge.output_usd_per_mtok, input_tokens, output_tokens):
        return None
    return (judge.input_usd_per_mtok * input_tokens + judge.output_usd_per_mtok * output_tokens) / 1e6  # type: ignore[operator]


def _plus(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + more
