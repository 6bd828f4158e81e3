"""What the page says of the run itself: what it cost, how often such a run would be wrong, of what it is (commit,
recording days, digests), and what was not asked, for lack of which data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from recuse.report.gated_number import plain_name
from recuse.report.results_model import ResultsModel
from recuse.schema.number_text import MINUS, count, in_unit, is_number, listed, short
from recuse.schema.results import Known, NotAskedRow, UsageRow
from recuse.schema.verdict_rows import SourceRow


@dataclass(frozen=True, slots=True)
class CostRow:
    """Calls, tokens and dollars of one judge, as text."""

    judge: str
    calls: str
    input_tokens: str
    output_tokens: str
    dollars: str


@dataclass(frozen=True, slots=True)
class CostGroup:
    """One protocol of one task, asked of one panel."""

    panel: str
    provenance: str
    task: str
    protocol: str
    rows: list[CostRow]


@dataclass(frozen=True, slots=True)
class Costs:
    """The table of costs; `unpriced`: whether some judge has no price."""

    groups: list[CostGroup]
    total: CostRow
    unpriced: bool


def costs(view: ResultsModel) -> Costs | None:
    """Calls, tokens and dollars per panel and judge; None where nothing was replayed."""
    usage = view.results.get("usage") or []
    if not usage:
        return None
    grouped: dict[tuple[str, str, str], list[UsageRow]] = {}
    for entry in usage:
        panel, task, protocol = (str(entry.get(key) or "") for key in ("panel", "task", "protocol"))
        grouped.setdefault((panel, task, protocol), []).append(entry)
    names = [p.name for p in view.panels]
    ordered = sorted(grouped, key=lambda key: (names.index(key[0]) if key[0] in names else len(names), key))
    unpriced = any(not is_number(entry.get("dollars")) for entry in usage)
    return Costs([_group(view, key, grouped[key]) for key in ordered], _total(usage), unpriced)


def _group(view: ResultsModel, key: tuple[str, str, str], entries: list[UsageRow]) -> CostGroup:
    panel = next((p for p in view.panels if p.name == key[0]), None)
    judges = panel.judge_names if panel else []

    def place(entry: UsageRow) -> tuple[int, str]:
        judge = str(entry.get("judge") or "")
        return (judges.index(judge) if judge in judges else len(judges), judge)

    rows = [_row(view, entry) for entry in sorted(entries, key=place)]
    return CostGroup(key[0], panel.provenance if panel else "", key[1], key[2], rows)


def _row(view: ResultsModel, entry: UsageRow) -> CostRow:
    return CostRow(
        view.label(str(entry.get("judge") or "")),
        count(entry.get("calls")),
        count(entry.get("input_tokens")),
        count(entry.get("output_tokens")),
        _price(entry.get("dollars")),
    )


def _total(usage: list[UsageRow]) -> CostRow:
    """Of all that is known; nobody's label."""
    return CostRow(
        "",
        count(_sum(entry.get("calls") for entry in usage)),
        count(_sum(entry.get("input_tokens") for entry in usage)),
        count(_sum(entry.get("output_tokens") for entry in usage)),
        _price(_sum(entry.get("dollars") for entry in usage)),
    )


def _price(dollars: float | None) -> str:
    return f"{dollars:,.2f}" if is_number(dollars) else "no price"


def _sum(amounts: Iterable[float | None]) -> float | None:
    known = [amount for amount in amounts if is_number(amount)]
    return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """How often the gates err: on judges without a fault, and on faults of a size."""

    sentence: str
    judges: list[tuple[str, str, str, str]]  # panel, judge, fair and not cleared, again and not cleared
    faults: list[tuple[str, str, str, str]]  # gate, limit, typical, worst


def error_rates(view: ResultsModel) -> ErrorRates | None:
    """None where no gate decided by intervals."""
    rates = view.results.get("error_rates")
    if not rates or not rates.get("sentence"):
        return None
    titles = {n.gate: n.gate_title for n in view.numbers if n.verdict}
    return ErrorRates(
        sentence=str(rates["sentence"]),
        judges=[
            (r["panel"], view.label(r["judge"]), _percent(r["fair_not_cleared"]), _percent(r["again_not_cleared"]))
            for r in rates["judges"]
        ],
        faults=[
            (titles.get(r["gate"], r["gate"]), r["limit"].replace("-", MINUS), _with_unit(r["typical"], r["unit"]),
             _with_unit(r["worst"], r["unit"]))
            for r in rates["smallest_faults"]
        ],
    )  # fmt: skip


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if is_number(share) else ""


def _with_unit(value: float, unit: str) -> str:
    if unit == "share":
        return in_unit(value, unit)
    return " ".join(part for part in (short(float(f"{value:.3g}")), unit) if part)


SHOWN = 12
"""Digits of a commit and of a sha256."""


@dataclass(frozen=True, slots=True)
class SourceDigests:
    """One task by one protocol: digests of its items, prompt and rubric, and the scale."""

    where: str
    items: str
    prompt: str
    rubric: str
    scale: str


@dataclass(frozen=True, slots=True)
class Answerer:
    """`version`: the model as the provider names it. `asked_as`: digests of its settings, one per way of asking."""

    panel: str
    judge: str
    version: str
    asked_as: str


