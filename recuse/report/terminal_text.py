"""The summary at the end of a pytest run: plain text, ASCII marks, no line longer than the terminal. Colour repeats
what the words say and is never needed."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from recuse.report.canonical_form import normalised
from recuse.report.first_line import decision_lines, expiring, next_step, opening, upgrade_lines
from recuse.report.questions import Drawings
from recuse.report.results_model import LOUD, ResultsModel
from recuse.report.sections.about_the_run import in_one_line
from recuse.report.sections.attention import TITLE, Matter, changed, needs_attention, run_faults
from recuse.report.verdict_tables import Cell, UpgradeTable, VerdictTable, upgrade_tables, verdict_table
from recuse.schema import number_text as numbers
from recuse.schema.results import Results
from recuse.schema.vocabulary import PASS, SHOWN, printed
from recuse.security.sanitize import visible

NARROWEST, MOST_CASES = 40, 12
MOST_WORDS = 8
"""Lines on panels, of which each has two."""
MOST_LINES = 24
"""Of the brief text, beside the line that says where the report is."""
Column = list[tuple[str, str]]
"""A gate, or one of its levels: its title, its level or "", and its cells; each a text with an outcome, "" for none."""
_ASCII = str.maketrans({"≥": "at least", "≤": "at most", "±": "+-", "−": "-", "–": "-", "’": "'", "⟦": "<", "⟧": ">"})


def terminal(
    results: Results, width: int = 80, color: bool = False, report: Path | str | None = None,
    drawings: Sequence[str] = (), verbosity: int = 1,
) -> str:  # fmt: skip
    """What pytest prints at the end. `verbosity` 0: the decision, who may be used for what, what changed and what is
    red, in at most 25 lines with where the report is (`report`); below: the word and the report; above: a table per
    question too, what to do about each red verdict, what was not asked, the cassettes. No line exceeds `width`."""
    plain = normalised(results)
    view, room = ResultsModel(plain), max(width, NARROWEST)
    where = [f"report: {report}"] if report else []
    if verbosity < 0:
        return "\n".join([_cut(ascii_of(opening(plain)[0]), room), *where])
    if verbosity == 0:
        return "\n".join([*_brief(view, room, color), *where])
    standings = [*upgrade_lines(view, "-"), *(line.text for line in decision_lines(view))]
    moved: list[str] = []
    if changes := changed(view):
        rows = numbers.fitting([change.text for change in changes.rows], MOST_CASES, "more changes in the report")
        moved = [TITLE, *_folded([*rows, changes.rest], room, "  ", "    ")]
    last = []
    if unasked := in_one_line(view):
        last.append(f"not asked: {unasked}; see the report")
    if (cassettes := plain.get("cassettes")) and cassettes.get("files"):
        kinds = ("files", "interactions", "used", "unused")
        last.append(f"cassettes: {', '.join(f'{numbers.count(cassettes.get(kind))} {kind}' for kind in kinds)}")
    if (rates := plain.get("error_rates")) and rates.get("sentence"):
        last.append(f"how sure: {rates['sentence']}")
    blocks = [
        [*_opening(plain, room), *_folded(standings, room, "  ", "    ")],
        moved,
        *(_upgrade(table, room, color) for table in upgrade_tables(view, minus="-")),
        *_questions(view, room, color, Drawings(drawings), methods=verbosity > 1),
        _matters(view, room, color),
        _folded([*last, *where], room, "", "  "),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _brief(view: ResultsModel, width: int, color: bool) -> list[str]:
    """One line each, the most telling first, as many as there is room for; -v shows the rest."""
    lines, upgrades = _opening(view.results, width), _folded(upgrade_lines(view, "-"), width, "  ", "    ")
    words, panels = [], decision_lines(view)
    for line in panels if panels[1:] else ():
        start, *rest = _folded([line.short(2 * width - 16)], width, "  ", "    ")
        words += [start, *([_cut(rest[0] + " " * width, width)] if rest[1:] else rest)]
    lines += [*numbers.fitting(upgrades, 6, "more lines on upgrades"), *words[:MOST_WORDS]]
    changes = changed(view)
    moved = [_cut(f"  changed: {ascii_of(change.text)}", width) for change in changes.rows] if changes else []
    faults = [f"fault of the run: {fault}" for fault in run_faults(view)]
    red = _folded(faults, width, "  ", "    ")  # whole: what to do stands at their end
    for n, limit in ((n, _limit(matter)) for matter in needs_attention(view) for n in matter.cases):
        text = f"{n.gate_title}: {view.whom(n)}: {n.with_interval()}{limit}"
        red.append(_painted(_cut(f"  {_word(n.state)} {ascii_of(text)}", width), _word(n.state), n.state, color))
    unasked = len(view.results.get("not_asked") or ())
    last = [f"  not asked: {unasked:,} times a question lacked its data (-v says which)"] if unasked else []
    for group, noun in ((moved, "changes"), (red, "verdicts and faults")):
        room = max(2, (MOST_LINES - len(lines) - len(last)) // (1 if group is red else 2))
        lines += numbers.fitting(group, room, f"more {noun}")
    return [*lines, *last]


def _opening(results: Results, width: int) -> list[str]:
    step = next_step(results)
    return _folded([*opening(results), f"Next: {step}" if step else "", expiring(results)], width, "", "  ")


def _upgrade(table: UpgradeTable, width: int, color: bool) -> list[str]:
    lines = _folded([f"{table.where}: {table.upgrade['sentence']}"], width, "", "  ")
    shown = [row for row in table.rows if row.outcome not in (PASS, "")]
    for row in shown:
        first, *rest = _folded([f"{row.verdict}: {row.title}, {row.change}, {row.allowed}"], width, "  ", "    ")
        lines += [_painted(first, row.verdict, row.outcome, color), *rest]
    allowed = sum(row.outcome == PASS for row in table.rows)
    foot = f"allowed: {allowed} of {len(shown) + allowed} comparisons. {' '.join(table.foot)}"
    return [*lines, *_folded([foot] if table.rows else [], width, "  ", "  ")]


def _questions(
    view: ResultsModel, width: int, color: bool, drawings: Drawings, *, methods: bool
) -> Iterator[list[str]]:
    explained = set[str]()
    for question in sorted(view.questions, key=lambda q: drawings.order(q.id)):
        groups = [(g, verdict_table([g])) for g in view.groups(question) if g.gates]
        if question.id == "upgrade" or not groups:
            continue  # an upgrade is told in its own words
        lines = [textwrap.fill(ascii_of(question.title), width, break_on_hyphens=False)]
        for g, table in groups:
            place = ", ".join(part for part in (g.task, g.protocol) if part)
            lines.append(_cut(f"  {visible(f'{g.panel.name} ({g.provenance}), {place}')}", width))
            lines += _table(table, width, color)
        gates = [one for g, table in groups for one in zip(table.columns, g.gates.values(), strict=True)]
        for column, (n, *_) in gates if methods else ():
            if n.verdict and column.gate not in explained:
                explained.add(column.gate)
                by = "the value itself" if n.verdict["rule"]["decide"] == "point" else "its whole interval"
                words = f"{column.title}: {n.measure['reading']} Limit {column.limit}, held by {by}: {n.reason}."
                lines += _folded([words], width, "    ", "      ")
        yield lines


def _table(table: VerdictTable, width: int, color: bool) -> Iterator[str]:
    """Judges down, gates across, with their levels where there are two; columns that do not fit continue below."""
    names = [(visible(row.name) or "whole panel") for row in table.rows]
    first = min(max(map(len, ["judge", *names])), width // 3)
    runs: list[list[Column]] = [[]]
    for j, column in enumerate(table.columns):
        for level in column.levels or ("",):
            cells = [row.cells[j].at(level) if column.levels else row.cells[j] for row in table.rows]
            one = [(visible(column.title), ""), (visible(level), ""), *map(_cell, cells)]
            if runs[-1] and sum(_widest(c) + 2 for c in [*runs[-1], one]) > width - 2 - first:
                runs.append([])
            runs[-1].append(one)
    for run in runs:
        for k, (name, *row) in enumerate(zip(["judge", "", *names], *run, strict=True)):
            if k == 0:  # a gate is named above the first of its columns
                row = [cell if cell != before else ("", "") for cell, before in zip(row, [None, *row], strict=False)]
            parts = (f"  {_painted(text, text, outcome, color)}{' ' * (_widest(column) - len(text))}"
                     for (text, outcome), column in zip(row, run, strict=True))  # fmt: skip
            line = f"  {_cut(name, first):<{first}}{''.join(parts)}".rstrip()
            if k != 1 or any(level for level, _ in row):
                yield _cut(line, width) if k < 2 else line
    if any(cell.informs for row in table.rows for cell in row.cells):
        yield from _folded(["(in brackets: of a use that the panel does not state)"], width, "  ", "  ")


def _widest(column: Column) -> int:
    return max(len(text) for text, _ in column)


def _cell(cell: Cell) -> tuple[str, str]:
    """ "accepted +0.77"; of several verdicts the worst, and how many there are."""
    if not cell.numbers:
        return "-", ""
    outcome, outcomes = cell.outcome, [n.state for n in cell.numbers]
    word = f"({printed(outcome)})" if cell.informs else _word(outcome)
    several = f"{outcomes.count(outcome)} of {len(outcomes)} {word}"
    return several if outcomes[1:] else f"{word} {cell.numbers[0].text(minus='-')}", outcome


def _matters(view: ResultsModel, width: int, color: bool) -> list[str]:
    matters, faults = needs_attention(view), run_faults(view)
    if not matters and not faults:
        return []
    lines, room = ["What turns this run red, and what to do"], MOST_CASES
    own = numbers.fitting([f"the run itself: {fault}" for fault in faults], MOST_CASES, "more faults of the run")
    lines += _folded(own, width, "  ", "    ")
    for matter in matters:
        gate, cases = matter.first, matter.cases[:room]
        room -= len(cases)
        if cases:
            lines += _folded([f"{gate.gate_title} ({gate.gate}){_limit(matter)}: {gate.reason}"], width, "  ", "    ")
        for n in cases:
            word = _word(n.state)
            first, *rest = _folded([f"{word} {view.whom(n)}: {n.with_interval()}"], width, "    ", "      ")
            lines += [_painted(first, word, n.state, color), *rest, *_folded([n.finding], width, "      ", "      ")]
        lines += _folded([way["advice"] for way in matter.ways if cases], width, "    ", "    ")
    left_out = sum(len(matter.cases) for matter in matters) - (MOST_CASES - room)
    return [*lines, *([f"  and {left_out} more in the report"] if left_out else [])]


def _limit(matter: Matter) -> str:
    return f", limit {matter.limit}" if matter.limit else ""


def _folded(texts: Iterable[str], width: int, first: str, rest: str) -> list[str]:
    """The lines of each text; an empty one has none."""
    wrapper = textwrap.TextWrapper(width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    lines = (line for text in texts for line in wrapper.wrap(ascii_of(text)))
    return [line.rstrip() for line in lines]  # a name longer than a line may leave a blank at the end of its last part


def _word(outcome: str) -> str:
    """The outcome's word; in capitals where it turns the run red."""
    return printed(outcome).upper() if outcome in LOUD else printed(outcome)


def ascii_of(text: str) -> str:
    """For terminals that know no typography; what is left over is spelled out, never sent raw."""
    return visible(text).translate(_ASCII)


def _cut(text: str, width: int) -> str:
    if len(text) <= width:
        return text
    kept = text[: max(0, width - 1)]
    words = kept.rpartition(" ")[0]
    return (words.rstrip(" ,;:.") if words.strip() else kept[:-1]) + ".."


def _painted(line: str, text: str, outcome: str, color: bool) -> str:
    coloured = f"\x1b[{SHOWN[outcome].colour}m{text}\x1b[0m" if color and outcome else text
    return line.replace(text, coloured, 1)
