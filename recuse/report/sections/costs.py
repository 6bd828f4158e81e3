"""What the judging cost, from the usage blocks of the cassettes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from recuse.report.numbers import count, is_number
from recuse.report.results_model import ResultsModel
from recuse.schema.results import UsageRow


@dataclass(frozen=True, slots=True)
class CostRow:
    """Calls, tokens and dollars of one judge, as text."""

    judge: str
    calls: str
    input_tokens: str
    output_tokens: str
    dollars: str


@dataclass(frozen=True, slots=True)
class CostGroup:
    """One protocol of one task, asked of one panel."""

    panel: str
    provenance: str
    task: str
    protocol: str
    rows: list[CostRow]


@dataclass(frozen=True, slots=True)
class Costs:
    """The table of costs; `unpriced`: whether some judge has no price."""

    groups: list[CostGroup]
    total: CostRow
    unpriced: bool


def costs(view: ResultsModel) -> Costs | None:
    """Calls, tokens and dollars per panel and judge; None where nothing was replayed."""
    usage = view.results.get("usage") or []
    if not usage:
        return None
    grouped: dict[tuple[str, str, str], list[UsageRow]] = {}
    for entry in usage:
        panel, task, protocol = (str(entry.get(key) or "") for key in ("panel", "task", "protocol"))
        grouped.setdefault((panel, task, protocol), []).append(entry)
    names = [p.name for p in view.panels]
    ordered = sorted(grouped, key=lambda key: (names.index(key[0]) if key[0] in names else len(names), key))
    unpriced = any(not is_number(entry.get("dollars")) for entry in usage)
    return Costs([_group(view, key, grouped[key]) for key in ordered], _total(usage), unpriced)


def _group(view: ResultsModel, key: tuple[str, str, str], entries: list[UsageRow]) -> CostGroup:
    panel = next((p for p in view.panels if p.name == key[0]), None)
    judges = panel.judge_names if panel else []

    def place(entry: UsageRow) -> tuple[int, str]:
        judge = str(entry.get("judge") or "")
        return (judges.index(judge) if judge in judges else len(judges), judge)

    rows = [_row(view, entry) for entry in sorted(entries, key=place)]
    return CostGroup(key[0], panel.provenance if panel else "", key[1], key[2], rows)


def _row(view: ResultsModel, entry: UsageRow) -> CostRow:
    return CostRow(
        view.label(str(entry.get("judge") or "")),
        count(entry.get("calls")),
        count(entry.get("input_tokens")),
        count(entry.get("output_tokens")),
        _price(entry.get("dollars")),
    )


def _total(usage: list[UsageRow]) -> CostRow:
    """Of all that is known; nobody's label."""
    return CostRow(
        "",
        count(_sum(entry.get("calls") for entry in usage)),
        count(_sum(entry.get("input_tokens") for entry in usage)),
        count(_sum(entry.get("output_tokens") for entry in usage)),
        _price(_sum(entry.get("dollars") for entry in usage)),
    )


def _price(dollars: float | None) -> str:
    return f"{dollars:,.2f}" if is_number(dollars) else "no price"


def _sum(amounts: Iterable[float | None]) -> float | None:
    known = [amount for amount in amounts if is_number(amount)]
    return sum(known) if known else None
