"""Arrays as types, and names as codes. Apart from `recuse.schema` itself: who computes nothing imports no numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def distinct(codes: NDArray[np.intp]) -> int:
    """How many different whole numbers from 0 there are: counted, where `np.unique` would hash each of them."""
    return int(np.count_nonzero(np.bincount(codes)))


def ascending_codes(names: ArrayLike) -> NDArray[np.intp]:
    """Each name's place among the different ones in ascending order. Small numbers are counted, not sorted."""
    every: NDArray[Any] = np.asarray(names)
    if every.dtype.kind in "iu" and len(every) and every.min() >= 0 and every.max() < 4 * len(every):
        place = np.cumsum(np.bincount(every) > 0) - 1
        codes: NDArray[np.intp] = place[every]
        return codes
    return np.unique(every, return_inverse=True)[1].ravel()


def patterns(rows: Floats, most: int) -> tuple[NDArray[np.intp], NDArray[np.int64]] | None:
    """Where each different row (n, k) is first, NaN being like NaN, and how often each is there; None where more than
    `most` rows differ."""
    import pandas as pd

    codes, first = np.zeros(len(rows), dtype=np.intp), np.zeros(1, dtype=np.intp)
    for column in rows.T:
        values, known = pd.factorize(column, use_na_sentinel=False)
        if len(known) == 1:
            continue
        codes, kept = pd.factorize(codes * len(known) + values)
        if len(kept) > most:
            return None
        first = np.full(len(kept), len(rows), dtype=np.intp)
        np.minimum.at(first, codes, np.arange(len(rows)))
    return first, np.bincount(codes)


def median_of(values: Floats, times: Floats) -> float:
    """The median of values (n,) of which each is there so many `times`."""
    order = np.argsort(values)
    upto, total = np.cumsum(times[order]), int(times.sum())
    middle = np.searchsorted(upto, [(total - 1) // 2, total // 2], side="right")
    return float(values[order][middle].mean())
