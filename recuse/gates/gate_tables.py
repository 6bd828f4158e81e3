"""What a gates file may say: a gate, its limit for one task, an accepted failure, and what a judge is used for; beside
each key, what is expected."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Annotated, Literal, cast

from pydantic import Field, StringConstraints, field_validator, model_validator

from recuse.configuration.toml_files import ConfigurationError, Table, TomlFile, did_you_mean
from recuse.gates.limits import LIMIT_KINDS, GatesError, Limit
from recuse.schema.verdict_rows import AcceptedRow
from recuse.schema.vocabulary import NOT_MEASURED, UNDECIDED, Acceptable

Finite = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
WITHIN = "two finite numbers, the lower first, e.g. within = [-0.5, 0.5]"
EXAMPLES = {"because": 'because = "..."', "until": "until = 2027-12-31"}
EVERY_GATE = "every gate"  # the one use of a gates file that names none
STUDY = "none"  # what a panel states that is measured only: nobody in it is cleared or refused
ACCEPTED, RUN, USE = "accepted", "run", "use"


class LimitTable(Table, strict=False):
    """The keys that state a limit."""

    within: tuple[Finite, Finite] | None = Field(None, description=WITHIN)
    at_least: Finite | None = Field(None, description="a finite number, e.g. at_least = 0.5")
    at_most: Finite | None = Field(None, description="a finite number, e.g. at_most = 0.5")
    of_range: bool = Field(
        False, strict=True, description="true where the limit's numbers are shares of the scale's range, else false"
    )

    @field_validator("within")
    @classmethod
    def _in_order(cls, bounds: tuple[float, float] | None) -> tuple[float, float] | None:
        if bounds is not None and not bounds[0] < bounds[1]:
            raise ValueError(f"must be {WITHIN}; it is {list(bounds)}")
        return bounds

    @property
    def limits(self) -> list[str]:
        """Which of within, at_least and at_most the table states."""
        return [kind for kind in LIMIT_KINDS if getattr(self, kind) is not None]

    @property
    def limit(self) -> Limit | None:
        """The limit as the file tells it; None where the table states none."""
        return self.bound if self.limits else None

    @property
    def bound(self) -> Limit:
        """The limit as the file tells it, in a table that must have one."""
        return Limit.of({kind: getattr(self, kind) for kind in self.limits})

    def _needs_one_limit(self) -> None:
        if len(self.limits) != 1:
            has = " and ".join(self.limits) or "none"
            raise ValueError(f"needs exactly one limit, within, at_least or at_most; it has {has}")


class LimitElsewhere(LimitTable):
    """[[<gate>.on]]: another limit for one task, panel or protocol."""

    task: Text | None = Field(None, description='the name of a task, e.g. task = "headlines"')
    panel: Text | None = Field(None, description='the name of a panel, e.g. panel = "published"')
    protocol: Text | None = Field(None, description='the name of a protocol, e.g. protocol = "rubric"')
    reason: Text = Field(description="a text that says why the limit is another one here, with its source")

    @model_validator(mode="after")
    def _says_where(self) -> LimitElsewhere:
        self._needs_one_limit()
        if not self.where:
            raise ValueError('says nowhere to apply: name task, panel or protocol, e.g. task = "headlines"')
        return self

    @property
    def where(self) -> dict[str, str]:
        """Task, panel and protocol, as far as they are named."""
        names = {"task": self.task, "panel": self.panel, "protocol": self.protocol}
        return {name: value for name, value in names.items() if value is not None}


class RunTable(Table, strict=False):
    """[run]: what holds for all gates together."""

    false_fail: float = Field(0.05, strict=True, gt=0, lt=0.5,
                              description="a number between 0 and 0.5, e.g. false_fail = 0.05")  # fmt: skip


class Gate(LimitTable):
    """One limit, how it is decided, and its share of the run's error rate."""

    decide: Literal["interval", "point"] = Field(
        "interval", description='"interval" (the whole interval must satisfy the limit) or "point" (the value alone)'
    )
    level: float = Field(0.95, strict=True, gt=0, lt=1, description="a number between 0 and 1, e.g. level = 0.95")
    weight: float = Field(1.0, strict=True, gt=0, allow_inf_nan=False, description="a number above 0, e.g. weight = 2")
    together: Text | None = Field(
        None, description='a name for gates that are decided together for one conclusion, e.g. together = "upgrade"'
    )
    undecided: Literal["fail", "allow"] | None = Field(None, description='"fail" or "allow"')
    because: Text | None = Field(None, description="a text that says why undecided is allowed")
    until: date | None = Field(None, description="the last day on which undecided is allowed, e.g. until = 2027-12-31")
    tolerance: float | None = Field(
        None, strict=True, ge=0, allow_inf_nan=False, description="a finite number from 0, e.g. tolerance = 0.05"
    )
    against: Literal["people", "peers"] = Field(
        "people", description='"peers" where a judge is compared with other judges: such a gate refuses nobody'
    )
    label: Text | None = Field(None, description='a short text, e.g. label = "own work"')
    reason: Text = Field(description="a text that says why the limit is where it is, with its source")
    on: tuple[LimitElsewhere, ...] = Field(
        (), description="tables [[<gate>.on]], each with task, panel or protocol, a limit and a reason"
    )

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Gate:
        self._needs_one_limit()
        if self.decide == "point" and self.undecided is not None:
            either = "a value either satisfies the limit or does not"
            raise ValueError(f'undecided has no effect with decide = "point", for {either}; drop it')
        if self.decide == "point" and self.weight != 1:
            raise ValueError('weight has no effect with decide = "point", whose error rate nobody knows; drop it')
        lacking = [key for key in EXAMPLES if getattr(self, key) is None]
        if self.undecided == "allow" and lacking:
            needs = 'undecided = "allow" lets a judge through for lack of data, so it needs a reason and a last day'
            raise ValueError(f"{needs}; add {' and '.join(EXAMPLES[key] for key in lacking)}, or drop it")
        if self.undecided != "allow" and len(lacking) < len(EXAMPLES):
            given = " and ".join(key for key in EXAMPLES if key not in lacking)
            raise ValueError(f'{given} says why and how long undecided = "allow" holds, which is not given; drop it')
        for pair in combinations([one.where for one in self.on], 2):  # neither is the narrower
            if len(pair[0]) == len(pair[1]) and all(pair[0].get(k, v) == v for k, v in pair[1].items()):
                both = "; ".join(", ".join(f"{k} = {v}" for k, v in where.items()) for where in pair)
                step = "name more in one of them, and the narrower one applies"
                raise ValueError(f"two of its limits could apply to one verdict ({both}): {step}")
        return self

    def allowance_expired(self, today: date) -> bool:
        """Whether undecided was allowed until a day that has passed: `until` is the last on which it is."""
        return self.until is not None and today > self.until


