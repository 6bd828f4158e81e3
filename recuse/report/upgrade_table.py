"""One verdict on a judge upgrade as a sentence and a table, told alike by `recuse compare`, terminal, Markdown and
page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from recuse.report.addresses import verdict_anchor
from recuse.report.gated_number import Number
from recuse.report.results_model import ResultsModel
from recuse.schema import number_text as numbers
from recuse.schema.details import UpgradeDetail
from recuse.schema.estimate_types import AGAINST_INCUMBENT
from recuse.schema.number_text import MINUS, in_unit, is_number
from recuse.schema.results import UpgradeVerdictRow
from recuse.schema.vocabulary import FAIL, NOT_MEASURED, PASS, UNDECIDED, printed

WORDS = {PASS: "allowed", FAIL: "worse"}
PLACE = ("panel", "task", "protocol")
MOST_POWERS = 4


WIDEST = 2.0
"""How many times what is allowed the picture of a change shows to either side of none."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A change with its interval in units of what is allowed, and the allowed band: places in percent of the width."""

    band: tuple[float, float]  # where it begins, how wide it is
    low: float
    high: float
    x: float


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
    picture: Picture | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        """Its texts, column by column."""
        return (self.title, self.incumbent, self.candidate, self.change, self.allowed, self.verdict)


@dataclass(frozen=True, slots=True)
class UpgradeTable:
    """`where`: panel, task and protocol; `foot`: on how many items, how sure, and what could have been found."""

    sentence: str
    where: str
    panel: str
    task: str
    protocol: str
    outcome: str
    reasons: tuple[str, ...]
    head: tuple[str, ...]
    rows: tuple[UpgradeRow, ...]
    foot: tuple[str, ...]


def upgrade_tables(view: ResultsModel, *, minus: str = MINUS) -> list[UpgradeTable]:
    """One per upgrade of the results: those that are refused first, then what is undecided."""
    badness = (FAIL, NOT_MEASURED, UNDECIDED, PASS)
    upgrades = sorted(view.results.get("upgrades") or (), key=lambda u: badness.index(u["outcome"]))
    by_key = _by_key(view)
    titles = {name: view.lexicon.measure(name).title for upgrade in upgrades for name in upgrade["not_measured"]}
    return [_table(upgrade, by_key, titles, minus) for upgrade in upgrades]


def deciding_numbers(view: ResultsModel) -> Iterator[Number]:
    """Of every upgrade that is not accepted all rows that refuse it, or the first that is open."""
    by_key = _by_key(view)
    for upgrade in view.results.get("upgrades") or ():
        rows = (by_key.get(_key(row["gate"], row["subject"])) for row in upgrade["rows"])
        open_ = [n for n in rows if n is not None and not n.is_tolerated and upgrade["outcome"] != PASS]
        yield from [n for n in open_ if n.outcome == FAIL] or open_[:1]


def is_of_upgrade(number: Number) -> bool:
    """Whether a verdict is a component of one on an upgrade."""
    return number.verdict is not None and number.verdict.get("question") == "upgrade"


def _by_key(view: ResultsModel) -> dict[tuple[object, ...], Number]:
    return {_key(n.gate, n.subject): n for n in view.numbers if n.verdict and is_of_upgrade(n)}


def _key(gate: str, subject: Mapping[str, str]) -> tuple[object, ...]:
    return (gate, *sorted(subject.items()))


def _table(
    upgrade: UpgradeVerdictRow, by_key: Mapping[tuple[object, ...], Number], titles: Mapping[str, str], minus: str
) -> UpgradeTable:
    own = [n for row in upgrade["rows"] if (n := by_key.get(_key(row["gate"], row["subject"]))) is not None]
    rows = [_row(n, minus) for n in own]
    unmeasured = (titles[name] for name in upgrade["not_measured"])
    rows += [UpgradeRow(title, "", "", "", "", printed(NOT_MEASURED), "") for title in unmeasured]
    head = ("", upgrade["incumbent"], upgrade["candidate"], "change", "allowed", "verdict")
    panel, task, protocol = (str(upgrade.get(name)) for name in PLACE)
    return UpgradeTable(
        upgrade["sentence"], ", ".join((panel, task, protocol)), panel, task, protocol, upgrade["outcome"],
        tuple(upgrade["reasons"]), head, tuple(rows), tuple(_foot(upgrade, own, minus)),
    )  # fmt: skip


def _row(n: Number, minus: str) -> UpgradeRow:
    cost = n.detail.get("unit")
    values = ["", ""]
    for k, who in enumerate(("incumbent", "candidate")):
        if is_number(value := n.detail.get(who)):
            values[k] = f"{value:.3g}" if cost else in_unit(value, n.unit, 2, minus=minus)
    change = n.with_interval(minus) if is_number(n.value) else numbers.why_missing(n.why_undefined)
    return UpgradeRow(
        _title(n),
        values[0],
        values[1],
        change,
        n.limit_text,
        _word(n),
        n.state,
        verdict_anchor(n),
        _picture(n),
    )


def _picture(n: Number) -> Picture | None:
    """None without a number, an interval, or an allowance other than none at all."""
    ends = [abs(end) for end in n.limit_ends if is_number(end)]
    if not (ends and max(ends) > 0 and is_number(n.low) and is_number(n.high)):
        return None

    def at(value: float) -> float:
        return round(50 + 50 * min(1.0, max(-1.0, value / max(ends) / WIDEST)), 1)

    least, most = (at(end) if is_number(end) else edge for end, edge in zip(n.limit_ends, (0.0, 100.0), strict=True))
    return Picture((least, round(most - least, 1)), at(n.low), at(n.high), at(n.amount))


def _title(n: Number) -> str:
    """ "agreement on its worst slice (target B)", "cost (dollars per call)"."""
    worst_slice = n.detail_as(UpgradeDetail).get("slice")
    phrases = [
        n.circumstances,
        str(n.detail.get("option") or ""),
        f"{worst_slice['column']} {worst_slice['level']}" if worst_slice else "",
        str(n.detail.get("unit") or ""),
    ]
    where = ", ".join(part for part in phrases if part)
    return f"{n.gate_title} ({where})" if where else n.gate_title


def _word(n: Number) -> str:
    if n.state == FAIL and n.gate in AGAINST_INCUMBENT:
        return "differs"
    if n.state != UNDECIDED:
        return WORDS.get(n.state) or printed(n.state)
    remedy = n.remedy
    if n.detail.get("asked_once"):
        return f"{printed(UNDECIDED)}, the judge in use was asked once"
    if not remedy or not (needed := remedy.get("needed")) or not (observed := remedy.get("observed")):
        return printed(UNDECIDED)
    return (
        f"{printed(UNDECIDED)}, about {numbers.count(max(needed - observed, 1))} {remedy.get('units') or 'items'} more"
    )


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
    for n in sorted(compared, key=lambda n: n.measure.rank):
        if is_number(smallest := n.detail.get("smallest")):
            by_outcome.setdefault(n.gate, f"{n.gate_title} {in_unit(smallest, n.unit, minus=minus)}")
    if by_outcome:
        listed = ", ".join([*by_outcome.values()][:MOST_POWERS])
        yield f"Before you looked, this table could find with 80 % power a change of: {listed}."
