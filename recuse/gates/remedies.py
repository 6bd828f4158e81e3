"""What to do about a verdict that is not a pass, and the accepted failure to paste where nothing else helps."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import date

from recuse.gates.explanation import counted_as
from recuse.gates.families import Decided
from recuse.gates.gate_tables import AcceptedFault
from recuse.gates.limits import GatesError, Limit, has_interval, sure_at
from recuse.gates.verdict_power import ENOUGH, factor_to_decide
from recuse.schema import Estimate, Outcome
from recuse.schema.number_text import percent, why_missing
from recuse.schema.verdict_rows import AcceptanceRow, RemedyKind, RemedyRow
from recuse.schema.vocabulary import FILE, NOT_MEASURED, UNDECIDED, printed, record_command

READ_REPLIES = (
    "Read the judge's own words for this subject in the report. If judge, prompt or rubric changed, record again: "
)
READ_FILE = (
    "Read where it differs from people: recuse check FILE --disagreements review.csv. If judge, prompt or rubric "
    "changed, give a file of its new ratings"
)
RECORD_MISSING = "Look at the replies that were left out, or record what is missing: "
COMPLETE_FILE = "Look at the rows that were left out, or add what is missing; recuse check FILE --all says what that is"
BARE: RemedyRow = {
    "kind": "accepted", "finding": "", "advice": "", "paste": "", "file": "", "distance": None, "near_end": None,
    "observed": None, "needed": None, "units": "",
}  # fmt: skip


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
    side, bound = ("above", limit.high) if estimate.value > limit.high else ("below", limit.low)
    beyond = limit.distance(estimate.value, bound)
    text = f"{limit.show(estimate.value)} is {side} {limit.show(bound)} by {beyond}"
    end = estimate.low if side == "above" else estimate.high
    near = limit.excess(end)
    if near > 0:
        text += f", and the near end of the interval, {limit.show(end)}, by {limit.distance(end, bound)}"
    beside = near if near > 0 else None
    return {**BARE, "kind": "outside", "finding": f"{text}.", "distance": limit.excess(estimate.value),
            "near_end": beside}  # fmt: skip


def _undecided(decided: Decided) -> RemedyRow:
    decision, limit = decided.decision, decided.member.limit
    estimate, needed = decision.estimate, None
    part, units = counted_as(estimate)
    n = int(estimate.detail.get("of", part))  # a share of some of the texts grows with all of them
    kind: RemedyKind = "straddles"
    if decision.lost:
        anew = "add them" if decided.member.subject.get("protocol") == FILE else "ask anew (--record=all)"
        kind, finding = "lost answers", f"{_lost_answers(limit, estimate)} Mend what lost them and {anew}, or ask more."
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
        finding = (
            f"The interval {limit.show_interval(estimate.low, estimate.high)} reaches across "
            f"{' and '.join(map(limit.show, inside))}. "
        )
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


def _lost_answers(limit: Limit, estimate: Estimate) -> str:
    losses = estimate.detail["losses"]
    sides = ", ".join(f"{name} {lost} of {requested}" for name, (lost, requested) in losses["sides"].items())
    least, greatest = (
        limit.show(edge if bound is None else bound)
        for bound, edge in zip(losses["bounds"], (-math.inf, math.inf), strict=True)
    )
    return (
        f"{limit.show(estimate.value)} keeps the limit, but answers were lost ({sides}), and had they said the worst, "
        f"the value would lie between {least} and {greatest}. That the losses on the two sides differ by at most "
        f"{100 * losses['margin']:g} points could not be shown."
    )


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
        raise GatesError(
            f"the accepted failure for {known.gate} ({known.described}) in {file} accepts {limit}, which does not "
            f"reach beyond the gate's own limit, {member.limit_text}, so nothing needs it: delete it"
        )
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
    finding = (
        f"Not covered by the accepted failure either: the gate asks for {limit}, the accepted failure accepts "
        f"{known.accept}, and {this}."
    )
    advice = (
        "Read the judge's own words for this subject in the report; then mend what changed, leave the judge out, or "
        f"change the accepted failure in {file} and say why."
    )
    return {**remedy, "kind": "beyond", "finding": finding, "advice": advice, "file": file}


def unused_sentence(known: AcceptedFault, subjects: Sequence[Mapping[str, str]], file: str) -> str:
    """That it covered none of `subjects`, which are those of its gate's verdicts in a full run."""
    there = "; ".join(
        f"{name}: {', '.join(sorted({s[name] for s in subjects if name in s})) or 'never given'}"
        for name in known.subject
    )
    seen = f"its verdicts had {there}" if subjects else "the gate gave no verdict at all"
    return (
        f"The accepted failure for {known.gate} ({known.described}) in {file} covered nothing in this run; "
        f"{seen}. Mend its subject or delete it."
    )
