"""All gates of one file: what is measured and what the file says give verdicts.

Everything that a gate decides at once is a family: the members of one measurement, corrected for their number. A judge
**passes** when the interval at the gate's `level` (95 %) lies inside the limit; it is cleared only if *all* its gates
pass, so passes need no correction (intersection-union test; Berger 1982, Technometrics 24, 295-300). It **fails** when
the interval at a wider level lies outside: `alpha`, this family's share of the run's chance to fail a fair judge, is
held over its members by Holm's procedure. One end of an interval alone can do the harm, so the level is 1 - 2 alpha.
What is neither is undecided. The interval shown is the one decided on. docs/error-rates.md has what was measured.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from recuse.configuration.toml_files import did_you_mean
from recuse.gates.explanation import Verdicts, next_step, rule_of, under_accepted_fault
from recuse.gates.gate_tables import AcceptedFault, Gate, LimitElsewhere, RunTable, Uses, UseTable, read
from recuse.gates.limits import AgainstLimit, GatesError, Limit, decide_estimate
from recuse.gates.verdict_power import power_of
from recuse.schema import Estimate, Estimates, Verdict, members
from recuse.schema.verdict_rows import FamilyRow, VerdictRow
from recuse.schema.vocabulary import UNDECIDED, in_place_of_people, printed
from recuse.statistics.multiplicity import decision_levels

YARDSTICKS = frozenset(["people", "people_items", "right_answer", "right_scores", "reference"])
"""Needs that say who is right: where one is offered, peers are not asked."""
WARNED = 30  # days before its end from which an accepted failure is told
OF_CONDITIONS = 0.2  # the part of the chance to fail a fair judge that conditions may spend


@dataclass(frozen=True)
class Gates(Mapping[str, Gate]):
    """All gates of one file with its accepted failures, on one day."""

    path: Path
    gates: Mapping[str, Gate]
    accepted_faults: tuple[AcceptedFault, ...]
    today: date
    run: RunTable = field(default_factory=lambda: RunTable.model_validate({}))
    uses: Mapping[str, UseTable] = field(default_factory=dict)
    former: Gates | None = None  # those of the baseline, where they are others: what would they say?

    @classmethod
    def load(cls, path: Path | str, today: date) -> Gates:
        """Read and check a gates file. Raises `ConfigurationError` naming line, key and remedy of every fault. `today`
        decides which accepted failures have expired; it is given, so that results depend on no hidden clock."""
        gates, accepted_faults, run, uses = read(Path(path))
        return cls(Path(path), gates, accepted_faults, today, run, uses)

    def decide(
        self, name: str, measured: Estimate | Estimates, subject: Mapping[str, str], *, asserted: bool = True
    ) -> Verdicts:
        """A verdict of gate `name` on each member of `Estimates`, or on the one estimate; `subject`: what all of it is
        about. Members are corrected together; who wants to see some chooses afterwards
        (`Verdicts.only`). Not `asserted`, a run stays green whatever it is. `GatesError` also for an unknown gate."""
        gate = self[name]
        given = {key: str(value) for key, value in subject.items()}
        decided = decide_together(members_of(name, gate, measured, given), name, given, self.alpha(name))
        formerly = self.former.decide(name, measured, subject) if self.former and name in self.former else ()
        return self._verdicts(decided, formerly, asserted=asserted)

    def decide_jointly(
        self, measured: Iterable[tuple[str, Estimates]], subject: Mapping[str, str], *, together: str,
        share: float = 1.0,
    ) -> Verdicts:  # fmt: skip
        """Verdicts of several gates, (gate, what it decides), for one conclusion that takes all of them to pass: one
        family, over which `false_fail` of [run] is held. `together` names them; it must be the gates' own (`together =
        "..."`), which also keeps them out of the split of the run's error rate. `share`: one over the number of places
        at which the same conclusion is asked for."""
        given = {key: str(value) for key, value in subject.items()}
        family, measured = list[Member](), list(measured)
        for name, estimates in measured:
            gate = self[name]
            if gate.together != together:
                raise GatesError(f'gate {name} in {self.file} is decided with others: add together = "{together}"')
            family += members_of(name, gate, estimates, given)
        formerly: Iterable[Verdict] = ()
        if former := self.former:
            known = [one for one in measured if one[0] in former and former[one[0]].together == together]
            formerly = former.decide_jointly(known, subject, together=together, share=share)
        alpha = round(self.run.false_fail * share, 12)
        return self._verdicts(decide_together(family, together, given, alpha), formerly)

    # -- which gates decide, and at which level

    @property
    def conditions(self) -> frozenset[str]:
        """Gates that no use names: they decide for every use, wherever a panel probes them."""
        named = {gate for use in self.uses.values() for gate in use.gates}
        return frozenset(name for name, gate in self.gates.items() if name not in named and gate.together is None)

    def in_force(self, name: str, uses: Uses, offers: Collection[str]) -> bool:
        """Whether the gate says anything of a panel that is used so, whose ratings offer these needs: gates of its
        uses, and conditions, one between judges only where neither people nor true answers rated. None does in a study.
        `GatesError` for a gate that the file does not have: one that was renamed must not pass in silence."""
        gate = self[name]
        if name not in self.conditions:
            return name in self._named_by(uses.every)
        return bool(uses.stated) and (gate.against != "peers" or not YARDSTICKS & set(offers))

    def is_asserted(self, name: str, uses: Uses) -> bool:
        """Whether a run is red on its account: a stated use names it, or it is a condition. Peers refuse nobody."""
        return name in self._named_by(uses.stated) or (name in self.conditions and self[name].against != "peers")

    def _named_by(self, uses: Iterable[str]) -> set[str]:
        return {gate for use in uses if use in self.uses for gate in self.uses[use].gates}

    def alpha(self, name: str) -> float:
        """The part of the chance to fail a fair judge that one measurement may spend: `false_fail` of [run] is the
        chance for one use, four fifths of it split over its gates by `weight` (of several uses, by that with the most),
        one fifth over all conditions; without uses, all over all. 0 where the value itself decides: nobody knows. The
        split stands in the file: no verdict depends on what else is examined, nor on another use's gates."""
        gate = self[name]
        if gate.decide == "point":
            return 0.0
        if not self.uses:
            return self._split(gate, self.gates, 1.0)
        if name in self.conditions:
            return self._split(gate, self.conditions, OF_CONDITIONS)
        using = [use.gates for use in self.uses.values() if name in use.gates] or [(name,)]
        return min(self._split(gate, gates, 1 - OF_CONDITIONS) for gates in using)

    def _split(self, gate: Gate, among: Iterable[str], share: float) -> float:
        weights = [g.weight for g in map(self.__getitem__, among) if g.decide == "interval" and g.together is None]
        return round(self.run.false_fail * share * gate.weight / max(sum(weights), gate.weight), 12)

    def ends(self) -> list[dict[str, Any]]:
        """What is accepted or allowed until a day that has passed or comes within `WARNED` days; the earliest first."""
        dated = [(known.until, known.gate, known.described) for known in self.accepted_faults]
        allowed = f"{printed(UNDECIDED)} allowed"
        dated += [(gate.until, name, allowed) for name, gate in self.gates.items() if gate.until]
        each = (((until - self.today).days, until, gate, about) for until, gate, about in sorted(dated))
        return [{"gate": gate, "about": about, "until": until.isoformat(), "days": days}
                for days, until, gate, about in each if days <= WARNED]  # fmt: skip

    def misfits(self, records: Iterable[VerdictRow], panels: Collection[str], *, answered: bool = True) -> list[str]:
        """A sentence for whatever a full run on these panels did not need: accepted failures that covered no verdict,
        unless bound to other panels, or only passes (a doubt stays); gates that decided nothing, if all were
        `answered`."""
        verdicts, unused, unneeded = list(records), [], []
        for known in self.accepted_faults:
            fault = f"The accepted failure for {known.gate} ({known.described}) in {self.file}"
            of_gate = [v for v in verdicts if v["gate"] == known.gate]
            covered = [v for v in of_gate if known.covers(v["subject"])]
            if not covered and ("panel" not in known.subject or {*known.values("panel")} & {*panels}):
                subjects = [v["subject"] for v in of_gate]
                values = {name: {s[name] for s in subjects if name in s} for name in known.subject}
                had = "; ".join(f"{name}: {', '.join(sorted(own)) or 'never given'}" for name, own in values.items())
                seen = f"its verdicts had {had}" if of_gate else "the gate gave no verdict at all"
                unused.append(f"{fault} covered nothing in this run; {seen}. Mend its subject or delete it.")
            if covered and not known.doubt and not any(v["accepted_fault"] for v in covered):
                kept = "all that it covers passes. Delete it, so that the gain is kept."
                unneeded.append(f"{fault} is no longer needed: {kept}")
        deciding = {v["gate"] for v in verdicts}
        nothing = f"in {self.file} decided nothing in this run: no eval asked for it. Use it or delete it."
        idle = [f"The gate {name} {nothing}" for name in self.gates if answered and name not in deciding]
        return [*unused, *idle, *unneeded]

    @property
    def file(self) -> str:
        """The file as verdicts call it: folder and name, no machine's path."""
        return "/".join(self.path.parts[-2:])

    def __getitem__(self, name: str) -> Gate:
        try:
            return self.gates[name]
        except KeyError:
            fault = f"there is no gate {name} in {self.path}.{did_you_mean(name, self.gates)}"
            known = ", ".join(self.gates) or "none"
            raise GatesError(f"{fault} It has: {known}. Add a table [{name}] with a limit and a reason") from None

    def __contains__(self, name: object) -> bool:
        return name in self.gates

    def __iter__(self) -> Iterator[str]:
        return iter(self.gates)

    def __len__(self) -> int:
        return len(self.gates)

    def _verdicts(self, decided: Iterable[Decided], formerly: Iterable[Verdict], *, asserted: bool = True) -> Verdicts:
        """`formerly`: those of the same under the gates of the baseline, where these are others."""
        before, verdicts = {(one.gate, *sorted(one.subject.items())): one for one in formerly}, []
        for one in decided:
            member, decision, gate = one.member, one.decision, one.member.gate
            former, outcome = before.get((member.name, *sorted(member.subject.items()))), decision.outcome
            covering = (fault for fault in self.accepted_faults
                        if fault.gate == member.name and fault.covers(member.subject))  # fmt: skip
            if known := next(covering, None):  # there is one at most: overlaps were refused on reading
                then = former.accepted_fault if former is not None else None  # a verdict that is red is falsy
                held = self.former is None or (then is not None and then["state"] in ("applied", "expired"))
                outcome, remedy, acceptance = under_accepted_fault(known, one, self.today, self.file, held=held)
            else:
                remedy, acceptance = next_step(one, self.today, self.file), None
            allowed = outcome == UNDECIDED and decision.straddles and gate.undecided == "allow"
            allowed = allowed and not gate.allowance_expired(self.today)
            verdicts.append(Verdict(
                gate=member.name, label=in_place_of_people(gate.label or "", decision.estimate.detail),
                subject=member.subject, outcome=outcome, estimate=decision.estimate, rule=rule_of(one),
                limit=member.limit.mapping(), reason=member.reason, remedy=remedy, accepted_fault=acceptance,
                formerly=former.outcome if former is not None else None, allowed=allowed or not asserted,
                power=power_of(member.limit, member.estimate, gate.level, one.fail_level) if one.family else None,
            ))  # fmt: skip
        return Verdicts(verdicts)


class Member(NamedTuple):
    """One estimate that a gate decides, what it is about, and the limit that applies to it."""

    name: str  # the gate's
    gate: Gate
    subject: Mapping[str, str]
    estimate: Estimate
    limit: Limit  # in the estimate's unit
    reason: str  # why it stands where it does
    share: Limit | None = None  # the same limit as shares of the scale's range, where the file tells it so

    @property
    def limit_text(self) -> str:
        """ "within [-0.5, +0.5] points, 5 % of the scale's range of 10"."""
        share, span, unit = self.share, self.estimate.span, self.estimate.unit
        if share is None:
            return str(self.limit)
        if span is None:
            return f"{self.limit} of the scale's range"
        bounds = (share.low, share.high)
        shown = [bounds[share.kind != "at_least"]] if share.kind != "within" or bounds[0] == -bounds[1] else bounds
        percentages = " to ".join(f"{100 * bound:.4g}" for bound in shown)
        points = f" {unit}" if unit and not self.limit.percent else ""
        return f"{self.limit}{points}, {percentages} % of the scale's range of {span:g}"


class Decided(NamedTuple):
    """A member with its decision, the level at which it could fail, and what it was corrected with."""

    member: Member
    decision: AgainstLimit
    fail_level: float
    family: FamilyRow | None  # None where the value itself decides


def members_of(name: str, gate: Gate, measured: Estimate | Estimates, subject: Mapping[str, str]) -> list[Member]:
    """Each measured subject that the gate is about, with the limit for it in the estimate's unit (`of_range` times its
    `span`; of an undefined estimate as shares). `GatesError` for nothing measured, a name in both, and no span."""
    if not isinstance(measured, Estimate | Estimates):
        raise GatesError(f"gate {name} decides an Estimate or Estimates; it was given {type(measured).__name__}")
    by = measured.by if isinstance(measured, Estimates) else ()
    if isinstance(measured, Estimates) and not measured:
        raise GatesError(f"gate {name} was given nothing to decide: the measure found no ({', '.join(by)})")
    if twice := [key for key in by if key in subject]:
        fault = f"gate {name}: what was measured is by ({', '.join(by)}), and each member has a verdict of its own"
        raise GatesError(f"{fault}; leave {', '.join(twice)} out of the subject, e.g. gate({name!r}, estimates)")
    each = []
    for names, estimate in members(measured):
        about = {**subject, **names}
        fitting = (one for one in gate.on if one.where.items() <= about.items())
        stated: Gate | LimitElsewhere = max(fitting, key=lambda one: len(one.where), default=gate)  # the narrowest
        span = None if estimate.span == float("inf") else estimate.span
        if stated.of_range and span is None and estimate.defined:
            fault = f"gate {name}: its limit is a share of the scale's range (of_range = true)"
            lacking = f"{estimate.metric} does not say how wide the scale is"
            step = f"tell the limit in the unit of {estimate.metric}, without of_range"
            raise GatesError(f"{fault}, and {lacking}. Give the scale two ends, its Estimate a span, or {step}")
        limit = stated.bound.times(span) if stated.of_range and span is not None else stated.bound
        share = stated.bound if stated.of_range else None
        each.append(Member(name, gate, about, estimate, limit.of_unit(estimate.unit), stated.reason, share))
    return each


def decide_together(together: Sequence[Member], name: str, within: dict[str, str], alpha: float) -> list[Decided]:
    """Each member of a family decided; `name` and `within` are no other family's. Undefined members, and those that a
    value decides, take no part in the correction. What lies outside at the gate's own level only is undecided, and the
    wider interval, which reaches across the bound, is the one shown."""
    deciding = [m for m in together if m.gate.decide == "interval"]
    defined = [m for m in deciding if m.estimate.defined]
    fails = [lambda level, m=m: decide_estimate(m.limit, m.estimate, level).outcome == "fail" for m in defined]
    corrected = decision_levels(fails, 1 - 2 * alpha) if fails else []
    levels = {id(m): max(level, m.gate.level) for m, level in zip(defined, corrected, strict=True)}
    family: FamilyRow = {
        "name": name, "within": within, "alpha": alpha, "correction": "holm", "members": len(defined),
        "undefined": len(deciding) - len(defined),
    }  # fmt: skip
    decided = []
    for member in together:
        limit, estimate, gate = member.limit, member.estimate, member.gate
        by_interval, fail_level = gate.decide == "interval", levels.get(id(member), gate.level)
        decision = decide_estimate(limit, estimate, gate.level, by=gate.decide)
        if by_interval and decision.outcome == "fail":
            decision = decide_estimate(limit, estimate, fail_level)
        decided.append(Decided(member, decision, fail_level, family if by_interval else None))
    return decided
