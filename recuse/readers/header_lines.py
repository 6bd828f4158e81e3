"""What a spreadsheet puts around its table: titles above it, a header in two lines, averages below."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recuse.readers.opening import Fault, shown
from recuse.readers.values import as_numbers

if TYPE_CHECKING:
    import pandas as pd

LOOKED_AT = 30
NUMBER = re.compile(r"^[-+]?\d+(?:[.,]\d+)?\s*%?$")
REMARK = re.compile(r"(?i)(?:notes?|nb|n\.b\.|source|legend|key|remarks?|hinweis|anmerkung|quelle)\b|[*#†]|.* = ")
TOTALS = frozenset([
    "average", "avg", "mean", "median", "total", "totals", "grand total", "sum", "count", "std", "stdev", "std dev",
    "durchschnitt", "mittelwert", "summe", "gesamt", "moyenne", "total general", "promedio", "media",
])  # fmt: skip
"""What stands before a row that sums up the rows above it."""


@dataclass(frozen=True, slots=True)
class Header:
    """`cells`: the names of the columns as they stand, "" for none; `text`: the file with everything above its last
    header line made empty, so that lines keep their numbers; `notes` say what was passed over."""

    cells: list[str]
    text: str
    notes: tuple[str, ...] = ()


def find_header(text: str, separator: str) -> Header:
    """The header of a table with titles above it (a line with one cell, where the table is wider), or in two lines, the
    upper with merged cells: "Tone" above "Anna" and "Ben" makes Anna_Tone and Ben_Tone."""
    rows = _first_rows(text, separator)
    if not rows:
        return Header([], text)
    at = _after_titles([cells for cells, _ in rows])
    notes = [f"the table begins in line {rows[at - 1][1] + 1}, below its title"] if at else []
    cells = rows[at][0]
    if _two_lines([cells for cells, _ in rows[at:]]):
        cells = _joined(cells, rows[at + 1][0])
        at += 1
        notes.append(f"its header has two lines, read together: {', '.join(cells[:4])}{', ...' * (len(cells) > 4)}")
    return Header(cells, _emptied(text, rows[at - 1][1]) if at else text, tuple(notes))


def without_totals(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[Fault, ...]]:
    """The table without the rows at its end that begin with "Average", "Total" and the like, or hold a remark alone:
    its first cell begins as remarks do, and the others are empty."""
    small = len(frame) <= MOST_LOOKED_AT
    filled = frame.map(lambda cell: bool(str(cell).strip())).sum(axis=1).to_numpy() if small else np.ones(len(frame))
    empty = np.flatnonzero(filled == 0)
    last = len(frame)
    if len(empty) and (filled[empty[-1] :] <= max(2, np.median(filled[filled > 0]) / 2)).all():
        last = int(empty[-1])  # a legend below the table
    while last > 1 and (_sums_up(frame.iloc[last - 1]) or _is_remark(frame.iloc[last - 1])):
        last -= 1
    summed = sorted({k for k in (*_sums(frame.iloc[:last]), *map(int, empty)) if k < last})
    out = [*summed, *range(last, len(frame))]
    if not out:
        return frame, ()
    names = [f"begins with {shown(name)}" for name in frame.iloc[out, 0]]
    kept = frame.drop(index=frame.index[out]) if summed else frame.iloc[:last]
    return kept, (Fault.of("row(s) sum up or explain the others", names, "they are left out"),)


FEWEST_SUMMED, MOST_LOOKED_AT, AT_THE_END, LARGEST_SUMMED = 5, 20_000, 3, 1e100
"""A sum is that of so many rows and more; larger tables are written by programs; means stand in the last rows; larger
numbers are not added."""


def _sums(frame: pd.DataFrame) -> list[int]:
    """Rows that add up the rows above them, all or since the last such row, or at the end hold their means: in two
    columns of numbers and in every one that they fill, with a number that none of those rows holds. No list of words
    says so in every language."""
    if not FEWEST_SUMMED < len(frame) <= MOST_LOOKED_AT:
        return []
    numbers = np.column_stack([as_numbers(frame[name]) for name in frame])
    numbers[np.abs(numbers) > LARGEST_SUMMED] = np.nan  # no rating either, and their sum is no number
    found: list[int] = []
    block, total, count = np.zeros((3, numbers.shape[1]))
    for k, row in enumerate(numbers):
        filled = ~np.isnan(row)
        own, since = row[filled], k - (found[-1] + 1 if found else 0)
        made = [block[filled]] * (since >= FEWEST_SUMMED) + [total[filled]] * (k - len(found) >= FEWEST_SUMMED)
        new = (numbers[:k, filled] != own).all(axis=0)  # a number that no row above holds
        sums = len(own) > 1 and bool(new.any()) and any(bool((own == one).all()) for one in made)
        if len(own) > 1 and made and not sums and k >= len(numbers) - AT_THE_END and (count[filled] > 0).all():
            off, spread = np.abs(own - total[filled] / count[filled]), np.nanstd(numbers[:k, filled], axis=0)
            for unit in (0.1, 0.01) if k - len(found) >= FEWEST_SUMMED else ():
                varied = spread > 2.5 * unit  # what varies less is near its mean in every row
                sums |= bool((off <= 0.5 * unit + 1e-9).all() and varied.sum() > 1 and new[varied].any())
        if sums:
            found.append(k)
            block = np.zeros_like(block)
        else:
            block, total, count = block + np.nan_to_num(row), total + np.nan_to_num(row), count + filled
    return found


def _sums_up(row: pd.Series[Any]) -> bool:
    return str(row.iloc[0]).strip().rstrip(":").lower() in TOTALS


def _is_remark(row: pd.Series[Any]) -> bool:
    rest = (str(cell).strip() for cell in row.iloc[1:])
    return bool(REMARK.match(str(row.iloc[0]).strip())) and not any(cell and cell != "nan" for cell in rest)


def _first_rows(text: str, separator: str) -> list[tuple[list[str], int]]:
    """The first rows that hold anything, each with the number of its last line."""
    csv.field_size_limit(1 << 30)
    lines = (line[0] for line in re.finditer(r"[^\n]*\n|[^\n]+", text))  # not io.StringIO: four bytes a letter
    reader = csv.reader(lines, delimiter=separator)
    rows: list[tuple[list[str], int]] = []
    for cells in reader:
        if cells:
            rows.append(([cell.strip() for cell in cells], reader.line_num))
        if len(rows) == LOOKED_AT:
            break
    return rows


def _after_titles(rows: list[list[str]]) -> int:
    """How many rows stand above the header: with one cell or none, where those from there on have three or more."""
    at = next((k for k, cells in enumerate(rows) if sum(map(bool, cells)) > 1), 0)
    wide = len(rows[at]) >= 3 and sum(map(bool, rows[at])) >= 3
    return at if wide and all(len(cells) <= len(rows[at]) for cells in rows) else 0


def _two_lines(rows: list[list[str]]) -> bool:
    """Whether the second row goes on naming columns: the first has gaps behind a name, the second has none but perhaps
    its first and holds no number and nothing that any row below repeats."""
    if len(rows) < 4 or len(rows[0]) != len(rows[1]):
        return False
    upper, lower, below = rows[0], rows[1], rows[2:]
    gaps = [k for k in range(1, len(upper)) if not upper[k] and any(upper[:k])]
    if not gaps or not all(lower[1:]) or any(NUMBER.match(cell) for cell in lower):
        return False
    return not any(cells[k : k + 1] == [lower[k]] for cells in below for k in range(len(lower)) if lower[k])


def _joined(upper: list[str], lower: list[str]) -> list[str]:
    names, over = [], ""
    for above, below in zip(upper, lower, strict=True):
        over = above or over
        names.append("_".join(dict.fromkeys(filter(None, (below, over)))))
    return names


def _emptied(text: str, lines: int) -> str:
    rest = text.split("\n", lines)
    return "\n" * lines + rest[-1]
