"""What the judging cost, from the usage blocks of the cassettes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recuse.report.numbers import count, is_number
from recuse.report.view import View


@dataclass(frozen=True, slots=True)
class CostRow:
    panel: str
    provenance: str
    judge: str
    task: str
    protocol: str
    calls: str
    input_tokens: str
    output_tokens: str
    dollars: str


@dataclass(frozen=True, slots=True)
class Costs:
    rows: list[CostRow]
    total: CostRow
    unpriced: bool


def costs(view: View) -> Costs | None:
    usage = view.results.get("usage") or []
    if not usage:
        return None
    names = [p.name for p in view.panels]

    def place(entry: Mapping[str, Any]) -> tuple[Any, ...]:
        panel = entry.get("panel") or ""
        judges = view.panel(panel).judge_names if panel in names else []
        judge = entry.get("judge") or ""
        return (
            names.index(panel) if panel in names else len(names),
            panel,
            entry.get("task") or "",
            entry.get("protocol") or "",
            judges.index(judge) if judge in judges else len(judges),
            judge,
        )

    rows = [_row(view, entry) for entry in sorted(usage, key=place)]
    total = {k: _sum(usage, k) for k in ("calls", "input_tokens", "output_tokens", "dollars")}
    return Costs(rows, _row(view, total), any(not is_number(entry.get("dollars")) for entry in usage))


def _row(view: View, entry: Mapping[str, Any]) -> CostRow:
    dollars = entry.get("dollars")
    return CostRow(
        entry.get("panel") or "",
        next((p.provenance for p in view.panels if p.name == entry.get("panel")), ""),
        view.label(entry.get("judge") or ""),
        entry.get("task") or "",
        entry.get("protocol") or "",
        count(entry.get("calls")),
        count(entry.get("input_tokens")),
        count(entry.get("output_tokens")),
        f"{dollars:,.2f}" if is_number(dollars) else "no price",
    )


def _sum(usage: list[Mapping[str, Any]], key: str) -> Any:
    known = [entry[key] for entry in usage if is_number(entry.get(key))]
    return sum(known) if known else None
