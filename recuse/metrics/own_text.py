"""A judge's own text, item by item: against its peers' view of it, and against what the judge gives to others.

All arrays are on the ascending scale; every result has shape (I,), one value per item, NaN where there is none.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from recuse.ratings import RatingArray, mean_of
from recuse.schema.arrays import Floats

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
        array.means[row, :, column],
        mean_of(np.delete(array.means[:, :, column], row, axis=0), axis=0),
        mean_of(np.delete(array.means[row], column, axis=1), axis=1),
    )
