"""Plain tables."""

from __future__ import annotations

from dataclasses import dataclass, field


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
