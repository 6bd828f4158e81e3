"""Judges by gates: who passes what, at a glance. One matrix per panel and task."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from recuse.report import estimate_format, numbers
from recuse.report.results_model import Group, Number, Panel, Question, View
from recuse.report.vocabulary import OUTCOME_NAMES, worst

SIGNS = 4  # that the style sheet draws
SHOWN_PER_CELL = 2


@dataclass(frozen=True, slots=True)
class Line:
    outcome: str
    value: str  # "" where undefined
    small: str  # its circumstances
    series: int | None = None  # its place among the levels that the cells of this matrix alternate between


@dataclass(frozen=True, slots=True)
class MatrixCell:
    outcome: str  # the worst in it; "" if nothing was asked
    lines: list[Line]
    more: str = ""  # "and 6 more: 5 pass, 1 accepted"


@dataclass(frozen=True, slots=True)
class Column:
    question: str
    gate: str
    title: str
    limit: str


@dataclass(frozen=True, slots=True)
class MatrixRow:
    label: str
    name: str
    outcome: str
    cells: list[MatrixCell]


@dataclass(frozen=True, slots=True)
class VerdictMatrix:
    panel: Panel
    task: str
    columns: list[Column]
    rows: list[MatrixRow]
    series: list[str]  # these levels, in words


def verdict_matrices(view: View, questions: list[Question]) -> list[VerdictMatrix]:
    by_panel: dict[tuple[str, str], list[Group]] = {}
    for question in questions:
        for group in view.groups(question):
            if any(n.verdict for n in group.numbers):
                by_panel.setdefault((group.panel.name, group.task), []).append(group)
    names = [p.name for p in view.panels]
    ordered = sorted(by_panel, key=lambda key: (names.index(key[0]), key[1]))
    return [_matrix(by_panel[key]) for key in ordered]


def _matrix(groups: list[Group]) -> VerdictMatrix:
    columns: list[tuple[Column, dict[str, list[Number]]]] = []
    for group in groups:
        for gate, mine in group.gates.items():
            about: dict[str, list[Number]] = {}
            for n in mine:
                about.setdefault(n.who, []).append(n)
            columns.append((Column(group.question.id, gate, mine[0].gate_title, common_limit(mine)), about))
    first = groups[0]
    who = sorted({w for _, about in columns for w in about}, key=lambda w: (w == "", first.place(w)))
    series = alternating([mine for _, about in columns for mine in about.values()])
    rows = [_row(first, w, columns, series) for w in who]
    return VerdictMatrix(first.panel, first.task, [c for c, _ in columns], rows, series)


def alternating(cells: list[list[Number]]) -> list[str]:
    """The levels that two-line cells alternate between, as long as there are signs for them all (two pairs: names shown
    and hidden, in grades and in duels); else none, and each line says its circumstances."""
    pairs = {tuple(n.circumstances for n in cell): None for cell in cells if 1 < len(cell) <= SHOWN_PER_CELL}
    levels = list(dict.fromkeys(level for pair in pairs for level in pair))
    return levels if len(levels) <= SIGNS else []


def _row(group: Group, who: str, columns: list[tuple[Column, dict[str, list[Number]]]], series: list[str]) -> MatrixRow:
    cells = [_cell(about.get(who, []), series) for _, about in columns]
    label = group.label(who) if who else "the panel as a whole"
    return MatrixRow(label, who, worst([c.outcome for c in cells if c.outcome]), cells)


def _cell(numbers_: list[Number], series: list[str]) -> MatrixCell:
    if not numbers_:
        return MatrixCell("", [])
    badness = list(OUTCOME_NAMES)
    ordered = sorted(numbers_, key=lambda n: badness.index(n.outcome))  # stable: panel order within an outcome
    shown = numbers_ if len(numbers_) <= SHOWN_PER_CELL else ordered[:1]
    rest = [n.outcome for n in ordered[1:]] if len(numbers_) > SHOWN_PER_CELL else []
    lines = [
        Line(n.outcome, estimate_format.value(n) if numbers.is_number(n.value) else "", n.circumstances,
             series.index(n.circumstances) if n.circumstances in series else None)
        for n in shown
    ]  # fmt: skip
    more = f"and {len(rest)} more: {tally(rest)}" if rest else ""
    return MatrixCell(ordered[0].outcome, lines, more)


def tally(outcomes: list[str]) -> str:
    """ "5 pass, 1 accepted", best first."""
    counts = Counter(outcomes)
    return ", ".join(f"{counts[o]} {OUTCOME_NAMES[o].word}" for o in reversed(OUTCOME_NAMES) if counts[o])


def common_limit(gated: list[Number]) -> str:
    limits = {numbers.limit(n.limit) for n in gated}
    return limits.pop() if len(limits) == 1 else "limits differ"
