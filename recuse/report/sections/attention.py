"""What a reviewer looks at first. What turned the run red, or stays undecided: by how much, how sure, what to do, and
what the judges said. What this pull request changes against the committed baseline: one row each, and in full."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from recuse.report.drawing import Words
from recuse.report.figures import table
from recuse.report.gated_number import Number, plain_name
from recuse.report.results_model import ResultsModel
from recuse.report.sections.about_the_run import Part
from recuse.report.verdict_tables import UPGRADE, deciding_numbers
from recuse.schema.number_text import count, counted, fixed, in_unit, is_number
from recuse.schema.plain_values import grouped
from recuse.schema.verdict_rows import Comparison, EntryRow
from recuse.schema.vocabulary import FAIL, NOT_MEASURED, PASS, SHOWN, printed
from recuse.security.sanitize import shortened, visible

MOST_CHARACTERS, MOST_PROMPT_CHARACTERS = 600, 1600
MOST_PASTED = MOST_REPLIES = 4
TITLE = "What was changed"
MOST_ROWS = 90
NONE = "–"
MAY_REPLACE = {PASS: "may replace it", FAIL: "may not replace it", NOT_MEASURED: "not comparable"}
NOT_KNOWN = (
    "Not known: there is no baseline to compare with. Write one on the main branch: pytest evals/ --update-baseline"
)


class Matter(NamedTuple):
    """One gate that is red or undecided: its verdicts, the limit that all of them have, and what the judges said. A way
    out for all cases of a kind: its `advice`, what to `paste` into its `file`, and how many `more` such entries."""

    cases: list[Number]  # the worst first
    limit: str
    ways: list[dict[str, str]]
    replies: list[dict[str, object]]  # the failing judges' own

    @property
    def first(self) -> Number:
        """The worst verdict, which names the gate."""
        return self.cases[0]


def needs_attention(view: ResultsModel) -> list[Matter]:
    """Failed, unmeasured, and undecided verdicts that their gate does not allow; the worst gate first. Of an upgrade
    the rows that keep it from passing; its table shows the others."""
    deciding, badness = {id(n) for n in deciding_numbers(view)}, list(SHOWN)
    chosen = [n for n in view.numbers if not n.is_tolerated and (n.question != UPGRADE or id(n) in deciding)]
    chosen.sort(key=lambda n: (badness.index(n.state), n.measure["rank"], n.metric, view.rank(n)))
    matters = []
    for alike in grouped(chosen, lambda n: (n.question, n.gate)).values():
        limits, remedies = {n.limit_text for n in alike}, [n.remedy for n in alike if n.remedy]
        ways = []  # what to do, once for all cases of which the same is said
        for (advice, file), same in grouped(remedies, lambda r: (r.get("advice") or "", r.get("file") or "")).items():
            wanted = list(dict.fromkeys(filter(None, (remedy.get("paste") for remedy in same))))
            if advice or wanted:
                paste, more = "\n\n".join(wanted[:MOST_PASTED]), str(len(wanted[MOST_PASTED:]) or "")
                ways.append({"advice": advice, "paste": paste, "file": file, "more": more})
        matters.append(Matter(alike, limits.pop() if len(limits) == 1 else "", ways, [*_replies(view, alike)]))
    return matters


def _replies(view: ResultsModel, alike: list[Number]) -> Iterator[dict[str, object]]:
    """Of each judge one reply that was read and one that could not be, at the number's own levels where there are."""
    about = {(n.subject.get("panel"), n.who): n.subject for n in reversed(alike) if "judge" in n.subject}
    excerpts, quoted = view.results.get("excerpts") or (), []
    for subject in reversed(about.values()):
        place = [(name, subject.get(name)) for name in ("panel", "task", "protocol", "judge")]
        replies = [entry for entry in excerpts if all(entry.get(name) == of for name, of in place)]
        replies.sort(key=lambda e: sum(subject.get(f, level) != level for f, level in (e.get("factors") or {}).items()))
        for was_read in (True, False):
            quoted += [entry for entry in replies if (entry.get("status") == "ok") == was_read][:1]
    for entry in quoted[:MOST_REPLIES]:
        text, cut = shortened(str(entry.get("text") or ""), MOST_CHARACTERS)
        factors = [view.lexicon.level(name, str(level)) for name, level in (entry.get("factors") or {}).items()]
        asked_again = [f"repeat {repeat + 1}"] if isinstance(repeat := entry.get("repeat"), int) else []
        names = (view.label(str(entry.get(name) or ""), view.panel(entry["panel"])) for name in ("judge", "target"))
        circumstances = [plain_name(str(entry.get("protocol") or "")), *factors, *asked_again]
        yield {
            "about": " on ".join(filter(None, names)),  # "Grok 4 on GPT-5.1"
            "circumstances": ", ".join(filter(None, circumstances)), "row": entry,
            "status": plain_name(str(entry.get("status") or "")), "text": visible(text),
            "why": visible(shortened(str(entry.get("why") or ""), 300)[0]),
            "cut": f"{count(cut)} more characters in results.json" if cut else "",
            "prompt": visible(shortened(str(entry.get("prompt") or ""), MOST_PROMPT_CHARACTERS)[0]),
        }  # fmt: skip


def run_faults(view: ResultsModel) -> list[str]:
    """What is wrong with the run as a whole, each fault once: limits that no longer fit, tests without a verdict. What
    changed against the baseline is told where the changes are."""
    baseline = view.results.get("baseline")
    changes = (baseline.get("objections") if baseline else None) or ()
    faults = [str(fault) for fault in view.results.get("objections") or () if fault not in changes]
    for why, alike in grouped(view.results.get("unmeasured") or (), lambda entry: entry.get("why")).items():
        faults.append(f"{alike[0].get('test')}{f' and {len(alike) - 1} more tests' if alike[1:] else ''}: {why}")
    return faults


class Change(NamedTuple):
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


class Changed(NamedTuple):
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
        before, after = (in_unit(value, n.unit, signed=n.is_signed) if n and is_number(value) else fixed(value, 3)
                         for value in (moved["before"], moved["after"]))  # fmt: skip
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


def baseline_part(view: ResultsModel) -> Part:
    """Every difference, testable or not, as a folded part of the page; open where a change is beyond chance."""
    baseline = view.results.get("baseline")
    if not baseline:
        return Part("baseline", "", "", [])
    because, path = baseline.get("because"), baseline.get("path")
    rows = (*_limits(view, baseline), *_results(view, baseline), *_untested(view, baseline))
    first = f"{baseline.get('summary') or 'Nothing changed.'}{f' Compared with `{path}`.' if path else ''}"
    cells = ((row.what, row.before, row.after, row.note) for row in rows)
    differences = table("", "what|was|is|and so", cells, most=MOST_ROWS)
    why = [Words("note", [f"The baseline was written because: {because['reason']}"])] if because else []
    figures: list[object] = [Words("read", [first]), *why, *([differences] if differences else [])]
    return Part("baseline", "What changed against the baseline?", "", figures, bool(baseline.get("named")))


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
