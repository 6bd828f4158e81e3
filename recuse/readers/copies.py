"""Rows that are in a file twice, cell by cell: an export that was appended to itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recuse.readers.faults import Fault
from recuse.readers.mapping import ColumnMapping
from recuse.readers.raw_table import RawTable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["without_copies"]

SURELY = 5
"""Fewer rows may be alike by chance."""


def without_copies(long: pd.DataFrame, raw: RawTable, mapping: ColumnMapping) -> tuple[pd.DataFrame, tuple[Fault, ...]]:
    """The rows without copies of earlier ones, which are no repeats: they would make a judge look steady.

    Copies are told from repeats by people, whom nobody asks twice: theirs are among the copied rows, every row that
    comes again is a copy, and there are `SURELY` of them. Where a column numbers the repeats, or no column names the
    items, nothing is taken away."""
    if mapping.repeat or not mapping.item:
        return long, ()
    copied = raw.frame.duplicated().to_numpy()[long["row"].to_numpy()]
    if copied.sum() < SURELY or not (copied & long["kind"].eq("person")).any():
        return long, ()
    told = [*mapping.factors, *filter(None, (mapping.target, mapping.criterion, mapping.rater, mapping.order))]
    pair = [*filter(None, (mapping.first, mapping.second))]
    if (raw.frame.duplicated([*mapping.item, *told, *pair]) & ~raw.frame.duplicated()).any():
        return long, ()
    rows = long.loc[copied, "row"].drop_duplicates()
    fault = Fault.of(
        "row(s) are copies of earlier ones, cell by cell", (raw.place(int(row)) for row in rows[:5]),
        "each counts once; a column `repeat` would make them repeats", len(rows),
    )  # fmt: skip
    return long[~copied].reset_index(drop=True), (fault,)
