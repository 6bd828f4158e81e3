"""Resampling: the bootstrap over items, clusters or runs, and the permutation test.

All randomness comes from an explicit `numpy.random.Generator`; `generator` makes one per named subject, so draws do
not depend on the order in which subjects are measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from recuse.statistics.distributions import Draws

__all__ = ["SEED", "PermutationTest", "bootstrap", "generator", "percentile", "permutation_test", "resampled_means"]

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], Floats]

SEED = 20260301
"""Seed of every resampling whose caller gives none; fixed, so that the same ratings give the same numbers."""


def generator(seed: int, *names: str) -> np.random.Generator:
    """A generator for one named subject, independent of those of other names under the same seed."""
    return np.random.default_rng([seed, *"\x1f".join(names).encode()])


def bootstrap(
    statistic: Statistic,
    n: int,
    rng: np.random.Generator,
    *,
    clusters: ArrayLike | None = None,
    draws: int = 9999,
    method: Literal["bca", "percentile"] = "bca",
) -> Draws:
    """Nonparametric bootstrap of a statistic of n observations, resampling observations or whole clusters.

    `statistic` maps weights of shape (B, n), how often each observation was drawn, to values of shape (B,); the plain
    statistic is that of all ones. A mean of x is `lambda w: w @ x / w.sum(1)`. `clusters` holds n labels; all
    observations of a cluster are drawn together, and the number of clusters is what counts. Fewer than two units leave
    the result undefined. BCa's acceleration comes from leaving each unit out in turn.
    """
    unit = np.arange(n) if clusters is None else np.unique(np.asarray(clusters), return_inverse=True)[1]
    units = int(unit.max()) + 1 if n else 0
    value = float(statistic(np.ones((1, n)))[0]) if n else math.nan
    if units < 2:
        return Draws(value, np.empty(0))
    found = [statistic(_drawn(rng, units, size)[:, unit]) for size in _chunks(draws, n)]
    values = np.concatenate(found)
    if method == "percentile":
        return percentile(value, values)
    law = percentile(value, values)
    if law.undefined:
        return law
    # a draw equal to the value counts half: discrete statistics repeat their own value
    below = (
        (np.searchsorted(law.draws, value, "left") + np.searchsorted(law.draws, value, "right")) / 2 / len(law.draws)
    )
    left_out = statistic(1.0 - np.eye(units)[:, unit])
    return replace(law, bias=float(special.ndtri(below)), acceleration=_acceleration(left_out))


def _drawn(rng: np.random.Generator, units: int, size: int) -> Floats:
    picked = rng.integers(units, size=(size, units)) + np.arange(size)[:, None] * units
    return np.bincount(picked.ravel(), minlength=size * units).reshape(size, units).astype(float)


def _chunks(draws: int, n: int, cells: int = 2_000_000) -> list[int]:
    """Sizes that add up to `draws`, each small enough to keep weights of shape (size, n) in memory."""
    size = max(1, cells // max(n, 1))
    return [min(size, draws - start) for start in range(0, draws, size)]


def _acceleration(left_out: Floats) -> float:
    left_out = left_out[np.isfinite(left_out)]
    deviation = np.mean(left_out) - left_out
    scale = float(np.sum(deviation**2))
    return float(np.sum(deviation**3)) / (6 * scale**1.5) if scale > 0 else 0.0


def resampled_means(cells: Sequence[Floats], rng: np.random.Generator, draws: int = 9999) -> Floats:
    """Means of each cell over runs drawn with replacement from that cell; shape (draws, cells).

    The bootstrap over runs for statistics of several cell means; `percentile` turns the statistic's values into a law.
    """
    return np.column_stack([cell[rng.integers(len(cell), size=(draws, len(cell)))].mean(axis=1) for cell in cells])


def percentile(value: float, values: Floats, *, discrete: bool = False) -> Draws:
    """Percentile law of a statistic with this value, recomputed on resampled data; NaN where it was undefined there."""
    finite = np.sort(values[np.isfinite(values)])
    return Draws(value, finite, lost=len(values) - len(finite), discrete=discrete)


# --------------------------------------------------------------------------- permutation


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """Two-sided p-value: the share of arrangements whose statistic is at least as far from 0 as the observed one."""

    p: float
    arrangements: int
    exact: bool
    method: str


def permutation_test(
    x: ArrayLike,
    y: ArrayLike,
    statistic: Callable[[Floats, Floats], Floats],
    rng: np.random.Generator,
    *,
    draws: int = 99_999,
) -> PermutationTest:
    """Is x unrelated to y? Every order of y is equally likely then.

    `statistic` maps x (n,) and rearranged y (B, n) to values (B,). Up to n = 8 all n! orders are enumerated; beyond,
    `draws` random ones, and p = (k + 1) / (draws + 1) counts the observed order itself (Davison and Hinkley 1997,
    sec. 4.3). Ties in x or y simply repeat arrangements. p is NaN where the statistic is undefined.
    """
    first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    observed = abs(float(statistic(first, second[None, :])[0])) if len(first) else math.nan
    if math.isnan(observed):
        return PermutationTest(math.nan, 0, False, "undefined")
    if len(first) <= 8:
        orders = np.array(list(permutations(second)))
        hits = int(np.sum(np.abs(statistic(first, orders)) >= observed - 1e-12))
        return PermutationTest(hits / len(orders), len(orders), True, f"all {len(orders)} orders")
    hits = 0
    for size in _chunks(draws, len(first)):
        orders = rng.permuted(np.broadcast_to(second, (size, len(second))), axis=1)
        hits += int(np.sum(np.abs(statistic(first, orders)) >= observed - 1e-12))
    return PermutationTest((hits + 1) / (draws + 1), draws, False, f"{draws} random orders")
