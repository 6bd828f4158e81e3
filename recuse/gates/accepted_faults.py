"""An accepted fault meets a verdict: whether it covers the outcome, has expired or is exceeded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date

from recuse.gates import remedies
from recuse.gates.applied import AppliedLimit
from recuse.gates.decisions import Decision
from recuse.gates.errors import GatesError
from recuse.gates.families import Decided
from recuse.gates.tables import AcceptedFault
from recuse.schema import Acceptance, AcceptanceState, Outcome, Remedy

__all__ = ["under_accepted_fault", "unused_sentence"]


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
    if _accepts(known, decision):
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


def _accepts(known: AcceptedFault, decision: Decision) -> bool:
    """Bound and outcomes are joined by AND; one that is not given asks nothing."""
    limit, outcomes = known.accept.limit, known.accept.outcome
    within = limit is None or (decision.estimate.defined and limit.holds(decision.estimate.value))
    return within and (not outcomes or decision.outcome in outcomes)


def _acceptance(known: AcceptedFault, decision: Decision, state: AcceptanceState) -> Acceptance:
    return Acceptance(
        accept=known.accept.mapping(),
        until=known.until.isoformat(),
        reason=known.reason,
        state=state,
        otherwise=decision.outcome,
    )


def _must_reach_beyond(known: AcceptedFault, applied: AppliedLimit, file: str) -> None:
    """A limit of the scale's range is known in the measure's unit only now; the others were compared on reading."""
    limit = known.accept.limit
    scaled = applied.share is not None and applied.span is not None
    if limit is not None and scaled and not limit.reaches_beyond(applied.limit):
        raise GatesError(
            f"the accepted fault for {known.gate} ({known.described}) in {file} accepts {limit}, which does not reach "
            f"beyond the gate's own limit, {applied}, so nothing needs it: delete it"
        )
