"""Every gate with its limit, its reason, how it came out and what is waived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recuse.report import numbers, written
from recuse.report.sections.verdict_matrix import tally
from recuse.report.view import Number, Question, View


@dataclass(frozen=True, slots=True)
class Waiver:
    who: list[str]
    accept: str
    until: str
    reason: str
    found: str


@dataclass(frozen=True, slots=True)
class GateRow:
    question: Question
    gate: str
    rules: list[str]
    reason: str
    outcomes: list[str]
    tally: str
    waivers: list[Waiver]


def gate_rows(view: View, questions: list[Question]) -> list[GateRow]:
    rows = []
    for question in questions:
        mine = [n for n in view.numbers if n.question == question.id and n.verdict]
        for gate in sorted({n.gate for n in mine}):
            rows.append(_row(view, question, gate, [n for n in mine if n.gate == gate]))
    return rows


def _row(view: View, question: Question, gate: str, gated: list[Number]) -> GateRow:
    verdicts = [n.verdict for n in gated if n.verdict]
    outcomes = [n.outcome for n in gated]
    return GateRow(
        question=question,
        gate=gate,
        rules=sorted({v.get("rule") or numbers.limit(v.get("limit") or {}) for v in verdicts}),
        reason=next((str(v["reason"]) for v in verdicts if v.get("reason")), ""),
        outcomes=outcomes,
        tally=tally(outcomes),
        waivers=_waivers(view, gated),
    )


def _waivers(view: View, gated: list[Number]) -> list[Waiver]:
    """Waivers in force, the subjects of one waiver together."""
    grouped: dict[tuple[str, str, str], list[Number]] = {}
    for n in gated:
        waiver = (n.verdict or {}).get("waiver")
        if waiver:
            key = (_accepted(waiver.get("accept")), str(waiver.get("until") or ""), str(waiver.get("reason") or ""))
            grouped.setdefault(key, []).append(n)
    return [
        Waiver(
            who=list(dict.fromkeys(f"{view.label(n.who)} ({n.subject.get('panel', '')})" for n in mine)),
            accept=accept,
            until=until,
            reason=reason,
            found=", ".join(dict.fromkeys(written.value(n) for n in mine)),
        )
        for (accept, until, reason), mine in sorted(grouped.items())
    ]


def _accepted(accept: Any) -> str:
    return numbers.limit(accept) if isinstance(accept, Mapping) else str(accept or "")
