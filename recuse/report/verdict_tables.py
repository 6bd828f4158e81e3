"""The tables of verdicts that terminal, Markdown and page render alike: judges by gates, of one question or of a whole
task; and of one judge upgrade, told by `recuse compare` too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from recuse.report.addresses import verdict_anchor
from recuse.report.figures.pictures import Scale
from recuse.report.gated_number import Number, plain_name
from recuse.report.results_model import Group, ResultsModel
from recuse.schema import number_text as numbers
from recuse.schema.estimate_types import AGAINST_INCUMBENT
from recuse.schema.number_text import MINUS, MISSING, decimals_for, in_unit, is_number
from recuse.schema.plain_values import grouped
from recuse.schema.results import UpgradeVerdictRow
from recuse.schema.vocabulary import FAIL, NOT_MEASURED, PASS, SHOWN, UNDECIDED, printed, tally, worst

SHOWN_PER_CELL = 2
"""Verdicts told one by one in a cell; of more, the worst is told and the rest are counted."""
UPGRADE = "upgrade"
"""The question of which each gate is a component of one verdict."""
SIGNS = 4
"""Signs by which levels are told apart without their words."""
WORDS = {PASS: "allowed", FAIL: "worse"}
DISTANCES = ("upgrade_human_offset", "upgrade_slice_offset")  # their detail says which way from people a judge lies
MOST_POWERS = 4
WIDEST = 2.0
"""How many times what is allowed the picture of a change shows to either side of none."""


class Column(NamedTuple):
    """One gate. `levels`: the factor levels that its cells show one by one, in words; none where they are many."""

    gate: str
    title: str
    limit: str
    levels: tuple[str, ...]
    anchor: str  # where the page draws what was found


class Cell(NamedTuple):
    """What one gate says of one judge: nothing, a verdict, or one per factor level."""

    numbers: tuple[Number, ...]

    @property
    def outcome(self) -> str:
        """The worst in it; "" if nothing was asked."""
        return worst(n.state for n in self.numbers)

    @property
    def shown(self) -> tuple[Number, ...]:
        """The verdicts to show one by one: all of few, else the worst."""
        if len(self.numbers) <= SHOWN_PER_CELL:
            return self.numbers
        return (next(n for n in self.numbers if n.state == self.outcome),)

    @property
    def hidden(self) -> tuple[Number, ...]:
        """Those that are not told one by one."""
        return tuple(n for n in self.numbers if n not in self.shown)

    @property
    def informs(self) -> bool:
        """Whether nothing in it is held against the run, though something neither passes nor is accepted."""
        return any(n.is_let_through for n in self.numbers) and all(n.is_tolerated for n in self.numbers)

    def value(self, n: Number) -> str:
        """One of its numbers, with as many decimals as the others in it."""
        return n.text(decimals_for(one.value for one in self.shown)) if is_number(n.value) else MISSING

    @property
    def rest(self) -> str:
        """What is not shown: "and 6 more: 5 pass, 1 accepted"."""
        return f"and {len(self.hidden)} more: {tally(n.state for n in self.hidden)}" if self.hidden else ""

    def at(self, level: str) -> Cell:
        """The part of it at a factor level of its column."""
        return Cell(tuple(n for n in self.numbers if n.circumstances == level))


class Row(NamedTuple):
    """A judge, or the panel as a whole, with its cells."""

    name: str  # "" for the panel as a whole
    label: str
    cells: list[Cell]

    @property
    def outcome(self) -> str:
        """The worst in it."""
        return worst(cell.outcome for cell in self.cells if cell.outcome)


class VerdictTable(NamedTuple):
    """Rows in panel order, the panel as a whole last; columns in the order of the questions and their gates. `series`:
    levels that all cells of two verdicts alternate between (names shown and hidden), none where there are no signs for
    them, and each verdict says its own."""

    group: Group  # the first of those it tells of: their panel and task
    columns: list[Column]
    rows: list[Row]
    series: list[str]

    def worst_first(self) -> list[Row]:
        """Its rows, the worst judge first."""
        return sorted(self.rows, key=lambda row: list(SHOWN).index(row.outcome))  # stable: else panel order


def verdict_tables(view: ResultsModel, groups: Sequence[Group]) -> list[VerdictTable]:
    """One table per panel and task that has verdicts, of all `groups` about them."""
    names = [p.name for p in view.panels]
    gated = (group for group in groups if group.gates)
    by_place = grouped(gated, lambda group: (names.index(group.panel.name), group.task))
    return [verdict_table(by_place[place]) for place in sorted(by_place)]


def verdict_table(groups: Sequence[Group]) -> VerdictTable:
    """The table of these groups, which are about one panel and task."""
    gated = [(group, gate, some) for group in groups for gate, some in group.gates.items()]
    first, table = groups[0], [grouped(some, lambda n: n.who) for _, _, some in gated]
    who = sorted({w for about in table for w in about}, key=lambda w: (w == "", first.place(w)))
    labels = {w: first.label(w) if w else "the panel as a whole" for w in who}
    rows = [Row(w, label, [Cell(tuple(about.get(w, ()))) for about in table]) for w, label in labels.items()]
    titles = [", ".join(filter(None, (some[0].gate_title, plain_name(group.protocol)))) for group, _, some in gated]
    columns = []
    for (group, gate, some), title in zip(gated, titles, strict=True):
        levels, limits = tuple(group.circumstances(some)), {n.limit_text for n in some}
        if titles.count(title) > 1 and not group.protocol:  # a gate asked of another protocol has this title too
            title = ", ".join(filter(None, (title, plain_name(some[0].subject.get("protocol", "")))))
        limit = limits.pop() if len(limits) == 1 else "limits differ"
        shown = levels if len(levels) <= SHOWN_PER_CELL else ()
        columns.append(Column(gate, title, limit, shown, group.anchor))
    twos = [cell for row in rows for cell in row.cells if 1 < len(cell.numbers) <= SHOWN_PER_CELL]
    pairs = dict.fromkeys(tuple(n.circumstances for n in cell.numbers) for cell in twos)
    series = list(dict.fromkeys(level for pair in pairs for level in pair))
    return VerdictTable(first, columns, rows, series if len(series) <= SIGNS else [])


def column_readings(tables: Sequence[VerdictTable]) -> dict[str, str]:
    """What each column is called -> how to read it, as its measure is described."""
    rows = [(table.columns, row.cells) for table in tables for row in table.rows]
    first = ((c.title, n.measure) for columns, cells in rows for c, cell in zip(columns, cells, strict=True)
             for n in cell.numbers[:1])  # fmt: skip
    return {title: measure["reading"] for title, measure in first if measure["reading"]}


class UpgradeRow(NamedTuple):
    """One component: what it is, both judges' values, the change with its interval, what is allowed, the verdict."""

    title: str
    incumbent: str
    candidate: str
    change: str
    allowed: str
    verdict: str
    outcome: str
    anchor: str = ""
    picture: Mapping[str, object] | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        """Its texts, column by column."""
        return (self.title, self.incumbent, self.candidate, self.change, self.allowed, self.verdict)


