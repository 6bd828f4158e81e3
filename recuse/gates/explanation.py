"""What a gate says to people: the rule in words, the whole verdict on a terminal, what to do about one that is not a
pass, and the accepted failure to paste where nothing else helps."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, overload

from recuse.gates.gate_tables import AcceptedFault
from recuse.gates.limits import GatesError, Limit, has_interval, sure_at
from recuse.gates.verdict_power import ENOUGH, factor_to_decide
from recuse.schema import Estimate, Outcome, RecuseError, Verdict
from recuse.schema.number_text import of_units, percent, why_missing
from recuse.schema.verdict_rows import AcceptanceRow, RemedyKind, RemedyRow, RuleRow
from recuse.schema.vocabulary import FILE, NOT_MEASURED, UNDECIDED, printed, record_command
from recuse.security.sanitize import visible

if TYPE_CHECKING:
    from recuse.gates.gate_set import Decided

WIDTH = 110
READ_REPLIES = (
    "Read the judge's own words for this subject in the report. If judge, prompt or rubric changed, record again: "
)
READ_FILE = (
    "Read where it differs from people: recuse check FILE --disagreements review.csv. If judge, prompt or rubric "
    "changed, give a file of its new ratings"
)
RECORD_MISSING = "Look at the replies that were left out, or record what is missing: "
COMPLETE_FILE = "Look at the rows that were left out, or add what is missing; recuse check FILE --all says what that is"
BARE: RemedyRow = {"kind": "accepted", "finding": "", "advice": "", "paste": "", "file": "", "distance": None,
                   "near_end": None, "observed": None, "needed": None, "units": ""}  # fmt: skip


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
        fair = f"{correction}: at most {percent(family['alpha'])} that a fair judge fails here"
        passes = f"passes if the {inside} interval lies inside"
        sentence = f"{text}; {passes}, fails if the {outside} interval lies outside ({fair})"
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


def next_step(decided: Decided, today: date, file: str) -> RemedyRow | None:
    """What to do about an outcome that is not a pass; None for a pass. Ratings from a file cannot be recorded again."""
    member, decision, gate = decided.member, decided.decision, decided.member.gate
    if decision.outcome == "pass":
        return None
    limit, estimate, of_file = member.limit, decision.estimate, member.subject.get("protocol") == FILE
    record = record_command(member.subject.get("panel", ""))
    read, complete = (READ_FILE, COMPLETE_FILE) if of_file else (READ_REPLIES + record, RECORD_MISSING + record)
    there = f"{file}, which pytest evals/ and recuse compare read and recuse check does not" if of_file else file
    accept = f'outcome = ["{decision.outcome}"]'
    if decision.outcome == "fail":
        remedy, accept = _how_far(limit, estimate), _accepting(limit, estimate)
        advice = f"{read}. Otherwise leave the judge out, or accept it knowingly and for a time in {there}."
    elif decision.outcome == UNDECIDED:
        remedy = _undecided(decided)
        accept = f"{_accepting(limit, estimate)}, {accept}" if decision.straddles else accept
        advice = f"If it cannot be settled, accept it knowingly and for a time in {there}."
        if decision.straddles and gate.allowance_expired(today):
            since = f"Undecided was allowed here until {gate.until} ({gate.because}); since then it counts."
            remedy = {**remedy, "kind": "allowance expired", "finding": f"{since} {remedy['finding']}"}
    else:
        remedy = {**BARE, "kind": NOT_MEASURED, "finding": f"Could not be measured: {_why(estimate)}."}
        advice = f"What cannot be measured does not pass. {complete}. If it can never be measured here, accept that "
        advice += f"knowingly and for a time in {there}."
    names = ", ".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in member.subject.items())
    paste = f'[[accepted]]\ngate = "{member.name}"\nsubject = {{ {names} }}\naccept = {{ {accept} }}\n'
    return {**remedy, "advice": advice, "paste": f'{paste}until = "YYYY-MM-DD"\nreason = ""', "file": file}


def _how_far(limit: Limit, estimate: Estimate) -> RemedyRow:
    above = estimate.value > limit.high
    side, bound, end = ("above", limit.high, estimate.low) if above else ("below", limit.low, estimate.high)
    text = f"{limit.show(estimate.value)} is {side} {limit.show(bound)} by {limit.distance(estimate.value, bound)}"
    near = beyond if (beyond := limit.excess(end)) > 0 else None
    if near is not None:
        text += f", and the near end of the interval, {limit.show(end)}, by {limit.distance(end, bound)}"
    return {**BARE, "kind": "outside", "finding": f"{text}.", "distance": limit.excess(estimate.value),
            "near_end": near}  # fmt: skip


def _undecided(decided: Decided) -> RemedyRow:
    decision, limit = decided.decision, decided.member.limit
    estimate, needed = decision.estimate, None
    part, units = counted_as(estimate)
    n = int(estimate.detail.get("of", part))  # a share of some of the texts grows with all of them
    kind: RemedyKind = "straddles"
    if decision.lost:
        anew = "add them" if decided.member.subject.get("protocol") == FILE else "ask anew (--record=all)"
        losses = estimate.detail["losses"]
        sides = ", ".join(f"{name} {lost} of {requested}" for name, (lost, requested) in losses["sides"].items())
        ends = zip(losses["bounds"], (-math.inf, math.inf), strict=True)
        least, greatest = (limit.show(edge if bound is None else bound) for bound, edge in ends)
        kind, finding = "lost answers", (
            f"{limit.show(estimate.value)} keeps the limit, but answers were lost ({sides}), and had they said the "
            f"worst, the value would lie between {least} and {greatest}. That the losses on the two sides differ by "
            f"at most {100 * losses['margin']:g} points could not be shown. Mend what lost them and {anew}, or ask "
            "more."
        )  # fmt: skip
    elif not has_interval(estimate):
        kind, finding = "no interval", (
            f"There is no interval to decide on ({_why(estimate)}), and a bare value does not pass: more {units} than "
            f"{n}, or others, are needed."
        )  # fmt: skip
    elif not sure_at(estimate, decision.level):
        kind, finding = "level unknown", (
            f"The interval is known only at {percent(estimate.level)}, and {percent(decision.level)} is asked for: "
            "the metric must give its distribution with the estimate, or draw more resamples."
        )  # fmt: skip
    else:
        bound = limit.nearest(estimate.value)
        inside = [b for b in (limit.low, limit.high) if estimate.low < b < estimate.high] or [bound]
        shown = limit.show_interval(estimate.low, estimate.high)
        finding = f"The interval {shown} reaches across {' and '.join(map(limit.show, inside))}. "
        factor = factor_to_decide(limit, estimate, decided.member.gate.level, decided.fail_level)
        if factor is None:
            finding += f"More {units} than {n} would narrow it; how many is not known."
        elif math.isinf(factor):
            kind = "on the bound"
            finding += f"The value lies so close to {limit.show(bound)} that no feasible number of {units} decides."
        else:  # rounded up to two digits from one hundred on: it is a forecast
            step = int(10 ** max(0, len(str(math.ceil(factor * n))) - 2))
            needed = math.ceil(factor * n / step - 1e-9) * step
            of_part = f" ({math.ceil(factor * part - 1e-9)} that count here instead of {part})" if n != part else ""
            finding += (
                f"About {needed} {units} instead of {n}{of_part} would decide with {percent(ENOUGH)} chance, if the "
                f"true value lies {limit.distance(estimate.value, bound)} from {limit.show(bound)}, as measured."
            )
    return {**BARE, "kind": kind, "finding": finding, "needed": needed, "observed": n, "units": units,
            "distance": limit.excess(estimate.value)}  # fmt: skip


def _why(estimate: Estimate) -> str:
    """Why there is no value or no interval: the end of the metric's note."""
    return why_missing(estimate.note) or f"the metric gives no reason; n = {estimate.n}, {estimate.method}"


