"""Which of two texts is better, by something that no compared way of choosing between them has made.

People's choices; or, where nobody chose, which of the two the judge's peers scored higher, each text by itself. Peers'
own choices between the two would favour the way they were asked in: one order or both, over evidence first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from recuse.ratings import Ratings
from recuse.ratings.ratings_table import PERSON

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["neutral", "reference_verdicts", "verdict"]


def reference_verdicts(
    credits: pd.DataFrame, scores: Ratings | None, judges: Sequence[str], authors: Mapping[str, str]
) -> pd.DataFrame:
    """Per judge and item the `reference` verdict, 1 a, 0 b, 1/2 tie, NaN where there is none, and whether people gave
    it (`by_people`).

    `credits`: one row per rater and pair, with kind, item, cluster, a and b, and a's credit in each order (`ab`, `ba`).
    A pair's cluster is the item of `scores`, its two texts are targets there; the first headline criterion counts, at
    the ordinary levels of all factors. Peers that wrote one of the two texts are left out.
    """
    import pandas as pd

    human = credits["kind"] == PERSON
    by_people = credits[human].assign(won=credits[["ab", "ba"]].mean(axis=1)).groupby("item")["won"].mean()
    higher = neutral(_scored_higher(credits, scores), authors)
    names = credits["item"].drop_duplicates()
    mean = by_people.reindex(names)
    tables = []
    for judge in judges:
        peers = higher[higher["rater"] != judge].groupby("item")["won"].mean()
        tables.append(pd.DataFrame({
            "rater": judge, "item": names.to_numpy(), "by_people": mean.notna().to_numpy(),
            "reference": verdict(mean.fillna(peers.reindex(names))).to_numpy(),
        }))  # fmt: skip
    return pd.concat(tables, ignore_index=True)


def neutral(credits: pd.DataFrame, authors: Mapping[str, str]) -> pd.DataFrame:
    """The rows of judges that wrote neither of the two texts."""
    wrote = credits["rater"].map(lambda name: authors.get(name, "")).astype(object)
    return credits[(wrote != credits["a"]) & (wrote != credits["b"])]


def verdict(credit: pd.Series[float]) -> pd.Series[float]:
    """Average credit to verdict: more than half wins."""
    sign: pd.Series[float] = (credit - 0.5).round(12).map(np.sign)
    return (sign + 1) / 2


def _scored_higher(credits: pd.DataFrame, scores: Ratings | None) -> pd.DataFrame:
    """Which text of each pair a judge scored higher: rater, item, a, b, and won (1 a, 0 b, 1/2 neither); no row where
    it did not score both."""
    import pandas as pd

    pairs = credits[["item", "cluster", "a", "b"]].drop_duplicates("item")
    if scores is None:
        return pairs.iloc[:0].assign(rater="", won=math.nan)
    overall = scores.with_criterion(scores.headline[0])
    cells = overall.where(**{name: overall.levels(name)[0] for name in overall.factors}).cells()
    judge, text = np.nonzero(np.isfinite(cells.mean))
    given = pd.DataFrame({
        "rater": np.array(cells.judges, dtype=object)[judge],
        "cluster": np.array(cells.item_names, dtype=object)[cells.items[text]],
        "target": np.array(cells.target_names, dtype=object)[cells.targets[text]], "score": cells.mean[judge, text],
    })  # fmt: skip
    sides = [given.rename(columns={"target": side, "score": f"score_{side}"}) for side in "ab"]
    both = pairs.merge(sides[0], on=["cluster", "a"]).merge(sides[1], on=["rater", "cluster", "b"])
    return both.assign(won=(np.sign(both["score_a"] - both["score_b"]) + 1) / 2)