@dataclass(frozen=True, slots=True)
class Identity:
    """What these results are of: versions, judges, and digests of what was asked."""

    facts: list[tuple[str, str]]
    judges: list[Answerer]
    asked: list[SourceDigests]
    tables: list[str]  # names of the CSV files beside the page

    @property
    def in_one_line(self) -> str:
        """All facts, one after the other."""
        return " · ".join(f"{name} {value}" for name, value in self.facts)


def identity(view: ResultsModel, known: Known) -> Identity:
    """From the results, and from what is `known` beside them (see `recuse.identity`; "results" is the
    sha256 of results.json)."""
    sources = view.results.get("sources") or {}
    names = ("items", "prompt", "rubric", "scale")
    source_digests = [
        SourceDigests(place, *(str(of.get(name) or "") for name in names)) for place, of in sorted(sources.items())
    ]
    return Identity(_facts(view, known), _judges(view, sources), source_digests, list(known.get("tables") or []))


def _facts(view: ResultsModel, known: Known) -> list[tuple[str, str]]:
    facts = [("commit", str(known.get("commit") or "")[:SHOWN])]
    for panel, (first, last) in sorted((known.get("recorded") or {}).items()):
        facts.append((f"{panel} recorded", first if first == last else f"{first} to {last}"))
    for row in view.results.get("panels") or []:
        if row.get("provenance") == "imported":
            facts.append((row["name"], row.get("source") or ""))
    facts.append(("gates.toml sha256", str(known.get("gates") or "")[:SHOWN]))
    facts.append(("results.json sha256", str(known.get("results") or "")[:SHOWN]))
    return [(name, value) for name, value in facts if value]


def _judges(view: ResultsModel, sources: Mapping[str, SourceRow]) -> list[Answerer]:
    described = []
    for panel in view.panels:
        for judge in panel.judges:
            name = str(judge["name"])
            asked = [of["judges"] for place, of in sources.items() if place.split("/")[0] == panel.name]
            digests = list(dict.fromkeys(str(judges[name]) for judges in asked if name in judges))
            usage = [row for row in view.results.get("usage") or () if row["panel"] == panel.name]
            others = sorted({one for row in usage if row["judge"] == name for one in row.get("other_models") or ()})
            answered = f" was asked, ANOTHER answered: {', '.join(others)}" if others else ""
            described.append(Answerer(panel.name, name, f"{judge.get('model') or ''}{answered}", listed(digests)))
    return described


MOST_NEEDS = 5


@dataclass(frozen=True, slots=True)
class Wanting:
    """Questions that lack the same in the same places."""

    titles: list[str]
    places: list[str]  # "local: headlines, grading"


@dataclass(frozen=True, slots=True)
class Unlock:
    """What would let questions be asked: how many, one for each place, and which."""

    how: list[str]  # "add ratings by people (task.toml, [people])"
    missing: str  # "people, repeats"; "not measured: the source gives no pairs"
    count: int
    wanting: list[Wanting]


def not_asked(view: ResultsModel) -> list[Unlock]:
    """By what would unlock most."""
    remedies: dict[tuple[tuple[str, ...], str], list[NotAskedRow]] = {}
    for entry in _entries(view):
        missing = _in_words(entry.get("missing") or (), entry.get("unfixed") or ())
        remedies.setdefault((tuple(entry.get("unlock") or ()), missing), []).append(entry)
    unlocks = [Unlock([*how], missing, len(mine), _wanting(mine)) for (how, missing), mine in remedies.items()]
    return sorted(unlocks, key=lambda one: (-one.count, one.how, one.missing))


def _wanting(entries: Iterable[NotAskedRow]) -> list[Wanting]:
    """Questions in the order of their titles, those with the same places together."""
    places: dict[str, set[str]] = {}
    for entry in entries:
        title = str(entry.get("title") or plain_name(str(entry.get("question"))))
        places.setdefault(title, set()).add(_place(entry))
    together: dict[tuple[str, ...], list[str]] = {}
    for title in sorted(places):
        together.setdefault(tuple(sorted(places[title])), []).append(title)
    return [Wanting(titles, [*where]) for where, titles in together.items()]


def in_one_line(view: ResultsModel) -> str:
    """ "14 questions for lack of people (3), repeats (2)"; "" where everything was asked.

    A question counts once per panel, task and protocol that it could not be asked of.
    """
    entries = _entries(view)
    if not entries:
        return ""
    wanted = Counter(need for entry in entries for need in entry.get("missing") or ())
    needs = sorted(wanted, key=lambda need: (-wanted[need], need))
    phrases = [f"{plain_name(need)} ({wanted[need]})" for need in needs[:MOST_NEEDS]]
    more = [f"{len(needs) - MOST_NEEDS} more"] if len(needs) > MOST_NEEDS else []
    return f"{len(entries)} question{'s' if len(entries) > 1 else ''} for lack of {', '.join([*phrases, *more])}"


def _in_words(missing: Iterable[str], unfixed: Iterable[str]) -> str:
    """The needs, and in a sentence of its own what the source of the panel does not fix."""
    needs = ", ".join(plain_name(need) for need in missing if need not in unfixed)
    return "; ".join(filter(None, (needs, *(f"not measured: the source gives no {name}" for name in unfixed))))


def _entries(view: ResultsModel) -> list[NotAskedRow]:
    return list(view.results.get("not_asked") or ())


def _place(entry: NotAskedRow) -> str:
    return f"{entry.get('panel')}: {_words(entry.get(name) for name in ('task', 'protocol'))}"


def _words(names: Iterable[Any]) -> str:
    return ", ".join(plain_name(str(name)) for name in names if name)
