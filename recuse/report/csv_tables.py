"""Every table of the report as CSV, in reports/tables/: one file per kind of row, the same files in every run.

Columns that a subject has (judge, names, direction, ...) come from the results. No cell begins a formula, whoever opens
the file, and each file says its encoding by a byte order mark, as spreadsheets want it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from recuse.report.numbers import is_number
from recuse.security.sanitize import safe_cell

__all__ = ["csv_tables"]

Row = Mapping[str, Any]
FIRST = ("panel", "task", "protocol", "judge")
ESTIMATE = ("value", "low", "high", "level", "unit", "n", "over", "clusters", "n_excluded", "method", "note")


def csv_tables(results: Mapping[str, Any]) -> dict[str, str]:
    """File name -> text, of normalised `results`. A table without rows is its head alone."""
    return {
        f"{name}.csv": _text(head, [rows(row) for row in entries]) for name, head, entries, rows in _tables(results)
    }


def _tables(results: Mapping[str, Any]) -> Iterable[tuple[str, Sequence[str], list[Row], Callable[[Row], Row]]]:
    def of(name: str) -> list[Row]:
        return list(results.get(name) or [])

    verdicts, measured = of("verdicts"), of("measurements")
    gate = ("outcome", "limit", "finding", "accepted until", "accepted because", "reason")
    yield "verdicts", ["question", "gate", *_subjects(verdicts), "metric", *ESTIMATE, *gate], verdicts, _verdict
    yield "measurements", ["question", *_subjects(measured), "metric", *ESTIMATE], measured, _measurement
    judged = (results.get("decision") or {}).get("judges") or []
    yield "decision", ["panel", "judge", "use", "word", "cause", "gates", "accepted", "next"], judged, _joined("gates")
    asked = ("title", "panel", "task", "protocol", "missing", "unlock")
    yield "not_asked", asked, of("not_asked"), _joined("missing", "unlock")
    spent = ("calls", "input_tokens", "output_tokens", "reasoning_tokens", "seconds", "dollars")
    yield "usage", ("panel", "task", "protocol", "judge", *spent), of("usage"), _as_it_is
    said = ("panel", "task", "protocol", "judge", "target", "factors", "repeat", "status", "why", "text")
    yield "replies", said, of("excerpts"), _reply
    judges: list[Row] = [{"panel": p["name"], **j} for p in of("panels") for j in p.get("judges") or []]
    yield "judges", ["panel", "name", "label", "wire", "model", "author"], judges, _as_it_is
    baseline = results.get("baseline") or {}
    moved = [row for kind in ("named", "moved") for row in baseline.get(kind) or []]
    yield "changes", ["what", *_subjects(moved), "field", "before", "after", "delta"], moved, _changed


def _subjects(rows: Iterable[Row]) -> list[str]:
    names = {name for row in rows for name in row.get("subject") or {}}
    return [*FIRST, *sorted(names - set(FIRST))]


def _as_it_is(row: Row) -> Row:
    return row


def _measurement(row: Row) -> Row:
    return {**row["subject"], **row["estimate"], "question": row.get("question")}


def _verdict(row: Row) -> Row:
    accepted, remedy = row.get("accepted_fault") or {}, row.get("remedy") or {}
    rule = row.get("rule") or {}
    return {
        **_measurement(row),
        "gate": row["gate"], "outcome": row["outcome"], "limit": rule.get("limit_text") or row.get("limit"),
        "finding": remedy.get("finding"), "reason": row.get("reason"),
        "accepted until": accepted.get("until"), "accepted because": accepted.get("reason"),
    }  # fmt: skip


def _joined(*names: str) -> Callable[[Row], Row]:
    return lambda row: {**row, **{name: "; ".join(map(str, row.get(name) or [])) for name in names}}


def _reply(row: Row) -> Row:
    return {**row, "factors": ", ".join(f"{k} {v}" for k, v in sorted((row.get("factors") or {}).items()))}


def _changed(row: Row) -> Row:
    return {**(row.get("subject") or {}), **row}


def _text(head: Sequence[str], rows: Iterable[Row]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(safe_cell, head))
    writer.writerows([_cell(row.get(name)) for name in head] for row in rows)
    return "\ufeff" + stream.getvalue()


def _cell(value: Any) -> str:
    """Numbers in full, tables as JSON; empty where nothing is known."""
    if value is None:
        return ""
    if is_number(value):
        return f"{value:.10g}"
    return safe_cell(json.dumps(value, sort_keys=True) if isinstance(value, Mapping | list) else value)
