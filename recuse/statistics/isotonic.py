"""The never-falling sequence closest to given values: isotonic regression by least squares."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["isotonic"]

Floats = NDArray[np.float64]


def isotonic(values: ArrayLike, weights: ArrayLike) -> Floats:
    """x (N,) with x_1 <= x_2 <= ... that minimises sum_i weights_i (values_i - x_i)^2; weights above 0.

    Neighbours that fall are pooled into a block of their weighted mean, until none does (Barlow, Bartholomew, Bremner
    and Brunk 1972, "Statistical Inference under Order Restrictions", sec. 1.2). scipy has the same in `scipy.optimize`,
    whose import takes longer than everything that is computed with it here.

    >>> isotonic([1.0, 3.0, 2.0, 4.0], [1, 1, 1, 1]).tolist()
    [1.0, 2.5, 2.5, 4.0]
    """
    blocks: list[tuple[float, float, int]] = []  # mean, weight, values in it
    for mean, weight in zip(np.asarray(values, float).tolist(), np.asarray(weights, float).tolist(), strict=True):
        size = 1
        while blocks and blocks[-1][0] >= mean:
            before, its_weight, its_size = blocks.pop()
            mean = (its_weight * before + weight * mean) / (its_weight + weight)
            weight, size = its_weight + weight, its_size + size
        blocks.append((mean, weight, size))
    return np.repeat([mean for mean, _, _ in blocks], [size for _, _, size in blocks])
