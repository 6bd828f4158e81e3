"""results.json seen the way the report asks for it: by question, by panel, by judge. Reads, never computes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recuse.report.vocabulary import headline_order, level_name, level_order, plain_name


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

    @property
    def metric(self) -> str:
        return str(self.estimate.get("metric", ""))

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
        about = {"task", "panel", "protocol"} | {k for k, v in self.subject.items() if v == self.who}
        return {key: value for key, value in self.subject.items() if key not in about}

    @property
    def circumstances(self) -> str:
        """The factors in plain words: "names hidden, divisor n"; "" if there are none."""
        return ", ".join(level_name(value, factor) for factor, value in self.factors.items())


@dataclass(frozen=True)
class Group:
    """What one question found about one panel on one task: the unit that a report panel draws."""

    view: View
    question: Question
    panel: Panel
    task: str
    numbers: tuple[Number, ...]

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
            key=lambda gate: (min(headline_order(n.metric) for n in gated if n.gate == gate), gate),
        )
        return {gate: [n for n in gated if n.gate == gate] for gate in names}

    def circumstances(self, numbers: Iterable[Number]) -> list[str]:
        """Every combination of factor levels that occurs, in plain words and in order."""
        found = {n.circumstances: [level_order(v) for v in n.factors.values()] for n in numbers}
        return sorted(found, key=lambda told: (len(found[told]), found[told]))

    def levels(self, factor: str, numbers: Iterable[Number]) -> list[str]:
        return sorted({n.subject[factor] for n in numbers if factor in n.subject}, key=level_order)


class View:
    """The results, indexed. Works on the normalised form (see canonical_form.py)."""

    def __init__(self, results: Mapping[str, Any]) -> None:
        self.results = results

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
    def numbers(self) -> list[Number]:
        verdicts = [
            Number(v.get("question") or "", v.get("subject") or {}, v.get("estimate") or {}, v)
            for v in self.results.get("verdicts") or ()
        ]
        measured = [
            Number(m.get("question") or "", m.get("subject") or {}, m.get("estimate") or {})
            for m in self.results.get("measurements") or ()
        ]
        return verdicts + measured

    def groups(self, question: Question) -> list[Group]:
        """Answers to `question`, panel by panel, and within a panel task by task."""
        mine = [n for n in self.numbers if n.question == question.id]
        keys = {(n.subject.get("panel", ""), n.subject.get("task", "")) for n in mine}
        panel_names = [p.name for p in self.panels]
        by_key: dict[tuple[str, str], list[Number]] = {key: [] for key in keys}
        for n in mine:
            by_key[n.subject.get("panel", ""), n.subject.get("task", "")].append(n)
        ordered = sorted(keys, key=lambda key: (panel_names.index(key[0]), key[1]))
        return [Group(self, question, self.panel(p), t, tuple(by_key[p, t])) for p, t in ordered]

    def rank(self, number: Number) -> tuple[Any, ...]:
        """Panels, and judges within them, in the order of the panel files; factor levels in theirs."""
        panel, judges = self._places[number.subject.get("panel", "")]
        at = judges.get(number.who, len(judges))
        levels = [level_order(v) for v in number.factors.values()]
        return (panel, number.subject.get("task", ""), at, number.who, levels, number.gate)

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