class UpgradeTable(NamedTuple):
    """An upgrade as results hold it; a row per component; `foot`: of how many items, how sure, what it could find."""

    upgrade: UpgradeVerdictRow
    rows: tuple[UpgradeRow, ...]
    foot: tuple[str, ...]

    @property
    def where(self) -> str:
        """Panel, task and protocol."""
        return ", ".join(str(self.upgrade.get(name)) for name in ("panel", "task", "protocol"))

    @property
    def head(self) -> tuple[str, ...]:
        """What its columns are called."""
        return ("", self.upgrade["incumbent"], self.upgrade["candidate"], "change", "allowed", "verdict")


def upgrade_tables(view: ResultsModel, *, minus: str = MINUS) -> list[UpgradeTable]:
    """One per upgrade of the results: those that are refused first, then what is undecided."""
    badness, tables = (FAIL, NOT_MEASURED, UNDECIDED, PASS), []
    for upgrade in sorted(view.results.get("upgrades") or (), key=lambda u: badness.index(u["outcome"])):
        own, titles = _compared(view, upgrade), [view.lexicon.measure(of)["title"] for of in upgrade["not_measured"]]
        unmeasured = [UpgradeRow(title, "", "", "", "", printed(NOT_MEASURED), "") for title in titles]
        rows = (*(_row(n, minus) for n in own), *unmeasured)
        tables.append(UpgradeTable(upgrade, rows, tuple(_foot(upgrade, own, minus))))
    return tables


