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


def in_order(numbers: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where these whole numbers from 0 stand, the lowest first and equal ones as they come."""
    small = numbers.max(initial=0) < 2**16  # sorted digit by digit, in a tenth of the time
    return np.argsort(numbers.astype(np.uint16) if small else numbers, kind="stable")


def taken(times: Floats | None, which: Mask | NDArray[np.intp] | slice) -> Floats | None:
    """How many each of some entries stands for; None where each stands for itself."""
    return None if times is None else times[which]


def number_of(which: Mask, times: Floats | None) -> int:
    """How many the entries marked in `which` (n,) are, each of which is there so many `times`."""
    return int(which.sum() if times is None else times[which].sum())


def cluster_times(clusters: NDArray[np.intp], times: Floats | None) -> Floats | None:
    """How many clusters each of `clusters` (n,), numbered from 0, stands for, (G,): as many as each of its entries."""
    if times is None:
        return None
    each = np.zeros(int(clusters.max(initial=-1)) + 1)
    each[clusters] = times
    return each


def number_of_clusters(clusters: NDArray[np.intp], times: Floats | None) -> int:
    """How many clusters these observations (n,) are of; `times` (G,): how many each cluster stands for."""
    return distinct(clusters) if times is None else int(times[np.unique(clusters)].sum())


def average(values: Floats, times: Floats | None) -> float:
    """Mean of values (n,) of which each is there so many `times`; NaN of none."""
    if times is None:
        return float(values.mean()) if len(values) else np.nan
    return float(values @ times / times.sum()) if len(values) else np.nan


def total(values: Floats, times: Floats | None) -> Floats:
    """Sum of rows (n, ...) of which each is there so many `times`."""
    rows: Floats = values.sum(axis=0) if times is None else np.tensordot(times, values, axes=1)
    return rows


def median_of(values: Floats, times: Floats | None) -> float:
    """The median of values (n,) of which each is there so many `times`."""
    if times is None:
        return float(np.median(values))
    order = np.argsort(values)
    upto, count = np.cumsum(times[order]), int(times.sum())
    middle = np.searchsorted(upto, [(count - 1) // 2, count // 2], side="right")
    return float(values[order][middle].mean())
