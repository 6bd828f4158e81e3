"""Tables with a row per rater and a column per text: turned, so that a row is one rating."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from recuse.readers.column_names import NAMES, is_date, plain
from recuse.readers.raw_table import RawTable
from recuse.readers.values import as_numbers, is_empty

__all__ = ["as_rows"]

FEWEST = 8
"""So many columns beside one row a rater are texts: a file about one text on so many criteria is no evaluation."""
MOST_RATERS = 200


def as_rows(raw: RawTable) -> tuple[RawTable, dict[str, Any], tuple[str, ...]]:
    """A row per rating, the roles of its columns and a note, where every rater has one row, no column names items, and
    at least `FEWEST` columns, more than there are raters, hold their marks; else the table as it is.

        rater, item_1, item_2, ...        rater, item,   rating
        anna,  4,      2,      ...   ->   anna,  item_1, 4
        gpt,   5,      2,      ...        gpt,   item_1, 5"""
    frame = raw.frame
    rater = next((n for n in map(str, frame.columns) if plain(n) in NAMES["rater"]), "")
    if not rater or raw.made_by or not 1 < len(frame) <= MOST_RATERS or frame[rater].duplicated().any():
        return raw, {}, ()
    names = [n for n in map(str, frame.columns) if n != rater and not is_date(n)]
    if len(names) < max(FEWEST, len(frame) + 1) or any(
        plain(n) in NAMES["item"] and frame[n].nunique() > 1 for n in names
    ):
        return raw, {}, ()
    cells = frame[names].to_numpy(dtype=object).ravel()
    import pandas as pd

    column = pd.Series(cells, dtype=object)
    filled = ~is_empty(column)
    values = column[filled]
    numbers = as_numbers(values).notna().to_numpy() if len(values) else np.zeros(0, dtype=bool)
    if not len(values) or (numbers.mean() < 0.9 and values.nunique() > FEWEST):
        return raw, {}, ()
    place = np.repeat(np.arange(len(frame)), len(names))
    table = pd.DataFrame({
        rater: frame[rater].to_numpy(dtype=object)[place], "item": np.tile(np.array(names, dtype=object), len(frame)),
        "rating": cells,
    })  # fmt: skip
    turned = replace(raw, frame=table, numbers=tuple(raw.at(int(k)) for k in place), text="")
    note = f"every rater has one row: the {len(names)} columns of marks are read as texts"
    return turned, {"item": ("item",), "rater": rater, "value": ("rating",)}, (note,)
