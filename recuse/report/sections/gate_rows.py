"""Every gate with its limit, its reason, how it came out and what is accepted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from recuse.report.addresses import fault_anchor
from recuse.report.gated_number import Number
from recuse.report.results_model import Question, ResultsModel
from recuse.schema import number_text as numbers
from recuse.schema.verdict_rows import AcceptedRow, VerdictRow
from recuse.schema.vocabulary import printed, tally, worst


@dataclass(frozen=True, slots=True)
class AcceptedFault:
    """An accepted fault with what was measured of it, as text."""

    who: list[str]
    accept: str
    until: str
    reason: str
    measured: str
    state: str
    anchor: str


@dataclass(frozen=True, slots=True)
class GateRow:
    """A gate with its limits, its reasons and how many verdicts it gave."""

    question: Question
    gate: str
    title: str
    rules: list[str]
    reasons: list[str]
    tally: str
    accepted_faults: list[AcceptedFault]


def gate_rows(view: ResultsModel, questions: list[Question]) -> list[GateRow]:
    """One row per question and gate, in the order of the page."""
    rows = []
    for question in questions:
        gates: dict[str, list[Number]] = {}
        for group in view.groups(question):
            for gate, mine in group.gates.items():
                gates.setdefault(gate, []).extend(mine)
        rows += [_row(view, question, gated) for gated in gates.values()]
    return rows


def _row(view: ResultsModel, question: Question, gated: list[Number]) -> GateRow:
    verdicts = [n.verdict for n in gated if n.verdict]
    return GateRow(
        question=question,
        gate=gated[0].gate,
        title=gated[0].gate_title,
        rules=_rules(verdicts),
        reasons=list(dict.fromkeys(str(v["reason"]) for v in verdicts if v.get("reason"))),
        tally=tally(n.state for n in gated),
        accepted_faults=_accepted_faults(view, gated),
    )


def _rules(verdicts: list[VerdictRow]) -> list[str]:
    """How these verdicts were reached. Those that differ only in the level a correction asked for are told together:
    "within [-0.5, +0.5]; passes if the 95 % interval lies inside, fails if the 99.5 to 99.9 % one lies outside"."""
    levels: dict[tuple[str, str, Any], set[float]] = {}
    for v in verdicts:
        rule = v.get("rule") or {}
        limit = rule.get("limit_text") or numbers.limit(v.get("limit") or {})
        key = (str(limit), str(rule.get("decide") or ""), rule.get("pass_level"))
        levels.setdefault(key, set()).update({rule["fail_level"]} if numbers.is_number(rule.get("fail_level")) else ())
    return [_rule(limit, decide, level, sorted(known)) for (limit, decide, level), known in levels.items()]


def _rule(limit: str, decide: str, pass_level: Any, fail_levels: list[float]) -> str:
    if decide == "point":
        return f"{limit}; the value itself decides"
    if not fail_levels:
        return limit
    ends = " to ".join(dict.fromkeys(f"{100 * level:.5g}" for level in (fail_levels[0], fail_levels[-1])))
    return (
        f"{limit}; passes if the {100 * pass_level:.4g} % interval lies inside, fails if the {ends} % interval lies "
        "outside"
    )


def _accepted_faults(view: ResultsModel, gated: list[Number]) -> list[AcceptedFault]:
    """Accepted faults in force, the subjects of one accepted fault together."""
    grouped: dict[tuple[str, str, str], list[Number]] = {}
    for n in gated:
        if fault := n.accepted_fault:
            key = (_accepted(fault["accept"]), fault["until"], fault["reason"])
            grouped.setdefault(key, []).append(n)
    return [
        AcceptedFault(
            who=list(dict.fromkeys(f"{view.label(n.who)} ({n.subject.get('panel', '')})" for n in mine)),
            accept=accept,
            until=until,
            reason=reason,
            measured=", ".join(dict.fromkeys(n.text() for n in mine)),
            state=worst(n.state for n in mine),
            anchor=fault_anchor(mine[0]),
        )
        for (accept, until, reason), mine in sorted(grouped.items())
    ]


def _accepted(accept: AcceptedRow) -> str:
    """ "−0.5 to 0.9", "undecided", or both: a value in the bounds, whatever its interval."""
    phrases = [numbers.limit(accept), " or ".join(map(printed, accept.get("outcome") or ()))]
    return ", ".join(part for part in phrases if part)
