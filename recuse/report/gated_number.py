"""One number of results.json: an estimate, with the verdict on it where a gate judged it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from recuse.report.lexicon import Lexicon, Measure, plain_name
from recuse.schema.details import Kind, detail_as
from recuse.schema.number_text import is_number
from recuse.schema.verdict_rows import AcceptanceRow, EstimateRow, LimitRow, RemedyRow, VerdictRow
from recuse.schema.vocabulary import ACCEPTED, ACCEPTED_DOUBT, ACCEPTED_FAULT, NOT_MEASURED, UNDECIDED

_PLAIN = Lexicon()
_PLACE = ("task", "panel", "protocol")


@dataclass(frozen=True)
class Number:
    """One estimate, with the verdict on it where a gate judged it."""

    question: str
    subject: Mapping[str, str]
    estimate: EstimateRow
    verdict: VerdictRow | None = None
    lexicon: Lexicon = field(default=_PLAIN, repr=False, compare=False)

    @property
    def metric(self) -> str:
        """The measure's identifier."""
        return str(self.estimate.get("metric", ""))

    @property
    def measure(self) -> Measure:
        """How its measure is spoken of."""
        return self.lexicon.measure(self.metric)

    @property
    def value(self) -> float | None:
        """Its value; None where it is undefined."""
        return self.estimate.get("value")

    @property
    def low(self) -> float | None:
        """The lower end of its interval; None where there is none."""
        return self.estimate.get("low")

    @property
    def high(self) -> float | None:
        """The upper end of its interval; None where there is none."""
        return self.estimate.get("high")

    @property
    def detail(self) -> Mapping[str, object]:
        """What its measure says besides the number."""
        return self.estimate.get("detail") or {}

    def detail_as(self, kind: type[Kind]) -> Kind:
        """Its detail as of a kind that its metric has (`recuse.schema.details`)."""
        return detail_as(kind, self.detail)

    @property
    def amount(self) -> float:
        """Its value, for arithmetic on numbers that have one; NaN where it is undefined."""
        return math.nan if self.value is None else self.value

    @property
    def side_of_zero(self) -> str:
        """Where its whole interval lies: "above" or "below" zero, "" where it holds zero or there is none."""
        if not (is_number(self.low) and is_number(self.high)):
            return ""
        return "above" if self.low > 0 else "below" if self.high < 0 else ""

    @property
    def gate(self) -> str:
        """The gate that judged it; "" where none did."""
        return str(self.verdict["gate"]) if self.verdict else ""

    @property
    def gate_title(self) -> str:
        """What the gate is called in tables: its label where the gates file gives one."""
        return (self.verdict.get("label") if self.verdict else "") or plain_name(self.gate)

    @property
    def outcome(self) -> str:
        """The identifier of its outcome; "" without a gate."""
        return str(self.verdict["outcome"]) if self.verdict else ""

    @property
    def state(self) -> str:
        """The outcome as the report shows it: an accepted one is a fault outside its limit, or a doubt."""
        if self.outcome != ACCEPTED:
            return self.outcome
        known = self.accepted_fault
        doubt = known is not None and known["otherwise"] in (UNDECIDED, NOT_MEASURED)
        return ACCEPTED_DOUBT if doubt else ACCEPTED_FAULT

    @property
    def remedy(self) -> RemedyRow | None:
        """What to do about its verdict; None for a pass."""
        return self.verdict.get("remedy") if self.verdict else None

    @property
    def accepted_fault(self) -> AcceptanceRow | None:
        """The accepted fault that covers it, as its verdict met it."""
        return self.verdict.get("accepted_fault") if self.verdict else None

    @property
    def limit(self) -> LimitRow:
        """The limit that its gate applied; empty without a gate."""
        return (self.verdict.get("limit") if self.verdict else None) or {}

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Where its measure ends: where its description says, else, in points, at the width of the scale."""
        points = self.lexicon.points(self.subject.get("task", "")) if self.estimate.get("unit") == "points" else None
        return self.measure.ends or (None if points is None else (-points if self.measure.signed else 0.0, points))

    @cached_property
    def who(self) -> str:
        """Whom the number is about: the judge, or what stands in its place; "" for the panel as a whole."""
        return next((self.subject[key] for key in ("judge", "author", "model", "target") if key in self.subject), "")

    @cached_property
    def factors(self) -> dict[str, str]:
        """What tells this number apart besides task, panel and whom it is about."""
        about = {*_PLACE, *(k for k, v in self.subject.items() if v == self.who)}
        names = sorted(set(self.subject) - about, key=self.lexicon.factor_order)
        return {name: self.subject[name] for name in names}

    @property
    def level_places(self) -> list[tuple[int, str]]:
        """Where its factor levels stand among all levels."""
        return [self.lexicon.level_order(factor, level) for factor, level in self.factors.items()]

    @property
    def circumstances(self) -> str:
        """The factors in plain words: "names hidden, divisor n"; "" if there are none."""
        return self.circumstances_but()

    def circumstances_but(self, *told: str) -> str:
        """The same without the factors that are `told` elsewhere."""
        return ", ".join(self.lexicon.level(name, level) for name, level in self.factors.items() if name not in told)

    @property
    def units(self) -> str:
        """What its n counts, in the plural: "stories", "items"."""
        return str(self.estimate.get("clusters") or self.estimate.get("over") or "")


def varied(numbers: Sequence[Number]) -> str:
    """The factor, first in order, that tells numbers about the same judge apart; "" where none does."""
    levels: dict[tuple[str, str], set[str]] = {}
    for n in numbers:
        for factor, level in n.factors.items():
            levels.setdefault((factor, n.who), set()).add(level)
    lexicon = next((n.lexicon for n in numbers), _PLAIN)
    factors = {factor for (factor, _), values in levels.items() if len(values) > 1}
    return min(factors, key=lexicon.factor_order, default="")
