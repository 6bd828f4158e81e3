"""What to do about a verdict that is not a pass, and the accepted fault to paste where nothing else helps."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

from recuse.gates import remedies
from recuse.gates.explanation import count_of
from recuse.gates.families import AppliedLimit, Decided, lost_answers
from recuse.gates.gate_tables import AcceptedFault, Gate
from recuse.gates.limits import Decision, GatesError, Limit, has_interval, sure_at
from recuse.gates.verdict_power import ENOUGH, factor_to_decide
from recuse.schema import Acceptance, AcceptanceState, Estimate, Outcome, Remedy, RemedyKind
from recuse.schema.number_text import percent
from recuse.schema.vocabulary import FILE, NOT_MEASURED, UNDECIDED, printed

RECORD = "pytest evals/ --record=missing"
READ_REPLIES = (
    "Read the judge's own words for this subject in the report. If judge, prompt or rubric changed, record again: "
    f"{RECORD}"
)
READ_FILE = (
    "Read where it differs from people: recuse check FILE --disagreements review.csv. If judge, prompt or rubric "
    "changed, give a file of its new ratings"
)
RECORD_MISSING = f"Look at the replies that were left out, or record what is missing: {RECORD}"
COMPLETE_FILE = "Look at the rows that were left out, or add what is missing; recuse check FILE --all says what that is"

Doubt = tuple[RemedyKind, str, int | None]
"""Why a verdict is undecided: the kind, a sentence, and how many observations would decide."""


def next_step(name: str, decided: Decided, file: str) -> Remedy | None:
    """What to do about an outcome that is not a pass; None for a pass. Ratings from a file cannot be recorded again."""
    decision, limit, subject = decided.decision, decided.member.applied.limit, decided.member.subject
    estimate, of_file = decision.estimate, subject.get("protocol") == FILE
    if decision.outcome == "fail":
        return replace(
            _how_far(limit, estimate),
            advice=f"{READ_FILE if of_file else READ_REPLIES}. Otherwise leave the judge out, or accept it knowingly "
            f"and for a time in {file}.",
            paste=_snippet(name, subject, _accepting(limit, estimate)),
            file=file,
        )
    if decision.outcome == UNDECIDED:
        bound = f"{_accepting(limit, estimate)}, " if decision.straddles else ""
        return replace(
            _undecided(decided),
            advice=f"If it cannot be settled, accept it knowingly and for a time in {file}.",
            paste=_snippet(name, subject, f'{bound}outcome = ["{UNDECIDED}"]'),
            file=file,
        )
    if decision.outcome == NOT_MEASURED:
        return Remedy(
            kind=NOT_MEASURED,
            finding=f"Could not be measured: {_why(estimate)}.",
            advice=f"What cannot be measured does not pass. {COMPLETE_FILE if of_file else RECORD_MISSING}. If it can "
            f"never be measured here, accept that knowingly and for a time in {file}.",
            paste=_snippet(name, subject, f'outcome = ["{NOT_MEASURED}"]'),
            file=file,
        )
    return None


def _how_far(limit: Limit, estimate: Estimate) -> Remedy:
    side, bound = ("above", limit.high) if estimate.value > limit.high else ("below", limit.low)
    beyond = limit.distance(estimate.value, bound)
    text = f"{limit.show(estimate.value)} is {side} {limit.show(bound)} by {beyond}"
    end = estimate.low if side == "above" else estimate.high
    near = limit.excess(end)
    if near > 0:
        text += f", and the near end of the interval, {limit.show(end)}, by {limit.distance(end, bound)}"
    return Remedy(
        kind="outside", finding=f"{text}.", distance=limit.excess(estimate.value), near_end=near if near > 0 else None
    )


def _undecided(decided: Decided) -> Remedy:
    decision, limit = decided.decision, decided.member.applied.limit
    estimate = decision.estimate
    kind, finding, needed = _doubt(decided)
    return Remedy(
        kind=kind, finding=finding, needed=needed, observed=count_of(estimate), units=estimate.units,
        distance=limit.excess(estimate.value),
    )  # fmt: skip


def _doubt(decided: Decided) -> Doubt:
    decision, limit = decided.decision, decided.member.applied.limit
    estimate = decision.estimate
    if decision.lost:
        return "lost answers", lost_answers(limit, estimate), None
    if not has_interval(estimate):
        finding = (
            f"There is no interval to decide on ({_why(estimate)}), and a bare value does not pass: more "
            f"{estimate.units} than {count_of(estimate)}, or others, are needed."
        )
        return "no interval", finding, None
    if not sure_at(estimate, decision.level):
        finding = (
            f"The interval is known only at {percent(estimate.level)}, and {percent(decision.level)} is asked for: "
            "the metric must give its distribution with the estimate, or draw more resamples."
        )
        return "level unknown", finding, None
    return _straddling(decided)


def _straddling(decided: Decided) -> Doubt:
    limit, estimate = decided.member.applied.limit, decided.decision.estimate
    bound = limit.nearest(estimate.value)
    across = [limit.show(b) for b in (limit.low, limit.high) if estimate.low < b < estimate.high] or [limit.show(bound)]
    inside = limit.show_interval(estimate.low, estimate.high)
    straddles = f"The interval {inside} reaches across {' and '.join(across)}."
    factor = factor_to_decide(limit, estimate, decided.pass_level, decided.fail_level)
    n, units = count_of(estimate), estimate.units
    if factor is None:
        finding = f"{straddles} More {units} than {n} would narrow it; how many is not known."
        return "straddles", finding, None
    if math.isinf(factor):
        close = f"The value lies so close to {limit.show(bound)} that no feasible number of {units} decides."
        return "on the bound", f"{straddles} {close}", None
    count = factor * n  # rounded up to two digits from one hundred on: it is a forecast
    step = int(10 ** max(0, len(str(math.ceil(count))) - 2))
    enough = math.ceil(count / step - 1e-9) * step
    finding = (
        f"{straddles} About {enough} {units} instead of {n} would decide with {percent(ENOUGH)} chance, if the true "
        f"value lies {limit.distance(estimate.value, bound)} from {limit.show(bound)}, as measured."
    )
    return "straddles", finding, enough


def _why(estimate: Estimate) -> str:
    """Why there is no value or no interval: the end of the metric's note."""
    note = estimate.note.split("no interval: ")[-1].removeprefix("undefined: ")
    return note or f"the metric gives no reason; n = {estimate.n}, {estimate.method}"


