"""Results now against a committed baseline: what moved, by how much, what appeared, what vanished.

    comparison = baseline.compare(baseline.load(path), results, gates.tolerances, path="reports/baseline.json")
    failures = baseline.outcome_changes(comparison)     # pytest --baseline: any of these fails the run
    baseline.write(path, results)                       # pytest --update-baseline

A movement is reported and by itself fails nothing: whether a judge still passes is its gate's decision, and a verdict
that went from pass to fail is red already. `--baseline` is stricter: any verdict whose outcome changed, in either
direction, or that was lost, is a failure until the baseline is updated on purpose.

A baseline is a results.json reduced to what can move: per verdict its outcome, limit and estimate, per measurement its
estimate and, for a matrix, its cells. Texts (rule, reason, remedy, note) are left out, so rewording moves nothing.
"""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from recuse.schema import RecuseError

__all__ = ["SCHEMA", "BaselineError", "compare", "load", "outcome_changes", "reduce", "write"]

SCHEMA = 1
FIGURES = ("value", "low", "high", "level", "n", "n_clusters", "n_excluded")
KINDS = ("verdict", "measurement")
UPDATE = "write a new one with `pytest evals/ --update-baseline` and review what changed in it"

Json = dict[str, Any]
Key = tuple[str, str, str, int]


class BaselineError(RecuseError):
    """The baseline cannot be used; the message names the file and the remedy."""


# --------------------------------------------------------------------------- reduce, load, write


def reduce(results: Mapping[str, Any]) -> Json:
    """Results reduced to a baseline: {"schema", "entries": [...]}, sorted, as `write` puts it on disk.

    An entry has "kind" (verdict or measurement), "what" (the gate or the metric), "subject", "question" and "figures";
    a verdict also has "outcome" and "limit".
    """
    entries = [_verdict(v) for v in results["verdicts"]] + [_measurement(m) for m in results["measurements"]]
    return {"schema": SCHEMA, "entries": sorted(entries, key=lambda entry: json.dumps([*_identity(entry), entry]))}


def load(path: Path) -> Json:
    """The baseline at `path`, checked. Raises `BaselineError` where it is missing, damaged or of another schema."""
    try:
        baseline = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BaselineError(f"there is no baseline at {path}: {UPDATE}") from None
    except UnicodeDecodeError as error:
        raise BaselineError(f"the baseline {path} is not UTF-8 (byte {error.start}): {UPDATE}") from None
    except json.JSONDecodeError as error:
        raise BaselineError(
            f"the baseline {path} is not JSON (line {error.lineno}, column {error.colno}: {error.msg}); after a merge "
            f"look for conflict marks. Restore it from version control, or {UPDATE}"
        ) from None
    if not isinstance(baseline, dict) or baseline.get("schema") != SCHEMA:
        found = repr(baseline.get("schema")) if isinstance(baseline, dict) else f"a JSON {type(baseline).__name__}"
        raise BaselineError(f"the baseline {path} should have schema {SCHEMA}; it has {found}: {UPDATE}")
    entries = baseline.get("entries")
    wrong = [i for i, entry in enumerate(entries) if not _usable(entry)] if isinstance(entries, list) else None
    if wrong is None or wrong:
        where = "no list of entries" if wrong is None else f"a damaged entry (number {wrong[0] + 1})"
        raise BaselineError(f"the baseline {path} has {where}: {UPDATE}")
    return baseline


def write(path: Path, results: Mapping[str, Any]) -> None:
    """Make `results` the baseline: all of it or nothing, a new file beside it takes its place once it is on disk."""
    text = json.dumps(reduce(results), indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)  # mkstemp keeps it to its owner; a committed file is for everyone
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


# --------------------------------------------------------------------------- compare


