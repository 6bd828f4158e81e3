"""Against the committed baseline: what this pull request changes, one row each, and every difference in full."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from recuse.report.drawing import Words
from recuse.report.figures import table
from recuse.report.gated_number import plain_name
from recuse.report.results_model import ResultsModel
from recuse.report.sections.about_the_run import Part
from recuse.schema.number_text import counted, fixed, in_unit, is_number
from recuse.schema.verdict_rows import Comparison, EntryRow
from recuse.schema.vocabulary import FAIL, NOT_MEASURED, PASS, printed

TITLE = "What was changed"
NONE = "–"
MAY_REPLACE = {PASS: "may replace it", FAIL: "may not replace it", NOT_MEASURED: "not comparable"}
NOT_KNOWN = (
    "Not known: there is no baseline to compare with. Write one on the main branch: pytest evals/ --update-baseline"
)


@dataclass(frozen=True, slots=True)
class Change:
    """`asks`: whether it asks a person to decide."""

    what: str
    before: str = NONE
    after: str = NONE
    note: str = ""
    asks: bool = False

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
    """None where nothing was to change, as with a single file that was checked."""
    if not view.results.get("decision"):
        return None
    upgrades = [*_changes(view), *_upgrades(view)]
    baseline = view.results.get("baseline")
    if not baseline:
        a_file = all("read_as" in panel for panel in view.results["panels"]) and not view.results.get("sources")
        return None if a_file and not upgrades else Changed(upgrades, "" if a_file else NOT_KNOWN)
    rows = [*_limits(view, baseline), *upgrades, *_results(view, baseline)]
    counts = {  # "2 results moved and cannot be tested for chance, 1 result appeared"
        "moved and cannot be tested for chance":
            len({(row["what"], *sorted(row["subject"].items())) for row in baseline.get("moved") or ()}),
        "appeared": len(baseline.get("appeared") or ()),
        "vanished": sum(row["kind"] != "verdict" for row in baseline.get("vanished") or ()),
    }  # fmt: skip
    rest = ", ".join(f"{counted(n, 'result')} {words}" for words, n in counts.items() if n)
    nothing = "" if rows else str(baseline.get("summary") or "Nothing.")
    return Changed(rows, f"{rest}." if rest else nothing)


def _limits(view: ResultsModel, baseline: Comparison) -> Iterator[Change]:
    """Of a gate as it is called, with its name in gates.toml: "own work (self_bias)"."""
    titles = {n.gate: n.gate_title for n in reversed(view.numbers) if n.gate_title != plain_name(n.gate)}
    for row in baseline.get("limits") or ():
        before, after = (NONE if row[side] is None else str(row[side]) for side in ("before", "after"))
        gate = row["gate"]
        called = f"{titles[gate]} ({gate})" if gate in titles else gate or "the run's"
        so = f"without that {row['consequence']}" if row["consequence"] else ""
        yield Change(f"{called} {row['about']}", before, after, so, True)


def _changes(view: ResultsModel) -> Iterator[Change]:
    rows = []
    for row in view.results.get("in_place") or ():
        what, _, so = row["cause"].partition(": ")
        rows.append(Change(what, row["was"] or NONE, row["is"] or NONE, so, row["word"] in ("decide", "worse")))
    for one in view.results.get("changed") or ():
        words = one["cause"], NONE, NONE, one["after"] or ""
        if one["kind"] == "yardstick" and (one["before"] or one["after"]):
            words = one["what"], one["before"] or NONE, one["after"] or NONE, ""
        rows.append(Change(*words, one["word"] != "merge"))
    yield from sorted(rows, key=lambda change: not change.asks)


def _upgrades(view: ResultsModel) -> Iterator[Change]:
    for u in view.results.get("upgrades") or ():
        what = f"judge ({' and '.join(u['change'])}) of {u['panel']}, {u['task']}, {u['protocol']}"
        note = MAY_REPLACE.get(u["outcome"]) or printed(u["outcome"])
        if until := u.get("accepted"):
            note += f", accepted until {until}" + (f", but {u['open']}" if u.get("open") else "")
        if over := u.get("expired"):
            note += f", acceptance expired on {over}"
        yield Change(what, u["incumbent"], u["candidate"], note)


def _results(view: ResultsModel, baseline: Comparison) -> Iterator[Change]:
    yield from (Change(sentence, asks=True) for sentence in baseline.get("removed") or ())
    yield from map(Change, baseline.get("sources") or ())
    for row in baseline.get("outcomes") or ():
        note = "" if row["named"] else "the number itself did not change beyond chance"
        yield Change(_what(view, row), printed(row["before"]), printed(row["after"]), note)
    for gone in baseline.get("vanished") or ():
        if gone["kind"] == "verdict":
            yield Change(_what(view, gone), printed(str(gone["outcome"])), note="not decided any more", asks=True)
    by_key = {(n.gate or n.metric, *n.about): n for n in view.numbers}
    for moved in sorted(baseline.get("named") or (), key=lambda row: not row["beyond"]):
        n = by_key.get((moved["what"], *sorted(moved["subject"].items())))
        before, after = (
            in_unit(value, n.unit, signed=n.is_signed) if n and is_number(value) else fixed(value, 3)
            for value in (moved["before"], moved["after"])
        )
        unit, within = n.unit if n else "", ", within what the gate tolerates" if n and n.gate else ""
        by, low, high = (in_unit(moved[part], unit, 3, signed=True) for part in ("change", "low", "high"))
        note = f"{moved['beyond'] or f'beyond chance{within}'}: {by} ({low} to {high})"
        yield Change(_what(view, moved), before, after, note, bool(moved["beyond"]))


def _what(view: ResultsModel, row: EntryRow) -> str:
    """ "own work of grok-4, names shown (published, merchant_risk, rubric)"."""
    subject, titles = row["subject"], {n.gate: n.gate_title for n in view.numbers if n.verdict}
    place = [subject[name] for name in ("panel", "task", "protocol") if name in subject]
    about = [subject[name] for name in ("judge", "target") if name in subject]
    levels = sorted(subject.keys() - {"panel", "task", "protocol", "judge", "target"})
    who = ", ".join([*about, *(view.lexicon.level(name, subject[name]) for name in levels)]) or "the panel"
    name = titles.get(row["what"]) or view.lexicon.measure(row["what"])["title"]
    return f"{name} of {who} ({', '.join(place)})" if place else f"{name} of {who}"


MOST_ROWS = 90


def baseline_part(view: ResultsModel) -> Part:
    """Every difference, testable or not, as a folded part of the page; open where a change is beyond chance."""
    baseline = view.results.get("baseline")
    if not baseline:
        return Part("baseline", "", "", [])
    because, path = baseline.get("because"), baseline.get("path")
    rows = [*_limits(view, baseline), *_results(view, baseline), *_untested(view, baseline)]
    cells = [(row.what, row.before, row.after, row.note) for row in rows]
    first = f"{baseline.get('summary') or 'Nothing changed.'}{f' Compared with `{path}`.' if path else ''}"
    figures: list[object] = [
        Words("read", [first]),
        because and Words("note", [f"The baseline was written because: {because['reason']}"]),
        table("", "what|was|is|and so", cells, most=MOST_ROWS),
    ]
    shown = [figure for figure in figures if figure]
    return Part("baseline", "What changed against the baseline?", "", shown, bool(baseline.get("named")))


def _untested(view: ResultsModel, baseline: Comparison) -> Iterator[Change]:
    for row in baseline.get("moved") or ():
        what = f"{_what(view, row)}, {plain_name(row['field'])}"
        yield Change(what, _number(row["before"]), _number(row["after"]), "cannot be tested for chance")
    for one in baseline.get("appeared") or ():
        yield Change(_what(view, one), NONE, _number(one["value"]), "appeared")
    for one in baseline.get("vanished") or ():
        if one["kind"] != "verdict":
            yield Change(_what(view, one), _number(one["value"]), note="vanished")


def _number(value: object) -> str:
    if is_number(value):
        return fixed(value, 0 if isinstance(value, int) else 3)
    return NONE if value is None else str(value)
