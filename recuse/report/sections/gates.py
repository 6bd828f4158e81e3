"""Every gate with its limit, its reason, how it came out and what is accepted."""

from __future__ import annotations

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
        rules=rules_told(verdicts),
        reason=next((str(v["reason"]) for v in verdicts if v.get("reason")), ""),
        tally=tally([n.outcome for n in gated]),
        accepted_faults=_accepted_faults(view, gated),
    )


def rules_told(verdicts: list[Mapping[str, Any]]) -> list[str]:
    """Every rule in words, those once that differ only in the level a correction gave them: "95 to 99 %"."""
    levels: dict[tuple[str, bool, str], list[float]] = {}
    for verdict in verdicts:
        rule = verdict.get("rule") or {}
        limit = str(rule.get("limit_text") or numbers.limit(verdict.get("limit") or {}))
        key = (limit, rule.get("decide") == "point", _family(rule.get("family")))
        levels.setdefault(key, []).append(100 * float(rule.get("level") or 0.95))
    return [_rule_text(*key, found) for key, found in levels.items()]


def _rule_text(limit: str, point: bool, family: str, levels: list[float]) -> str:
    if point:
        return f"{limit}; the value itself decides"
    ends = dict.fromkeys(f"{level:.4g}" for level in (min(levels), max(levels)))
    return f"{limit}; the whole {' to '.join(ends)} % interval must lie inside{family}"


def _family(family: Mapping[str, Any] | None) -> str:
    """ " (Holm over 5: self_bias, names shown)"."""
    if not family:
        return ""
    name = ", ".join([str(family["name"]), *(f"{k} {v}" for k, v in (family.get("within") or {}).items())])
    left_out = f", {family['undefined']} undefined left out" if family.get("undefined") else ""
    return f" ({str(family['correction']).capitalize()} over {family['members']}: {name}{left_out})"


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
