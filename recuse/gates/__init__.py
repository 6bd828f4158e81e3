"""Gates: an estimate and a limit give a verdict; known faults are waived by name, up to a bound and a date.

    gates = Gates.load(Path("evals/gates.toml"), today=date.today())
    verdict = gates.decide("self_bias", estimates, {"judge": "grok-4", "condition": "attributed", "panel": "published"})
    assert verdict, explain(verdict)

| what the numbers say | no waiver | waiver that accepts it | waiver that does not |
|---|---|---|---|
| pass | pass | fail: the waiver is no longer needed | fail: the waiver is no longer needed |
| inconclusive, gate allows it | inconclusive, allowed | fail: the waiver is no longer needed | the same |
| fail | fail | waived | fail, naming both bounds |
| inconclusive | inconclusive | waived | inconclusive, naming both bounds |
| error | error | waived | error |

An expired waiver leaves what the numbers say and tells when it expired. An interval gate without a usable interval is
inconclusive and is not covered by `inconclusive = "allow"`, which is meant for intervals that straddle a bound.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from recuse.gates import remedies
from recuse.gates.deciding import Decision, decide, sure_at
from recuse.gates.limits import Limit
from recuse.gates.reading import GatesError, meant, read
from recuse.gates.rules import Accept, Gate, Waiver
from recuse.gates.words import explain, rule_text
from recuse.schema import Estimate, Estimates, Outcome, Verdict

__all__ = ["Accept", "Gate", "Gates", "GatesError", "Limit", "Waiver", "explain"]

Seen = Iterable[tuple[str, Mapping[str, str]]]
"""The gate and the subject of each verdict of a run."""


@dataclass(frozen=True)
class Gates(Mapping[str, Gate]):
    """All gates of one file with its waivers, on one day."""

    path: Path
    gates: Mapping[str, Gate]
    waivers: tuple[Waiver, ...]
    today: date

    @classmethod
    def load(cls, path: Path | str, today: date) -> Gates:
        """Read and check a gates file. Raises `GatesError` naming file, line, table, key and remedy of every fault.

        `today` decides which waivers have expired; it is given so that results do not depend on a hidden clock.
        """
        gates, waivers = read(Path(path))
        return cls(Path(path), gates, waivers, today)

    def decide(self, name: str, measured: Estimate | Estimates, subject: Mapping[str, str]) -> Verdict:
        """The verdict of gate `name` on what was measured about `subject`.

        From `Estimates` the member that the subject names is decided, corrected together with all the others when the
        gate has a family. Names in `subject` that `Estimates` does not know (panel, task) are carried along.
        """
        gate = self[name]
        subject = {key: str(value) for key, value in subject.items()}
        estimate, family = _picked(name, gate, measured, subject)
        decision = decide(gate, estimate, family)
        allowed = gate.allows_inconclusive and _straddles(decision)
        outcome, remedy, waived = decision.outcome, remedies.next_step(name, gate, decision, subject, self.file), None
        if waiver := self.waiver_for(name, subject):
            outcome, remedy, state = self._under(waiver, gate, decision, subject, allowed)
            allowed = allowed and outcome == "inconclusive"
            waived = _as_builtins(waiver, state, decision)
        return Verdict(
            gate=name,
            subject=subject,
            outcome=outcome,
            estimate=decision.estimate,
            rule=rule_text(gate, decision),
            limit=gate.bound.mapping(),
            reason=gate.reason,
            remedy=remedy,
            waiver=waived,
            allowed=allowed,
        )

    def waiver_for(self, name: str, subject: Mapping[str, str]) -> Waiver | None:
        """The waiver that covers the subject; there is at most one, overlaps were refused on reading."""
        return next((w for w in self.waivers if w.gate == name and w.covers(subject)), None)

    def expired_waivers(self) -> list[str]:
        """A sentence for each waiver whose date has passed, whether or not a verdict met it."""
        return [remedies.expired_waiver(w, self.file) for w in self.waivers if w.expired(self.today)]

    def unused_waivers(self, seen: Seen, ran: Mapping[str, Collection[str]] | None = None) -> list[str]:
        """A sentence for each waiver that covered no verdict of a full run.

        `ran` tells what the run was about, e.g. {"panel": ["published"]}: waivers bound to anything else are passed
        over, since they had no chance to be used.
        """
        met = list(seen)
        sentences = []
        for waiver in self.waivers:
            elsewhere = any(
                name in waiver.subject and not set(waiver.values(name)) & set(values)
                for name, values in (ran or {}).items()
            )
            if not elsewhere and not any(gate == waiver.gate and waiver.covers(subject) for gate, subject in met):
                sentences.append(self._unused(waiver, [subject for gate, subject in met if gate == waiver.gate]))
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
        self, waiver: Waiver, gate: Gate, decision: Decision, subject: Mapping[str, str], allowed: bool
    ) -> tuple[Outcome, str, str]:
        """Outcome, remedy and the waiver's state once the waiver is taken into account."""
        if decision.outcome == "pass" or allowed:
            return "fail", remedies.unneeded_waiver(waiver, subject, decision, self.file), "no longer needed"
        if waiver.expired(self.today):
            return decision.outcome, remedies.expired_waiver(waiver, self.file), "expired"
        if _accepts(waiver, decision):
            return "waived", remedies.accepted(waiver), "applied"
        return decision.outcome, remedies.beyond_waiver(waiver, gate, decision, self.file), "exceeded"

    def _unused(self, waiver: Waiver, subjects: list[Mapping[str, str]]) -> str:
        there = "; ".join(
            f"{name}: {', '.join(sorted({s[name] for s in subjects if name in s})) or 'never given'}"
            for name in waiver.subject
        )
        found = f"its verdicts had {there}" if subjects else "the gate gave no verdict at all"
        return (
            f"The waiver for {waiver.gate} ({waiver.described}) in {self.file} covered nothing in this run; {found}. "
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
    return decision.outcome == "inconclusive" and sure_at(decision.estimate, decision.level)


def _accepts(waiver: Waiver, decision: Decision) -> bool:
    limit = waiver.accept.limit
    within = limit is not None and decision.estimate.defined and limit.holds(decision.estimate.value)
    return within or decision.outcome in waiver.accept.outcome


def _as_builtins(waiver: Waiver, state: str, decision: Decision) -> dict[str, object]:
    """`otherwise` is the outcome there would be without the waiver: a known fault is not a known doubt."""
    return {
        "accept": waiver.accept.mapping(),
        "until": waiver.until.isoformat(),
        "reason": waiver.reason,
        "state": state,
        "otherwise": decision.outcome,
    }
