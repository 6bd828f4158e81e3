"""Every table of the report as CSV, in reports/tables/: one file per kind of row, the same files in every run.

Columns that a subject has (judge, names, direction, ...) come from the results. No cell begins a formula, whoever opens
the file, and each file says its encoding by a byte order mark, as spreadsheets want it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence

from recuse.schema.number_text import is_number
from recuse.schema.results import Results
from recuse.schema.verdict_rows import EntryRow, MeasurementRow, VerdictRow
from recuse.security.sanitize import safe_cell

Row = Mapping[str, object]
FIRST = ("panel", "task", "protocol", "judge")
ESTIMATE = ("value", "low", "high", "level", "unit", "n", "over", "clusters", "n_excluded", "method", "note")


def csv_tables(results: Results) -> dict[str, str]:
    """File name -> text, of normalised `results`. A table without rows is its head alone."""
    files = {}
    for name, head, rows in _tables(results):
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(map(safe_cell, head))
        writer.writerows([_cell(row.get(column)) for column in head] for row in rows)
        files[f"{name}.csv"] = "\ufeff" + stream.getvalue()
    return files


def _tables(results: Results) -> Iterable[tuple[str, Sequence[str], Iterable[Row]]]:
    verdicts, measured = results.get("verdicts") or [], results.get("measurements") or []
    gate = ("outcome", "limit", "finding", "accepted until", "accepted because", "reason")
    yield "verdicts", ["question", "gate", *_subjects(verdicts), "metric", *ESTIMATE, *gate], map(_verdict, verdicts)
    yield "measurements", ["question", *_subjects(measured), "metric", *ESTIMATE], map(_measurement, measured)
    decision = results.get("decision")
    judged = ("panel", "judge", "use", "word", "cause", "gates", "accepted", "next")
    yield "decision", judged, decision["judges"] if decision else ()
    columns = ("title", "panel", "task", "protocol", "missing", "unlock")
    yield "not_asked", columns, results.get("not_asked") or ()
    spent = ("calls", "input_tokens", "output_tokens", "reasoning_tokens", "seconds", "dollars")
    yield "usage", ("panel", "task", "protocol", "judge", *spent), results.get("usage") or ()
    columns_of_replies = ("panel", "task", "protocol", "judge", "target", "factors", "repeat", "status", "why", "text")
    replies = ({**row, "factors": ", ".join(f"{k} {v}" for k, v in sorted((row.get("factors") or {}).items()))}
               for row in results.get("excerpts") or ())  # fmt: skip
    yield "replies", columns_of_replies, replies
    judges = ({"panel": p["name"], **j} for p in results.get("panels") or () for j in p.get("judges") or ())
    yield "judges", ["panel", "name", "label", "wire", "model", "author"], judges
    baseline = results.get("baseline")
    moved = [*(baseline.get("named") or ()), *(baseline.get("moved") or ())] if baseline else []
    differing = ({**row["subject"], **row} for row in moved)
    yield "changes", ["what", *_subjects(moved), "field", "before", "after", "delta"], differing


def _subjects(rows: Iterable[MeasurementRow | EntryRow]) -> list[str]:
    names = {name for row in rows for name in row["subject"]}
    return [*FIRST, *sorted(names - set(FIRST))]


def _measurement(row: MeasurementRow) -> Row:
    return {**row["subject"], **row["estimate"], "question": row.get("question")}


def _verdict(row: VerdictRow) -> Row:
    accepted, remedy, rule = row.get("accepted_fault"), row.get("remedy"), row.get("rule")
    return {
        **_measurement(row),
        "gate": row["gate"], "outcome": row["outcome"],
        "limit": (rule.get("limit_text") if rule else "") or row.get("limit"),
        "finding": remedy.get("finding") if remedy else None, "reason": row.get("reason"),
        "accepted until": accepted.get("until") if accepted else None,
        "accepted because": accepted.get("reason") if accepted else None,
    }  # fmt: skip


def _cell(value: object) -> str:
    """Numbers in full, names one after another, tables as JSON; empty where nothing is known."""
    if value is None:
        return ""
    if isinstance(value, list):
        return safe_cell("; ".join(map(str, value)))
    if is_number(value):
        return f"{value:.10g}"
    return safe_cell(json.dumps(value, sort_keys=True) if isinstance(value, Mapping) else value)
