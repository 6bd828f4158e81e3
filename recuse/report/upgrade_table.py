"""One verdict on a judge upgrade as a sentence and a table, told alike by `recuse compare`, terminal, Markdown and
page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from recuse.report.addresses import verdict_anchor
from recuse.report.figures.pictures import Scale
from recuse.report.gated_number import Number
from recuse.report.results_model import ResultsModel
from recuse.schema import number_text as numbers
from recuse.schema.estimate_types import AGAINST_INCUMBENT
from recuse.schema.number_text import MINUS, in_unit, is_number
from recuse.schema.results import UpgradeVerdictRow
from recuse.schema.vocabulary import FAIL, NOT_MEASURED, PASS, UNDECIDED, printed

WORDS = {PASS: "allowed", FAIL: "worse"}
DISTANCES = ("upgrade_human_offset", "upgrade_slice_offset")  # their detail says which way from people a judge lies
MOST_POWERS = 4


WIDEST = 2.0
"""How many times what is allowed the picture of a change shows to either side of none."""


@dataclass(frozen=True, slots=True)
class UpgradeRow:
    """One component: what it is, both judges' own values, the change with its interval, what is allowed, the
    verdict."""

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


@dataclass(frozen=True, slots=True)
class UpgradeTable:
    """An upgrade as results hold it; a row per component; `foot`: on how many items, how sure, and what could have been
    found."""

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
        own = _compared(view, upgrade)
        unmeasured = (view.lexicon.measure(name)["title"] for name in upgrade["not_measured"])
        rows = [_row(n, minus) for n in own]
        rows += [UpgradeRow(title, "", "", "", "", printed(NOT_MEASURED), "") for title in unmeasured]
        tables.append(UpgradeTable(upgrade, tuple(rows), tuple(_foot(upgrade, own, minus))))
    return tables


def deciding_numbers(view: ResultsModel) -> Iterator[Number]:
    """Of every upgrade that is not accepted all rows that refuse it, or the first that is open."""
    for upgrade in view.results.get("upgrades") or ():
        open_ = [n for n in _compared(view, upgrade) if not n.is_tolerated and upgrade["outcome"] != PASS]
        yield from [n for n in open_ if n.outcome == FAIL] or open_[:1]


def is_of_upgrade(number: Number) -> bool:
    """Whether a verdict is a component of one on an upgrade."""
    return number.verdict is not None and number.verdict.get("question") == "upgrade"


def _compared(view: ResultsModel, upgrade: UpgradeVerdictRow) -> list[Number]:
    by_key = {(n.gate, n.about): n for n in view.numbers if is_of_upgrade(n)}
    keys = [(row["gate"], tuple(sorted(row["subject"].items()))) for row in upgrade["rows"]]
    return [by_key[key] for key in keys if key in by_key]


def _row(n: Number, minus: str) -> UpgradeRow:
    """Called "agreement on its worst slice (target B)", "cost (dollars per call)"."""
    cost, slice_ = str(n.detail.get("unit") or ""), n.detail.get("slice")
    about = [n.circumstances, str(n.detail.get("option") or "")]
    where = ", ".join(filter(None, [*about, f"{slice_['column']} {slice_['level']}" if slice_ else "", cost]))
    before, after = (
        ("" if not is_number(value) else f"{value:.3g}" if cost else in_unit(far(value), n.unit, 2, minus=minus))
        for value in (n.detail.get("incumbent"), n.detail.get("candidate"))
        for far in [abs if n.metric in DISTANCES else float]
    )
    change = n.with_interval(minus) if is_number(n.value) else numbers.why_missing(n.why_undefined)
    return UpgradeRow(
        f"{n.gate_title} ({where})" if where else n.gate_title, before, after, change, n.limit_text, _word(n), n.state,
        verdict_anchor(n), _picture(n),
    )  # fmt: skip


def _picture(n: Number) -> Mapping[str, object] | None:
    """A change with its interval in units of what is allowed, and the allowed band, where it begins and how wide it is:
    places in percent. None without a number, an interval, or an allowance other than none at all."""
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
    by_outcome: dict[str, str] = {}
    for n in sorted(compared, key=lambda n: n.measure["rank"]):
        if is_number(smallest := n.detail.get("smallest")):
            by_outcome.setdefault(n.gate, f"{n.gate_title} {in_unit(smallest, n.unit, minus=minus)}")
    if by_outcome:
        listed = ", ".join([*by_outcome.values()][:MOST_POWERS])
        yield f"Before you looked, this table could find with 80 % power a change of: {listed}."