# --------------------------------------------------------------------------- what to paste


def _accepting(limit: Limit, estimate: Estimate) -> str:
    """The limit, widened to hold the estimate with its interval, rounded outwards."""
    low = min(limit.low, _outwards(min(estimate.value, _or(estimate.low, estimate.value)), -1))
    high = max(limit.high, _outwards(max(estimate.value, _or(estimate.high, estimate.value)), +1))
    if limit.kind == "within":
        return f"within = [{low:.12g}, {high:.12g}]"
    return f"at_least = {low:.12g}" if limit.kind == "at_least" else f"at_most = {high:.12g}"


def _or(bound: float, value: float) -> float:
    return bound if math.isfinite(bound) else value


def _outwards(value: float, direction: int) -> float:
    """Two significant digits, rounded in `direction`; never short of the value."""
    if value == 0:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(abs(value))) - 1)
    nearest = round(value / step)
    rounded = (float(f"{(nearest + direction * i) * step:.12g}") for i in range(3))
    return next(bound for bound in rounded if (bound - value) * direction >= 0)


def _snippet(name: str, subject: Mapping[str, str], accept: str) -> str:
    names = ", ".join(f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in subject.items())
    return (
        f'[[accepted]]\ngate = "{name}"\nsubject = {{ {names} }}\naccept = {{ {accept} }}\n'
        'until = "YYYY-MM-DD"\nreason = ""'
    )


# --------------------------------------------------------------------------- what to do about one


def accepted(accepted_fault: AcceptedFault) -> Remedy:
    """Of a verdict whose fault is accepted: until when."""
    return Remedy(kind="accepted", finding=f"Accepted until {accepted_fault.until}; then it fails again.")


