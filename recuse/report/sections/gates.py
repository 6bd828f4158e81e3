"""Every gate with its limit, its reason, how it came out and what is accepted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recuse.report import estimate_format, numbers
from recuse.report.results_model import Number, Question, View
from recuse.report.sections.verdict_matrix import tally


@dataclass(frozen=True, slots=True)
class AcceptedFault:
    who: list[str]
    accept: str
    until: str
    reason: str
    found: str


@dataclass(frozen=True, slots=True)
class GateRow:
    question: Question
    gate: str
    title: str
    rules: list[str]
    reason: str
    tally: str
    accepted_faults: list[AcceptedFault]


def gate_rows(view: View, questions: list[Question]) -> list[GateRow]:
    """One row per question and gate, in the order of the page."""
    rows = []
    for question in questions:
        gates: dict[str, list[Number]] = {}
        for group in view.groups(question):
            for gate, mine in group.gates.items():
                gates.setdefault(gate, []).extend(mine)
        rows += [_row(view, question, gated) for gated in gates.values()]
    return rows


def _row(view: View, question: Question, gated: list[Number]) -> GateRow:
    verdicts = [n.verdict for n in gated if n.verdict]
    return GateRow(
        question=question,
        gate=gated[0].gate,
        title=gated[0].gate_title,
        rules=alike([v.get("rule") or numbers.limit(v.get("limit") or {}) for v in verdicts]),
        reason=next((str(v["reason"]) for v in verdicts if v.get("reason")), ""),
        tally=tally([n.outcome for n in gated]),
        accepted_faults=_accepted_faults(view, gated),
    )


_LEVEL = re.compile(r"(\d+(?:\.\d+)?) %")


def alike(rules: list[str]) -> list[str]:
    """Rules that differ only in the level a correction gave them, told once: "95 to 99 %"."""
    levels: dict[str, set[float]] = {}
    for rule in rules:
        levels.setdefault(_LEVEL.sub("{} %", rule), set()).update(float(level) for level in _LEVEL.findall(rule))
    return [_with_levels(rule, sorted(found)) for rule, found in levels.items()]


def _with_levels(rule: str, levels: list[float]) -> str:
    ends = dict.fromkeys(f"{level:g}" for level in (levels[0], levels[-1])) if levels else {}
    return rule.replace("{} %", f"{' to '.join(ends)} %")


def _accepted_faults(view: View, gated: list[Number]) -> list[AcceptedFault]:
    """Accepted faults in force, the subjects of one accepted fault together."""
    grouped: dict[tuple[str, str, str], list[Number]] = {}
    for n in gated:
        accepted_fault = (n.verdict or {}).get("accepted_fault")
        if accepted_fault:
            key = (_accepted(accepted_fault.get("accept")), str(accepted_fault.get("until") or ""), str(accepted_fault.get("reason") or ""))
            grouped.setdefault(key, []).append(n)
    return [
        AcceptedFault(
            who=list(dict.fromkeys(f"{view.label(n.who)} ({n.subject.get('panel', '')})" for n in mine)),
            accept=accept,
            until=until,
            reason=reason,
            found=", ".join(dict.fromkeys(estimate_format.value(n) for n in mine)),
        )
        for (accept, until, reason), mine in sorted(grouped.items())
    ]


def _accepted(accept: Any) -> str:
    return numbers.limit(accept) if isinstance(accept, Mapping) else str(accept or "")
