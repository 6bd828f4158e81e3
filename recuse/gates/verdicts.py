"""TEMPORARY until the gates branch lands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from recuse.schema import Estimate, Estimates, Verdict, builtins, members


class Verdicts(tuple[Verdict, ...]):
    asserted = False

    @property
    def gate(self) -> str:
        return self[0].gate if self else ""

    @property
    def marker(self) -> str:
        return f"<gate {self.gate}"

    @property
    def stays_green(self) -> bool:
        return all(map(bool, self))

    def __bool__(self) -> bool:
        self.asserted = True
        return self.stays_green

    def __repr__(self) -> str:
        return f"{self.marker}>"

    def explain(self) -> str:
        from recuse.gates.explanation import explain

        return "\n\n".join(explain(v) for v in self if not v)

    @property
    def accepted_reasons(self) -> list[str]:
        return [str(v.accepted_fault["reason"]) for v in self if v.outcome == "accepted" and v.accepted_fault]

    def only(self, wanted: Callable[[Mapping[str, str]], bool]) -> Verdicts:
        return Verdicts(v for v in self if wanted(v.subject))


def decide_all(gates: Any, name: str, measured: Estimate | Estimates, subject: Mapping[str, str]) -> Verdicts:
    return Verdicts(gates.decide_one(name, measured, {**subject, **names}) for names, _ in members(measured))


def record(v: Verdict, label: str) -> dict[str, Any]:
    return {
        "gate": v.gate, "label": label, "outcome": v.outcome, "allowed": v.allowed, "subject": dict(v.subject),
        "estimate": v.estimate.record(), "rule": v.rule, "limit": builtins(v.limit), "reason": v.reason,
        "remedy": v.remedy, "accepted_fault": builtins(v.accepted_fault),
    }
