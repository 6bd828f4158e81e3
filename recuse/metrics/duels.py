"""Duels: pairwise verdicts, read from slots to texts, and paired up over both orders.

Rows come from the protocols `pairwise` and `pairwise_evidence`: response "first", "second" or "tie" says which slot
won. The frame `items` has columns item, story, a, b: the two authors (or variants) that meet. Factor `order` says who
stood where ("ab": a first; "ba": b first), factor `labels` how the slots were called ("plain": the first one A;
"swapped": the first one B); a table without `labels` is all plain. A win counts 1, a tie 1/2, a loss 0.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import require_columns
from recuse.metrics.grids import POSITIVE, SCALE, Scale, grids_of
from recuse.schema import RecuseError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ORDERS", "PLAIN", "SWAPPED", "both_orders", "from_grades", "judges_of", "people", "verdicts_of"]

Floats = NDArray[np.float64]

ORDERS = ("ab", "ba")
PLAIN, SWAPPED = LABELS = ("plain", "swapped")
CREDIT = {"first": 1.0, "tie": 0.5, "second": 0.0}
ITEM_COLUMNS = ("item", "story", "a", "b")
UNIT = ["judge", "item", "story", "a", "b", "labels", "repeat"]


def verdicts_of(ratings: pd.DataFrame, items: pd.DataFrame) -> pd.DataFrame:
    """One row per call with columns judge, item, story, a, b, order, labels, repeat, `slot` (what the first slot won)
    and `won` (what a won); both NaN where the reply was not usable. Rows with a score are no verdicts and left out.

    Raises `RecuseError` for items the frame lacks or lists twice, and for unknown orders, labels and responses.
    """
    require_columns(ratings, "judge", "item", "repeat", "response", "status", "order")
    require_columns(items, *ITEM_COLUMNS, what="items frame")
    _known(items, ratings)
    rows = ratings[ratings["score"].isna()] if "score" in ratings.columns else ratings
    rows = rows.assign(labels=rows["labels"] if "labels" in rows.columns else PLAIN)
    response = rows["response"].where(rows["status"] == "ok")
    _levels(rows["order"], "order", ORDERS)
    _levels(rows["labels"], "labels", LABELS)
    _levels(response.dropna(), "response", tuple(CREDIT))
    slot = response.map(CREDIT).astype(float)
    rows = rows.assign(slot=slot, won=slot.where(rows["order"] == "ab", 1.0 - slot))
    merged = rows.merge(items[list(ITEM_COLUMNS)], on="item", how="left", validate="many_to_one")
    return merged[["judge", "item", "story", "a", "b", "order", "labels", "repeat", "slot", "won"]]


def from_grades(ratings: pd.DataFrame, *, scale: Scale = SCALE) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Duels that grades decide, with their items frame: of every two texts on a story the better graded one wins, equal
    grades are a tie, and where one grade is unusable so is the duel. On the positive scale, of the positive framing
    where there are several. Grades know no order, so both orders agree."""
    import pandas as pd

    grids = grids_of(ratings, scale)
    grid = grids.get(POSITIVE) or next(iter(grids.values()))
    tables, items = [], []
    for one, other in combinations(range(len(grid.targets)), 2):
        a, b = grid.targets[one], grid.targets[other]
        less = grid.scores[:, :, one] - grid.scores[:, :, other]
        story, judge = (axis.ravel() for axis in np.indices(less.shape))
        met = pd.DataFrame(
            {"item": [f"{name}.{a}~{b}" for name in grid.stories], "story": grid.stories, "a": a, "b": b}
        )
        both = pd.DataFrame({"judge": np.array(grid.judges)[judge], "item": met["item"].to_numpy()[story], "target": a})
        for order, sign in zip(ORDERS, (1, -1), strict=True):
            won = sign * less.ravel()
            response = np.select([won > 0, won < 0, won == 0], ["first", "second", "tie"], default="")
            status = np.where(np.isfinite(won), "ok", "unparsed")
            tables.append(both.assign(order=order, response=response, status=status))
        items.append(met)
    duels = pd.concat(tables, ignore_index=True).assign(criterion="winner", repeat=0, score=math.nan)
    return duels, pd.concat(items, ignore_index=True)


def both_orders(verdicts: pd.DataFrame) -> pd.DataFrame:
    """One row per judge, item, labels and repeat, with the first slot's credit in either order as columns `ab` and
    `ba`, NaN where that order was not asked or not usable; `won` is what a won on average of both, NaN unless both are
    there.
    """
    wide = verdicts.pivot(index=UNIT, columns="order", values="slot").reindex(columns=list(ORDERS)).reset_index()
    wide.columns.name = None
    return wide.assign(won=(wide["ab"] + 1.0 - wide["ba"]) / 2)


def people(judges: pd.Series[Any]) -> pd.Series[bool]:
    """Which rows are people's."""
    return judges.astype(str).str.startswith("human:")


def judges_of(ratings: pd.DataFrame) -> list[str]:
    """The judges of the table in order of first appearance, people left out."""
    return [str(judge) for judge in ratings["judge"][~people(ratings["judge"])].drop_duplicates()]


def complete(pairs: pd.DataFrame) -> pd.Series[bool]:
    """Which rows of `both_orders` have a usable verdict in both."""
    return pairs["won"].notna()


def _known(items: pd.DataFrame, ratings: pd.DataFrame) -> None:
    twice = items["item"][items["item"].duplicated()]
    if len(twice):
        raise RecuseError(f"the items frame lists {twice.iloc[0]} twice; one row per pair")
    unknown = ratings["item"][~ratings["item"].isin(items["item"])].drop_duplicates()
    if len(unknown):
        raise RecuseError(
            f"the items frame lacks {len(unknown)} item(s) of the ratings, first {unknown.iloc[0]}; it gives every "
            "pair's item, story, a and b"
        )


def _levels(column: pd.Series[Any], name: str, levels: tuple[str, ...]) -> None:
    wrong = column[~column.isin(levels)]
    if len(wrong):
        raise RecuseError(f"{name} is one of {', '.join(levels)}; row {wrong.index[0]} has {wrong.iloc[0]!r}")
