"""Ratings as option codes, and how far two options lie apart.

Codes are whole numbers from 0 to K - 1, NaN where nothing was rated. Distances have shape (K, K), 0 on the diagonal; a
weighted kappa's weights are 1 - distance.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recuse.schema import RecuseError

__all__ = ["Weights", "coded", "counts_of", "distances", "tables_of"]

Floats = NDArray[np.float64]
Weights = Literal["plain", "linear", "quadratic"]


def coded(ratings: ArrayLike) -> tuple[Floats, Floats]:
    """(codes of the shape given, the different values in ascending order). NaN stays NaN.

    Only values that occur become options: where the scale has more of them (1 to 5, of which 1, 2 and 5 occur), give
    the codes yourself, or weights would take 2 and 5 for neighbours.
    """
    values = np.asarray(ratings, dtype=float)
    there = np.isfinite(values)
    options, places = np.unique(values[there], return_inverse=True)
    codes = np.full(values.shape, np.nan)
    codes[there] = places
    return codes, options


def distances(options: int, weights: Weights) -> Floats:
    """Distance of every two of K options in order, from 0 to 1: (i != j), |i - j| / (K - 1), or that squared."""
    place = np.arange(options, dtype=float)
    apart = np.abs(place[:, None] - place[None, :])
    if weights == "plain":
        return (apart > 0).astype(float)
    scaled: Floats = apart / max(options - 1, 1)
    return scaled if weights == "linear" else scaled**2


def counts_of(codes: ArrayLike, options: int) -> Floats:
    """How many raters gave each item each option: from codes (raters, items), shape (items, K)."""
    given = np.atleast_2d(np.asarray(codes, dtype=float))
    rater, item = np.nonzero(np.isfinite(given))
    places = given[rater, item].astype(np.intp)
    _check(places, options)
    flat = np.bincount(item * options + places, minlength=given.shape[1] * options)
    return flat.reshape(given.shape[1], options).astype(float)


def tables_of(a: ArrayLike, b: ArrayLike, options: int) -> Floats:
    """Per item the pair of options that two raters gave, as a table with a single 1, shape (items, K, K); all 0 where
    one of the two is missing."""
    first, second = (np.asarray(side, dtype=float) for side in (a, b))
    if first.shape != second.shape or first.ndim != 1:
        raise RecuseError(f"two raters' codes have one shape (items,); got {first.shape} and {second.shape}")
    both = np.flatnonzero(np.isfinite(first) & np.isfinite(second))
    tables = np.zeros((len(first), options, options))
    rows, columns = first[both].astype(np.intp), second[both].astype(np.intp)
    for places in (rows, columns):
        _check(places, options)
    tables[both, rows, columns] = 1.0
    return tables


def _check(places: NDArray[np.intp], options: int) -> None:
    if len(places) and (places.min() < 0 or places.max() >= options):
        raise RecuseError(
            f"codes run from 0 to {options - 1} for {options} options; got {places.min()} to {places.max()}. "
            "Use coded() to make codes of values"
        )
