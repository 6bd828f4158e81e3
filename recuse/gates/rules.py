"""What a gates file may say: one gate, one accepted fault. Each model knows how its keys are described to people."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from recuse.gates.limits import LIMIT_KINDS, Limit
from recuse.statistics.multiplicity import Correction

__all__ = ["EXPECTED", "Accept", "Gate", "Accepted fault"]

EXPECTED: Mapping[str, str] = {
    "within": "two finite numbers, the lower first, e.g. within = [-0.5, 0.5]",
    "at_least": "a finite number, e.g. at_least = 0.5",
    "at_most": "a finite number, e.g. at_most = 0.5",
    "decide": '"interval" (the whole interval must satisfy the limit) or "point" (the value alone)',
    "level": "a number between 0 and 1, e.g. level = 0.95",
    "family": 'a name for the tests corrected together, e.g. family = "merchant_risk.self_bias"',
    "correction": '"holm", "bonferroni" or "none"',
    "undecided": '"fail" or "allow"',
    "tolerance": "a finite number from 0, e.g. tolerance = 0.05",
    "label": 'a short text, e.g. label = "own work"',
    "reason": "a text that says why the limit is where it is, with its source",
    "gate": 'the name of a gate in this file, e.g. gate = "self_bias"',
    "subject": 'names and values of what the verdict is about, e.g. subject = { panel = "published", judge = "x" }',
    "accept": 'a limit of the gate\'s kind, e.g. accept = { within = [-0.5, 0.9] }, or { outcome = ["not measured"] }',
    "outcome": 'a list of "not measured" and "undecided"',
    "until": "a date, e.g. until = 2027-12-31",
}
"""Per key, what is expected there: the second half of every error text."""


def fault(text: str) -> PydanticCustomError:
    """A fault told in our own words; `reading.py` prints the text as it stands."""
    return PydanticCustomError("recuse", "{text}", {"text": text})


def _filled(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "blank")
    return text.strip()


Finite = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Text = Annotated[str, AfterValidator(_filled)]


class _LimitKeys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    within: tuple[Finite, Finite] | None = None
    at_least: Finite | None = None
    at_most: Finite | None = None

    @field_validator("within")
    @classmethod
    def _in_order(cls, bounds: tuple[float, float] | None) -> tuple[float, float] | None:
        if bounds is not None and not bounds[0] < bounds[1]:
            raise PydanticCustomError("order", "order")
        return bounds

    @property
    def limits(self) -> list[str]:
        return [kind for kind in LIMIT_KINDS if getattr(self, kind) is not None]

    @property
    def limit(self) -> Limit | None:
        return Limit.of({kind: getattr(self, kind) for kind in self.limits}) if self.limits else None


class Gate(_LimitKeys):
    """One limit and how it is decided."""

    decide: Literal["interval", "point"] = "interval"
    level: Annotated[float, Field(strict=True, gt=0, lt=1)] = 0.95
    family: Text | None = None
    correction: Correction | None = None
    undecided: Literal["fail", "allow"] | None = None
    tolerance: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] | None = None
    label: Text | None = None
    reason: Text

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Gate:
        if len(self.limits) != 1:
            has = " and ".join(self.limits) or "none"
            raise fault(f"needs exactly one limit, {_either(LIMIT_KINDS)}; it has {has}")
        if self.correction is not None and self.family is None:
            raise fault('correction needs the family it corrects over, e.g. family = "merchant_risk.self_bias"')
        if self.decide == "point":
            for key, why in (
                ("family", "families are corrected by widening intervals"),
                ("undecided", "a value either satisfies the limit or does not"),
            ):
                if getattr(self, key) is not None:
                    raise fault(f'{key} has no effect with decide = "point": {why}; drop it or decide = "interval"')
        return self

    @property
    def bound(self) -> Limit:
        """The one limit; there is always one after validation."""
        limit = self.limit
        assert limit is not None
        return limit

    @property
    def corrected(self) -> Correction:
        return "none" if self.family is None else self.correction or "holm"

    @property
    def allows_undecided(self) -> bool:
        return self.undecided == "allow"


class Accept(_LimitKeys):
    """What an accepted fault puts up with: a wider limit, or outcomes that come without a usable number."""

    outcome: tuple[Literal["not measured", "undecided"], ...] = ()

    @model_validator(mode="after")
    def _accepts_something(self) -> Accept:
        if len(self.limits) > 1 or not (self.limits or self.outcome):
            has = " and ".join(self.limits) or "nothing"
            raise fault(f"accept needs one limit of the gate's kind, or outcome; it has {has}. {EXPECTED['accept']}")
        return self

    def mapping(self) -> dict[str, object]:
        """As builtins, for the verdict."""
        limit = self.limit
        outcomes: dict[str, object] = {"outcome": list(self.outcome)} if self.outcome else {}
        return (dict(limit.mapping()) if limit else {}) | outcomes

    def __str__(self) -> str:
        parts = [str(self.limit)] if self.limit else []
        return " or ".join([*parts, *(f"outcome {name}" for name in self.outcome)])


class AcceptedFault(BaseModel):
    """A known fault of named judges, accepted up to a bound and a date."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    gate: Text
    subject: Annotated[dict[str, Text | Annotated[tuple[Text, ...], Field(min_length=1)]], Field(min_length=1)]
    accept: Accept
    until: date
    reason: Text

    def covers(self, subject: Mapping[str, str]) -> bool:
        """Every name the accepted fault gives is in the subject, with one of the accepted fault's values."""
        return all(name in subject and subject[name] in self.values(name) for name in self.subject)

    def values(self, name: str) -> tuple[str, ...]:
        given = self.subject[name]
        return (given,) if isinstance(given, str) else given

    def overlaps(self, other: AcceptedFault) -> bool:
        """Some subject could be covered by both: no name in common keeps them apart."""
        shared = self.subject.keys() & other.subject.keys()
        return self.gate == other.gate and all(set(self.values(name)) & set(other.values(name)) for name in shared)

    def expired(self, today: date) -> bool:
        """`until` is the last day on which the accepted fault holds."""
        return today > self.until

    @property
    def described(self) -> str:
        return ", ".join(f"{name} = {' | '.join(self.values(name))}" for name in self.subject)


def _either(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
