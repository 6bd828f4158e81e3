"""What the cassettes say beside the scores: tokens and dollars per judge, and the replies worth reading."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recuse.elicit import Plan
from recuse.judges import read_response, wire
from recuse.protocols import protocol
from recuse.schema import Call, Judge, RawResponse

UNUSABLE_SHOWN = 2  # per judge
LONGEST_TEXT = 4000

Answers = Sequence[tuple[Call, RawResponse]]


def usage_of(panel: str, plan: Plan, answers: Answers) -> list[dict[str, Any]]:
    """Calls, tokens and dollars per judge, from the usage blocks of the replies; unknown stays None, never 0."""
    rows = []
    for name, judge in plan.judges.items():
        usages = [read_response(wire(judge.wire), response).usage for call, response in answers if call.judge == name]
        given = _sum(u.input_tokens for u in usages)
        written = _sum(u.output_tokens for u in usages)
        rows.append(
            {
                "panel": panel,
                "judge": name,
                "task": plan.task.name,
                "protocol": plan.protocol,
                "calls": len(usages),
                "input_tokens": given,
                "output_tokens": written,
                "dollars": dollars(judge, given, written),
            }
        )
    return rows


def dollars(judge: Judge, input_tokens: int | None, output_tokens: int | None) -> float | None:
    """Cost at the panel's prices (USD per million tokens); None where a price or a count is unknown."""
    if None in (judge.input_usd_per_mtok, judge.output_usd_per_mtok, input_tokens, output_tokens):
        return None
    return (judge.input_usd_per_mtok * input_tokens + judge.output_usd_per_mtok * output_tokens) / 1e6  # type: ignore[operator]


def words_of(panel: str, plan: Plan, answers: Answers) -> list[dict[str, Any]]:
    """Per judge: the first reply on its own work (where it has none, on the first target) under each factor level, and
    the first replies that could not be used."""
    how, shown, unusable = protocol(plan.protocol), [], dict.fromkeys(plan.judges, 0)
    told: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
    asked = {name: list(dict.fromkeys(c.target for c, _ in answers if c.judge == name)) for name in plan.judges}
    about = {n: j.author if j.author in asked[n] else next(iter(asked[n]), None) for n, j in plan.judges.items()}
    for call, response in answers:
        judge = plan.judges[call.judge]
        reply = read_response(wire(judge.wire), response)
        rows = how.read(plan.task, plan.items[call.judge, call.item, call.target], dict(call.factors), reply)
        bad = next((row for row in rows if row.status != "ok"), None)
        own = call.target == about[call.judge] and (call.judge, call.factors) not in told
        if not own and (bad is None or unusable[call.judge] >= UNUSABLE_SHOWN):
            continue
        unusable[call.judge] += bad is not None
        if own:
            told.add((call.judge, call.factors))
        shown.append(
            {
                "panel": panel,
                "task": plan.task.name,
                "protocol": plan.protocol,
                "judge": call.judge,
                "target": call.target,
                "factors": dict(call.factors),
                "repeat": call.repeat,
                "status": bad.status if bad else "ok",
                "why": bad.why if bad else "",
                "text": reply.text[:LONGEST_TEXT],
            }
        )
    return shown


def _sum(counts: Any) -> int | None:
    known = list(counts)
    return None if any(c is None for c in known) else sum(known)
