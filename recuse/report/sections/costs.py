"""What the judging cost, from the usage blocks of the cassettes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recuse.report.numbers import count, is_number
from recuse.report.results_model import ResultsModel


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
    grouped: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for entry in usage:
        panel, task, protocol = (str(entry.get(key) or "") for key in ("panel", "task", "protocol"))
        grouped.setdefault((panel, task, protocol), []).append(entry)
    names = [p.name for p in view.panels]
    ordered = sorted(grouped, key=lambda key: (names.index(key[0]) if key[0] in names else len(names), key))
    total = {k: _sum(usage, k) for k in ("calls", "input_tokens", "output_tokens", "dollars")}
    unpriced = any(not is_number(entry.get("dollars")) for entry in usage)
    return Costs([_group(view, key, grouped[key]) for key in ordered], _row(view, total), unpriced)


def _group(view: ResultsModel, key: tuple[str, str, str], entries: list[Mapping[str, Any]]) -> CostGroup:
    panel = next((p for p in view.panels if p.name == key[0]), None)
    judges = panel.judge_names if panel else []

    def place(entry: Mapping[str, Any]) -> tuple[int, str]:
        judge = str(entry.get("judge") or "")
        return (judges.index(judge) if judge in judges else len(judges), judge)

    rows = [_row(view, entry) for entry in sorted(entries, key=place)]
    return CostGroup(key[0], panel.provenance if panel else "", key[1], key[2], rows)


def _row(view: ResultsModel, entry: Mapping[str, Any]) -> CostRow:
    dollars = entry.get("dollars")
    return CostRow(
        view.label(str(entry.get("judge") or "")),
        count(entry.get("calls")),
        count(entry.get("input_tokens")),
        count(entry.get("output_tokens")),
        f"{dollars:,.2f}" if is_number(dollars) else "no price",
    )


def _sum(usage: list[Mapping[str, Any]], key: str) -> Any:
    known = [entry[key] for entry in usage if is_number(entry.get(key))]
    return sum(known) if known else None
