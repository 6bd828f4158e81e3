"""Gates: an estimate and a limit give a verdict; known faults are accepted by name, up to a bound and a date.

    gates = Gates.load(Path("evals/gates.toml"), today=date.today())
    verdict = gates.decide("self_bias", estimates, {"judge": "grok-4", "condition": "attributed", "panel": "published"})
    assert verdict, explain(verdict)

| what the numbers say | no accepted fault | accepted fault that accepts it | accepted fault that does not |
|---|---|---|---|
| pass | pass | fail: the accepted fault is no longer needed | fail: the accepted fault is no longer needed |
| undecided, gate allows it | undecided, allowed | fail: the accepted fault is no longer needed | the same |
| fail | fail | accepted | fail, naming both bounds |
| undecided | undecided | accepted | undecided, naming both bounds |
| error | error | accepted | error |

An expired accepted fault leaves what the numbers say and tells when it expired. An interval gate without a usable interval is
undecided and is not covered by `undecided = "allow"`, which is meant for intervals that straddle a bound.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from recuse.gates import remedies
from recuse.gates.decisions import Decision, decide, sure_at
from recuse.gates.explanation import explain, rule_text
from recuse.gates.limits import Limit
from recuse.gates.reading import GatesError, meant, read
from recuse.gates.rules import Accept, Gate, AcceptedFault
from recuse.schema import Estimate, Estimates, Outcome, Verdict

__all__ = ["Accept", "Gate", "Gates", "GatesError", "Limit", "Accepted fault", "explain"]

Seen = Iterable[tuple[str, Mapping[str, str]]]
"""The gate and the subject of each verdict of a run."""


@dataclass(frozen=True)
class Gates(Mapping[str, Gate]):
    """All gates of one file with its accepted faults, on one day."""

    path: Path
    gates: Mapping[str, Gate]
    accepted_faults: tuple[AcceptedFault, ...]
    today: date

    @classmethod
    def load(cls, path: Path | str, today: date) -> Gates:
        """Read and check a gates file. Raises `GatesError` naming file, line, table, key and remedy of every fault.

        `today` decides which accepted faults have expired; it is given so that results do not depend on a hidden clock.
        """
        gates, accepted_faults = read(Path(path))
        return cls(Path(path), gates, accepted_faults, today)

    def decide_one(self, name: str, measured: Estimate | Estimates, subject: Mapping[str, str]) -> Verdict:
        """The verdict of gate `name` on what was measured about `subject`.

        From `Estimates` the member that the subject names is decided, corrected together with all the others when the
        gate has a family. Names in `subject` that `Estimates` does not know (panel, task) are carried along.
        """
        gate = self[name]
        subject = {key: str(value) for key, value in subject.items()}
        estimate, family = _picked(name, gate, measured, subject)
        decision = decide(gate, estimate, family)
        allowed = gate.allows_undecided and _straddles(decision)
        outcome, remedy, accepted = decision.outcome, remedies.next_step(name, gate, decision, subject, self.file), None
        if accepted_fault := self.accepted_fault_for(name, subject):
            outcome, remedy, state = self._under(accepted_fault, gate, decision, subject, allowed)
            allowed = allowed and outcome == "undecided"
            accepted = _as_builtins(accepted_fault, state, decision)
        return Verdict(
            gate=name,
            subject=subject,
            outcome=outcome,
            estimate=decision.estimate,
            rule=rule_text(gate, decision),
            limit=gate.bound.mapping(),
            reason=gate.reason,
            remedy=remedy,
            accepted_fault=accepted,
            allowed=allowed,
        )

    def accepted_fault_for(self, name: str, subject: Mapping[str, str]) -> AcceptedFault | None:
        """The accepted fault that covers the subject; there is at most one, overlaps were refused on reading."""
        return next((w for w in self.accepted_faults if w.gate == name and w.covers(subject)), None)

    def expired_accepted_faults(self) -> list[str]:
        """A sentence for each accepted fault whose date has passed, whether or not a verdict met it."""
        return [remedies.expired_accepted_fault(w, self.file) for w in self.accepted_faults if w.expired(self.today)]

    def unused_accepted_faults(self, seen: Seen, ran: Mapping[str, Collection[str]] | None = None) -> list[str]:
        """A sentence for each accepted fault that covered no verdict of a full run.

        `ran` tells what the run was about, e.g. {"panel": ["published"]}: accepted faults bound to anything else are passed
        over, since they had no chance to be used.
        """
        met = list(seen)
        sentences = []
        for accepted_fault in self.accepted_faults:
            elsewhere = any(
                name in accepted_fault.subject and not set(accepted_fault.values(name)) & set(values)
                for name, values in (ran or {}).items()
            )
            if not elsewhere and not any(gate == accepted_fault.gate and accepted_fault.covers(subject) for gate, subject in met):
                sentences.append(self._unused(accepted_fault, [subject for gate, subject in met if gate == accepted_fault.gate]))
        return sentences

    def unused_gates(self, seen: Seen) -> list[str]:
        """A sentence for each gate that decided nothing in a full run."""
        met = {gate for gate, _ in seen}
        return [
            f"The gate {name} in {self.file} decided nothing in this run: no eval asked for it. Use it or delete it."
            for name in self.gates
            if name not in met
        ]

    @property
    def tolerances(self) -> dict[str, float]:
        """Per gate, the movement against the baseline that is not worth reporting, where the file gives one."""
        return {name: gate.tolerance for name, gate in self.gates.items() if gate.tolerance is not None}

    @property
    def file(self) -> str:
        """The file as verdicts call it: folder and name, no machine's path."""
        return "/".join(self.path.parts[-2:])

    def __getitem__(self, name: str) -> Gate:
        try:
            return self.gates[name]
        except KeyError:
            raise GatesError(
                f"there is no gate {name} in {self.path}.{meant(name, self.gates)} "
                f"It has: {', '.join(self.gates) or 'none'}. Add a table [{name}] with a limit and a reason"
            ) from None

    def __contains__(self, name: object) -> bool:
        return name in self.gates

    def __iter__(self) -> Iterator[str]:
        return iter(self.gates)

    def __len__(self) -> int:
        return len(self.gates)

    def _under(
        self, accepted_fault: AcceptedFault, gate: Gate, decision: Decision, subject: Mapping[str, str], allowed: bool
    ) -> tuple[Outcome, str, str]:
        """Outcome, remedy and the accepted fault's state once the accepted fault is taken into account."""
        if decision.outcome == "pass" or allowed:
            return "fail", remedies.unneeded_accepted_fault(accepted_fault, subject, decision, self.file), "no longer needed"
        if accepted_fault.expired(self.today):
            return decision.outcome, remedies.expired_accepted_fault(accepted_fault, self.file), "expired"
        if _accepts(accepted_fault, decision):
            return "accepted", remedies.accepted(accepted_fault), "applied"
        return decision.outcome, remedies.beyond_accepted_fault(accepted_fault, gate, decision, self.file), "exceeded"

    def _unused(self, accepted_fault: AcceptedFault, subjects: list[Mapping[str, str]]) -> str:
        there = "; ".join(
            f"{name}: {', '.join(sorted({s[name] for s in subjects if name in s})) or 'never given'}"
            for name in accepted_fault.subject
        )
        found = f"its verdicts had {there}" if subjects else "the gate gave no verdict at all"
        return (
            f"The accepted fault for {accepted_fault.gate} ({accepted_fault.described}) in {self.file} covered nothing in this run; {found}. "
            "Mend its subject or delete it."
        )