def _accepting(limit: Limit, estimate: Estimate) -> str:
    """The limit, widened to hold the estimate with its interval, rounded outwards."""
    ends = [end for end in (estimate.value, estimate.low, estimate.high) if math.isfinite(end)]
    low, high = min(limit.low, _outwards(min(ends), -1)), max(limit.high, _outwards(max(ends), +1))
    if limit.kind == "within":
        return f"within = [{low:.12g}, {high:.12g}]"
    return f"at_least = {low:.12g}" if limit.kind == "at_least" else f"at_most = {high:.12g}"


def _outwards(value: float, direction: int) -> float:
    """Two significant digits, rounded in `direction`; never short of the value."""
    if value == 0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(abs(value))) - 1)
    nearest = round(value / step)
    rounded = (float(f"{(nearest + direction * i) * step:.12g}") for i in range(3))
    return next(bound for bound in rounded if (bound - value) * direction >= 0)


def under_accepted_fault(
    known: AcceptedFault, decided: Decided, today: date, file: str, *, held: bool
) -> tuple[Outcome, RemedyRow | None, AcceptanceRow | None]:
    """Outcome and remedy of a verdict that the accepted failure covers, and what became of the acceptance. `file` is
    what messages call the gates file; `held`: the gates that these are compared with accepted it too."""
    outcome, estimate = decided.decision.outcome, decided.decision.estimate
    limit, member = known.accept.limit, decided.member
    # a limit of the scale's range is known in the measure's unit only now; the others were compared on reading
    known_range = member.share is not None and member.estimate.span is not None
    if limit is not None and known_range and not limit.reaches_beyond(member.limit):
        accepts = f"the accepted failure for {known.gate} ({known.described}) in {file} accepts {limit}"
        beyond = f"does not reach beyond the gate's own limit, {member.limit_text}"
        raise GatesError(f"{accepts}, which {beyond}, so nothing needs it: delete it")
    if outcome == "pass":
        return "pass", None, None
    acceptance: AcceptanceRow = {
        "accept": known.accept.mapping(), "until": known.until.isoformat(), "reason": known.reason,
        "state": "exceeded", "otherwise": outcome,
    }  # fmt: skip
    outcomes = known.accept.outcome
    within = limit is None or (estimate.defined and limit.holds(estimate.value))
    if not within or (outcomes and outcome not in outcomes):  # whatever the day
        return outcome, _beyond(known, decided, file), acceptance
    if known.expired(today):
        remedy: RemedyRow = {
            **BARE, "kind": "expired", "file": file,
            "finding": f"The accepted failure for {known.gate} ({known.described}) expired: it held until "
            f"{known.until}.",
            "advice": f"Look at this again and delete the accepted failure from {file}, or give it a later date and a "
            "reason that still holds.",
        }  # fmt: skip
        return outcome, remedy, {**acceptance, "state": "expired" if held else "void"}
    accepted: RemedyRow = {**BARE, "finding": f"Accepted until {known.until}; then it fails again."}
    return "accepted", accepted, {**acceptance, "state": "applied"}


def _beyond(known: AcceptedFault, decided: Decided, file: str) -> RemedyRow:
    decision, limit = decided.decision, decided.member.limit
    remedy = BARE
    if decision.outcome == "fail":
        remedy = _how_far(limit, decision.estimate)
        this = remedy["finding"].removesuffix(".")
    elif decision.outcome == UNDECIDED:
        remedy = _undecided(decided)
        this = f"this is {printed(UNDECIDED)} at {limit.show(decision.estimate.value)}"
    else:
        this = f"this could not be measured ({_why(decision.estimate)})"
    return {
        **remedy, "kind": "beyond", "file": file,
        "finding": f"Not covered by the accepted failure either: the gate asks for {limit}, the accepted failure "
        f"accepts {known.accept}, and {this}.",
        "advice": "Read the judge's own words for this subject in the report; then mend what changed, leave the judge "
        f"out, or change the accepted failure in {file} and say why.",
    }  # fmt: skip
