"""Matrices of a question, sorted out: by factor levels, the main criterion apart from the others."""

from __future__ import annotations

from recuse.report.gated_number import Number
from recuse.report.lexicon import plain_name
from recuse.report.numbers import is_number
from recuse.report.results_model import Group
from recuse.schema.details import MatrixDetail

MOST_CELLS = 400
"""Matrices beyond this size are drawn once; their variants stay in results.json."""

Matrix = tuple[str, MatrixDetail]  # (caption, detail)


def is_matrix(number: Number) -> bool:
    """Whether a number carries a judge x target matrix."""
    return number.detail.get("kind") == "matrix" and bool(number.detail.get("values"))


def matrices(group: Group, metric: str, suffix: str = "") -> dict[str, list[Matrix]]:
    """Criterion -> its matrices by factor levels; the criterion that stands for the judgement as a whole first."""
    matrices_of: dict[str, list[Matrix]] = {}
    for n in group.of(metric):  # levels in order
        if is_matrix(n):
            matrices_of.setdefault(criterion(n), []).append((_caption(n) + suffix, n.detail_as(MatrixDetail)))
    lexicon = group.view.lexicon
    return {
        name: matrices_of[name]
        for name in sorted(matrices_of, key=lambda name: lexicon.criterion_order(group.task, name))
    }


def criterion(number: Number) -> str:
    """The criterion a matrix is of; "" where it names none."""
    return str(number.subject.get("criterion") or number.detail.get("criterion") or "")


def main_and_rest(matrices: dict[str, list[Matrix]]) -> tuple[list[Matrix], dict[str, list[Matrix]]]:
    """The matrices to show, and those to fold away under their variant's name (none where they are very large)."""
    if not matrices:
        return [], {}
    first, *others = matrices
    large = any(len(m["rows"]) * len(m["columns"]) > MOST_CELLS for _, m in matrices[first])
    return matrices[first], {} if large else {plain_name(name): matrices[name] for name in others}


def differ(some: list[Matrix], others: list[Matrix], by: float = 0.005) -> bool:
    """Whether any cell of matrices drawn alike shows another number."""
    a, b = ([v for _, m in part for row in m["values"] for v in row] for part in (some, others))
    return len(a) != len(b) or any(
        is_number(x) != is_number(y) or (is_number(x) and is_number(y) and abs(x - y) >= by)
        for x, y in zip(a, b, strict=True)
    )


def _caption(number: Number) -> str:
    phrases = [number.lexicon.level(k, v) for k, v in number.factors.items() if k != "criterion"]
    text = ", ".join(phrases) or "all repeats"
    return text[:1].upper() + text[1:]
