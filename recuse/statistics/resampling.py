"""Resampling: the percentile bootstrap over repeats, and the permutation test.

All randomness comes from an explicit `numpy.random.Generator`; `generator` makes one per named subject, so draws do
not depend on the order in which subjects are measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from recuse.schema.arrays import Floats
from recuse.statistics.distributions import Draws

SEED = 20260301
"""Seed of every resampling whose caller gives none; fixed, so that the same ratings give the same numbers."""


def generator(seed: int, *names: str) -> np.random.Generator:
    """A generator for one named subject, independent of those of other names under the same seed."""
    return np.random.default_rng([seed, *"\x1f".join(names).encode()])


def _chunks(draws: int, n: int, cells: int = 2_000_000) -> list[int]:
    """Sizes that add up to `draws`, each small enough to keep weights of shape (size, n) in memory."""
    size = max(1, cells // max(n, 1))
    return [min(size, draws - start) for start in range(0, draws, size)]


def resampled_means(cells: Sequence[Floats], rng: np.random.Generator, draws: int = 9999) -> Floats:
    """Means of each cell over repeats drawn with replacement from that cell; shape (draws, cells).

    The bootstrap over repeats of a statistic of several cell means: compute the statistic of every row, and give its
    values to `percentile`.
    """
    return np.column_stack([cell[rng.integers(len(cell), size=(draws, len(cell)))].mean(axis=1) for cell in cells])


def cluster_counts(clusters: ArrayLike, rng: np.random.Generator, draws: int) -> Floats:
    """How often each observation counts, (1 + draws, n): once in the first row, then as clusters were drawn."""
    codes = np.unique(clusters, return_inverse=True)[1]
    groups = int(codes.max()) + 1
    drawn = rng.multinomial(groups, np.full(groups, 1 / groups), size=draws)
    return np.vstack([np.ones(len(codes)), drawn[:, codes]]).astype(float)


def percentile(value: float, values: Floats, *, discrete: bool = False) -> Draws:
    """The bootstrap distribution of a statistic: its value, and its values on resampled data, NaN where undefined."""
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
    x: ArrayLike, y: ArrayLike, statistic: Callable[[Floats, Floats], Floats], rng: np.random.Generator, *,
    draws: int = 99_999,
) -> PermutationTest:  # fmt: skip
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
