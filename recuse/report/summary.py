"""summary.md: the report as a pull-request comment. Short, GitHub Markdown, failures first; no judge's words in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from recuse.report import estimate_format, numbers
from recuse.report.first_line import lede
from recuse.report.panels import order_of
from recuse.report.results_model import Group, Number, Question, View
from recuse.sanitize import shortened, visible
from recuse.report.sections.attention import Case, Matter, needs_attention, run_faults
from recuse.report.sections.baseline import movement
from recuse.report.sections.verdict_matrix import SHOWN_PER_CELL, alternating, common_limit, tally
from recuse.report.vocabulary import OUTCOME_NAMES, PROVENANCE_MEANINGS, plain_name, worst

SIZE_LIMIT = 60_000
"""Characters; GitHub refuses comments beyond 65,536."""

MOST_CASES = 15
MOST_ROWS = 15  # judges per table; beyond, only those that do not pass everything
MOST_MOVED = 15
LONGEST_TEXT = 600

_SIGNS = {"pass": "✅", "accepted": "🔶", "undecided": "❔", "fail": "❌", "not measured": "❗"}


def summary(results: Mapping[str, Any], size_limit: int = SIZE_LIMIT) -> str:
    """Markdown for normalised `results`; whole sections are left out from the end where it would grow too long."""
    view = View(results)
    questions = sorted(view.questions, key=lambda q: order_of(q.id))
    sections = [_head(view), _attention(view), *(_question(view, q) for q in questions), _moved(view), _foot(view)]
    return _limited([s for s in sections if s], size_limit)


def _limited(sections: list[str], size_limit: int) -> str:
    note = "\n\n_Shortened: the rest is in the report (index.html)._\n"
    kept: list[str] = []
    for section in sections:
        if sum(len(part) + 2 for part in [*kept, section]) + len(note) > size_limit:
            return "\n\n".join(kept)[: size_limit - len(note)] + note
        kept.append(section)
    return "\n\n".join(kept) + "\n"


# --------------------------------------------------------------------------- sections


def _head(view: View) -> str:
    panels = [f"{_code(p.name)} {p.provenance or 'provenance unknown'}" for p in view.panels]
    counts = {o: sum(n.outcome == o for n in view.numbers) for o in OUTCOME_NAMES}
    tallied = " · ".join(
        f"{_SIGNS[o]} {counts[o]} {OUTCOME_NAMES[o].word}" for o in reversed(OUTCOME_NAMES) if counts[o]
    )
    said = " ".join(lede(view))
    parts = [f"### {_text(view.results.get('headline') or '')}", _text(said), tallied, " · ".join(panels)]
    return "\n\n".join(part for part in parts if part)


def _attention(view: View) -> str:
    cases = [(matter, case) for matter in needs_attention(view) for case in matter.cases]
    faults = [f"- {_SIGNS['not measured']} {_text(fault)}" for fault in run_faults(view)]
    if not cases and not faults:
        return ""
    lines = ["#### What turns this run red, and what to do", "", *faults, *(_case(m, c) for m, c in cases[:MOST_CASES])]
    if len(cases) > MOST_CASES:
        lines.append(f"- and {len(cases) - MOST_CASES} more in the report")
    return "\n".join(lines)


def _case(matter: Matter, case: Case) -> str:
    limit = f", limit {matter.limit}" if matter.limit else ""
    note = f", {_text(case.note)}" if case.note else ""
    about = f"**{_text(matter.title)}** {_text(case.who)}: {_text(case.found)}{limit}{note}."
    return f"- {_SIGNS[case.outcome]} {about} {_text(case.remedy)}"


def _question(view: View, question: Question) -> str:
    groups = [group for group in view.groups(question) if group.gates]
    if not groups:
        return ""
    outcomes = [n.outcome for group in groups for mine in group.gates.values() for n in mine]
    body = "\n\n".join(_table(group) for group in groups)
    unfolded = " open" if worst(outcomes) in ("fail", "not measured") else ""
    head = f"<summary>{_SIGNS[worst(outcomes)]} {_html(question.title)} {tally(outcomes)}</summary>"
    return f"<details{unfolded}>{head}\n\n{body}\n\n</details>"


def _table(group: Group) -> str:
    """Judges by gates; the failing judges first."""
    gates = list(group.gates.values())
    badness = list(OUTCOME_NAMES)
    found: dict[str, list[list[Number]]] = {}
    for name in {n.who for mine in gates for n in mine}:
        found[name] = [[n for n in mine if n.who == name] for mine in gates]
    marks = {name: worst([n.outcome for cell in row for n in cell]) for name, row in found.items()}
    ordered = sorted(found, key=lambda name: (badness.index(marks[name]), group.place(name)))
    shown = ordered if len(ordered) <= MOST_ROWS else [name for name in ordered if marks[name] != "pass"][:MOST_ROWS]
    head = ["judge", *(f"{_text(mine[0].gate_title)} {common_limit(mine)}" for mine in gates)]
    levels = alternating([cell for row in found.values() for cell in row])
    series = levels if len(levels) == 2 else []
    about = f"**{_text(group.panel.name)}**, {_text(plain_name(group.task))}"
    lines = [f"{about} ({group.panel.provenance or 'provenance unknown'})", ""]
    if series:
        lines[0] += f"; two values: {' / '.join(map(_text, series))}"
    if shown:
        lines += [_row(head), _row(["---"] * len(head))]
        lines += [_row([_code(name or "the panel"), *(_cell(cell, series) for cell in found[name])]) for name in shown]
    if len(shown) < len(ordered):
        lines += ["", f"{len(ordered) - len(shown)} more judges in the report."]
    return "\n".join(lines)


def _cell(cell: list[Number], series: list[str]) -> str:
    """Each verdict of the cell, or the worst of them and how many there are."""
    if len(cell) > SHOWN_PER_CELL:
        outcome = worst([n.outcome for n in cell])
        return f"{_SIGNS[outcome]} {tally([n.outcome for n in cell])}"
    if series and [n.circumstances for n in cell] == series:
        return " / ".join(f"{_SIGNS[n.outcome]} {estimate_format.value(n)}" for n in cell)
    return "<br>".join(f"{_SIGNS[n.outcome]} {estimate_format.value(n)}{_when(n)}" for n in cell)


def _when(n: Number) -> str:
    return f" ({_text(n.circumstances)})" if n.circumstances else ""


def _moved(view: View) -> str:
    baseline = movement(view)
    if not baseline:
        return ""
    lines = ["#### Against the baseline", "", _text(baseline.summary)]
    if baseline.moved:
        lines += ["", _row(["what", "whom", "field", "before", "now", "change"]), _row(["---"] * 6)]
        lines += [
            _row([_text(t) for t in (m.what, m.who, m.field, m.before, m.after, m.delta)])
            for m in baseline.moved[:MOST_MOVED]
        ]
    more = max(0, len(baseline.moved) - MOST_MOVED) + baseline.more_moved
    if more:
        lines += ["", f"{more} more in the report."]
    for kind, entries in (("Appeared", baseline.appeared), ("Vanished", baseline.vanished)):
        if entries:
            lines += ["", f"{kind}: {_text(numbers.listed(entries, most=8))}."]
    return "\n".join(lines)


def _foot(view: View) -> str:
    cassettes = view.results.get("cassettes") or {}
    counts = [f"{numbers.count(cassettes[k])} {k}" for k in ("files", "interactions", "unused") if k in cassettes]
    shown = sorted({p.provenance for p in view.panels if p.provenance in PROVENANCE_MEANINGS})
    meanings = [f"{name}: {PROVENANCE_MEANINGS[name]}" for name in shown]
    return "\n\n".join(
        f"<sub>{line}</sub>" for line in [*meanings, f"Cassettes: {', '.join(counts)}." if counts else ""] if line
    )


# --------------------------------------------------------------------------- text


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _html(text: str) -> str:
    """For text inside an HTML tag: Markdown is not read there, HTML is."""
    clean = " ".join(visible(shortened(text, LONGEST_TEXT)[0]).split())
    return _silent(clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


def _text(text: str) -> str:
    """Plain text as Markdown: nothing in it formats, links, breaks a table, mentions a person or closes a comment."""
    return re.sub(r"([\\`*_\[\]|~$])", r"\\\1", _html(text))


def _silent(text: str) -> str:
    """Neither @someone nor #12 nor a bare address calls anyone or becomes a link."""
    return re.sub(r"([@#])(?=\w)", "\\1\u2060", text).replace("://", ":\u2060//").replace("www.", "www\u2060.")


def _code(text: str) -> str:
    """A name in a code span, where nothing is Markdown."""
    clean = " ".join(visible(shortened(text, 100)[0]).split())
    inert = clean.replace("`", "'").replace("|", "/")
    return f"`{inert}`"