class Accept(LimitTable):
    """What an accepted failure allows: a wider limit, outcomes, or, with both, these outcomes within that limit."""

    outcome: tuple[Acceptable, ...] = Field(
        (), description='a list of "fail", "undecided" and "not measured", e.g. outcome = ["undecided"]'
    )

    @model_validator(mode="after")
    def _accepts_something(self) -> Accept:
        if len(self.limits) > 1 or not (self.limits or self.outcome):
            has = " and ".join(self.limits) or "nothing"
            raise ValueError(f"needs one limit of the gate's kind, outcome, or both; it has {has}")
        if self.limits and NOT_MEASURED in self.outcome:
            raise ValueError('what is "not measured" has no value that could lie within a limit; drop one of the two')
        return self

    def mapping(self) -> AcceptedRow:
        """As builtins, for the verdict."""
        accepted = cast("AcceptedRow", self.limit.mapping() if self.limit else {})
        return {**accepted, "outcome": list(self.outcome)} if self.outcome else accepted

    def __str__(self) -> str:
        outcome = f"outcome {' or '.join(self.outcome)}" if self.outcome else ""
        return ", with ".join(part for part in (str(self.limit or ""), outcome) if part)


class AcceptedFault(Table, strict=False):
    """[[accepted]]: a known fault of named judges, accepted up to a bound and a date."""

    gate: Text = Field(description='the name of a gate in this file, e.g. gate = "self_bias"')
    subject: Annotated[dict[str, Text | Annotated[tuple[Text, ...], Field(min_length=1)]], Field(min_length=1)] = Field(
        description="names and values of what the verdict is about, "
        'e.g. subject = { panel = "published", judge = ["x", "y"], names = "shown" }'
    )
    accept: Accept = Field(
        description="a limit of the gate's kind, e.g. accept = { within = [-0.5, 0.9] }, or outcomes, "
        'e.g. accept = { outcome = ["not measured"] }, or both'
    )
    until: date = Field(description="a date, e.g. until = 2027-12-31")
    reason: Text = Field(description="a text that says what is known, and from where")

    @field_validator("accept")
    @classmethod
    def _in_own_units(cls, accept: Accept) -> Accept:
        if accept.of_range:
            raise ValueError("is told in the measure's own unit; write the numbers the verdict shows, without of_range")
        return accept

    @property
    def doubt(self) -> bool:
        """Accepts what is not known and no fault. New answers may settle it and unsettle it again: a pass is a pass."""
        return bool(self.accept.outcome) and "fail" not in self.accept.outcome

    def covers(self, subject: Mapping[str, str]) -> bool:
        """Every name the accepted failure gives is in the subject, with one of the accepted failure's values."""
        return all(name in subject and subject[name] in self.values(name) for name in self.subject)

    def values(self, name: str) -> tuple[str, ...]:
        """The values that the fault names, one or several, always as a tuple."""
        given = self.subject[name]
        return (given,) if isinstance(given, str) else given

    def overlaps(self, other: AcceptedFault) -> bool:
        """Some subject could be covered by both: no name in common keeps them apart."""
        shared = self.subject.keys() & other.subject.keys()
        return self.gate == other.gate and all(set(self.values(name)) & set(other.values(name)) for name in shared)

    def expired(self, today: date) -> bool:
        """`until` is the last day on which the accepted failure holds."""
        return today > self.until

    @property
    def described(self) -> str:
        """ "panel = published, judge = a | b": whom it is about."""
        return ", ".join(f"{name} = {' | '.join(self.values(name))}" for name in self.subject)


