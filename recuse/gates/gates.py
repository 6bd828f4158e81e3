"""All gates of one file: what is measured and what the file says give verdicts."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any

from recuse.configuration import did_you_mean
from recuse.gates import remedies
from recuse.gates.accepted_faults import under_accepted_fault, unused_sentence
from recuse.gates.errors import GatesError
from recuse.gates.explanation import percent, rule_of
from recuse.gates.families import Decided, Member, decide_jointly, decide_together, members_of
from recuse.gates.power import power_of
from recuse.gates.reading import read
from recuse.gates.tables import STANDARD, AcceptedFault, Gate, RunTable
from recuse.gates.verdicts import Verdicts
from recuse.schema import (
    Estimate,
    Estimates,
    Family,
    Outcome,
    Remedy,
    Verdict,
)

__all__ = ["Gates"]

Seen = Iterable[tuple[str, Mapping[str, str]]]
"""The gate and the subject of each verdict of a run."""


@dataclass(frozen=True)
class Gates(Mapping[str, Gate]):
    """All gates of one file with its accepted faults, on one day."""

    path: Path
    gates: Mapping[str, Gate]
    accepted_faults: tuple[AcceptedFault, ...]
    today: date
    run: RunTable = STANDARD
    former: Gates | None = None  # those of the baseline, where they are others: what would they say?

    @classmethod
    def load(cls, path: Path | str, today: date) -> Gates:
        """Read and check a gates file. Raises `ConfigurationError` naming line, key and remedy of every fault.

        `today` decides which accepted faults have expired; it is given so that results do not depend on a hidden clock.
        """
        gates, accepted_faults, run = read(Path(path))
        return cls(Path(path), gates, accepted_faults, today, run)

    def decide(
        self,
        name: str,
        measured: Estimate | Estimates,
        subject: Mapping[str, str],
        *,
        blocks: Callable[[str], bool] = lambda metric: True,
    ) -> Verdicts:
        """A verdict of gate `name` on each member of `Estimates`, or on the one estimate.

        `subject` is what all of it is about (panel, task, ...); a member's own subject adds the names it was measured
        by. Members are corrected together for their number (`recuse.gates.families`); who wants to see some of them
        chooses afterwards (`Verdicts.only`). `blocks` says of a measure, by its name, whether a known fault of this
        kind bars a judge (`recommendation`).

        Raises `GatesError` for an unknown gate, for nothing measured, for a subject that names what was measured by,
        and for a limit of the scale's range where the measure knows no scale.
        """
        gate = self[name]
        given = {key: str(value) for key, value in subject.items()}
        members = members_of(name, gate, measured, given)
        decided = decide_together(name, gate, members, self.alpha(name), given)
        formerly = self._formerly(name, measured, subject) or repeat(None, len(decided))
        return Verdicts(
            self._verdict(name, one, blocks(one.member.estimate.metric), before)
            for one, before in zip(decided, formerly, strict=True)
        )

    def decide_jointly(
        self,
        measured: Iterable[tuple[str, Estimates]],
        subject: Mapping[str, str],
        *,
        together: str,
        share: float = 1.0,
        blocks: Callable[[str], bool] = lambda metric: True,
    ) -> Verdicts:
        """Verdicts of several gates, (gate, what it decides), for one conclusion that takes all of them to pass.

        Each passes at its own gate's level: that all pass although one should not is no likelier than that this one
        passes (intersection-union test; Berger 1982). That any fails although none should has a chance of at most
        `false_fail` of [run], held over all members of all gates by Holm's procedure. `together` names them; it must be
        the gates' own (`together = "..."`), which also keeps them out of the split of the run's error rate. `share`:
        one over the number of places at which the same conclusion is asked for.
        """
        given = {key: str(value) for key, value in subject.items()}
        members: list[tuple[str, Gate, Member]] = []
        for name, estimates in measured:
            gate = self[name]
            if gate.together != together:
                raise GatesError(f'gate {name} in {self.file} is decided with others: add together = "{together}"')
            members += [(name, gate, member) for member in members_of(name, gate, estimates, given)]
        alpha = round(self.run.false_fail * share, 12)
        family = Family(name=together, within=given, correction="holm", members=0, alpha=alpha)
        decided = decide_jointly([(gate, member) for _, gate, member in members], alpha, family)
        return Verdicts(
            self._verdict(name, one, blocks(one.member.estimate.metric))
            for (name, _, _), one in zip(members, decided, strict=True)
        )

    def alpha(self, name: str) -> float:
        """The part of the run's chance to fail a fair judge that one measurement may spend: `false_fail` of [run],
        split over `families` according to the gates' `weight`. Without `families` every gate is taken to be asked
        once. 0 where the value itself decides: nobody knows.

        The split stands in the file, so no verdict depends on what else is examined in the same run."""
        gate = self[name]
        if gate.decide == "point":
            return 0.0
        splitting = [g.weight for g in self.gates.values() if g.decide == "interval" and g.together is None]
        whole = self.run.families or sum(splitting)
        return round(self.run.false_fail * gate.weight / whole, 12)

    def overspent(self, records: Iterable[Mapping[str, Any]]) -> list[str]:
        """A sentence if a run decided more measurements than [run] reckons with: `records` are its verdicts."""
        families = {
            (v["gate"], *sorted(v["rule"]["family"]["within"].items())): self[v["gate"]].weight
            for v in records
            if v["rule"]["family"] and self[v["gate"]].together is None
        }
        spent = sum(self.alpha(gate) for gate, *_ in families)
        if spent <= self.run.false_fail * (1 + 1e-9):
            return []
        return [
            f"The run decided {len(families)} measurements and may fail a fair judge with a chance of up to "
            f"{percent(spent)}, more than the {percent(self.run.false_fail)} of [run] in {self.file}: write families = "
            f"{math.ceil(sum(families.values()))} there, or a higher false_fail."
        ]

    def accepted_fault_for(self, name: str, subject: Mapping[str, str]) -> AcceptedFault | None:
        """The accepted fault that covers the subject; there is at most one, overlaps were refused on reading."""
        return next((known for known in self.accepted_faults if known.gate == name and known.covers(subject)), None)

    def expired_accepted_faults(self) -> list[str]:
        """Sentences for each accepted fault whose date has passed, whether or not a verdict met it."""
        expired = [known for known in self.accepted_faults if known.expired(self.today)]
        return [f"{r.finding} {r.advice}" for r in (remedies.expired_accepted_fault(k, self.file) for k in expired)]

    def expired_allowances(self) -> list[str]:
        """Sentences for each gate that allowed undecided until a date that has passed."""
        return [
            f"The gate {name} in {self.file} allowed undecided until {gate.until}; since then undecided counts. Record "
            "what decides it, or give a later date and a reason that still holds."
            for name, gate in self.gates.items()
            if gate.allowance_expired(self.today)
        ]

    def unused_accepted_faults(self, seen: Seen, ran: Mapping[str, Collection[str]] | None = None) -> list[str]:
        """A sentence for each accepted fault that covered no verdict of a full run.

        `ran` tells what the run was about, e.g. {"panel": ["published"]}: accepted faults bound to anything else are
        passed over, since they had no chance to be used.
        """
        met = list(seen)
        sentences = []
        for known in self.accepted_faults:
            subjects = [subject for gate, subject in met if gate == known.gate]
            elsewhere = any(
                name in known.subject and not set(known.values(name)) & set(values)
                for name, values in (ran or {}).items()
            )
            if not elsewhere and not any(map(known.covers, subjects)):
                sentences.append(unused_sentence(known, subjects, self.file))
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
    def file(self) -> str:
        """The file as verdicts call it: folder and name, no machine's path."""
        return "/".join(self.path.parts[-2:])

    def __getitem__(self, name: str) -> Gate:
        try:
            return self.gates[name]
        except KeyError:
            raise GatesError(
                f"there is no gate {name} in {self.path}.{did_you_mean(name, self.gates)} "
                f"It has: {', '.join(self.gates) or 'none'}. Add a table [{name}] with a limit and a reason"
            ) from None

    def __contains__(self, name: object) -> bool:
        return name in self.gates

    def __iter__(self) -> Iterator[str]:
        return iter(self.gates)

    def __len__(self) -> int:
        return len(self.gates)

    def _formerly(self, name: str, measured: Estimate | Estimates, subject: Mapping[str, str]) -> list[Outcome]:
        """What each verdict would be under the gates of the baseline; empty where these are the same."""
        if self.former is None or name not in self.former:
            return []
        return [verdict.outcome for verdict in self.former.decide(name, measured, subject)]

    # -- one verdict

    def _verdict(self, name: str, decided: Decided, blocks: bool, formerly: Outcome | None = None) -> Verdict:
        gate, member, decision = self[name], decided.member, decided.decision
        applied = member.applied
        allowed = gate.allows_undecided(self.today) and decision.straddles
        outcome: Outcome = decision.outcome
        remedy: Remedy | Callable[[], Remedy | None] | None = partial(self._next_step, name, decided)
        acceptance = None
        if known := self.accepted_fault_for(name, member.subject):
            outcome, remedy, acceptance = under_accepted_fault(known, decided, allowed, self.today, self.file)
        return Verdict(
            gate=name,
            label=gate.label or "",
            subject=member.subject,
            outcome=outcome,
            estimate=decision.estimate,
            rule=rule_of(gate, applied, decided),
            limit=applied.limit.mapping(),
            reason=applied.reason,
            remedy=remedy,
            accepted_fault=acceptance,
            allowed=allowed and outcome == "undecided",
            formerly=formerly,
            power=None
            if decided.family is None
            else partial(power_of, applied.limit, member.estimate, gate.level, decided.fail_level),
            blocks=blocks,
        )

    def _next_step(self, name: str, decided: Decided) -> Remedy | None:
        """What to do about a verdict that no accepted fault covers."""
        gate, remedy = self[name], remedies.next_step(name, decided, self.file)
        if remedy is not None and decided.decision.straddles and gate.allowance_expired(self.today):
            return remedies.expired_allowance(gate, remedy)
        return remedy
