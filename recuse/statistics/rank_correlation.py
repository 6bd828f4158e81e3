"""Rank correlation on few or tied pairs: Spearman's rho, Kendall's tau-b, and exact permutation p-values; and the
never-falling sequence closest to given values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from recuse.schema.arrays import Floats
from recuse.statistics.resampling import SEED, PermutationTest, generator, permutation_test

STEPS = 200_000
"""Most transitions counted exactly; 15 pairs in five groups of three take 5,120, 12 untied pairs 49,152."""


def ranks(values: ArrayLike) -> Floats:
    """Ranks from 1 along the last axis, ties sharing their mean rank; shape as given."""
    v = np.asarray(values, dtype=float)
    order = np.argsort(v, axis=-1, kind="stable")
    ascending, n = np.take_along_axis(v, order, axis=-1), v.shape[-1]
    starts = np.ones(v.shape, dtype=bool)
    starts[..., 1:] = ascending[..., 1:] != ascending[..., :-1]
    ends = np.ones(v.shape, dtype=bool)
    ends[..., :-1] = starts[..., 1:]
    places = np.broadcast_to(np.arange(n), v.shape)
    first = np.maximum.accumulate(np.where(starts, places, 0), axis=-1)
    last = np.minimum.accumulate(np.where(ends, places, n)[..., ::-1], axis=-1)[..., ::-1]
    result = np.empty(v.shape)
    np.put_along_axis(result, order, (first + last) / 2 + 1, axis=-1)
    return result


def spearman(x: ArrayLike, y: ArrayLike) -> Floats:
    """Pearson's correlation of mean ranks (exact with ties), along the last axis; NaN where either side is constant."""
    return _pearson(ranks(x), ranks(y))


def spearman_influence(x: ArrayLike, y: ArrayLike) -> Floats:
    """What each of n pairs changes in Spearman's rho, times n, shape (n,): nearly (n - 1) (rho - rho without the pair).

    rho = C / sqrt(V W), C the covariance of mean ranks a and b as shares of n, V and W their variances. A pair
    counts in C by its own product, and by moving the ranks of all others: a_i b_i + mean_j k(x_i, x_j) b_j + mean_j
    k(y_i, y_j) a_j, k 1 where the j-th is larger and 1/2 where it is equal; in V and W likewise. Without ties it is in
    Croux and Dehon (2010), Statistical Methods and Applications 19, 497-515."""
    (a, above_x), (b, above_y) = (_shares_and_sums(np.asarray(side, dtype=float)) for side in (x, y))
    c, v, w = (float((p * q).mean()) for p, q in ((a, b), (a, a), (b, b)))
    parts = [a * b + above_x(b) + above_y(a), a * a + 2 * above_x(a), b * b + 2 * above_y(b)]
    of_c, of_v, of_w = (part - part.mean() for part in parts)
    influence: Floats = (of_c - c / 2 * (of_v / v + of_w / w)) / math.sqrt(v * w)
    return influence


