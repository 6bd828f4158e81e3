"""Matrices of a question, sorted out: by condition, the main score apart from its variants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recuse.report.numbers import is_number
from recuse.report.results_model import Group, Number
from recuse.report.vocabulary import level_name, level_order, plain_name

MAIN = "total"
MOST_CELLS = 400
"""Matrices beyond this size are drawn once; their variants stay in results.json."""

Matrix = tuple[str, Mapping[str, Any]]  # (caption, detail)


def is_matrix(number: Number) -> bool:
    return number.detail.get("kind") == "matrix" and bool(number.detail.get("values"))


def matrices(group: Group, metric: str, suffix: str = "") -> dict[str, list[Matrix]]:
    """Variant ("total", "criteria_mean", a criterion) -> its matrices by condition; the main variant first."""
    found: dict[str, dict[str, Mapping[str, Any]]] = {}
    for n in group.of(metric):
        if is_matrix(n):
            found.setdefault(variant(n), {})[_condition(n)] = n.detail
    ordered = sorted(found, key=lambda name: (name != MAIN, name))
    return {name: [(_shown(c) + suffix, by[c]) for c in sorted(by, key=level_order)] for name, by in
            ((name, found[name]) for name in ordered)}  # fmt: skip


def variant(number: Number) -> str:
    return str(number.subject.get("score") or number.subject.get("criterion") or number.detail.get("criterion") or MAIN)


def main_and_rest(found: dict[str, list[Matrix]]) -> tuple[list[Matrix], dict[str, list[Matrix]]]:
    """The matrices to show, and those to fold away under their variant's name (none where they are very large)."""
    if not found:
        return [], {}
    first, *others = found
    large = any(len(m["rows"]) * len(m["columns"]) > MOST_CELLS for _, m in found[first])
    return found[first], {} if large else {plain_name(name): found[name] for name in others}


def differ(some: list[Matrix], others: list[Matrix], by: float = 0.005) -> bool:
    """Whether any cell of matrices drawn alike shows another number."""
    a, b = ([v for _, m in part for row in m["values"] for v in row] for part in (some, others))
    return len(a) != len(b) or any(
        is_number(x) != is_number(y) or (is_number(x) and abs(x - y) >= by) for x, y in zip(a, b, strict=True)
    )


def _condition(number: Number) -> str:
    return str(number.subject.get("condition") or number.detail.get("condition") or "")


def _shown(condition: str) -> str:
    name = level_name(condition)
    return name[:1].upper() + name[1:] or "All runs"
