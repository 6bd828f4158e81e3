"""Everything a gate decides at once: the members of one measurement, and which of them are corrected together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from recuse.gates.applied import AppliedLimit, applied_limit
from recuse.gates.decisions import Decision, decide, settled_at
from recuse.gates.errors import GatesError
from recuse.gates.tables import Gate
from recuse.schema import Estimate, Estimates, Family, members
from recuse.statistics.multiplicity import decision_levels

__all__ = ["Member", "decide_together", "members_of"]

NOT_FACTORS = ("panel", "task", "protocol")


@dataclass(frozen=True, slots=True)
class Member:
    """One estimate with what it is about and the limit that applies to it."""

    subject: Mapping[str, str]
    estimate: Estimate
    applied: AppliedLimit


def members_of(
    name: str, gate: Gate, measured: Estimate | Estimates, subject: Mapping[str, str]
) -> dict[tuple[str, ...], list[Member]]:
    """The members by their levels of `corrected_within`: each list is corrected together.

    A factor that neither the measurement nor the subject has splits nothing: ratings without hidden names are one
    family.
    """
    families: dict[tuple[str, ...], list[Member]] = {}
    for mine, estimate in _about(name, gate, measured, subject):
        levels = tuple(mine.get(factor, "") for factor in gate.corrected_within)
        member = Member(mine, estimate, applied_limit(name, gate, mine, estimate))
        families.setdefault(levels, []).append(member)
    return families


def decide_together(
    gate: Gate, together: list[Member], given: Mapping[str, str]
) -> list[tuple[Member, Decision, Family | None]]:
    """Each member decided at the level that its family asks for.

    Undefined members take no part in the correction: no decision is made on them, so none can be wrong. `given` is the
    subject that all of the measurement share; its factors tell the family's name from another's.
    """
    if gate.family is None or gate.decide == "point":
        return [(m, decide(m.applied.limit, m.estimate, gate.level, by=gate.decide), None) for m in together]
    defined = [member for member in together if member.estimate.defined]
    asked = [partial(settled_at, member.applied.limit, member.estimate) for member in defined]
    levels = dict(zip(map(id, defined), decision_levels(asked, gate.level, gate.corrected), strict=True))
    within = {factor: level for factor, level in given.items() if factor not in NOT_FACTORS}
    within |= {factor: together[0].subject[factor] for factor in gate.corrected_within if factor in together[0].subject}
    family = Family(
        name=gate.family,
        within=within,
        correction=gate.corrected,
        members=len(defined),
        undefined=len(together) - len(defined),
    )
    shown = None if gate.corrected == "none" else family
    return [(m, decide(m.applied.limit, m.estimate, levels.get(id(m), gate.level)), shown) for m in together]


def _about(
    name: str, gate: Gate, measured: Estimate | Estimates, subject: Mapping[str, str]
) -> list[tuple[dict[str, str], Estimate]]:
    """Each estimate with its full subject: what was given, and what it was measured by."""
    if isinstance(measured, Estimate):
        if gate.corrected != "none":
            raise GatesError(
                f"gate {name} corrects over the family {gate.family}, and one lone estimate arrived: hand it all the "
                f"metric's Estimates, or drop the family of [{name}]"
            )
        return [(dict(subject), measured)]
    if not isinstance(measured, Estimates):
        raise GatesError(f"gate {name} decides an Estimate or Estimates; it was given {type(measured).__name__}")
    if not measured:
        raise GatesError(f"gate {name} was given nothing to decide: the measure found no ({', '.join(measured.by)})")
    if twice := [key for key in measured.by if key in subject]:
        raise GatesError(
            f"gate {name}: what was measured is by ({', '.join(measured.by)}), and each member has a verdict of its "
            f"own; leave {', '.join(twice)} out of the subject, e.g. gate({name!r}, estimates)"
        )
    return [({**subject, **names}, estimate) for names, estimate in members(measured)]