def _shares_and_sums(x: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Centred ranks as shares of n, and the map of (n,) weights to the mean over j of k(x_i, x_j) weight_j."""
    n, order = len(x), np.argsort(x, kind="stable")
    low, high = (np.searchsorted(x[order], x, side) for side in ("left", "right"))

    def above(weights: Floats) -> Floats:
        total = np.concatenate([[0.0], np.cumsum(weights[order])])
        larger: Floats = (total[-1] - (total[high] + total[low]) / 2) / n
        return larger

    return (ranks(x) - (n + 1) / 2) / n, above


def kendall(x: ArrayLike, y: ArrayLike) -> Floats:
    """Kendall's tau-b along the last axis: (concordant - discordant) / sqrt(pairs untied in x * pairs untied in y); NaN
    where either side is constant."""
    a, b = (np.sign(side[..., :, None] - side[..., None, :]) for side in (np.asarray(x, float), np.asarray(y, float)))
    return _ratio((a * b).sum(axis=(-2, -1)), (a**2).sum(axis=(-2, -1)) * (b**2).sum(axis=(-2, -1)))


def kendall_test(x: ArrayLike, y: ArrayLike, seed: int = SEED) -> PermutationTest:
    """Two-sided permutation test of tau-b = 0; all orders up to n = 8, random ones beyond."""
    return permutation_test(x, y, kendall, generator(seed, "kendall"))


def spearman_test(x: ArrayLike, y: ArrayLike, seed: int = SEED) -> PermutationTest:
    """Two-sided permutation test of rho = 0, ties and all: the share of the n! orders with |rho| as large as observed.

    Counted exactly, not sampled, wherever that takes up to STEPS steps: the observations that share an x are
    interchangeable, so going through y from its lowest rank up, only how many of each group are taken matters. Beyond
    that, random orders from `seed`.
    """
    a, b = (np.round(2 * ranks(side)).astype(np.int64) for side in (x, y))  # doubled: mean ranks become whole
    if len(a) < 2 or len(set(a.tolist())) < 2 or len(set(b.tolist())) < 2:
        return PermutationTest(math.nan, 0, False, "undefined")
    x_ties, y_ties = Counter(a.tolist()), Counter(b.tolist())
    if _steps(y_ties) < _steps(x_ties):
        a, b, x_ties = b, a, y_ties
    if _steps(x_ties) > STEPS or len(a) > 20:
        return permutation_test(ranks(x), ranks(y), _pearson, generator(seed, "spearman"))  # an order keeps the ranks
    counts = _sums(tuple(sorted(x_ties.items())), tuple(np.sort(b).tolist()))
    n, both = len(a), int(a.sum()) * int(b.sum())
    distance = np.abs(n * np.arange(len(counts)) - both)
    hits, total = int(counts[distance >= abs(n * int(a @ b) - both)].sum()), int(counts.sum())
    return PermutationTest(hits / total, total, True, f"all {total} arrangements")


def spearman_t(rho: float, n: int) -> float:
    """Two-sided p-value of the usual t approximation, t = rho sqrt((n - 2) / (1 - rho^2)) on n - 2 degrees of freedom.

    What papers print. It was made for untied ranks and is too bold in the tail of tied ones; `spearman_test` is exact.
    0 at |rho| = 1; NaN below three pairs.
    """
    if n < 3 or math.isnan(rho):
        return math.nan
    spare = 1 - rho**2
    return 2 * float(special.stdtr(n - 2, -abs(rho) * math.sqrt((n - 2) / spare))) if spare > 0 else 0.0


def _steps(ties: Counter[int]) -> int:
    return math.prod(count + 1 for count in ties.values()) * len(ties)


@lru_cache(maxsize=32)
def _sums(groups: tuple[tuple[int, int], ...], y: tuple[int, ...]) -> NDArray[np.int64]:
    """In how many ways dealing y, ascending, to groups (value, size) gives each sum of products (the index)."""
    values, sizes = zip(*groups, strict=True)
    length = sum(v * r for v, r in zip(np.repeat(values, sizes).tolist(), y, strict=True)) + 1  # the largest sum
    level: dict[tuple[int, ...], NDArray[np.int64]] = {sizes: np.eye(1, length, dtype=np.int64)[0]}
    for rank in y:
        following: dict[tuple[int, ...], NDArray[np.int64]] = {}
        for left, counts in level.items():
            for g, value in enumerate(values):
                if left[g]:
                    state, shift = (*left[:g], left[g] - 1, *left[g + 1 :]), value * rank
                    target = following.setdefault(state, np.zeros(length, dtype=np.int64))
                    target[shift:] += counts[: length - shift]
        level = following
    return next(iter(level.values()))


def _pearson(x: Floats, y: Floats) -> Floats:
    a, b = (side - side.mean(axis=-1, keepdims=True) for side in (x, y))
    return _ratio((a * b).sum(axis=-1), (a**2).sum(axis=-1) * (b**2).sum(axis=-1))


def _ratio(numerator: Floats, squared: Floats) -> Floats:
    """numerator / sqrt(squared), NaN where that is 0/0, kept within [-1, 1] against rounding."""
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Floats = np.clip(numerator / np.sqrt(squared), -1.0, 1.0)
    return result


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
