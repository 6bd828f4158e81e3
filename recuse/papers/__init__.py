"""What only a paper's study needs: its measures, protocols, statistics and drawings, one room a paper, and
in `rank_tests` what several of them share.

The engine imports nothing from here. What is found by name (protocols, drawings) is found as a team's own is: by the
entry points of the package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from recuse.ratings import Ratings


def table(columns: str, rows: str) -> pd.DataFrame:
    """A table written out for an example: a row after another, parted by semicolons, cells parted by blanks.

    >>> table("judge score", "x 5; y 4").to_dict("list")
    {'judge': ['x', 'y'], 'score': [5, 4]}
    """
    import pandas as pd

    frame = pd.DataFrame([row.split() for row in rows.split(";")], columns=columns.split())
    for name in columns.split():
        if not frame[name].str.contains("[^-.0-9]").any():
            frame[name] = pd.to_numeric(frame[name])
    return frame


def example(columns: str, rows: str, **more: Any) -> Ratings:
    """Ratings written out as in `table`, of judge j and item i unless they say otherwise; `more` as for `Ratings.of`.

    >>> example("judge score", "x 5; y 4").judges
    ('x', 'y')
    """
    from recuse.ratings import Ratings

    frame = table(columns, rows)
    judged = {} if {"judge", "rater"} & set(frame) else {"judge": "j"}
    return Ratings.of(frame.assign(**judged, **({} if "item" in frame else {"item": "i"})), **more)
