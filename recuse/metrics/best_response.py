"""Best response: where one of an item's texts is known to be the right one, does the judge put it first?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated
from recuse.metrics.measure import measure
from recuse.ratings import RatingArray, Ratings
from recuse.ratings.array import mean_of
from recuse.schema import Estimate, Estimates, RatingsError
from recuse.statistics.clusters import SHARE, clustered_share

__all__ = ["best_response", "right_first", "right_responses"]

RIGHT = ("1", "1.0", "true", "yes", "chosen", "correct")


@measure(
    "best_response", "puts the right response first", unit="share", rank=400,
    below="seldom puts the right response first|seldom put the right response first",
    reading="Share of items of which the judge scores the response that is known to be right above all others. "
    "A tie for the first place counts as wrong.",
)  # fmt: skip
def best_response(ratings: Ratings, repeats: int | None = None) -> Estimates:
    """Share of items whose single best-scored text is the right one, by judge and factor level.

    A text's score is the mean of its usable repeats, of the first `repeats` only where given (1: the first answer). An
    item counts where the judge scored every text that it was asked about, two or more of them; the others are counted
    as excluded. Ties count as wrong. Which text is right is told in `ratings.texts`, column `gold`: 1, true, yes,
    chosen or correct. Clopper-Pearson interval over items (clusters: at the effective sample size). `RatingsError`
    without gold.

    Source: the accuracy on RewardBench 2 (Malik et al. 2025, arXiv:2506.01937), one chosen response of four.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "j", "item": [1, 1, 2, 2], "target": ["a", "b"] * 2, "score": [3.0, 2, 4, 4]})
    >>> texts = pd.DataFrame({"item": ["1", "1", "2", "2"], "target": ["a", "b"] * 2, "gold": ["1", "0", "1", "0"]})
    >>> best_response(Ratings.of(frame, texts=texts)).of(judge="j").value
    0.5
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, part in ratings.each():
        array = part.array().only_judges()
        right = right_responses(ratings, array)
        scores = array.means if repeats is None else mean_of(array.values[..., :repeats], axis=3)
        for judge, name in enumerate(array.judges):
            if array.requested[judge].any():
                estimates[name, *names] = _share(array, judge, scores[judge], right)
    return Estimates(("judge", *ratings.within()), estimates)


def _share(array: RatingArray, judge: int, scores: NDArray[np.float64], right: NDArray[np.bool_]) -> Estimate:
    requested, there = array.requested[judge], np.isfinite(scores)
    wanted = requested.sum(axis=1) > 1
    used = wanted & ~(requested & ~there).any(axis=1)
    hits = right_first(scores, right)
    clusters = np.asarray(array.clusters, dtype=object)[used]
    distribution = clustered_share(hits[used], clusters)
    return estimated(
        "best_response", float(hits[used].mean()) if used.any() else float("nan"), distribution, n=int(used.sum()),
        n_excluded=int((wanted & ~used).sum()), unit="share", span=1.0, method=SHARE,
        over="clusters" if array.clustered else "items",
    )  # fmt: skip


def right_first(scores: NDArray[np.float64], right: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Of scores (items, targets), NaN where there is none: whether an item's highest belongs to a right text alone."""
    there = np.isfinite(scores)
    best = np.where(there, scores, -np.inf).max(axis=1, initial=-np.inf)
    top = there & (scores == best[:, None])
    hits: NDArray[np.bool_] = (top.sum(axis=1) == 1) & (top & right).any(axis=1)
    return hits


def right_responses(ratings: Ratings, array: RatingArray) -> NDArray[np.bool_]:
    """Which texts are the right ones, shape (items, targets)."""
    import pandas as pd

    texts = ratings.texts
    if texts is None or "gold" not in texts:
        raise RatingsError("nothing says which text is the right one; give texts with a column gold (1 or 0)")
    gold = texts[texts["gold"].astype(str).str.strip().str.lower().isin(RIGHT)]
    right = np.zeros(array.shape[1:], dtype=bool)
    item, target = (
        pd.Index(names).get_indexer(pd.Index(gold[name].astype(str)))
        for names, name in ((array.items, "item"), (array.targets, "target"))
    )
    inside = (item >= 0) & (target >= 0)
    right[item[inside], target[inside]] = True
    return right
