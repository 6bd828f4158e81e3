"""What a gate says to people: the rule in words, and the whole verdict on a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import overload

from recuse.gates.families import Decided
from recuse.gates.limits import Limit, has_interval, sure_at
from recuse.schema import Estimate, RecuseError, Verdict
from recuse.schema.number_text import of_units, percent
from recuse.schema.verdict_rows import RuleRow
from recuse.schema.vocabulary import printed
from recuse.security.sanitize import visible

WIDTH = 110


def explain(verdict: Verdict) -> str:
    """The verdict in full, for a terminal: what was measured, over what, by which rule, and what to do next."""
    estimate, fault, next_ = verdict.estimate, verdict.accepted_fault, verdict.remedy
    limit = Limit.of(verdict.limit).of_unit(estimate.unit)
    noun = "judgement" if estimate.n_excluded == 1 else "judgements"
    left_out = f"{estimate.n_excluded} {noun} without a usable score; nothing was put in their place"
    rows = [
        ("measured", f"{estimate.metric} = {_measured(estimate, limit)}"), ("method", estimate.method),
        ("note", estimate.note), ("left out", left_out if estimate.n_excluded else ""),
        ("rule", verdict.rule["sentence"]), ("because", verdict.reason),
        ("accepted", "{state}; until {until}: {reason}".format(**fault) if fault else ""),
        ("next", f"{next_['finding']} {next_['advice']}".strip() + (f"\n\n{next_['paste']}" if next_["paste"] else "")
         if next_ else ""),
    ]  # fmt: skip
    allowed = " (allowed)" if verdict.allowed else ""
    head = f"{verdict.gate}: {printed(verdict.outcome).upper()}{allowed} for {subject_text(verdict.subject)}"
    lines = [visible(" ".join(head.splitlines()))]
    for name, text in rows:  # folded at WIDTH; what follows a blank line (TOML to paste) is kept line by line
        prose, _, paste = text.partition("\n\n")
        label = f"  {name:<10}"
        lines += textwrap.wrap(visible(prose), WIDTH, initial_indent=label, subsequent_indent=" " * 12) if text else []
        lines += ["", *(f"    {visible(line)}" for line in paste.splitlines())] if paste else []
    return "\n".join(lines)


def subject_text(subject: Mapping[str, str]) -> str:
    """Whom a verdict is about, in words: "judge = x, names = shown"."""
    return ", ".join(f"{name} = {value}" for name, value in subject.items()) or "the whole run"


def counted_as(estimate: Estimate) -> tuple[int, str]:
    """How many of what the estimate is over: clusters, or the texts in them where nobody says how many clusters."""
    if estimate.over != "clusters" or estimate.n_clusters is None:
        return estimate.n, "texts" if estimate.over == "clusters" else estimate.units
    return estimate.n_clusters, estimate.units


def _measured(estimate: Estimate, limit: Limit) -> str:
    count, units = counted_as(estimate)
    over = f"over {of_units(count, units)}"
    if estimate.over == "repeats" and "texts only" not in estimate.note:
        over += " (these texts only)"
    if estimate.over == "clusters" and estimate.n_clusters is not None:
        over += f" ({estimate.n} observations)"
    if not estimate.defined:
        return f"undefined, {over}"
    unit = f" {estimate.unit}" if estimate.unit and not limit.percent else ""
    if not has_interval(estimate):
        return f"{limit.show(estimate.value)}{unit}, no interval, {over}"
    inside = f"{percent(estimate.level)} interval {limit.show_interval(estimate.low, estimate.high)}"
    return f"{limit.show(estimate.value)}{unit} ({inside}), {over}"


def rule_of(decided: Decided) -> RuleRow:
    """The limit and how it was decided, as data and in words."""
    member, family, decision = decided.member, decided.family, decided.decision
    level = decision.level  # that was asked for; a wider interval decides where only that is known
    level = max(level, decision.estimate.level) if sure_at(decision.estimate, level) else level
    text, gate = member.limit_text, member.gate
    sentence = f"{text}; the value itself decides"
    if family is not None:
        inside, outside = percent(gate.level), percent(decided.fail_level)
        rest = f", {family['undefined']} undefined left out" if family["undefined"] else ""
        correction = f"Holm over {family['members']}{rest}" if family["members"] != 1 or rest else "one judgement"
        sentence = (
            f"{text}; passes if the {inside} interval lies inside, fails if the {outside} interval lies outside "
            f"({correction}: at most {percent(family['alpha'])} that a fair judge fails here)"
        )
    return {
        "sentence": sentence, "decide": gate.decide, "level": level, "pass_level": gate.level,
        "fail_level": decided.fail_level, "limit_text": text, "family": family,
        "span": member.estimate.span if member.share else None,
        "of_range": member.share.mapping() if member.share else None,
    }  # fmt: skip


class Verdicts(Sequence[Verdict]):
    """Verdicts, truthy when every one of them lets the run stay green, or there is none. `conclusion`: what they come
    to in a sentence, where they were decided for one. `asserted`: whether anybody asked for the truth of it."""

    def __init__(self, verdicts: Iterable[Verdict] = (), conclusion: str = "") -> None:
        self._verdicts = tuple(verdicts)
        self.conclusion, self.asserted = conclusion, False

    def __bool__(self) -> bool:
        self.asserted = True
        return self.stays_green

    @property
    def stays_green(self) -> bool:
        """The truth of it, without counting as asserted."""
        return all(self._verdicts)

    @property
    def gate(self) -> str:
        """The gate that decided; empty where nothing was measured."""
        return self[0].gate if len(self) else ""

    @property
    def accepted_reasons(self) -> list[str]:
        """Why the accepted ones were accepted."""
        return [v.accepted_fault["reason"] for v in self if v.outcome == "accepted" and v.accepted_fault]

    def explain(self) -> str:
        """The objecting ones in full, for a terminal; "" where there is none."""
        explanations = [explain(verdict) for verdict in self if not verdict]
        return "\n\n".join([*([self.conclusion] if explanations and self.conclusion else []), *explanations])

    def of(self, **subject: str) -> Verdict:
        """The one verdict about `subject`. Raises `RecuseError` where none or several fit."""
        fitting = [verdict for verdict in self if subject.items() <= verdict.subject.items()]
        if len(fitting) != 1:
            wanted = ", ".join(f"{k}={v}" for k, v in subject.items())
            known = "; ".join(", ".join(f"{k}={v}" for k, v in verdict.subject.items()) for verdict in self)
            raise RecuseError(f"{len(fitting)} verdicts for {wanted}, and one is wanted; there are: {known}")
        return fitting[0]

    def only(self, wanted: Callable[[Mapping[str, str]], bool]) -> Verdicts:
        """Those whose subject is wanted. They stay as they were decided, together with all the others."""
        return Verdicts(verdict for verdict in self if wanted(verdict.subject))

    @overload
    def __getitem__(self, at: int) -> Verdict: ...
    @overload
    def __getitem__(self, at: slice) -> Verdicts: ...
    def __getitem__(self, at: int | slice) -> Verdict | Verdicts:
        return Verdicts(self._verdicts[at]) if isinstance(at, slice) else self._verdicts[at]

    def __len__(self) -> int:
        return len(self._verdicts)

    @property
    def marker(self) -> str:
        """How its text begins: tells a failed `assert gate(...)` from another failed assertion."""
        return f"<gate {self.gate}"

    def __repr__(self) -> str:
        return f"{self.marker}: {', '.join(verdict.outcome for verdict in self)}>"
