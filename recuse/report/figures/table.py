"""Plain tables."""

from __future__ import annotations

from dataclasses import dataclass, field

from recuse.report import estimate_format
from recuse.report.gated_number import Number
from recuse.report.numbers import MISSING, is_number


@dataclass(frozen=True, slots=True)
class Cell:
    text: str
    small: str = ""
    outcome: str = ""  # draws the outcome's mark before the text
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    caption: str
    columns: list[str]
    rows: list[list[Cell]]  # the first cell of a row is its heading
    numeric: frozenset[int] = field(default_factory=frozenset)  # columns set flush right
    left_out: int = 0


def number_cell(n: Number | None, text: str = "", *, small: str = "", outcome: str = "") -> Cell:
    """A number (`text`, or its value in its unit) with its interval or `small` below it; a dash with the reason where
    there is none."""
    if n is None or not is_number(n.value):
        return Cell(MISSING, estimate_format.why_undefined(n) if n else "", outcome)
    return Cell(text or estimate_format.value(n), small or estimate_format.spread(n), outcome)
