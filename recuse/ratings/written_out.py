"""Tables and ratings written out in a line, for an example."""

from __future__ import annotations

from typing import Any

import pandas as pd

from recuse.ratings.ratings import Ratings


def table(columns: str, rows: str) -> pd.DataFrame:
    """A table: a row after another, parted by semicolons, cells parted by blanks, the last left out where empty.

    >>> table("judge score", "x 5; y 4").to_dict("list")
    {'judge': ['x', 'y'], 'score': [5, 4]}
    """
    names = columns.split()
    frame = pd.DataFrame([dict(zip(names, row.split(), strict=False)) for row in rows.split(";")])
    for name in names:
        if not frame[name].str.contains("[^-.0-9]", na=False).any():
            frame[name] = pd.to_numeric(frame[name])
    return frame


def example(columns: str, rows: str, **more: Any) -> Ratings:
    """Ratings written out as in `table`, of judge j and item i unless they say otherwise; `more` as for `Ratings.of`.

    >>> example("judge score", "x 5; y 4").judges
    ('x', 'y')
    """
    frame = table(columns, rows)
    judged = {} if {"judge", "rater"} & set(frame) else {"judge": "j"}
    return Ratings.of(frame.assign(**judged, **({} if "item" in frame else {"item": "i"})), **more)