def compare(
    baseline: Mapping[str, Any],
    results: Mapping[str, Any],
    tolerances: Mapping[str, float] | None = None,
    *,
    path: str = "reports/baseline.json",
    complete: bool = True,
) -> Json:
    """What moved between a baseline and results, in the form results.json carries.

    `tolerances` gives, per gate or metric, the absolute movement of value, ends of the interval and matrix cells that
    goes unreported; the default allows for rounding only (1e-9 relative). Counts, levels, limits and outcomes must be
    the same. `complete=False` says that only part of the evals ran, so nothing counts as vanished. `path` is only for
    the sentence.

    Returns {"path", "moved": [{"kind", "what", "subject", "field", "before", "after", "delta"}], "appeared":
    [{"kind", "what", "subject", "outcome", "value"}], "vanished": [the same], "summary"}; `delta` is after - before for
    numbers, else None. The order is that of the subjects, whatever the order of the tests.
    """
    before, after = _keyed(baseline["entries"]), _keyed(reduce(results)["entries"])
    shared = sorted(before.keys() & after.keys())
    moved = [m for key in shared for m in _moved(before[key], after[key], (tolerances or {}).get(key[1], 0.0))]
    appeared = [_brief(after[key]) for key in sorted(after.keys() - before.keys())]
    vanished = [_brief(before[key]) for key in sorted(before.keys() - after.keys())] if complete else []
    comparison: Json = {"path": path, "moved": moved, "appeared": appeared, "vanished": vanished}
    return comparison | {"summary": _summary(comparison, len(shared), complete)}


def outcome_changes(comparison: Mapping[str, Any]) -> list[str]:
    """A sentence for each verdict whose outcome changed or that is gone: what `--baseline` fails the run for."""
    changed = [
        f"{_named(m)}: {m['before']} in the baseline, {m['after']} now"
        for m in comparison["moved"]
        if m["field"] == "outcome"
    ]
    lost = [
        f"{_named(v)}: {v['outcome']} in the baseline, not decided any more"
        for v in comparison["vanished"]
        if v["kind"] == "verdict"
    ]
    return changed + lost


def _moved(before: Mapping[str, Any], after: Mapping[str, Any], tolerance: float) -> list[Json]:
    """DeepDiff of what is compared, as flat rows; a changed outcome comes first."""
    if _exact(before) == _exact(after) and _measured(before) == _measured(after):
        return []
    rows = []
    for leaf in _leaves(_exact(before), _exact(after), 0.0) + _leaves(_measured(before), _measured(after), tolerance):
        field = ".".join(str(part) for part in leaf.path(output_format="list"))
        was, now = _side(leaf.t1), _side(leaf.t2)
        rows.append(_named_row(after) | {"field": field, "before": was, "after": now, "delta": _delta(was, now)})
    return sorted(rows, key=lambda row: (row["field"] != "outcome", row["field"]))


def _leaves(before: Json, after: Json, tolerance: float) -> list[Any]:
    """Every difference, however few keys the two sides share; numbers also agree within 1e-9 of the larger."""
    from deepdiff import DeepDiff

    diff = DeepDiff(
        before,
        after,
        view="tree",
        math_epsilon=tolerance,
        ignore_numeric_type_changes=True,
        threshold_to_diff_deeper=0,
    )
    return [leaf for leaves in diff.values() for leaf in leaves]


def _side(value: object) -> object:
    from deepdiff.helper import notpresent

    return None if value is notpresent else value


def _exact(entry: Mapping[str, Any]) -> Json:
    counts = {name: entry["figures"].get(name) for name in FIGURES[3:]}
    return counts | {"outcome": entry.get("outcome"), "limit": entry.get("limit")}


def _measured(entry: Mapping[str, Any]) -> Json:
    figures = entry["figures"]
    return {name: figures.get(name) for name in FIGURES[:3]} | {"cells": figures.get("cells") or {}}


def _delta(before: object, after: object) -> float | None:
    numbers = [x for x in (before, after) if isinstance(x, int | float) and not isinstance(x, bool)]
    return float(f"{numbers[1] - numbers[0]:.10g}") if len(numbers) == 2 else None


# --------------------------------------------------------------------------- entries


