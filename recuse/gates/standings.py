"""Who is cleared, panel by panel, and the strongest reason why others are not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from recuse.gates.limits import Limit

__all__ = ["standings"]

Record = Mapping[str, Any]
STATES = ("cleared", "not cleared", "undecided")


def standings(results: Record) -> list[dict[str, Any]]:
    """Per panel with a recommendation, the names that are `cleared`, `not cleared` and `undecided`, and under `because`
    the strongest reason of the latter two: {"judge", "gate", "subject", "margin"}, margin being how far the value lies
    outside its limit (inside: below 0; null where there is no value). The strongest is one that is not accepted, then
    the one whose value lies farthest outside in units of half its interval. `results`: as in `decide_merge`.
    """
    by_key = {_key(v): v for v in results["verdicts"]}
    names = [p["name"] for p in results["panels"]]
    recommendations, found = results["recommendations"], []
    for panel in dict.fromkeys([*names, *(r["panel"] for r in recommendations)]):
        if mine := [r for r in recommendations if r["panel"] == panel]:
            of: dict[str, Any] = {s: [r["judge"] for r in mine if r["recommended"] == s] for s in STATES}
            because = {s: _strongest([r for r in mine if r["recommended"] == s], by_key) for s in STATES[1:] if of[s]}
            found.append({"panel": panel, **of, "because": because})
    return found


def _strongest(recommended: Iterable[Record], by_key: Mapping[Any, Record]) -> dict[str, Any] | None:
    """The strongest of all reasons, and whom it is about."""
    reasons = [(r["judge"], by_key[_key(reason)]) for r in recommended for reason in r["because"]]
    if not reasons:
        return None
    judge, verdict = max(reasons, key=lambda reason: _strength(reason[1]))
    return {"judge": judge, "gate": verdict["gate"], "subject": dict(verdict["subject"]), "margin": _excess(verdict)}


def _strength(verdict: Record) -> tuple[bool, float]:
    estimate, excess = verdict["estimate"], _excess(verdict)
    new = verdict["outcome"] != "accepted"
    if excess is None:
        return new, -math.inf
    low, high = (estimate[end] if _known(estimate[end]) else math.nan for end in ("low", "high"))
    half = (high - low) / 2
    return new, excess / half if half > 0 else 0.0


def _excess(verdict: Record) -> float | None:
    value = verdict["estimate"]["value"]
    return float(f"{Limit.of(verdict['limit']).excess(value):.10g}") if _known(value) else None


def _known(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _key(of: Record) -> tuple[Any, ...]:
    return (of["gate"], *sorted(of["subject"].items()))
