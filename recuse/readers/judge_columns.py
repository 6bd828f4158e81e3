"""What a file says of each judgement beside the answer: how sure the judge was, what it cost.

A column of its own stands for one judge (`gpt_confidence`, `cost_gpt`), or one column for all where a row is one
judgement (`confidence`, `cost_usd`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recuse.ratings import Ratings
from recuse.readers.column_names import plain, rater_name

if TYPE_CHECKING:
    import pandas as pd

    from recuse.readers.mapping import ColumnMapping

CONFIDENCE = ("confidence", "certainty", "probability")
COST = ("cost", "cost_usd", "usd", "price")


def numbers_beside(
    rows: pd.DataFrame, frame: pd.DataFrame, mapping: ColumnMapping, judges: Collection[str], names: Collection[str]
) -> pd.Series[float] | None:
    """A number for each of `rows` (rater, row), NaN where there is none, from columns of `frame` that are called
    `names`; None where there is no such column. "85 %" is 0.85."""
    import pandas as pd

    called = {plain(str(column)): str(column) for column in frame.columns}
    shared = next((called[name] for name in names if name in called), "") if mapping.rater else ""
    own = {
        judge: called[key]
        for judge in judges
        for key in [f"{plain(part)}_{name}" for part in (judge, rater_name(judge)) for name in names]
        + [f"{name}_{plain(judge)}" for name in names]
        if key in called
    }
    for key, column in called.items():  # gpt_confidence beside gpt_urteil, where no other judge begins so
        stem, _, last = key.rpartition("_")
        begins = [judge for judge in judges if last in names and f"{plain(judge)}_".startswith(f"{stem}_")]
        if stem and len(begins) == 1:
            own.setdefault(begins[0], column)
    of_judge = {judge: own.get(judge, shared) for judge in judges if own.get(judge, shared)}
    if not of_judge:
        return None
    values = pd.Series(np.nan, index=rows.index)
    for judge, column in of_judge.items():
        mine = rows["rater"].eq(judge)
        text = frame[column].astype(str).str.strip()
        number = pd.to_numeric(text.str.rstrip("% ").str.lstrip("$ "), errors="coerce")
        number = number.where(~text.str.endswith("%"), number / 100)
        values[mine] = number.to_numpy(dtype=float)[rows.loc[mine, "row"].to_numpy(dtype=int)]
    return values if values.notna().any() else None


def with_confidence(
    ratings: Ratings, rows: pd.DataFrame, frame: pd.DataFrame, mapping: ColumnMapping
) -> tuple[Ratings, list[str]]:
    """The ratings with a column `confidence` beside the judges' answers, and a note; the same where the file has none,
    and where rows of the ratings are not those of the file (repeats in columns of their own)."""
    import pandas as pd

    sure = numbers_beside(rows, frame, mapping, ratings.judges, CONFIDENCE)
    if sure is None or "confidence" in ratings.table:
        return ratings, []
    keys = ["rater", "item", "target"]
    each = rows.assign(confidence=sure)[[*keys, "confidence"]].astype(dict.fromkeys(keys, str))
    known = each.dropna().groupby(keys, sort=False)["confidence"].mean()
    at = ratings.table[keys].astype(str)
    found = known.reindex(pd.MultiIndex.from_frame(at)).to_numpy(dtype=float)
    judges = [judge for judge in ratings.judges if judge in known.index.get_level_values("rater")]
    note = f"how sure it was is known of {', '.join(judges)}"
    return replace(ratings, table=ratings.table.assign(confidence=found), _memory={}), [note]
