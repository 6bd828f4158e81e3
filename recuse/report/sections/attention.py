"""What turned the run red, or stays undecided: by how much, how sure, and what to do. One matter per gate."""

from __future__ import annotations

from dataclasses import dataclass

from recuse.report import estimate_format, numbers
from recuse.report.gated_number import Number
from recuse.report.lexicon import Measure
from recuse.report.results_model import View
from recuse.report.upgrade_table import deciding_numbers, is_of_upgrade
from recuse.report.vocabulary import OUTCOME_NAMES, worst


@dataclass(frozen=True, slots=True)
class Case:
    """One verdict of a gate."""

    outcome: str
    who: str  # "grok-4, names shown (published, merchant_risk)"
    value: str  # "+0.71 (0.52 to 0.90)"
    finding: str  # what is wrong, in whole sentences
    advice: str  # what to do about it
    paste: str  # what to paste into `file` where it is to be accepted
    file: str
    test: str


@dataclass(frozen=True, slots=True)
class Matter:
    gate: str
    title: str
    measure: Measure
    question: str
    limit: str
    reason: str
    cases: list[Case]

    @property
    def outcome(self) -> str:
        return worst(case.outcome for case in self.cases)


def needs_attention(view: View) -> list[Matter]:
    """Failed, unmeasured, and undecided verdicts that their gate does not allow; the worst gate first. Of an upgrade
    the row that decided it; its table shows the others."""
    deciding = {id(n) for n in deciding_numbers(view)}
    chosen = [n for n in view.numbers if n.verdict and not tolerated(n)]
    return _matters(view, [n for n in chosen if not is_of_upgrade(n) or id(n) in deciding])


def left_undecided(view: View) -> list[Matter]:
    """Undecided verdicts that their gate allows."""
    return _matters(view, [n for n in view.numbers if n.outcome == "undecided" and tolerated(n)])


def run_faults(view: View) -> list[str]:
    """What is wrong with the run as a whole: tests without a verdict, limits that no longer fit."""
    unmeasured = [f"{entry.get('test')}: {entry.get('why')}" for entry in view.results.get("unmeasured") or ()]
    return [*map(str, view.results.get("objections") or ()), *unmeasured]


def tolerated(number: Number) -> bool:
    """Whether the run may stay green on this verdict's account."""
    allowed = bool(number.verdict and number.verdict.get("allowed"))
    return number.outcome in ("pass", "accepted") or (number.outcome == "undecided" and allowed)


def measured(n: Number, minus: str = numbers.MINUS) -> str:
    """ "+0.71 (0.52 to 0.90)"."""
    value, interval = estimate_format.value(n, minus=minus), estimate_format.spread(n, minus)
    return f"{value} ({interval})" if interval else value


def whom(view: View, n: Number) -> str:
    """Whom a number is about and where: "judge x, names shown (published, merchant_risk)"."""
    place = view.place(n)
    who = ", ".join(part for part in (n.who or "the panel", n.circumstances) if part)
    return f"{who} ({place})" if place else who


def _matters(view: View, chosen: list[Number]) -> list[Matter]:
    badness = list(OUTCOME_NAMES)
    grouped: dict[tuple[str, str], list[Number]] = {}
    for n in sorted(chosen, key=lambda n: (badness.index(n.outcome), n.measure.rank, n.metric, view.rank(n))):
        grouped.setdefault((n.question, n.gate), []).append(n)
    return [_matter(view, mine) for mine in grouped.values()]


def _matter(view: View, mine: list[Number]) -> Matter:
    first = mine[0]
    limits = {estimate_format.limit(n) for n in mine}
    return Matter(
        gate=first.gate,
        title=first.gate_title,
        measure=first.measure,
        question=first.question,
        limit=limits.pop() if len(limits) == 1 else "",
        reason=str((first.verdict or {}).get("reason") or ""),
        cases=[_case(view, n) for n in mine],
    )


def _case(view: View, n: Number) -> Case:
    verdict = n.verdict or {}
    remedy = verdict.get("remedy") or {}
    return Case(
        outcome=n.outcome,
        who=whom(view, n),
        value=measured(n),
        finding=str(remedy.get("finding") or estimate_format.why_undefined(n)),
        advice=str(remedy.get("advice") or ""),
        paste=str(remedy.get("paste") or ""),
        file=str(remedy.get("file") or ""),
        test=str(verdict.get("test") or ""),
    )