def _verdict(verdict: Mapping[str, Any]) -> Json:
    entry = {"kind": "verdict", "what": verdict["gate"], "outcome": verdict["outcome"], "limit": verdict["limit"]}
    return entry | _about(verdict)


def _measurement(measurement: Mapping[str, Any]) -> Json:
    return {"kind": "measurement", "what": measurement["estimate"]["metric"]} | _about(measurement)


def _about(source: Mapping[str, Any]) -> Json:
    estimate = source["estimate"]
    figures: Json = {name: _finite(estimate.get(name)) for name in FIGURES}
    if cells := _cells(estimate.get("detail") or {}):
        figures["cells"] = cells
    return {"question": source.get("question", ""), "subject": dict(source["subject"]), "figures": figures}


def _cells(detail: Mapping[str, Any]) -> Json:
    """A matrix as {"row / column": value}, so that a moved cell is named by who judged whom."""
    if detail.get("kind") != "matrix":
        return {}
    return {
        f"{row} / {column}": _finite(value)
        for row, values in zip(detail["rows"], detail["values"], strict=True)
        for column, value in zip(detail["columns"], values, strict=True)
    }


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _identity(entry: Mapping[str, Any]) -> list[str]:
    return [entry["kind"], entry["what"], json.dumps(entry["subject"], sort_keys=True, ensure_ascii=False)]


def _keyed(entries: Iterable[Mapping[str, Any]]) -> dict[Key, Mapping[str, Any]]:
    """By kind, what and subject; entries that share all three are told apart by their place in the sorted list."""
    keyed: dict[Key, Mapping[str, Any]] = {}
    for entry in entries:
        kind, what, subject = _identity(entry)
        place = 0
        while (kind, what, subject, place) in keyed:
            place += 1
        keyed[kind, what, subject, place] = entry
    return keyed


def _usable(entry: object) -> bool:
    return (
        isinstance(entry, dict)
        and entry.get("kind") in KINDS
        and isinstance(entry.get("what"), str)
        and isinstance(entry.get("subject"), dict)
        and isinstance(entry.get("figures"), dict)
    )


# --------------------------------------------------------------------------- sentences


def _named_row(entry: Mapping[str, Any]) -> Json:
    return {"kind": entry["kind"], "what": entry["what"], "subject": entry["subject"]}


def _brief(entry: Mapping[str, Any]) -> Json:
    return _named_row(entry) | {"outcome": entry.get("outcome"), "value": entry["figures"].get("value")}


def _named(row: Mapping[str, Any]) -> str:
    subject = ", ".join(f"{name} = {row['subject'][name]}" for name in sorted(row["subject"]))
    return f"{row['what']} ({subject})" if subject else str(row["what"])


def _summary(comparison: Mapping[str, Any], compared: int, complete: bool) -> str:
    """One or two plain sentences."""
    path, moved = comparison["path"], comparison["moved"]
    parts = []
    if outcomes := outcome_changes(comparison):
        more = ", and more" if outcomes[1:] else ""
        parts.append(f"{_count(len(outcomes), 'outcome')} changed, {outcomes[0]}{more}")
    if subjects := {(m["kind"], m["what"], json.dumps(m["subject"], sort_keys=True)) for m in moved}:
        parts.append(f"{len(subjects)} of {_count(compared, 'result')} moved")
    if shifts := [m for m in moved if m["field"] == "value" and m["delta"] is not None]:
        most = max(shifts, key=lambda m: abs(m["delta"]))
        parts.append(f"the largest shift is {most['delta']:+.3g} in {_named(most)}, to {most['after']:.4g}")
    parts += [f"{_count(len(comparison[key]), 'result')} {key}" for key in ("appeared", "vanished") if comparison[key]]
    known = "" if complete else " Only part of the evals ran, so what vanished is not known."
    if not parts:
        return f"Nothing moved against {path} ({_count(compared, 'result')} compared).{known}"
    return f"Against {path}: {'; '.join(parts)}.{known}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
