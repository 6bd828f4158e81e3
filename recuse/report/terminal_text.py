"""The summary at the end of a pytest run: plain text, ASCII marks, no line longer than the terminal.

First line in plain English; a table per question, judges down and gates across; what failed and what to do; the
cassettes; where the report is. Colour repeats what the words say and is never needed.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recuse.report import estimate_format, numbers
from recuse.report.canonical_form import normalised
from recuse.report.first_line import headline
from recuse.report.panels import order_of
from recuse.report.results_model import Group, Number, View
from recuse.sanitize import visible
from recuse.report.sections.attention import Case, Matter, needs_attention
from recuse.report.sections.baseline import movement
from recuse.report.vocabulary import OUTCOME_NAMES, level_name, worst

NARROWEST = 40
MOST_CASES = 12
_COLOURS = {"pass": "32", "accepted": "33", "undecided": "36", "fail": "31;1", "not measured": "35;1"}


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    outcome: str = ""


def terminal(results: Mapping[str, Any], width: int = 80, *, color: bool = False, report: str | None = None) -> str:
    """See `recuse.report.terminal`."""
    plain = normalised(results)
    view, room = View(plain), max(width, NARROWEST)
    blocks = [
        _wrapped(plain.get("headline") or headline(plain), room),
        *_questions(view, room, color),
        *_matters(view, room, color),
        "\n".join(_footer(view, room, report)),
    ]
    return "\n\n".join(block for block in blocks if block)


# --------------------------------------------------------------------------- tables


def _questions(view: View, width: int, color: bool) -> list[str]:
    blocks = []
    for question in sorted(view.questions, key=lambda q: order_of(q.id)):
        groups = [group for group in view.groups(question) if group.gates]
        tables = [_table(group, width, color) for group in groups]
        if tables:
            blocks.append("\n".join([_wrapped(question.title, width), *tables]))
    return blocks


@dataclass(frozen=True, slots=True)
class _Column:
    gate: str
    level: str  # "names hidden", "" where the gate has one column
    found: Mapping[str, list[Number]]  # whom -> verdicts

    def width(self, who: list[str]) -> int:
        return max(len(self.level), *(len(_cell(self.found.get(w)).text) for w in who))


def _table(group: Group, width: int, color: bool) -> str:
    """Judges down, gates and their factor levels across; columns that do not fit continue below."""
    columns = _columns(group)
    who = sorted({name for column in columns for name in column.found}, key=lambda w: (w == "", group.place(w)))
    first = min(max([len(_name(w)) for w in who] + [len("judge")]), width // 3)
    about = f"{group.panel.name} ({group.panel.provenance or 'provenance unknown'}), {group.task}"
    lines = [_cut(f"  {visible(about)}", width)]
    for run in _fitting(columns, who, width - 2 - first):
        gates, levels = _heads(run)
        lines.append(_cut(f"  {'judge':<{first}}{gates}".rstrip(), width))
        if levels.strip():
            lines.append(_cut(f"  {'':<{first}}{levels}".rstrip(), width))
        for name in who:
            cells = [(_cell(column.found.get(name)), w) for column, w in run]
            row = "".join(f"  {_painted(c, w, color, last=c is cells[-1][0])}" for c, w in cells)
            lines.append(f"  {_cut(_name(name), first):<{first}}{row}".rstrip())
    return "\n".join(lines)


def _columns(group: Group) -> list[_Column]:
    """One column per gate and factor level; per gate alone where there are more than two levels."""
    columns = []
    for gate, mine in group.gates.items():
        levels = list(dict.fromkeys(tuple(n.factors.values()) for n in mine))
        for level in levels if len(levels) <= 2 else [()]:
            found: dict[str, list[Number]] = {}
            for n in mine:
                if not level or tuple(n.factors.values()) == level:
                    found.setdefault(n.who, []).append(n)
            columns.append(_Column(visible(gate), visible(", ".join(map(level_name, level))), found))
    return columns


_Run = list[tuple[_Column, int]]  # columns that stand side by side, with their widths


def _fitting(columns: list[_Column], who: list[str], room: int) -> list[_Run]:
    """Runs of columns that fit into `room`, at least one each; the columns of one gate stay together if they can."""
    runs: list[_Run] = []
    for gate in dict.fromkeys(c.gate for c in columns):
        block = [(c, c.width(who)) for c in columns if c.gate == gate]
        short = len(gate) - sum(w + 2 for _, w in block) + 2
        block[-1] = (block[-1][0], block[-1][1] + max(0, short))
        if runs and sum(w + 2 for _, w in [*runs[-1], *block]) <= room:
            runs[-1] += block
            continue
        for column in block:
            fits = runs and runs[-1][-1][0].gate == gate and sum(w + 2 for _, w in [*runs[-1], column]) <= room
            runs = [*runs[:-1], [*runs[-1], column]] if fits else [*runs, [column]]
    return runs


def _heads(run: _Run) -> tuple[str, str]:
    """The line of gates, each above the first of its columns, and the line of levels."""
    gates = levels = ""
    for column, width in run:
        if not gates.rstrip().endswith(column.gate):
            gates = f"{gates:<{len(levels)}}  {column.gate}"
        levels += f"  {column.level:<{width}}"
    return gates, levels


def _cell(found: list[Number] | None) -> _Cell:
    """ "accepted +0.77"; of several verdicts the worst, and how many there are."""
    if not found:
        return _Cell("-")
    outcome = worst([n.outcome for n in found])
    shown = next(n for n in found if n.outcome == outcome)
    text = f"{OUTCOME_NAMES[outcome].shout} {estimate_format.value(shown, minus='-')}"
    if len(found) > 1:
        same = sum(n.outcome == outcome for n in found)
        text = f"{OUTCOME_NAMES[outcome].shout} {same} of {len(found)}"
    return _Cell(text, outcome)


# --------------------------------------------------------------------------- what failed, and the rest


def _matters(view: View, width: int, color: bool) -> list[str]:
    matters = needs_attention(view)
    if not matters:
        return []
    lines, told = ["What turns this run red, and what to do"], 0
    for matter in matters:
        cases = matter.cases[: max(0, MOST_CASES - told)]
        told += len(cases)
        if cases:
            lines += _matter(matter, cases, width, color)
    left_out = sum(len(matter.cases) for matter in matters) - told
    return ["\n".join([*lines, *([f"  and {left_out} more in the report"] if left_out else [])])]


def _matter(matter: Matter, cases: list[Case], width: int, color: bool) -> list[str]:
    limit = f", limit {matter.limit}" if matter.limit else ""
    lines = _folded(f"{matter.gate}{limit}: {matter.reason}", width, "  ", "    ")
    for case in cases:
        name, note = OUTCOME_NAMES[case.outcome].shout, f", {case.note}" if case.note else ""
        told = _folded(f"{name} {case.who}: {case.found}{note}", width, "    ", "      ")
        if color:
            told[0] = told[0].replace(name, _paint(name, case.outcome), 1)
        lines += told + _folded(case.remedy, width, "      ", "      ")
    return lines


def _folded(text: str, width: int, first: str, rest: str) -> list[str]:
    return textwrap.wrap(_ascii(text), width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)


def _footer(view: View, width: int, report: str | None) -> list[str]:
    lines = []
    cassettes = view.results.get("cassettes") or {}
    if cassettes.get("interactions") is not None:
        told = ", ".join(f"{numbers.count(cassettes.get(key))} {word}" for key, word in _COUNTED.items())
        lines.append(f"cassettes: {told}")
    baseline = movement(view)
    if baseline:
        lines.append(f"baseline: {baseline.summary}")
    if report:
        lines.append(f"report: {report}")
    return [part for line in lines for part in _folded(line, width, "", "  ")]


_COUNTED = {"files": "files", "interactions": "interactions", "used": "used", "unused": "unused"}


# --------------------------------------------------------------------------- text


def _name(who: str) -> str:
    return visible(who) or "whole panel"


def _wrapped(text: str, width: int) -> str:
    return textwrap.fill(_ascii(text), width, break_on_hyphens=False)


def _ascii(text: str) -> str:
    """For terminals that know no typography; what is left over is spelled out, never sent raw."""
    plain = visible(text).replace("≥", "at least").replace("≤", "at most").replace("±", "+-")
    for sign, instead in {"−": "-", "–": "-", "’": "'", "⟦": "<", "⟧": ">"}.items():
        plain = plain.replace(sign, instead)
    return plain


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(0, width - 2)] + ".."


def _painted(cell: _Cell, width: int, color: bool, *, last: bool) -> str:
    padding = "" if last else " " * (width - len(cell.text))
    return (_paint(cell.text, cell.outcome) if color and cell.outcome else cell.text) + padding


def _paint(text: str, outcome: str) -> str:
    return f"\x1b[{_COLOURS[outcome]}m{text}\x1b[0m"