def deciding_numbers(view: ResultsModel) -> Iterator[Number]:
    """Of every upgrade that is not accepted all rows that refuse it, or the first that is open."""
    for upgrade in view.results.get("upgrades") or ():
        open_ = [n for n in _compared(view, upgrade) if not n.is_tolerated and upgrade["outcome"] != PASS]
        yield from [n for n in open_ if n.outcome == FAIL] or open_[:1]


def _compared(view: ResultsModel, upgrade: UpgradeVerdictRow) -> list[Number]:
    by_key = {(n.gate, n.about): n for n in view.numbers if n.question == UPGRADE}
    keys = [(row["gate"], tuple(sorted(row["subject"].items()))) for row in upgrade["rows"]]
    return [by_key[key] for key in keys if key in by_key]


def _row(n: Number, minus: str) -> UpgradeRow:
    """Called "agreement on its worst slice (target B)", "cost (dollars per call)"."""
    cost, slice_ = str(n.detail.get("unit") or ""), n.detail.get("slice")
    part = f"{slice_['column']} {slice_['level']}" if slice_ else ""
    where = ", ".join(filter(None, [n.circumstances, str(n.detail.get("option") or ""), part, cost]))
    far = abs if n.metric in DISTANCES else float
    before, after = ("" if not is_number(v) else f"{v:.3g}" if cost else in_unit(far(v), n.unit, 2, minus=minus)
                     for v in (n.detail.get("incumbent"), n.detail.get("candidate")))  # fmt: skip
    change = n.with_interval(minus) if is_number(n.value) else numbers.why_missing(n.why_undefined)
    return UpgradeRow(
        f"{n.gate_title} ({where})" if where else n.gate_title, before, after, change, n.limit_text, _word(n), n.state,
        verdict_anchor(n), _picture(n),
    )  # fmt: skip


def _picture(n: Number) -> Mapping[str, object] | None:
    """A change with its interval, and the `band` of what is allowed (start, width), in percent of the picture."""
    ends = [abs(end) for end in n.limit_ends if is_number(end)]
    if not (ends and max(ends) > 0 and is_number(n.low) and is_number(n.high)):
        return None
    scale = Scale(-WIDEST * max(ends), WIDEST * max(ends), ())
    low, high, x = (scale.at(value) or 0.0 for value in (n.low, n.high, n.amount))
    return {"band": scale.band(n.limit_ends), "low": low, "high": high, "x": x}


def _word(n: Number) -> str:
    if n.state == FAIL and n.gate in AGAINST_INCUMBENT:
        return "differs"
    if n.state != UNDECIDED:
        return WORDS.get(n.state) or printed(n.state)
    if n.detail.get("asked_once"):
        return f"{printed(UNDECIDED)}, the judge in use was asked once"
    if not n.remedy or not (needed := n.remedy.get("needed")) or not (observed := n.remedy.get("observed")):
        return printed(UNDECIDED)
    more = numbers.count(max(needed - observed, 1))
    return f"{printed(UNDECIDED)}, about {more} {n.remedy.get('units') or 'items'} more"


def _foot(upgrade: UpgradeVerdictRow, compared: list[Number], minus: str) -> Iterator[str]:
    if (changed := list(upgrade["change"])) != ["model"]:
        yield f"Changed on purpose: {' and '.join(changed)}."
    if not compared:
        return
    count = f"{len(compared)} comparisons" if len(compared) > 1 else "one comparison"
    family = next((f for n in compared if n.verdict and (f := n.verdict["rule"]["family"])), None)
    chance = f"{100 * family['alpha']:.3g} % chance that any is called worse although none is (Holm)" if family else ""
    texts = f"Same {numbers.count(upgrade['items'])} texts, paired"
    yield f"{texts}; {count}, all of which must be allowed, each at 5 %{f'; {chance}' if chance else ''}."
    by_gate: dict[str, str] = {}
    for n in sorted(compared, key=lambda n: n.measure["rank"]):
        if is_number(smallest := n.detail.get("smallest")):
            by_gate.setdefault(n.gate, f"{n.gate_title} {in_unit(smallest, n.unit, minus=minus)}")
    if listed := ", ".join([*by_gate.values()][:MOST_POWERS]):
        yield f"Before you looked, this table could find with 80 % power a change of: {listed}."
