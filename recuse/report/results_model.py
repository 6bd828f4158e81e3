"""results.json seen the way the report asks for it: by question, by panel, by judge. Reads, never computes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from recuse.report.lexicon import Lexicon, Measure, plain_name
from recuse.report.numbers import is_number

_PLAIN = Lexicon()
_PLACE = ("task", "panel", "protocol")


@dataclass(frozen=True, slots=True)
class Panel:
    name: str
    provenance: str
    description: str
    judges: tuple[Mapping[str, Any], ...]

    @property
    def judge_names(self) -> list[str]:
        return [judge["name"] for judge in self.judges]


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    title: str
    note: str = ""  # what a reader must know before any number, as "the payments are synthetic"


@dataclass(frozen=True)
class Number:
    """One estimate, with the verdict on it where a gate judged it."""

    question: str
    subject: Mapping[str, str]
    estimate: Mapping[str, Any]
    verdict: Mapping[str, Any] | None = None
    lexicon: Lexicon = field(default=_PLAIN, repr=False, compare=False)

    @property
    def metric(self) -> str:
        return str(self.estimate.get("metric", ""))

    @property
    def measure(self) -> Measure:
        """How its measure is spoken of."""
        return self.lexicon.measure(self.metric)

    @property
    def value(self) -> Any:
        return self.estimate.get("value")

    @property
    def low(self) -> Any:
        return self.estimate.get("low")

    @property
    def high(self) -> Any:
        return self.estimate.get("high")

    @property
    def detail(self) -> Mapping[str, Any]:
        return self.estimate.get("detail") or {}

    @property
    def side_of_zero(self) -> str:
        """Where its whole interval lies: "above" or "below" zero, "" where it holds zero or there is none."""
        if not (is_number(self.low) and is_number(self.high)):
            return ""
        return "above" if self.low > 0 else "below" if self.high < 0 else ""

    @property
    def gate(self) -> str:
        return str(self.verdict["gate"]) if self.verdict else ""

    @property
    def gate_title(self) -> str:
        """What the gate is called in tables: its label where the gates file gives one."""
        return str((self.verdict or {}).get("label") or plain_name(self.gate))

    @property
    def outcome(self) -> str:
        return str(self.verdict["outcome"]) if self.verdict else ""

    @property
    def limit(self) -> Mapping[str, Any]:
        return (self.verdict or {}).get("limit") or {}

    @property
    def who(self) -> str:
        """Whom the number is about: the judge, or what stands in its place; "" for the panel as a whole."""
        return next((self.subject[key] for key in ("judge", "author", "model", "target") if key in self.subject), "")

    @property
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
    factors = {factor for (factor, _), found in levels.items() if len(found) > 1}
    return min(factors, key=lexicon.factor_order, default="")


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What the gates recommend of one judge, and the verdicts it rests on."""

    panel: str
    judge: str
    recommended: str  # "cleared", "undecided" or "not cleared"
    because: tuple[Number, ...]


@dataclass(frozen=True)
class Group:
    """What one question found about one panel on one task: the unit that a report panel draws."""

    view: View
    question: Question
    panel: Panel
    task: str
    protocol: str  # "" unless another group differs from this one by its protocol only
    numbers: tuple[Number, ...]

    @property
    def about(self) -> str:
        """ "merchant risk", "headlines, pairwise"."""
        return ", ".join(plain_name(part) for part in (self.task, self.protocol) if part)

    @property
    def people_simulated(self) -> bool:
        """Whether those whom the task calls people come out of a model."""
        return self.task in self.view.lexicon.simulated

    @property
    def provenance(self) -> str:
        """Where its numbers come from: "recorded", "recorded; people simulated"."""
        known = self.panel.provenance or "provenance unknown"
        return f"{known}; people simulated" if self.people_simulated else known

    def of(self, *metrics: str, **subject: str) -> list[Number]:
        """Numbers of these metrics about this subject, judges in panel order; a gated one hides its ungated twin."""
        found = [n for n in self.numbers if n.metric in metrics and subject.items() <= n.subject.items()]
        gated = {(n.metric, *sorted(n.subject.items())) for n in found if n.verdict}
        kept = [n for n in found if n.verdict or (n.metric, *sorted(n.subject.items())) not in gated]
        return sorted(kept, key=lambda n: (metrics.index(n.metric), self.view.rank(n)))

    def place(self, name: str) -> tuple[int, str]:
        names = self.panel.judge_names
        return (names.index(name) if name in names else len(names), name)

    def label(self, name: str) -> str:
        return self.view.label(name, self.panel)

    @cached_property
    def gates(self) -> dict[str, list[Number]]:
        """Gated numbers by gate, judges in panel order; the most telling gate first."""
        gated = sorted((n for n in self.numbers if n.verdict), key=self.view.rank)
        names = sorted(
            {n.gate for n in gated},
            key=lambda gate: (min((n.measure.rank, n.metric) for n in gated if n.gate == gate), gate),
        )
        return {gate: [n for n in gated if n.gate == gate] for gate in names}

    def circumstances(self, numbers: Iterable[Number]) -> list[str]:
        """Every combination of factor levels that occurs, in plain words and in order."""
        found = {n.circumstances: n.level_places for n in numbers}
        return sorted(found, key=lambda told: (len(found[told]), found[told]))

    def levels(self, factor: str, numbers: Iterable[Number]) -> list[str]:
        """Levels of `factor` that occur, in order."""
        there = {n.subject[factor] for n in numbers if factor in n.subject}
        return sorted(there, key=lambda level: self.view.lexicon.level_order(factor, level))

    def level(self, factor: str, level: str) -> str:
        """A factor level in plain words."""
        return self.view.lexicon.level(factor, level)


