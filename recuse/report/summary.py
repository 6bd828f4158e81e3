"""summary.md: the report as a pull-request comment. Short, GitHub Markdown, failures first; no judge's words in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from recuse.report.first_line import decision_lines, expiring, next_step, opening, upgrade_lines
from recuse.report.gated_number import Number
from recuse.report.markdown import code_span, escaped, escaped_html, fenced, folded, of_table, table_head, table_row
from recuse.report.questions import Drawings
from recuse.report.results_model import Group, Question, ResultsModel
from recuse.report.sections.about_the_run import digests, facts, in_one_line, not_asked
from recuse.report.sections.against_baseline import TITLE, changed
from recuse.report.sections.attention import Matter, Way, needs_attention, run_faults
from recuse.report.upgrade_table import UpgradeTable, upgrade_tables
from recuse.report.verdict_tables import Cell, VerdictTable, verdict_table
from recuse.schema import number_text as numbers
from recuse.schema.results import Known, Results
from recuse.schema.vocabulary import (
    FAIL,
    NOT_MEASURED,
    PASS,
    PROVENANCE_MEANINGS,
    SHOWN,
    counted,
    printed,
    tally,
    worst,
)

SIZE_LIMIT = 60_000
"""Characters; GitHub refuses comments beyond 65,536."""

MOST_CASES = 15
MOST_FAULTS = 15
MOST_MATTERS = 10
MOST_ROWS = 15  # judges per table; beyond, only those that do not pass everything
MOST_MOVED = 15
MOST_UNASKED = 30
MOST_VERSIONS = 40


def summary(
    results: Results, size_limit: int = SIZE_LIMIT, drawings: Sequence[str] = (),
    known: Known | None = None,
) -> str:  # fmt: skip
    """Markdown for normalised `results`; whole sections are left out from the end where it would grow too long."""
    view = ResultsModel(results)
    order = Drawings(drawings).order
    tables = [_question(view, q) for q in sorted(view.questions, key=lambda q: order(q.id))]
    sections = [_head(view), _changed(view), _attention(view), *tables, _not_asked(view), _foot(view, known or {})]
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


def _head(view: ResultsModel) -> str:
    panels = [f"{code_span(p.name)} {p.provenance or 'provenance unknown'}" for p in view.panels]
    through = [n.state for n in view.numbers if n.is_let_through]
    counts = Counter(n.state for n in view.numbers if n.verdict) - Counter(through)
    tallied = " · ".join(f"{_sign(o)} {counted(o, counts[o])}" for o in reversed(SHOWN) if counts[o])
    tallied += f" · not held against this run: {tally(through)}" if through else ""
    lines = [f"- {escaped(upgrade_line)}" for upgrade_line in upgrade_lines(view)]
    for line in decision_lines(view):
        states = "; ".join(
            f"**{printed(s.state)}**{escaped(s.text.removeprefix(printed(s.state)))}" for s in line.standings
        )
        lines.append(f"- {code_span(line.panel)} {escaped(line.use)}: {states}")
    first, *rest = opening(view.results)
    step = next_step(view.results)
    parts = [
        f"### {escaped(first)}", *map(escaped, rest), f"Next: {escaped(step)}" if step else "",
        escaped(expiring(view.results)), "\n".join(lines),
        tallied, " · ".join(panels),
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part)


def _changed(view: ResultsModel) -> str:
    """What is another thing than in the baseline, one row each; the report has every difference."""
    changes = changed(view)
    if changes is None:
        return ""
    lines = [f"#### {TITLE}", ""]
    if changes.rows:
        lines += table_head(["what", "was", "is", "and so"])
        shown = changes.rows[:MOST_MOVED]
        lines += [table_row(map(escaped, (c.what, c.before, c.after, c.note))) for c in shown]
    if len(changes.rows) > MOST_MOVED:
        lines += ["", f"{len(changes.rows) - MOST_MOVED} more changes in the report."]
    lines += [*([""] if changes.rows else []), escaped(changes.rest)] if changes.rest else []
    baseline = view.results.get("baseline")
    if because := baseline and baseline.get("because"):
        lines += ["", f"The baseline was written because: {escaped(because['reason'])}"]
    return "\n".join(lines).rstrip()


def _attention(view: ResultsModel) -> str:
    matters = needs_attention(view)
    faults = [f"- {_sign(NOT_MEASURED)} {escaped(fault)}" for fault in run_faults(view)]
    if not matters and not faults:
        return ""
    shown = faults[:MOST_FAULTS]
    if len(faults) > MOST_FAULTS:
        shown.append(f"- and {len(faults) - MOST_FAULTS} more faults of the run, in the report")
    blocks, named = ["\n".join(["#### What turns this run red, and what to do", "", *shown])], 0
    for matter in matters[:MOST_MATTERS]:
        blocks.append(_matter(view, matter, matter.cases[: max(1, MOST_CASES - named)]))
        named += len(matter.cases)
    if len(matters) > MOST_MATTERS:
        blocks.append(f"And {len(matters) - MOST_MATTERS} more gates in the report.")
    return "\n\n".join(blocks)


def _matter(view: ResultsModel, matter: Matter, cases: list[Number]) -> str:
    """A gate that is not kept: each verdict, then what to do and what to paste, once."""
    limit = f", limit {escaped(matter.limit)}" if matter.limit else ""
    lines = [f"**{escaped(matter.first.gate_title)}** ({code_span(matter.first.gate)}){limit}", ""]
    for n in cases:
        lines.append(f"- {_sign(n.state)} {escaped(view.whom(n))}: {escaped(n.with_interval())}. {escaped(n.finding)}")
    if len(matter.cases) > len(cases):
        lines.append(f"- and {len(matter.cases) - len(cases)} more in the report")
    return "\n\n".join(["\n".join(lines), *map(_way, matter.ways)])


def _way(way: Way) -> str:
    if not way.paste:
        return escaped(way.advice)
    more = f"\n\nand {way.more} more like these in results.json" if way.more else ""
    head = f"What to paste into {escaped_html(way.file or 'the gates file')}"
    return "\n\n".join(part for part in (escaped(way.advice), folded(head, fenced(way.paste) + more)) if part)


def _question(view: ResultsModel, question: Question) -> str:
    groups = [group for group in view.groups(question) if group.gates]
    if not groups:
        return ""
    if question.id == "upgrade":
        return "\n\n".join(_upgrade(table) for table in upgrade_tables(view))
    outcomes = [n.state for group in groups for measured in group.gates.values() for n in measured]
    body = "\n\n".join(_table(group, verdict_table([group])) for group in groups)
    unfolded = " open" if worst(outcomes) in (FAIL, NOT_MEASURED) else ""
    return folded(f"{_sign(worst(outcomes))} {escaped_html(question.title)} {tally(outcomes)}", body, unfolded)


def _upgrade(table: UpgradeTable) -> str:
    """The sentence, and the table behind it folded away; the deciding row first."""
    rows = [table_row(map(escaped, row.cells)) for row in table.rows]
    body = "\n".join([*table_head([escaped(cell) or "what" for cell in table.head]), *rows])
    foot = "\n\n".join(map(escaped, table.foot))
    unfolded = " open" if table.outcome in (FAIL, NOT_MEASURED) else ""
    head = f"{_sign(table.outcome)} {escaped_html(table.sentence)} ({escaped_html(table.where)})"
    return folded(head, "\n\n".join(part for part in (body, foot) if part), unfolded)


def _table(group: Group, table: VerdictTable) -> str:
    """Judges by gates; the failing judges first."""
    ordered = table.worst_first()
    shown = ordered if len(ordered) <= MOST_ROWS else [row for row in ordered if row.outcome != PASS][:MOST_ROWS]
    series = table.series if len(table.series) == 2 else []
    lines = [f"**{escaped(group.panel.name)}**, {escaped(group.about)} ({group.provenance})", ""]
    if series:
        lines[0] += f"; two values: {' / '.join(map(escaped, series))}"
    if shown:
        lines += table_head(["judge", *(f"{escaped(c.title)} {c.limit}" for c in table.columns)])
        for row in shown:
            lines.append(table_row([code_span(row.name or "the panel"), *(_cell(c, series) for c in row.cells)]))
    if len(shown) < len(ordered):
        lines += ["", f"{len(ordered) - len(shown)} more judges in the report."]
    return "\n".join(lines)


def _cell(cell: Cell, series: list[str]) -> str:
    """Each verdict of the cell, or the worst of them and how many there are."""
    if cell.rest:
        return f"{_sign(cell.outcome)} {tally(n.state for n in cell.numbers)}"
    if series and [n.circumstances for n in cell.numbers] == series:
        return " / ".join(map(_verdict, cell.numbers))
    when = (f" ({escaped(n.circumstances)})" if n.circumstances else "" for n in cell.numbers)
    return "<br>".join(f"{_verdict(n)}{about}" for n, about in zip(cell.numbers, when, strict=True))


def _verdict(n: Number) -> str:
    return f"{_sign(n.state)} {n.text()}"


def _not_asked(view: ResultsModel) -> str:
    """What was not asked, folded away, with what would unlock it."""
    lines = of_table(not_asked(view), MOST_UNASKED)
    return folded(f"Not asked: {escaped_html(in_one_line(view))}", "\n".join(lines)) if lines else ""


def _foot(view: ResultsModel, known: Known) -> str:
    cassettes = view.results.get("cassettes")
    kinds = ("files", "interactions", "unused")
    counts = [f"{numbers.count(cassettes.get(kind))} {kind}" for kind in kinds if cassettes and kind in cassettes]
    shown = sorted({p.provenance for p in view.panels if p.provenance in PROVENANCE_MEANINGS})
    lines = [f"{name}: {PROVENANCE_MEANINGS[name]}" for name in shown]
    lines += [f"Cassettes: {', '.join(counts)}."] if counts else []
    lines.append(escaped(" · ".join(f"{name} {value}" for name, value in facts(view, known))))
    sources = "\n\n".join("\n".join(of_table(table, MOST_VERSIONS)) for table in digests(view) if table)
    whole = [*(f"<sub>{line}</sub>" for line in lines if line)]
    return "\n\n".join([*whole, *([folded("Judges, versions and what they were asked", sources)] if sources else [])])


def _sign(outcome: str) -> str:
    return SHOWN[outcome].sign