class UseTable(Table, strict=False):
    """[use.<name>]: a purpose, and the gates that decide whether a judge serves it.

        [use.grade]
        of = ["scores"]                                # offered by ratings that meet all of these needs ("a | b": one)
        yardstick = ["human_ceiling"]                  # one of these must be measured, or nobody is cleared
        decides = ["human_offset", "unanswered"]       # these must pass as well, wherever they can be asked

    A gate that no use names is a condition on every use wherever a panel probes it (injected text, a turned scale). A
    gates file without uses has one, `EVERY_GATE`: all of its gates decide."""

    of: tuple[str, ...] = Field(
        (),
        description='needs that ratings must offer to be used so, e.g. of = ["scores", "people | reference"], '
        "where one of several is enough; without it, where stated",
    )
    question: str = Field("", description="what a team does with the judge, as a clause")
    yardstick: tuple[str, ...] = Field(
        (), description='gates of which one must be measured for anybody to be cleared, e.g. yardstick = ["accuracy"]'
    )
    decides: tuple[str, ...] = Field((), description='gates that must pass too, e.g. decides = ["unanswered"]')

    @property
    def gates(self) -> tuple[str, ...]:
        """All gates that decide, in file order, each once."""
        return tuple(dict.fromkeys((*self.yardstick, *self.decides)))


@dataclass(frozen=True, slots=True)
class Uses:
    """Of a panel or file: uses that it states, by which a run is green, and `further` ones that it offers."""

    stated: tuple[str, ...]
    further: tuple[str, ...] = ()
    offers: frozenset[str] = field(default=frozenset(), repr=False, compare=False)  # needs that its ratings meet

    @property
    def every(self) -> tuple[str, ...]:
        """Those stated, then the others."""
        return (*self.stated, *self.further)


def uses_for(
    stated: Sequence[str] | None, offers: Iterable[Collection[str]], uses: Mapping[str, UseTable], place: str
) -> Uses:
    """What a panel's judges are used for: as `stated`, or else the first use of the file that its ratings offer.
    `offers`: of each elicitation, the needs that its ratings meet. Raises `GatesError` naming `place` for a use that
    the gates file does not have.

    >>> grade = UseTable(of=("scores",), yardstick=("agreement",))
    >>> uses_for(None, [{"scores", "people"}], {"grade": grade}, "p").stated
    ('grade',)
    >>> uses_for(["none"], [{"scores"}], {"grade": grade}, "p")
    Uses(stated=(), further=())
    """
    if stated and STUDY in stated:
        return Uses(())
    if unknown := [name for name in stated or () if name not in (uses or (EVERY_GATE,))]:
        fault = f"{place}: there is no use {unknown[0]!r} in the gates file.{did_you_mean(unknown[0], uses)}"
        step = f"Name one of them, add a table [use.{unknown[0]}], or say {STUDY!r} for a study"
        raise GatesError(f"{fault} It has: {', '.join(uses) or 'none'}. {step}")
    if not uses:
        return Uses((EVERY_GATE,))
    every = [set(one) for one in offers]
    needs = {name: [set(need.split(" | ")) for need in use.of] for name, use in uses.items() if use.of}
    offered = [name for name, of in needs.items() if any(all(need & one for need in of) for one in every)]
    chosen = tuple(stated or offered[:1])
    further = tuple(name for name in offered if name not in chosen) if chosen else ()
    return Uses(chosen, further, frozenset().union(*every))