class View:
    """The results, indexed. Works on the normalised form (see canonical_form.py)."""

    def __init__(self, results: Mapping[str, Any]) -> None:
        self.results = results
        self._groups: dict[str, list[Group]] = {}

    @cached_property
    def panels(self) -> list[Panel]:
        listed = [
            Panel(p["name"], p.get("provenance", ""), p.get("description") or "", tuple(p.get("judges") or ()))
            for p in self.results.get("panels") or ()
        ]
        names = {p.name for p in listed}
        stray = sorted({n.subject.get("panel", "") for n in self.numbers} - names)
        return listed + [Panel(name, "", "", ()) for name in stray]

    @cached_property
    def questions(self) -> list[Question]:
        """Every question asked or answered, once; one without a title is called by its id."""
        asked = {q["id"]: q for q in self.results.get("questions") or ()}
        found = dict.fromkeys([*asked, *(n.question for n in self.numbers)])
        return [
            Question(id, asked.get(id, {}).get("title") or plain_name(id), asked.get(id, {}).get("note") or "")
            for id in found
        ]

    @cached_property
    def lexicon(self) -> Lexicon:
        return Lexicon(self.results)

    @cached_property
    def numbers(self) -> list[Number]:
        verdicts = [(v, v) for v in self.results.get("verdicts") or ()]
        measured = [(m, None) for m in self.results.get("measurements") or ()]
        return [
            Number(r.get("question") or "", r.get("subject") or {}, r.get("estimate") or {}, verdict, self.lexicon)
            for r, verdict in (*verdicts, *measured)
        ]

    @cached_property
    def recommendations(self) -> list[Recommendation]:
        """One per panel and judge, panels and judges in the order of the panel files."""
        by_subject: dict[tuple[Any, ...], Number] = {_key(n.gate, n.subject): n for n in self.numbers if n.verdict}
        found = [
            Recommendation(
                r["panel"],
                r["judge"],
                r["recommended"],
                tuple(n for v in r.get("because") or () if (n := by_subject.get(_key(v["gate"], v["subject"])))),
            )
            for r in self.results.get("recommendations") or ()
        ]
        places = self._places
        return sorted(found, key=lambda r: (places[r.panel][0], places[r.panel][1].get(r.judge, 0), r.judge))

    def place(self, number: Number) -> str:
        """ "published, merchant_risk"; with the protocol where only that tells some of the question's numbers apart."""
        where = [number.subject[key] for key in ("panel", "task") if key in number.subject]
        question = Question(number.question, "")
        protocols = {group.protocol for group in self.groups(question)} - {""}
        told = number.subject.get("protocol", "")
        return ", ".join([*where, *([plain_name(told)] if told in protocols else [])])

    def groups(self, question: Question) -> list[Group]:
        """Answers to `question`, panel by panel, within a panel task by task, and protocol by protocol where the same
        was measured by several."""
        if question.id not in self._groups:
            self._groups[question.id] = self._grouped(question)
        return self._groups[question.id]

    def _grouped(self, question: Question) -> list[Group]:
        by_key: dict[tuple[str, str], list[Number]] = {}
        for n in self.numbers:
            if n.question == question.id:
                by_key.setdefault((n.subject.get("panel", ""), n.subject.get("task", "")), []).append(n)
        panel_names = [p.name for p in self.panels]
        ordered = sorted(by_key, key=lambda key: (panel_names.index(key[0]), key[1]))
        return [
            Group(self, question, self.panel(p), t, protocol, tuple(mine))
            for p, t in ordered
            for protocol, mine in _by_protocol(by_key[p, t])
        ]

    def rank(self, number: Number) -> tuple[Any, ...]:
        """Panels, and judges within them, in the order of the panel files; factor levels in theirs."""
        panel, judges = self._places[number.subject.get("panel", "")]
        at = judges.get(number.who, len(judges))
        return (panel, number.subject.get("task", ""), at, number.who, number.level_places, number.gate)

    @cached_property
    def _places(self) -> dict[str, tuple[int, dict[str, int]]]:
        """Panel -> its place, and the places of its judges."""
        return {p.name: (i, {name: j for j, name in enumerate(p.judge_names)}) for i, p in enumerate(self.panels)}

    def panel(self, name: str) -> Panel:
        return next(p for p in self.panels if p.name == name)

    def label(self, name: str, panel: Panel | None = None) -> str:
        """What `name` is called in its own panel, else in any panel (a target may be another panel's judge)."""
        if name.startswith("human:"):
            return f"expert {name.removeprefix('human:')}"
        return next((lab for p in (panel, *self.panels) if p and (lab := self._labels[p.name].get(name))), name)

    @cached_property
    def _labels(self) -> dict[str, dict[str, str]]:
        return {p.name: {j["name"]: j.get("label") or j["name"] for j in p.judges} for p in self.panels}


def _key(gate: str, subject: Mapping[str, str]) -> tuple[Any, ...]:
    return (gate, *sorted(subject.items()))


def _by_protocol(numbers: list[Number]) -> list[tuple[str, list[Number]]]:
    """The numbers in one part, or in one part per protocol where only that tells some of them apart."""
    protocols: dict[str, list[Number]] = {}
    for n in numbers:
        protocols.setdefault(n.subject.get("protocol", ""), []).append(n)
    seen: dict[tuple[Any, ...], str] = {}
    for protocol, mine in protocols.items():
        for n in mine:
            subject = {name: value for name, value in n.subject.items() if name != "protocol"}
            if seen.setdefault((n.metric, n.gate, *sorted(subject.items())), protocol) != protocol:
                return sorted(protocols.items())
    return [("", numbers)]
