"""What a gate says to people: the rule in words, and the whole verdict on a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from recuse.gates.decisions import Decision, has_interval, sure_at
from recuse.gates.limits import Limit
from recuse.gates.rules import Gate
from recuse.schema import Estimate, Verdict

__all__ = ["count_of", "explain", "percent", "rule_text", "subject_text"]

WIDTH = 110


# --------------------------------------------------------------------------- the verdict on a terminal


def explain(verdict: Verdict) -> str:
    """The verdict in full, for a terminal: what was measured, over what, by which rule, and what to do next."""
    estimate, limit = verdict.estimate, Limit.of(verdict.limit)
    accepted_fault = verdict.accepted_fault
    rows = [
        ("measured", f"{estimate.metric} = {_measured(estimate, limit)}"),
        ("method", estimate.method),
        ("note", estimate.note),
        ("left out", _left_out(estimate)),
        ("rule", verdict.rule),
        ("because", verdict.reason),
        ("accepted_fault", f"{accepted_fault['state']}; until {accepted_fault['until']}: {accepted_fault['reason']}" if accepted_fault else ""),
        ("next", verdict.remedy),
    ]
    allowed = " (allowed)" if verdict.allowed else ""
    head = f"{verdict.gate}: {verdict.outcome.upper()}{allowed} for {subject_text(verdict.subject)}"
    return "\n".join([_plain(head), *(_row(name, text) for name, text in rows if text)])


def subject_text(subject: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in subject.items()) or "the whole run"


def count_of(estimate: Estimate) -> int:
    """How many of what the estimate is over."""
    return estimate.n_clusters if estimate.over == "clusters" and estimate.n_clusters is not None else estimate.n


def percent(level: float) -> str:
    return f"{100 * level:.2f}".rstrip("0").rstrip(".") + " %"


def _measured(estimate: Estimate, limit: Limit) -> str:
    if not estimate.defined:
        return f"undefined, over {_over(estimate)}"
    unit = f" {estimate.unit}" if estimate.unit else ""
    if not has_interval(estimate):
        return f"{limit.show(estimate.value)}{unit}, no interval, over {_over(estimate)}"
    interval = f"[{limit.show(estimate.low)}, {limit.show(estimate.high)}]"
    return f"{limit.show(estimate.value)} {interval}{unit} ({percent(estimate.level)} interval), over {_over(estimate)}"


def _over(estimate: Estimate) -> str:
    text = f"{count_of(estimate)} {estimate.units if count_of(estimate) != 1 else _one(estimate.units)}"
    if estimate.over == "runs" and "texts only" not in estimate.note:
        text += " (these texts only)"
    if estimate.over == "clusters":
        text += f" ({estimate.n} observations)"
    return text


def _one(units: str) -> str:
    return f"{units.removesuffix('ies')}y" if units.endswith("ies") else units.removesuffix("s")


def _left_out(estimate: Estimate) -> str:
    if not estimate.n_excluded:
        return ""
    noun = "judgement" if estimate.n_excluded == 1 else "judgements"
    return f"{estimate.n_excluded} {noun} without a usable score; nothing was put in their place"


def _row(name: str, text: str) -> str:
    """One labelled row, folded at WIDTH; what follows a blank line (TOML to paste) is kept line by line."""
    prose, _, paste = text.partition("\n\n")
    folded = textwrap.wrap(_plain(prose), WIDTH, initial_indent=f"  {name:<10}", subsequent_indent=" " * 12)
    return "\n".join([*folded, *([""] if paste else []), *(f"    {_plain(line)}" for line in paste.splitlines())])


def _plain(text: str) -> str:
    """Without control characters, which could repaint a terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(text.splitlines()))


# --------------------------------------------------------------------------- the rule


def rule_text(gate: Gate, decision: Decision) -> str:
    """The limit and how it was decided, in words."""
    if gate.decide == "point":
        return f"{gate.bound}; the value itself decides"
    text = f"{gate.bound}; the whole {percent(max(decision.level, _known(decision)))} interval must lie inside"
    if decision.members is None:
        return text
    rest = f", {decision.undefined} undefined left out" if decision.undefined else ""
    return f"{text} ({gate.corrected.capitalize()} over {decision.members}: {gate.family}{rest})"


def _known(decision: Decision) -> float:
    """The level of the interval decided on, where it is wider than was asked for."""
    return decision.estimate.level if sure_at(decision.estimate, decision.level) else 0.0
