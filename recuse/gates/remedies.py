"""What to do about a verdict that is not a pass: the text, and the accepted fault to paste where nothing else helps."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from recuse.gates.decisions import Decision, factor_to_decide, has_interval, sure_at
from recuse.gates.explanation import count_of, percent, subject_text
from recuse.gates.limits import Limit, figure
from recuse.gates.rules import Gate, AcceptedFault
from recuse.schema import Estimate

__all__ = ["accepted", "beyond_accepted fault", "expired_accepted fault", "next_step", "unneeded_accepted fault"]


def next_step(name: str, gate: Gate, decision: Decision, subject: Mapping[str, str], file: str) -> str:
    """What to do about an outcome that is not a pass; empty for a pass."""
    estimate = decision.estimate
    if decision.outcome == "fail":
        paste = _snippet(name, subject, _accepting(gate.bound, estimate))
        return (
            f"{_how_far(gate.bound, estimate)}. Read the judge's own words for this subject in the report. If judge, "
            "prompt or rubric changed, record again: pytest evals/ --record=missing. Otherwise leave the judge out, or "
            f"accept it knowingly and for a time in {file}:\n\n{paste}"
        )
    if decision.outcome == "undecided":
        paste = _snippet(name, subject, 'outcome = ["undecided"]')
        return (
            f"{_undecided(gate, decision)} If it cannot be settled, accept it knowingly and for a time in {file}:"
            f"\n\n{paste}"
        )
    if decision.outcome == "not measured":
        paste = _snippet(name, subject, 'outcome = ["not measured"]')
        return (
            f"Could not be measured: {_why(estimate)}. What cannot be measured does not pass. Look at the replies that "
            "were left out, or record what is missing: pytest evals/ --record=missing. If it can never be measured "
            f"here, accept that knowingly and for a time in {file}:\n\n{paste}"
        )
    return ""


def _how_far(limit: Limit, estimate: Estimate) -> str:
    side, bound = ("above", limit.high) if estimate.value > limit.high else ("below", limit.low)
    text = f"{limit.show(estimate.value)} is {side} {limit.show(bound)} by {_distance(limit.excess(estimate.value))}"
    near = estimate.low if side == "above" else estimate.high
    if limit.excess(near) > 0:
        text += f", and the near end of the interval, {limit.show(near)}, by {_distance(limit.excess(near))}"
    return text


def _undecided(gate: Gate, decision: Decision) -> str:
    estimate, limit = decision.estimate, gate.bound
    if not has_interval(estimate):
        return (
            f"There is no interval to decide on ({_why(estimate)}), and a bare value does not pass: more "
            f"{estimate.units} than {count_of(estimate)}, or others, are needed."
        )
    if not sure_at(estimate, decision.level):
        return (
            f"The interval is known only at {percent(estimate.level)}, and {percent(decision.level)} is asked for: "
            "the metric must give its sampling with the estimate, or draw more resamples."
        )
    bound = limit.nearest(estimate.value)
    across = [limit.show(b) for b in (limit.low, limit.high) if estimate.low < b < estimate.high] or [limit.show(bound)]
    interval = f"[{limit.show(estimate.low)}, {limit.show(estimate.high)}]"
    straddles = f"The interval {interval} reaches across {' and '.join(across)}."
    factor = factor_to_decide(limit, estimate)
    if factor is None:
        return f"{straddles} More {estimate.units} than {count_of(estimate)} would narrow it; how many is not known."
    if math.isinf(factor):
        return (
            f"{straddles} The value lies so close to {limit.show(bound)} that no feasible number of {estimate.units} "
            "decides."
        )
    enough = _rounded_up(factor * count_of(estimate))
    return (
        f"{straddles} About {enough} {estimate.units} instead of {count_of(estimate)} would decide, if the value stays "
        f"{_distance(abs(limit.excess(estimate.value)))} from {limit.show(bound)}."
    )


def _why(estimate: Estimate) -> str:
    """Why there is no value or no interval: the end of the metric's note."""
    note = estimate.note.split("no interval: ")[-1].removeprefix("undefined: ")
    return note or f"the metric gives no reason; n = {estimate.n}, {estimate.method}"


def _distance(amount: float) -> str:
    return figure(amount, apart_from=(0.0,))


def _rounded_up(count: float) -> int:
    """Upwards, to two digits from one hundred on: it is a forecast."""
    step = int(10 ** max(0, len(str(math.ceil(count))) - 2))
    return math.ceil(count / step - 1e-9) * step


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


# --------------------------------------------------------------------------- accepted faults


def accepted(accepted_fault: AcceptedFault) -> str:
    return f"Accepted until {accepted_fault.until}; then it fails again."


def beyond_accepted_fault(accepted_fault: AcceptedFault, gate: Gate, decision: Decision, file: str) -> str:
    estimate = decision.estimate
    if decision.outcome == "fail":
        found = _how_far(gate.bound, estimate)
    elif decision.outcome == "undecided":
        found = f"this is undecided at {gate.bound.show(estimate.value)}"
    else:
        found = f"this could not be measured ({_why(estimate)})"
    return (
        f"Not covered by the accepted fault either: the gate asks for {gate.bound}, the accepted fault accepts {accepted_fault.accept}, and "
        f"{found}. Read the judge's own words for this subject in the report; then mend what changed, leave the judge "
        f"out, or change the accepted fault in {file} and say why."
    )


def expired_accepted_fault(accepted_fault: AcceptedFault, file: str) -> str:
    return (
        f"The accepted fault for {accepted_fault.gate} ({accepted_fault.described}) expired: it held until {accepted_fault.until}. Look at this again "
        f"and delete the accepted fault from {file}, or give it a later date and a reason that still holds."
    )


def unneeded_accepted_fault(accepted_fault: AcceptedFault, subject: Mapping[str, str], decision: Decision, file: str) -> str:
    how = "satisfies the gate" if decision.outcome == "pass" else "is undecided, which the gate allows by itself"
    return (
        f"The accepted fault is no longer needed: {subject_text(subject)} now {how}. Delete the accepted fault ({accepted_fault.described}) "
        f"from {file}, or narrow its subject so that it leaves this one out, and the gain is kept."
    )