def read(path: Path) -> tuple[dict[str, Gate], tuple[AcceptedFault, ...], RunTable, dict[str, UseTable]]:
    """The gates by name, the accepted failures and the uses, in file order, and what holds for the run as a whole.
    Raises `ConfigurationError` with all faults at once."""
    if not path.exists():
        raise ConfigurationError(
            f"{path}: no such file; a gates file holds every limit: start one with a table such as\n"
            '  [self_bias]\n  within = [-0.5, 0.5]\n  reason = "why half a point, and from where"'
        )
    file = TomlFile(path)
    names = [name for name in file.data if name not in (ACCEPTED, RUN, USE)]
    gates = {name: gate for name in names if (gate := file.parse(Gate, name)) is not None}
    tables = file.data.get(ACCEPTED, [])
    if not isinstance(tables, list):
        file.fault((ACCEPTED,), "write accepted failures as [[accepted]], with double brackets; there may be several")
        tables = []
    parsed = [(i, file.parse(AcceptedFault, ACCEPTED, i)) for i in range(len(tables))]
    accepted_faults = {i: one for i, one in parsed if one is not None}
    run = file.parse(RunTable, RUN) if RUN in file.data else RunTable.model_validate({})
    _check_accepted(file, names, gates, accepted_faults)
    uses = _uses(file, names)
    file.check()
    assert run is not None
    return gates, tuple(accepted_faults.values()), run, uses


def _uses(file: TomlFile, names: list[str]) -> dict[str, UseTable]:
    tables = file.data.get(USE, {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        file.fault((USE,), "write a use as a table with its name, such as [use.grade]")
        return {}
    uses = {name: use for name in tables if (use := file.parse(UseTable, USE, name)) is not None}
    for name, use in uses.items():
        for gate in (gate for gate in use.gates if gate not in names):
            file.fault((USE, name), f"{_no_gate(gate, names)} It has: {', '.join(sorted(names)) or 'none'}")
    return uses


def _no_gate(gate: str, names: list[str]) -> str:
    return f"there is no gate {gate} in this file.{did_you_mean(gate, names)}"


def _check_accepted(file: TomlFile, names: list[str], gates: dict[str, Gate], faults: dict[int, AcceptedFault]) -> None:
    """Faults of accepted failures for gates that are not there, and of those that could never accept anything."""
    for i, one in faults.items():
        limit, name = one.accept.limit, one.gate
        if name not in names:
            known = ", ".join(sorted(names)) or "none"
            file.fault((ACCEPTED, i, "gate"), f"{_no_gate(name, names)} Gates here: {known}")
        if gate := gates.get(name):
            place, stated = (ACCEPTED, i, "accept"), [gate, *gate.on]
            kinds = dict.fromkeys(limited.bound.kind for limited in stated)
            if limit is not None and limit.kind not in kinds:
                kind = " or ".join(kinds)
                takes = f"the gate {name} has {kind}, so the accepted failure takes a wider {kind}"
                file.fault(place, f"{takes}; it has {limit.kind}")
            # a limit of the scale's range is compared once the scale is known
            elif limit is not None and not any(on.of_range or limit.reaches_beyond(on.bound) for on in stated):
                beyond = f"{limit} does not reach beyond the gate's own limit, {gate.bound}"
                file.fault(place, f"{beyond}, so it accepts nothing: delete it")
            if UNDECIDED in one.accept.outcome and gate.decide == "point":
                never = f"the gate {name} decides on the value alone and is never undecided"
                file.fault(place, f'{never}; accept "fail", "not measured" or a limit')
        for j in (j for j, other in faults.items() if j < i and one.overlaps(other)):
            file.fault((ACCEPTED, i), (
                f"overlaps {ACCEPTED}[{j}]: both could cover the same {name} verdict ({one.described}; "
                f"{faults[j].described}). Give both the same name with different values, for example panel, or merge "
                "them"
            ))  # fmt: skip
