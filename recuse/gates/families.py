"""Everything a gate decides at once: the members of one measurement, corrected for their number.

A judge **passes** when the interval at the gate's `level` (95 %) lies inside the limit; it is cleared only if *all* its
gates pass, so passes need no correction (intersection-union test; Berger 1982, Technometrics 24, 295-300). It **fails**
when the interval at a wider level lies outside: `alpha`, this family's share of the run's chance to fail a fair judge,
is held over its members by Holm's procedure. One end of an interval alone can do the harm, so the level is 1 - 2 alpha.
What is neither is undecided. The interval shown is the one decided on. docs/error-rates.md has what was measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from statistics import median

from recuse.gates.gate_tables import Gate, LimitElsewhere
from recuse.gates.limits import AgainstLimit, GatesError, Limit, decide_estimate
from recuse.schema import Estimate, Estimates, members
from recuse.schema.number_text import percent
from recuse.schema.plain_values import grouped
from recuse.schema.results import ErrorRates, JudgeErrors, SmallestFault
from recuse.schema.verdict_rows import FamilyRow, VerdictRow
from recuse.statistics.multiplicity import decision_levels


@dataclass(frozen=True, slots=True)
class Member:
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


@dataclass(frozen=True, slots=True)
class Decided:
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
        raise GatesError(
            f"gate {name}: what was measured is by ({', '.join(by)}), and each member has a verdict of its "
            f"own; leave {', '.join(twice)} out of the subject, e.g. gate({name!r}, estimates)"
        )
    each = []
    for names, estimate in members(measured):
        about = {**subject, **names}
        fitting = (one for one in gate.on if one.where.items() <= about.items())
        stated: Gate | LimitElsewhere = max(fitting, key=lambda one: len(one.where), default=gate)  # the narrowest
        if stated.of_range and estimate.span is None and estimate.defined:
            raise GatesError(
                f"gate {name}: its limit is a share of the scale's range (of_range = true), and {estimate.metric} does "
                "not say how wide the scale is. Give its Estimate a span, or tell the limit in the unit of "
                f"{estimate.metric}, without of_range"
            )
        limit = stated.bound.times(estimate.span) if stated.of_range and estimate.span is not None else stated.bound
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


# --------------------------------------------------------------------------- what a run says about its own errors
# Forecasts by the verdicts' own sampling distributions, as if verdicts were independent: how likely any fair judge is
# failed (at most the sum of what the families may spend), each judge that has none of the faults is not cleared all the
# same, and the run, recorded anew, turns red (a pass may be lost, and an accepted fault be no longer needed). `recuse
# validate` asks drawn files, without these approximations.


def error_rates(verdicts: Iterable[VerdictRow], false_fail: float) -> ErrorRates:
    """Of verdicts as results.json holds them; `false_fail` is what the gates file allows the run. `by_value` counts
    verdicts that the value alone decides: nobody knows their error rates, and they are left out."""
    known = sorted(verdicts, key=lambda v: (v["gate"], sorted(v["subject"].items())))
    families = {(f["name"], *sorted(f["within"].items())): f["alpha"] for v in known if (f := v["rule"]["family"])}
    by_value, at_most = sum(v["rule"]["family"] is None for v in known), round(math.fsum(families.values()), 4)
    red_again = round(1 - math.prod(_stays_green(v) for v in known), 4) if known else None
    sentence = ""
    if families and red_again is not None:
        sentence = f"judges without a fault fail in at most {percent(round(at_most, 3))} of such runs"
        sentence += f"; asked again, what is green now would turn red in about {percent(round(red_again, 2))} of them"
        if by_value:
            sentence += f" ({by_value} verdicts are not counted: the value decides, not its interval)"
    faults = ((v, fault) for v in known if (p := v.get("power")) and (fault := p["smallest_fault"]) is not None)
    gates = grouped(faults, lambda one: (one[0]["gate"], one[0]["rule"]["limit_text"], one[0]["estimate"]["unit"]))
    smallest: list[SmallestFault] = [
        {"gate": gate, "limit": limit, "unit": unit, "typical": float(f"{median(value for _, value in values):.4g}"),
         "worst": (min if "at_least" in values[0][0]["limit"] else max)(value for _, value in values)}
        for (gate, limit, unit), values in sorted(gates.items(), key=itemgetter(0))
    ]  # fmt: skip
    return {
        "false_fail": {"allowed": false_fail, "at_most": at_most, "families": len(families), "by_value": by_value},
        "judges": [*_judges(known)], "red_again": red_again, "smallest_faults": smallest, "sentence": sentence,
    }  # fmt: skip


def _judges(verdicts: list[VerdictRow]) -> Iterator[JudgeErrors]:
    """By what each may lose; a gate that allows undecided is left out, as is one that cannot tell what fair is."""
    powerful = ((v["subject"], power, v["allowed"]) for v in verdicts if (power := v.get("power")))
    of_judges = (one for one in powerful if "judge" in one[0])
    judged = grouped(of_judges, lambda one: (one[0].get("panel", ""), one[0]["judge"]))
    for (panel, judge), own in sorted(judged.items(), key=itemgetter(0)):  # one less the chance that all pass
        counted = [power for _, power, allowed in own if not allowed]
        fair = 1 - math.prod(chance for power in counted if (chance := power["fair_passes"]) is not None)
        again = 1 - math.prod(power["same_again"] for power in counted)
        yield {"panel": panel, "judge": judge, "fair_not_cleared": round(fair, 4), "again_not_cleared": round(again, 4)}


def _stays_green(verdict: VerdictRow) -> float:
    """The chance that the run would be green on its account again; 1 where it is red by now, or its value decides."""
    power, accepted = verdict.get("power"), verdict["accepted_fault"]
    if power is None or verdict["outcome"] not in ("pass", "accepted"):
        return 1.0
    if verdict["outcome"] == "pass":
        return power["same_again"]
    outcomes = accepted["accept"].get("outcome") if accepted else None
    return 1.0 if outcomes and "fail" not in outcomes else 1 - power["same_again"]
