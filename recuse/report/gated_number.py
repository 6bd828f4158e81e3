"""One number of results.json: an estimate, with the verdict on it where a gate judged it, and how it is written; and
what results call things. They hold these words themselves (`measures`, `factors`, `tasks`), so old ones are drawn in
the words of their own time. Whatever is not described is called by its name."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, cast

from recuse.schema import number_text
from recuse.schema.number_text import MINUS, is_number
from recuse.schema.results import UNDESCRIBED, MeasureRow, Results
from recuse.schema.verdict_rows import AcceptanceRow, Detail, EstimateRow, Kind, LimitRow, RemedyRow, VerdictRow
from recuse.schema.vocabulary import ACCEPTED, ACCEPTED_DOUBT, ACCEPTED_FAULT, GREEN, NOT_MEASURED, UNDECIDED


class Lexicon:
    """The words of one results.json, looked up by name."""

    def __init__(self, results: Results | None = None) -> None:
        held: Results = results or {}
        self._measures = held.get("measures") or {}
        factors, tasks = held.get("factors") or (), held.get("tasks") or ()
        self._levels = {of["name"]: {level["name"]: level["words"] for level in of["levels"]} for of in factors}
        self.criteria = {task["name"]: list(task["criteria"]) for task in tasks}
        """Task -> its criteria, those that stand for a judgement as a whole first."""
        self.points = {task["name"]: task.get("points") for task in tasks}
        """Task -> how many points its widest scale has; None where it has none."""
        self.simulated = frozenset(task["name"] for task in tasks if task.get("people_simulated"))
        """Tasks whose people come out of a model."""

    def measure(self, name: str) -> MeasureRow:
        """How a measure is spoken of (`recuse.metrics.measure`); by its name where it is not described."""
        about = self._measures.get(name, UNDESCRIBED)
        return {**UNDESCRIBED, **about, "title": about.get("title") or plain_name(name)}

    def level(self, factor: str, level: str) -> str:
        """ "names hidden"; a level that is not described with its factor, "divisor n"."""
        return self._levels.get(factor, {}).get(level) or plain_name(f"{factor} {level}".strip())

    def factor_order(self, factor: str) -> tuple[int, str]:
        """Described factors in their order, others behind them by name."""
        return place_in(list(self._levels), factor)

    def level_order(self, factor: str, level: str) -> tuple[int, str]:
        """Described levels in their order (the ordinary case before its contrast), others behind them by name."""
        return place_in(list(self._levels.get(factor, {})), level)


def plain_name(identifier: str) -> str:
    """ "reported_total" -> "reported total"."""
    return identifier.replace("_", " ")


def place_in(known: Sequence[str], name: str) -> tuple[int, str]:
    """Where a name stands among the known ones, for sorting; others behind them, by name."""
    return (known.index(name) if name in known else len(known), name)


_PLAIN = Lexicon()


class Number:
    """One estimate, with the verdict on it where a gate judged it."""

    def __init__(
        self, question: str, subject: Mapping[str, str], estimate: EstimateRow, verdict: VerdictRow | None = None,
        lexicon: Lexicon = _PLAIN,
    ) -> None:  # fmt: skip
        self.question, self.subject, self.estimate = question, subject, estimate
        self.verdict, self.lexicon = verdict, lexicon
        self.metric = str(estimate.get("metric", ""))
        self.value, self.low, self.high = estimate.get("value"), estimate.get("low"), estimate.get("high")
        self.amount = math.nan if self.value is None else self.value  # for arithmetic on numbers that have one
        self.unit = str(estimate.get("unit") or "")  # "" for a plain number
        self.units = str(estimate.get("clusters") or estimate.get("over") or "")  # what its n counts, in the plural
        self.detail: Detail = estimate.get("detail") or {}  # what its measure says besides the number
        row: Any = verdict or {}
        self.gate, self.outcome = str(row.get("gate", "")), str(row.get("outcome", ""))
        self.gate_title = str(row.get("label") or plain_name(self.gate))
        self.reason = str(row.get("reason") or "")  # why the gate is there
        self.limit = cast("LimitRow", row.get("limit") or {})
        self.remedy: RemedyRow | None = row.get("remedy")  # none for a pass
        self.accepted_fault: AcceptanceRow | None = row.get("accepted_fault")  # that covers it, as its verdict met it

    @cached_property
    def measure(self) -> MeasureRow:
        """How its measure is spoken of."""
        return self.lexicon.measure(self.metric)

    def detail_as(self, kind: type[Kind]) -> Kind:
        """Its detail as of a kind that its metric has (`recuse.schema.verdict_rows`)."""
        return cast("Kind", self.detail)

    def entries(self, name: str) -> list[Any]:
        """The list that its detail holds under a name; empty without one."""
        held = self.detail.get(name)
        return held if isinstance(held, list) else []

    @property
    def side_of_zero(self) -> str:
        """Where its whole interval lies: "above" or "below" zero, "" where it holds zero or there is none."""
        if not (is_number(self.low) and is_number(self.high)):
            return ""
        return "above" if self.low > 0 else "below" if self.high < 0 else ""

    @property
    def state(self) -> str:
        """The outcome as the report shows it: an accepted one is a fault outside its limit, or a doubt."""
        if self.outcome != ACCEPTED:
            return self.outcome
        fault = self.accepted_fault
        return ACCEPTED_DOUBT if fault and fault["otherwise"] in (UNDECIDED, NOT_MEASURED) else ACCEPTED_FAULT

    @property
    def is_tolerated(self) -> bool:
        """Whether the run may stay green on its verdict's account."""
        return self.outcome in (*GREEN, "") or bool(self.verdict and self.verdict.get("allowed"))

    @property
    def is_let_through(self) -> bool:
        """Whether it is tolerated though neither passed nor accepted: of no stated use, or undecided and allowed so."""
        return self.is_tolerated and self.outcome not in (*GREEN, "")

    @property
    def finding(self) -> str:
        """What is wrong, in whole sentences; "" for a pass."""
        return (self.remedy.get("finding") if self.remedy else "") or self.why_undefined

    @property
    def limit_ends(self) -> tuple[float | None, float | None]:
        """The least and the most that its gate allows; None where it sets none."""
        least, most = self.limit.get("within") or (self.limit.get("at_least"), self.limit.get("at_most"))
        return least, most

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Where its measure ends: where its description says, else, in points, at the width of the scale."""
        points = self.lexicon.points.get(self.subject.get("task", "")) if self.unit == "points" else None
        low, high = self.measure["ends"] or (None, None)
        if low is not None and high is not None:
            return low, high
        return None if points is None else (-points if self.measure["signed"] else 0.0, points)

    @cached_property
    def who(self) -> str:
        """Whom the number is about: the judge, or what stands in its place; "" for the panel as a whole."""
        return next((self.subject[key] for key in ("judge", "author", "model", "target") if key in self.subject), "")

    @cached_property
    def about(self) -> tuple[tuple[str, str], ...]:
        """Its whole subject, to tell numbers apart by."""
        return tuple(sorted(self.subject.items()))

    @cached_property
    def factors(self) -> dict[str, str]:
        """What tells this number apart besides task, panel and whom it is about."""
        about = {"task", "panel", "protocol", *(k for k, v in self.subject.items() if v == self.who)}
        return {name: self.subject[name] for name in sorted({*self.subject} - about, key=self.lexicon.factor_order)}

    @property
    def level_places(self) -> list[tuple[int, str]]:
        """Where its factor levels stand among all levels."""
        return [self.lexicon.level_order(factor, level) for factor, level in self.factors.items()]

    @property
    def circumstances(self) -> str:
        """The factors in plain words: "names hidden, divisor n"; "" if there are none."""
        return self.circumstances_but()

    def circumstances_but(self, *shown: str) -> str:
        """The same without the factors that are `shown` elsewhere."""
        return ", ".join(self.lexicon.level(name, level) for name, level in self.factors.items() if name not in shown)

    # -- how it is written, in its unit

    @property
    def is_signed(self) -> bool:
        """Whether a plus sign tells something: a bias, or a gate with room on both sides of zero."""
        within = self.limit.get("within")
        return self.measure["signed"] or bool(within and within[0] < 0)

    def text(self, decimals: int | None = None, minus: str = MINUS) -> str:
        """ "+0.77", "93 %", "3"; "undefined" where there is no number."""
        return number_text.value_text(self.estimate, decimals, signed=self.is_signed, minus=minus)

    def spread(self, minus: str = MINUS, *, signed: bool | None = None) -> str:
        """Its interval, "+0.64 to +0.90"; "" where none is known."""
        plus = self.is_signed if signed is None else signed
        return number_text.interval_text(self.estimate, signed=plus, minus=minus)

    def with_interval(self, minus: str = MINUS) -> str:
        """Both: "+0.77 (+0.64 to +0.90)"."""
        return number_text.with_interval(self.estimate, signed=self.is_signed, minus=minus)

    @property
    def limit_text(self) -> str:
        """The limit of its gate in a few characters, in the unit of the number: "±0.5", "≥ 95 %"; "" without."""
        share = self.unit in number_text.SHARES
        text = number_text.limit(self.limit, times=100 if share else 1)
        return f"{text} %" if share and text else text

    @property
    def why_undefined(self) -> str:
        """What the measure says of a number it could not give, "undefined: no reply"; "" where it gave one."""
        return "" if is_number(self.value) else str(self.estimate.get("note") or "undefined")


def without_twins(numbers: Iterable[Number]) -> list[Number]:
    """The numbers, but for those that stand there with a verdict too."""
    every = list(numbers)
    gated = {(n.metric, n.about) for n in every if n.verdict}
    return [n for n in every if n.verdict or (n.metric, n.about) not in gated]


def varied(numbers: Sequence[Number]) -> str:
    """The factor, first in order, that tells numbers about the same judge apart; "" where none does."""
    levels = {(n.who, *of) for n in numbers for of in n.factors.items()}
    often = Counter((factor, who) for who, factor, _ in levels)
    lexicon = next((n.lexicon for n in numbers), _PLAIN)
    return min((factor for (factor, _), n in often.items() if n > 1), key=lexicon.factor_order, default="")
