"""What programs read: results.json, the one form from which summary and page are drawn, so the same results give the
same bytes; and every table of the report as CSV."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from numbers import Integral, Real
from operator import itemgetter
from typing import Any, cast

from recuse.schema import RecuseError
from recuse.schema.number_text import is_number
from recuse.schema.results import Results
from recuse.schema.verdict_rows import EntryRow, MeasurementRow, VerdictRow
from recuse.security.sanitize import safe_cell

SIGNIFICANT_DIGITS = 10
Row = Mapping[str, object]
FIRST = ("panel", "task", "protocol", "judge")
ESTIMATE = ("value", "low", "high", "level", "unit", "n", "over", "clusters", "n_excluded", "method", "note")
# What is gathered from tests arrives in the order in which they ran; here it gets an order of its own.
# Panels and their judges keep theirs: it is the order of the panel files.
_ORDER_OF = {
    "questions": ("id", "task"),
    "verdicts": ("question", "gate", "subject", "test", "estimate"),
    "measurements": ("question", "subject", "test", "estimate"),
    "upgrades": ("panel", "task", "protocol", "candidate", "incumbent"),
    "usage": ("panel", "judge", "task", "protocol"),
    "not_asked": ("question", "panel", "task", "protocol", "missing"),
    "excerpts": ("panel", "task", "protocol", "judge", "target", "factors", "repeat", "text"),
}
_sortable = json.JSONEncoder(sort_keys=True).encode
_AS_THEY_ARE = frozenset({str, int, bool, type(None)})  # nearly everything: the slower checks are for the rest


class CanonicalResults(dict[str, Any]):
    """Results in canonical form: they are not brought into it again, so whoever changes one puts builtins in."""


def canonical(results: Mapping[str, object]) -> str:
    """`results` as JSON text: keys sorted, ten significant digits, NaN and infinities null, a final newline; in ASCII,
    because judges' words are in it: escaped, they can neither steer a terminal nor reorder a diff."""
    return json.dumps(normalised(results), indent=1, sort_keys=True, allow_nan=False) + "\n"


def normalised(results: Mapping[str, object]) -> Results:
    """`results` in builtins only, rounded and in stable order: what reading results.json back would give."""
    if isinstance(results, CanonicalResults):
        return cast("Results", results)
    plain = CanonicalResults((key, _plain(value, key)) for key, value in _members(results))
    for name, keys in _ORDER_OF.items():
        if isinstance(plain.get(name), list):
            plain[name] = _ordered(plain[name], keys)
    return cast("Results", plain)


def _plain(value: Any, *where: Any) -> Any:
    kind = type(value)
    if kind is float:
        return _rounded(value)
    if kind in _AS_THEY_ARE:
        return value
    if isinstance(value, Mapping):
        return {k: v if type(v) in _AS_THEY_ARE else _plain(v, *where, k) for k, v in _members(value)}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [v if type(v) in _AS_THEY_ARE else _plain(v, *where, i) for i, v in enumerate(value)]
    if isinstance(value, str | Integral):
        return str(value) if isinstance(value, str) else int(value)
    if isinstance(value, Real):
        return _rounded(float(value))
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where).removeprefix(".")
    raise RecuseError(
        f"results hold builtins only (text, numbers, lists, mappings, none); {place} is a {kind.__name__}: "
        "convert it where the estimate is made"
    )


def _members(value: Mapping[Any, Any]) -> list[tuple[str, Any]]:
    return sorted(((str(k), v) for k, v in value.items()), key=itemgetter(0))


def _rounded(value: float) -> float | None:
    if not math.isfinite(value):
        return None
    return float(f"{value:.{SIGNIFICANT_DIGITS}g}") or 0.0  # `or`: no negative zero


def _ordered(entries: list[Any], keys: Sequence[str]) -> list[Any]:
    """By the text of each key in turn; a later one, which may be a whole estimate, is spelled where entries tie."""
    if not keys or len(entries) < 2:
        return entries
    by_first = sorted(((_sortable(e.get(keys[0])), e) for e in entries), key=itemgetter(0))
    return [e for _, tied in groupby(by_first, itemgetter(0)) for e in _ordered([e for _, e in tied], keys[1:])]


def csv_tables(results: Results) -> dict[str, str]:
    """File name in reports/tables/ -> text, of normalised `results`: one per kind of row, the same in every run;
    without rows, its head alone. Columns that a subject has (judge, names, direction, ...) come from the results. No
    cell begins a formula; each file says its encoding by a byte order mark, as spreadsheets want it."""
    verdicts, measured = results.get("verdicts") or [], results.get("measurements") or []
    decision, baseline = results.get("decision"), results.get("baseline")
    moved = [*(baseline.get("named") or ()), *(baseline.get("moved") or ())] if baseline else []
    replies = ({**row, "factors": ", ".join(f"{k} {v}" for k, v in sorted((row.get("factors") or {}).items()))}
               for row in results.get("excerpts") or ())  # fmt: skip
    judges = ({"panel": p["name"], **j} for p in results.get("panels") or () for j in p.get("judges") or ())
    tables: dict[str, tuple[Iterable[str], Iterable[Row]]] = {
        "verdicts": (("question", "gate", *_subjects(verdicts), "metric", *ESTIMATE, "outcome", "limit", "finding",
                      "accepted until", "accepted because", "reason"), map(_verdict, verdicts)),
        "measurements": (("question", *_subjects(measured), "metric", *ESTIMATE), map(_measurement, measured)),
        "decision": (("panel", "judge", "use", "word", "cause", "gates", "accepted", "next"),
                     decision["judges"] if decision else ()),
        "not_asked": (("title", "panel", "task", "protocol", "missing", "unlock"), results.get("not_asked") or ()),
        "usage": ((*FIRST, "calls", "input_tokens", "output_tokens", "reasoning_tokens", "seconds", "dollars"),
                  results.get("usage") or ()),
        "replies": ((*FIRST, "target", "factors", "repeat", "status", "why", "text"), replies),
        "judges": (("panel", "name", "label", "wire", "model", "author"), judges),
        "changes": (("what", *_subjects(moved), "field", "before", "after", "delta"),
                    ({**row["subject"], **row} for row in moved)),
    }  # fmt: skip
    files = {}
    for name, (head, rows) in tables.items():
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(map(safe_cell, head))
        writer.writerows([_cell(row.get(column)) for column in head] for row in rows)
        files[f"{name}.csv"] = "\ufeff" + stream.getvalue()
    return files


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
