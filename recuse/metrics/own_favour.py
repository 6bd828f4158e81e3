"""Own favour: does a judge that wrote one of the targets give its own texts more than people do, beyond what it gives
the others beyond people?

Peers can say only that a judge differs from them. Where people rated the texts there is no need for peers: what a judge
adds to its own texts and not to others' is favour, whatever its leniency.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from recuse.metrics.estimates import estimated, losses_of_judge, number, undefined
from recuse.metrics.human_alignment import Compared, compared
from recuse.metrics.measure import Named, measure, per_subject
from recuse.ratings import RatingArray, Ratings, mean_of
from recuse.ratings.answers import against_truth
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats, distinct
from recuse.statistics.clusters import difference_of_means

METHOD = "judge less people on own texts, less the same on others', cluster-robust t over items"


@measure(
    "own_favour", "favour to its own texts against people", signed=True, rank=42,
    above="favours its own texts|favour their own texts", below="marks its own texts down|mark their own texts down",
    reading="The judge's score less people's on its own texts, less the same on the others'.",
)  # fmt: skip
def own_favour(ratings: Ratings) -> Estimates:
    """mean over own texts of (judge - people) - mean over others' texts of (judge - people), by judge that wrote a
    target and factor level, in units of the scale. Free of the judge's leniency, and of how good its texts are as far
    as people see it. The right answers stand in people's place where they are known.

    Over items, in pairs where an item has texts of both sides; these people are held. Detail: both means (`own`,
    `others`), and `losses`. Undefined where people rated no own text or none of another, and where every target has one
    text: one text says nothing about the next.

    >>> import pandas as pd
    >>> rows = [("a", "judge", i, t, 3.0 + (t == "a") + i % 2) for i in range(4) for t in "ab"]
    >>> rows += [("p", "person", i, t, 2.0 + i % 2) for i in range(4) for t in "ab"]
    >>> frame = pd.DataFrame(rows, columns=["rater", "kind", "item", "target", "score"])
    >>> own_favour(Ratings.of(frame, authors={"a": "a"})).of(judge="a").value
    1.0
    """
    return _favours(against_truth(ratings))


@per_subject("judge", compared)
def _favours(against: Compared) -> Iterator[Named]:
    return ((judge, _favour(against, judge, target)) for judge, target in against.own.items())


def _favour(against: Compared, judge: str, target: str) -> Estimate:
    cells, row = against.cells, against.cells.row(judge)
    own = cells.texts_of(target)
    requested = (cells.count[row] + cells.lost[row] > 0) & np.isfinite(against.people.mean)
    differences = against.differences[row]
    used = requested & np.isfinite(differences)
    facts: dict[str, Any] = {
        "n": distinct(cells.items[used & own]), "n_excluded": int((requested & ~used).sum()), "method": METHOD,
        "over": "clusters" if cells.over == "clusters" else "items", "clusters": cells.clusters_called,
        "unit": cells.scale.unit, "span": cells.scale.span,
    }  # fmt: skip
    if not (used & own).any() or not (used & ~own).any():
        which = "its own" if not (used & own).any() else "another system's"
        return undefined("own_favour", f"no text of {which} was rated by both the judge and people", **facts)
    if cells.fixed:
        return undefined("own_favour", "every system has one text, and one text says nothing about the next", **facts)
    values = np.where(used, differences, 0.0)
    distribution = difference_of_means(values, used & own, used & ~own, cells.clusters, step=cells.step)
    detail = {
        "own": number(float(values[used & own].mean())), "others": number(float(values[used & ~own].mean())),
        **losses_of_judge(cells, row, lambda: against.people.mean, requested & own, requested & ~own),
    }  # fmt: skip
    return estimated("own_favour", distribution.value, distribution, detail=detail, **facts)


# --------------------------------------------------------------------------- a judge's own text
# All arrays are on the ascending scale; every result has shape (I,), one value per item, NaN where there is none.

NESTED = (
    "every target has items of its own, so no item has texts to compare; consensus.self_preference compares over all "
    "texts"
)


def own_place(array: RatingArray, authors: Mapping[str, str], judge: str) -> tuple[int, int] | None:
    """Row of the judge and column of its own target; None where either is not in the array."""
    if judge not in array.raters or authors.get(judge) not in array.targets:
        return None
    return array.row(judge), array.column(authors[judge])


def why_not_comparable(array: RatingArray) -> str:
    """Why no judge can be compared on common items; empty where that is no obstacle."""
    return NESTED if array.nested else ""


def missing_text(array: RatingArray, judge: str) -> str:
    """Why `own_place` is None."""
    return "none of its own texts was judged" if judge in array.raters else "it was not asked here"


def contrast(array: RatingArray, row: int, column: int, authors: Mapping[str, str]) -> tuple[Floats, Floats]:
    """D's two halves per item, each of shape (I,): the judge less its peers on its own text (`column`), and on texts
    that neither the judge nor the peer wrote. Averaged over the peers that have both."""
    less = array.means[row][None] - array.means
    neither = np.ones((len(array.raters), len(array.targets)), dtype=bool)
    neither[:, column] = False
    for peer, own in enumerate(array.columns(authors)):
        if own is not None:
            neither[peer, own] = False
    third = mean_of(np.where(neither[:, None, :], less, np.nan), axis=2)
    on_own = less[:, :, column]
    both = np.isfinite(on_own) & np.isfinite(third)
    both[row] = False
    return mean_of(np.where(both, on_own, np.nan), axis=0), mean_of(np.where(both, third, np.nan), axis=0)


def self_received_given(array: RatingArray, row: int, column: int) -> tuple[Floats, Floats, Floats]:
    """S, R and G per item, each of shape (I,), NaN where there is none."""
    return (
        array.means[row, :, column], mean_of(np.delete(array.means[:, :, column], row, axis=0), axis=0),
        mean_of(np.delete(array.means[row], column, axis=1), axis=1),
    )  # fmt: skip
