"""Annotations of AlpacaEval (`annotations.json`): which of two outputs an annotator prefers.

    [{"instruction": ..., "generator_1": ..., "generator_2": ..., "annotator": ..., "preference": 1.0}, ...]

A preference of 1 is the first output, 2 the second, 0 and 1.5 a draw; one between comes from probabilities and goes to
the nearer. Outputs are shown to the annotator in an order that the file does not keep, so nothing is known of position.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recuse.readers.faults import SHOWN, Fault

CALLED = "annotations of AlpacaEval"


def recognises(value: Any) -> bool:
    """Whether the rows are annotations of AlpacaEval."""
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, Mapping) and {"instruction", "generator_1", "generator_2", "preference"} <= set(first)


def records(value: Any, path: Path) -> tuple[list[dict[str, Any]], list[Fault]]:
    """One record per annotation: item, rater, kind, generator_1, generator_2, winner."""
    rows: list[dict[str, Any]] = []
    between = []
    for number, row in enumerate(value, start=1):
        preference = row.get("preference")
        if isinstance(preference, float) and preference not in (0.0, 1.0, 1.5, 2.0) and preference == preference:
            between.append(f"record {number}: {preference:g}")
        rows.append({
            "item": row.get("instruction"), "rater": str(row.get("annotator") or "annotator"), "kind": "judge",
            "generator_1": row.get("generator_1"), "generator_2": row.get("generator_2"), "winner": _winner(preference),
        })  # fmt: skip
    what = "preferences lie between 1 and 2"
    faults = [Fault.of(what, between[:SHOWN], "each counts for the nearer output", len(between))] if between else []
    return rows, faults


def _winner(preference: Any) -> str:
    if not isinstance(preference, int | float) or preference != preference:
        return ""
    if preference in (0, 1.5):
        return "tie"
    return "first" if preference < 1.5 else "second"
