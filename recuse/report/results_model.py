"""results.json seen the way the report asks for it: by question, by panel, by judge. Reads, never computes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from recuse.report.addresses import digest
from recuse.report.gated_number import Lexicon, Number, place_in, plain_name, without_twins
from recuse.schema.plain_values import grouped
from recuse.schema.results import JudgeDecisionRow, JudgeRow, Results
from recuse.schema.vocabulary import CLEARED, FAIL, NOT_CLEARED, NOT_MEASURED, PASS, UNDECIDED, printed

OUTCOMES = {CLEARED: PASS, NOT_CLEARED: FAIL, UNDECIDED: UNDECIDED}
"""The mark that a word on a judge bears."""
LOUD = (FAIL, NOT_MEASURED)
"""Outcomes that turn a run red: in capitals, or unfolded."""


class Panel(NamedTuple):
    """Judges that are measured together, and where their answers come from."""

    name: str
    provenance: str
    description: str
    judges: tuple[JudgeRow, ...]

    @property
    def judge_names(self) -> list[str]:
        """Identifiers of its judges, in the order of the panel file."""
        return [judge["name"] for judge in self.judges]


class Question(NamedTuple):
    """A question of the page: its place, its heading and its note."""

    id: str
    title: str
    note: str = ""  # what a reader must know before any number, as "the payments are synthetic"


@dataclass(frozen=True)
class Group:
    """What one question found about one panel on one task: the unit that a report panel draws."""

    view: ResultsModel
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
    def anchor(self) -> str:
        """Where the page draws it."""
        return f"g-{digest([self.question.id, self.panel.name, self.task, self.protocol])}"

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
        numbers = (n for n in self.numbers if n.metric in metrics and subject.items() <= n.subject.items())
        return sorted(without_twins(numbers), key=lambda n: (metrics.index(n.metric), self.view.rank(n)))

    def place(self, name: str) -> tuple[int, str]:
        """Where a judge stands in its panel, for sorting; others behind, by name."""
        return place_in(self.panel.judge_names, name)

    def label(self, name: str) -> str:
        """What a judge is called, in this panel first."""
        return self.view.label(name, self.panel)

    @cached_property
    def gates(self) -> dict[str, list[Number]]:
        """Gated numbers by gate, judges in panel order; the most telling gate first."""
        gates = grouped(sorted((n for n in self.numbers if n.verdict), key=self.view.rank), lambda n: n.gate)
        return dict(sorted(gates.items(), key=lambda one: (min((n.measure["rank"], n.metric) for n in one[1]), one[0])))

    def circumstances(self, numbers: Iterable[Number]) -> list[str]:
        """Every combination of factor levels that occurs, in plain words and in order."""
        places = {n.circumstances: n.level_places for n in numbers}
        return sorted(places, key=lambda words: (len(places[words]), places[words]))


class ResultsModel:
    """The results, indexed. Works on the normalised form (see canonical_form.py)."""

    def __init__(self, results: Results) -> None:
        self.results, self.lexicon = results, Lexicon(results)
        decision = results.get("decision")
        self.judges: list[JudgeDecisionRow] = decision["judges"] if decision else []
        """A word per panel, judge and use, in the order of the panel files."""

    @cached_property
    def panels(self) -> list[Panel]:
        """The panels in the order of the run, and those that only a number names."""
        listed = [Panel(p["name"], p.get("provenance", ""), p.get("description") or "", tuple(p.get("judges") or ()))
                  for p in self.results.get("panels") or ()]  # fmt: skip
        names = {p.name for p in listed}
        stray = sorted({n.subject.get("panel", "") for n in self.numbers} - names)
        return listed + [Panel(name, "", "", ()) for name in stray]

    @cached_property
    def questions(self) -> list[Question]:
        """Every question asked or answered, once; one without a title is called by its id."""
        listed = {q["id"]: (q.get("title"), q.get("note")) for q in self.results.get("questions") or ()}
        words = dict.fromkeys([*listed, *(n.question for n in self.numbers)], ("", "")) | listed
        return [Question(id, title or plain_name(id), note or "") for id, (title, note) in words.items()]

    @cached_property
    def numbers(self) -> list[Number]:
        """Every estimate, those with a verdict first."""
        verdicts, measured = self.results.get("verdicts") or (), self.results.get("measurements") or ()
        gated = [Number(v["question"], v["subject"], v["estimate"], v, self.lexicon) for v in verdicts]
        return gated + [Number(m["question"], m["subject"], m["estimate"], None, self.lexicon) for m in measured]

    @cached_property
    def studies(self) -> frozenset[str]:
        """Panels that are measured and used for nothing; none where no panel states a use."""
        judged = {j["panel"] for j in self.judges} | {n.subject.get("panel", "") for n in self.numbers if n.verdict}
        return frozenset({p.name for p in self.panels} - judged if any(j["stated"] for j in self.judges) else ())

    def words_on(self, panel: str, judge: str) -> str:
        """ "rank: cleared; grade: not cleared": for every use, that of the panel first."""
        judged = (j for j in self.judges if (j["panel"], j["judge"]) == (panel, judge))
        return "; ".join(f"{plain_name(j['use'])}: {printed(j['word'])}" for j in judged)

    def whom(self, number: Number) -> str:
        """Whom a number is about and where: "judge x, names shown (published, merchant_risk)"; with the protocol where
        only that tells some of the question's numbers apart."""
        protocols = {group.protocol for group in self._groups.get(number.question, ())} - {""}
        place = [number.subject[key] for key in ("panel", "task") if key in number.subject]
        if (protocol := number.subject.get("protocol", "")) in protocols:
            place.append(plain_name(protocol))
        who = ", ".join(filter(None, (number.who or "the panel", number.circumstances)))
        return f"{who} ({', '.join(place)})" if place else who

    def groups(self, question: Question) -> list[Group]:
        """Answers to `question`, by panel and task, and by protocol where several measured the same."""
        return self._groups.get(question.id, [])

    @cached_property
    def _groups(self) -> dict[str, list[Group]]:
        questions = {question.id: question for question in self.questions}
        groups: dict[str, list[Group]] = {id: [] for id in questions}
        places = grouped(self.numbers, lambda n: (n.question, n.subject.get("panel", ""), n.subject.get("task", "")))
        for place in sorted(places, key=lambda place: (self._places[place[1]][0], place[2])):
            (id, panel, task), here = place, places[place]
            kinds = {(n.metric, n.gate, n.about) for n in here}
            elsewhere = {(metric, gate, tuple(o for o in of if o[0] != "protocol")) for metric, gate, of in kinds}
            apart = len(elsewhere) < len(kinds)  # only the protocol tells some numbers apart: a part for each
            protocols = grouped(here, lambda n: n.subject.get("protocol", "")) if apart else {"": here}
            for name, some in sorted(protocols.items(), key=lambda one: one[0]):
                groups[id].append(Group(self, questions[id], self.panel(panel), task, name, tuple(some)))
        return groups

    def rank(self, number: Number) -> tuple[object, ...]:
        """Panels, and judges within them, in the order of the panel files; factor levels in theirs."""
        panel, judges, _ = self._places[number.subject.get("panel", "")]
        at = judges.get(number.who, len(judges))
        return (panel, number.subject.get("task", ""), at, number.who, number.level_places, number.gate)

    @cached_property
    def _places(self) -> dict[str, tuple[int, dict[str, int], dict[str, str]]]:
        return {
            p.name: (i, {name: j for j, name in enumerate(p.judge_names)},
                     {j["name"]: j.get("label") or j["name"] for j in p.judges})
            for i, p in enumerate(self.panels)
        }  # fmt: skip

    def panel(self, name: str) -> Panel:
        """The panel of a name."""
        return next(p for p in self.panels if p.name == name)

    def label(self, name: str, panel: Panel | None = None) -> str:
        """What `name` is called in its own panel, else in any panel (a target may be another panel's judge)."""
        if name.startswith("human:"):
            return f"expert {name.removeprefix('human:')}"
        own = (self._places[p.name][2].get(name) for p in (panel, *self.panels) if p)
        return next(filter(None, own), name)
