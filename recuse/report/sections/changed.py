"""Changed in this pull request: what is another thing than in the committed baseline, one row each, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from recuse.report import estimate_format, numbers
from recuse.report.gated_number import Number
from recuse.report.lexicon import plain_name
from recuse.report.results_model import ResultsModel
from recuse.report.sections.baseline import whom_and_where
from recuse.schema.results import Comparison, EntryRow

__all__ = ["TITLE", "Change", "Changed", "changed"]

TITLE = "Changed in this pull request"
NONE = "–"
MAY_REPLACE = {
    "pass": "may replace it", "fail": "may not replace it", "undecided": "undecided", "not measured": "not comparable",
}  # fmt: skip
NOT_KNOWN = (
    "Not known: there is no baseline to compare with. Write one on the main branch: pytest evals/ --update-baseline"
)


@dataclass(frozen=True, slots=True)
class Change:
    """`asks`: whether it asks a person to decide."""

    what: str
    before: str
    after: str
    note: str
    asks: bool

    @property
    def text(self) -> str:
        """ "own work (self_bias) limit widened: within [-0.5, +0.5] -> within [-1, +1]; without that grok-4 fails"."""
        values = f": {self.before} -> {self.after}" if (self.before, self.after) != (NONE, NONE) else ""
        return f"{self.what}{values}{f'; {self.note}' if self.note else ''}"


@dataclass(frozen=True, slots=True)
class Changed:
    """What a reviewer sees of a pull request: a row per change, and a sentence on the others."""

    rows: list[Change]
    rest: str  # what has no row: "2 results moved that cannot be tested, one appeared"


def changed(view: ResultsModel) -> Changed | None:
    """None where nobody was asked to decide, as with a single file that was checked."""
    if not view.results.get("decision"):
        return None
    upgrades = list(_upgrades(view))
    baseline = view.results.get("baseline")
    if not baseline:
        return Changed(upgrades, NOT_KNOWN)
    rows = [
        *_limits(view, baseline),
        *upgrades,
        *_asked(baseline),
        *_verdicts(view, baseline),
        *_values(view, baseline),
    ]
    return Changed(rows, _rest(baseline, any_rows=bool(rows)))


def _limits(view: ResultsModel, baseline: Comparison) -> Iterator[Change]:
    for row in baseline.get("limits") or ():
        yield Change(
            f"{_gate(view, row['gate'])} {row['about']}", _shown(row["before"]), _shown(row["after"]),
            f"without that {row['consequence']}" if row["consequence"] else "", True,
        )  # fmt: skip


def _upgrades(view: ResultsModel) -> Iterator[Change]:
    for u in view.results.get("upgrades") or ():
        what = f"judge ({' and '.join(u['change'])}) of {u['panel']}, {u['task']}, {u['protocol']}"
        yield Change(what, u["incumbent"], u["candidate"], MAY_REPLACE[u["outcome"]], False)


def _asked(baseline: Comparison) -> Iterator[Change]:
    for sentence in baseline.get("removed") or ():
        yield Change(str(sentence), NONE, NONE, "", True)
    for sentence in baseline.get("sources") or ():
        yield Change(str(sentence), NONE, NONE, "", False)


def _verdicts(view: ResultsModel, baseline: Comparison) -> Iterator[Change]:
    for row in baseline.get("outcomes") or ():
        note = "" if row["named"] else "the number itself did not change beyond chance"
        yield Change(_what(view, row), str(row["before"]), str(row["after"]), note, False)
    for gone in baseline.get("vanished") or ():
        if gone["kind"] == "verdict":
            yield Change(_what(view, gone), str(gone["outcome"]), NONE, "not decided any more", True)


def _values(view: ResultsModel, baseline: Comparison) -> Iterator[Change]:
    by_key = {(n.gate or n.metric, *sorted(n.subject.items())): n for n in view.numbers}
    for row in sorted(baseline.get("named") or (), key=lambda row: not row["beyond"]):
        n = by_key.get((row["what"], *sorted(row["subject"].items())))
        before, after = (_in_unit(n, row[side]) for side in ("before", "after"))
        note = row["beyond"] or "beyond chance, within what the gate tolerates"
        yield Change(_what(view, row), before, after, note, bool(row["beyond"]))


def _rest(baseline: Comparison, *, any_rows: bool) -> str:
    """ "2 numbers moved that cannot be tested, 1 result appeared"; that nothing changed, where nothing did."""
    moved = {(row["what"], *sorted(row["subject"].items())) for row in baseline.get("moved") or ()}
    counts = {
        "moved and cannot be tested for chance": len(moved),
        "appeared": len(baseline.get("appeared") or ()),
        "vanished": sum(row["kind"] != "verdict" for row in baseline.get("vanished") or ()),
    }
    phrases = [f"{n} {'result' if n == 1 else 'results'} {words}" for words, n in counts.items() if n]
    if phrases:
        return f"{', '.join(phrases)}."
    return "" if any_rows else str(baseline.get("summary") or "Nothing.")


def _what(view: ResultsModel, row: EntryRow) -> str:
    titles = {n.gate: n.gate_title for n in view.numbers if n.verdict}
    name = titles.get(row["what"]) or view.lexicon.measure(row["what"]).title
    return f"{name} of {whom_and_where(row['subject'], view.lexicon)}"


def _gate(view: ResultsModel, gate: str) -> str:
    """ "own work (self_bias)": what it is called, and its name in gates.toml."""
    title = next((n.gate_title for n in view.numbers if n.gate == gate), "")
    return f"{title} ({gate})" if title not in ("", plain_name(gate)) else gate or "the run's"


def _in_unit(n: Number | None, value: Any) -> str:
    if n is None or not numbers.is_number(value):
        return numbers.fixed(value, 3)
    return estimate_format.in_unit(value, str(n.estimate.get("unit") or ""), signed=estimate_format.is_signed(n))


def _shown(value: Any) -> str:
    return NONE if value is None else str(value)
