"""What measures need of a cell, computed in this one place: counts, means, sums of squares, extremes, option counts.

Any engine that can group and sum can fill a `Moments` and give the same numbers: each is a sum over the rows of a cell,
the sum of squares about the cell's own mean, so that it keeps its digits where scores lie close together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recuse.schema.arrays import Floats

EQUAL = 1e-12
"""Scores of a cell that differ by less are equal: binary rounding never passes for spread."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Per cell, all of one shape: usable scores, their mean (NaN without one), and the sum of squares about it."""

    count: NDArray[np.int64]
    mean: Floats
    squares: Floats

    @property
    def variance(self) -> Floats:
        """Sample variance, divisor n - 1; NaN below two scores."""
        variance: Floats = np.full(self.mean.shape, np.nan)
        np.divide(self.squares, self.count - 1, out=variance, where=self.count > 1)
        return variance

    def reshape(self, *shape: int) -> Moments:
        """The same moments in cells of another shape."""
        return Moments(self.count.reshape(shape), self.mean.reshape(shape), self.squares.reshape(shape))


def moments_of(cells: NDArray[np.intp], values: Floats, size: int) -> Moments:
    """Moments of `values` by cell number in [0, size); NaN values are left out."""
    there = np.isfinite(values)
    cells, values = cells[there], values[there]
    count = np.bincount(cells, minlength=size)
    sums = np.bincount(cells, weights=values, minlength=size)
    mean: Floats = np.full(size, np.nan)
    np.divide(sums, count, out=mean, where=count > 0)
    deviations = values - mean[cells]
    squares: Floats = np.bincount(cells, weights=deviations * deviations, minlength=size).astype(np.float64)
    largest = np.zeros(size)
    np.maximum.at(largest, cells, np.abs(deviations))
    squares[largest < EQUAL] = 0.0
    return Moments(count.astype(np.int64), mean, squares)


def option_counts(cells: NDArray[np.intp], codes: Floats, size: int, options: int) -> NDArray[np.int64]:
    """How often each option was given in each cell, shape (size, options); NaN codes are left out."""
    there = np.isfinite(codes)
    flat = cells[there] * options + codes[there].astype(np.intp)
    return np.bincount(flat, minlength=size * options).reshape(size, options)
