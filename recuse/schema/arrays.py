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