def _picked(
    name: str, gate: Gate, measured: Estimate | Estimates, subject: Mapping[str, str]
) -> tuple[Estimate, Estimates | None]:
    if isinstance(measured, Estimates):
        lacking = [key for key in measured.by if key not in subject]
        if lacking:
            raise GatesError(
                f"gate {name}: what was measured is by ({', '.join(measured.by)}), and the subject lacks "
                f"{', '.join(lacking)}; name it, e.g. gate({name!r}, ..., {lacking[0]}={lacking[0]})"
            )
        return measured.of(**{key: subject[key] for key in measured.by}), measured
    if isinstance(measured, Estimate):
        if gate.corrected != "none":
            raise GatesError(
                f"gate {name} corrects over the family {gate.family}, and one lone estimate arrived: hand it all the "
                f"metric's Estimates and name the subject, or drop the family of [{name}]"
            )
        return measured, None
    raise GatesError(f"gate {name} decides an Estimate or Estimates; it was given {type(measured).__name__}")


def _straddles(decision: Decision) -> bool:
    return decision.outcome == "undecided" and sure_at(decision.estimate, decision.level)


def _accepts(accepted_fault: AcceptedFault, decision: Decision) -> bool:
    limit = accepted_fault.accept.limit
    within = limit is not None and decision.estimate.defined and limit.holds(decision.estimate.value)
    return within or decision.outcome in accepted_fault.accept.outcome


def _as_builtins(accepted_fault: AcceptedFault, state: str, decision: Decision) -> dict[str, object]:
    """`otherwise` is the outcome there would be without the accepted fault: a known fault is not a known doubt."""
    return {
        "accept": accepted_fault.accept.mapping(),
        "until": accepted_fault.until.isoformat(),
        "reason": accepted_fault.reason,
        "state": state,
        "otherwise": decision.outcome,
    }