def beyond_accepted_fault(accepted_fault: AcceptedFault, decided: Decided, file: str) -> Remedy:
    """Of a verdict that lies outside what an accepted fault accepts as well: by how much."""
    decision, limit = decided.decision, decided.member.applied.limit
    estimate = decision.estimate
    known = Remedy(kind="beyond", finding="")
    if decision.outcome == "fail":
        known = _how_far(limit, estimate)
        known_finding = known.finding.removesuffix(".")
    elif decision.outcome == UNDECIDED:
        known = _undecided(decided)
        known_finding = f"this is {printed(UNDECIDED)} at {limit.show(estimate.value)}"
    else:
        known_finding = f"this could not be measured ({_why(estimate)})"
    finding = (
        f"Not covered by the accepted fault either: the gate asks for {limit}, the accepted fault accepts "
        f"{accepted_fault.accept}, and {known_finding}."
    )
    advice = (
        "Read the judge's own words for this subject in the report; then mend what changed, leave the judge out, or "
        f"change the accepted fault in {file} and say why."
    )
    return replace(known, kind="beyond", finding=finding, advice=advice, file=file)


def expired_accepted_fault(accepted_fault: AcceptedFault, file: str) -> Remedy:
    """Of a verdict whose accepted fault is over: fix it, or accept it anew."""
    return Remedy(
        kind="expired",
        finding=f"The accepted fault for {accepted_fault.gate} ({accepted_fault.described}) expired: it held until "
        f"{accepted_fault.until}.",
        advice=f"Look at this again and delete the accepted fault from {file}, or give it a later date and a reason "
        "that still holds.",
        file=file,
    )


def expired_allowance(gate: Gate, remedy: Remedy) -> Remedy:
    """What to do about an undecided verdict that was allowed for a time."""
    finding = f"Undecided was allowed here until {gate.until} ({gate.because}); since then it counts. {remedy.finding}"
    return replace(remedy, kind="allowance expired", finding=finding)


# --------------------------------------------------------------------------- an accepted fault meets a verdict


def under_accepted_fault(
    known: AcceptedFault, decided: Decided, today: date, file: str
) -> tuple[Outcome, Remedy | None, Acceptance | None]:
    """Outcome and remedy of a verdict that the accepted fault covers, and what became of the acceptance. `file` is what
    messages call the gates file."""
    member, decision = decided.member, decided.decision
    _must_reach_beyond(known, member.applied, file)
    if decision.outcome == "pass":
        return "pass", None, None
    if known.expired(today):
        expired = remedies.expired_accepted_fault(known, file)
        return decision.outcome, expired, _acceptance(known, decision, "expired")
    limit, outcomes = known.accept.limit, known.accept.outcome
    within = limit is None or (decision.estimate.defined and limit.holds(decision.estimate.value))
    if within and (not outcomes or decision.outcome in outcomes):
        return "accepted", remedies.accepted(known), _acceptance(known, decision, "applied")
    beyond = remedies.beyond_accepted_fault(known, decided, file)
    return decision.outcome, beyond, _acceptance(known, decision, "exceeded")


def unused_sentence(known: AcceptedFault, subjects: Sequence[Mapping[str, str]], file: str) -> str:
    """That it covered none of `subjects`, which are those of its gate's verdicts in a full run."""
    there = "; ".join(
        f"{name}: {', '.join(sorted({s[name] for s in subjects if name in s})) or 'never given'}"
        for name in known.subject
    )
    seen = f"its verdicts had {there}" if subjects else "the gate gave no verdict at all"
    return (
        f"The accepted fault for {known.gate} ({known.described}) in {file} covered nothing in this run; "
        f"{seen}. Mend its subject or delete it."
    )


def _acceptance(known: AcceptedFault, decision: Decision, state: AcceptanceState) -> Acceptance:
    return Acceptance(
        accept=known.accept.mapping(), until=known.until.isoformat(), reason=known.reason, state=state,
        otherwise=decision.outcome,
    )  # fmt: skip


def _must_reach_beyond(known: AcceptedFault, applied: AppliedLimit, file: str) -> None:
    """A limit of the scale's range is known in the measure's unit only now; the others were compared on reading."""
    limit = known.accept.limit
    scaled = applied.share is not None and applied.span is not None
    if limit is not None and scaled and not limit.reaches_beyond(applied.limit):
        raise GatesError(
            f"the accepted fault for {known.gate} ({known.described}) in {file} accepts {limit}, which does not reach "
            f"beyond the gate's own limit, {applied}, so nothing needs it: delete it"
        )
