"""Is one order more like another than chance? Correlations of ranks and exact permutation tests, for several papers."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import lru_cache
from itertools import permutations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from recuse.schema.arrays import Floats, ascending_codes, average, cluster_times, number_of_clusters
from recuse.statistics.agreement.coefficient import OnScale, perfect_agreement, ratio
from recuse.statistics.agreement.correlation import counted_ranks
from recuse.statistics.clusters import clustered_mean
from recuse.statistics.distributions import FEWEST_PAIRS, SEED, FisherZ, InUnits, generator

CELLS = 2_000_000  # most numbers of random orders that are held at a time


class PermutationTest(NamedTuple):
    """Two-sided p-value: the share of arrangements whose statistic is at least as far from 0 as the observed one."""

    p: float
    method: str


UNDEFINED = PermutationTest(math.nan, "undefined")
DRAWS = 99_999


def permutation_test(
    x: ArrayLike, y: ArrayLike, statistic: Callable[[Floats, Floats], Floats], rng: np.random.Generator
) -> PermutationTest:
    """Is x unrelated to y? Every order of y is equally likely then. `statistic` maps x (n,) and rearranged y (B, n) to
    values (B,). Up to n = 8 all n! orders are enumerated; beyond, `DRAWS` random ones, and p = (k + 1) / (DRAWS + 1)
    counts the observed order itself (Davison and Hinkley 1997, sec. 4.3). Ties simply repeat arrangements. p is NaN
    where the statistic is undefined."""
    first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    observed = abs(float(statistic(first, second[None, :])[0])) if len(first) else math.nan
    if math.isnan(observed):
        return UNDEFINED
    if len(first) <= 8:
        orders = np.array(list(permutations(second)))
        hits = int(np.sum(np.abs(statistic(first, orders)) >= observed - 1e-12))
        return PermutationTest(hits / len(orders), f"all {len(orders)} orders")
    hits, size = 0, max(1, CELLS // len(first))
    for start in range(0, DRAWS, size):
        orders = rng.permuted(np.broadcast_to(second, (min(size, DRAWS - start), len(second))), axis=1)
        hits += int(np.sum(np.abs(statistic(first, orders)) >= observed - 1e-12))
    return PermutationTest((hits + 1) / (DRAWS + 1), f"{DRAWS} random orders")


STEPS = 200_000  # most transitions counted exactly; 15 pairs in five groups of three take 5,120, 12 untied pairs 49,152


def kendall(x: ArrayLike, y: ArrayLike) -> Floats:
    """Kendall's tau-b along the last axis: (concordant - discordant) / sqrt(pairs untied in x * pairs untied in y); NaN
    where either side is constant."""
    a, b = (np.sign(side[..., :, None] - side[..., None, :]) for side in (np.asarray(x, float), np.asarray(y, float)))
    return over_root((a * b).sum(axis=(-2, -1)), (a**2).sum(axis=(-2, -1)) * (b**2).sum(axis=(-2, -1)))


def spearman_test(x: ArrayLike, y: ArrayLike) -> PermutationTest:
    """Two-sided permutation test of rho = 0, ties and all: the share of the n! orders with |rho| as large as observed.
    Counted exactly, not sampled, wherever that takes up to STEPS steps: the observations that share an x are
    interchangeable, so going through y from its lowest rank up, only how many of each group are taken matters."""
    a, b = (np.round(2 * ranks(side)).astype(np.int64) for side in (x, y))  # doubled: mean ranks become whole
    if len(a) < 2 or len(set(a.tolist())) < 2 or len(set(b.tolist())) < 2:
        return UNDEFINED
    x_ties, y_ties = Counter(a.tolist()), Counter(b.tolist())
    steps, steps_of_y = (math.prod(count + 1 for count in ties.values()) * len(ties) for ties in (x_ties, y_ties))
    if steps_of_y < steps:
        a, b, x_ties = b, a, y_ties
    if min(steps, steps_of_y) > STEPS or len(a) > 20:
        # an order keeps the ranks
        return permutation_test(ranks(x), ranks(y), pearson_of_ranks, generator(SEED, "spearman"))
    counts = _sums(tuple(sorted(x_ties.items())), tuple(np.sort(b).tolist()))
    n, both = len(a), int(a.sum()) * int(b.sum())
    distance = np.abs(n * np.arange(len(counts)) - both)
    hits, total = int(counts[distance >= abs(n * int(a @ b) - both)].sum()), int(counts.sum())
    return PermutationTest(hits / total, f"all {total} arrangements")


def spearman_t(rho: float, n: int) -> float:
    """Two-sided p-value of the usual t approximation, t = rho sqrt((n - 2) / (1 - rho^2)) on n - 2 degrees of freedom:
    what papers print. Made for untied ranks, it is too bold in the tail of tied ones; `spearman_test` is exact. 0 at
    |rho| = 1; NaN below three pairs."""
    if n < 3 or math.isnan(rho):
        return math.nan
    spare = 1 - rho**2
    return 2 * float(special.stdtr(n - 2, -abs(rho) * math.sqrt((n - 2) / spare))) if spare > 0 else 0.0


@lru_cache(maxsize=32)
def _sums(groups: tuple[tuple[int, int], ...], y: tuple[int, ...]) -> NDArray[np.int64]:
    """In how many ways dealing y, ascending, to groups (value, size) gives each sum of products (the index)."""
    values, sizes = zip(*groups, strict=True)
    length = int(np.repeat(values, sizes) @ y) + 1  # the largest sum
    level: dict[tuple[int, ...], NDArray[np.int64]] = {sizes: np.eye(1, length, dtype=np.int64)[0]}
    for rank in y:
        following: dict[tuple[int, ...], NDArray[np.int64]] = defaultdict(lambda: np.zeros(length, dtype=np.int64))
        for left, counts in level.items():
            for g, value in enumerate(values):
                if left[g]:
                    state, shift = (*left[:g], left[g] - 1, *left[g + 1 :]), value * rank
                    following[state][shift:] += counts[: length - shift]
        level = following
    return next(iter(level.values()))


LEVELS = 20  # most levels between which a slip is tried


def spearman_distribution(
    x: ArrayLike, y: ArrayLike, clusters: ArrayLike, times: Floats | None = None
) -> FisherZ | OnScale | InUnits:
    """Where Spearman's rho of n pairs in G `clusters` (n,) would fall with other clusters, on Fisher's scale. The
    variance is Bonett and Wright's for n pairs (`FisherZ`); with ties, such as pass and fail, or clusters that of the
    pairs' influences summed within clusters where it is larger. With clusters, t on G - 1 degrees of freedom. At rho =
    1 and -1 the interval is that of as many slips by one level as G clusters cannot rule out. None below eight
    clusters. `times` (n,): how often each pair, and its cluster, is there."""
    a, b = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    rho, n = float(spearman(a, b, times)), len(a) if times is None else int(times.sum())
    count = number_of_clusters(codes := ascending_codes(clusters), cluster_times(codes, times))
    if count < FEWEST_PAIRS:
        return FisherZ(rho, count)
    if abs(rho) >= 1 - 1e-12:
        perfect = perfect_agreement(count, n * _largest_slip(a, np.ones(len(a)) if times is None else times))
        return perfect if rho > 0 else InUnits(perfect, 0.0, -1.0)
    if count == n == len(np.unique(a)) == len(np.unique(b)):
        return FisherZ(rho, n)
    own = clustered_mean(spearman_influence(a, b, times), clusters, times=times).se
    if count < n:
        untied = math.sqrt((1 + rho**2 / 2) / (n - 3)) * (1 - rho**2)
        return OnScale(rho, max(own, untied), count - 1.0, "correlation")
    return FisherZ(rho, min(float(n), 3 + (1 + rho**2 / 2) * ((1 - rho**2) / own) ** 2))


def _largest_slip(x: Floats, times: Floats) -> float:
    """The most that one of n numbers takes from rho = 1 with its own order by moving to the next level; of many levels,
    LEVELS are tried."""
    levels, largest = np.unique(x), 0.0
    tried = np.unique(np.linspace(0, len(levels) - 2, min(len(levels) - 1, LEVELS)).astype(int)).tolist()
    for here, there in ((k + up, k + 1 - up) for k in tried for up in (0, 1)):
        one = int(np.argmax(x == levels[here]))
        left = np.append(times, 1.0)
        left[one] -= 1.0
        rho = float(spearman(np.append(x, levels[there]), np.append(x, x[one]), left))
        largest = max(largest, 1 - rho if math.isfinite(rho) else 1.0)
    return largest


def spearman_influence(x: ArrayLike, y: ArrayLike, times: Floats | None = None) -> Floats:
    """What each of n pairs changes in Spearman's rho, times n, shape (n,): nearly (n - 1) (rho - rho without the pair).
    rho = C / sqrt(V W), C the covariance of mean ranks a and b as shares of n, V and W their variances. A pair counts
    in C by its own product, and by moving the ranks of all others: a_i b_i + mean_j k(x_i, x_j) b_j + mean_j k(y_i,
    y_j) a_j, k 1 where the j-th is larger and 1/2 where it is equal; in V and W likewise. Without ties it is in Croux
    and Dehon (2010), Statistical Methods and Applications 19, 497-515."""
    (a, above_x), (b, above_y) = (_shares_and_sums(np.asarray(side, dtype=float), times) for side in (x, y))
    c, v, w = (average(p * q, times) for p, q in ((a, b), (a, a), (b, b)))
    parts = [a * b + above_x(b) + above_y(a), a * a + 2 * above_x(a), b * b + 2 * above_y(b)]
    of_c, of_v, of_w = (part - average(part, times) for part in parts)
    influence: Floats = (of_c - c / 2 * (of_v / v + of_w / w)) / math.sqrt(v * w)
    return influence


def _shares_and_sums(x: Floats, times: Floats | None) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Centred ranks as shares of n, and the map of (n,) weights to the mean over j of k(x_i, x_j) weight_j."""
    n, order = (len(x) if times is None else float(times.sum())), np.argsort(x, kind="stable")
    low, high = (np.searchsorted(x[order], x, side) for side in ("left", "right"))

    def above(weights: Floats) -> Floats:
        each = weights if times is None else weights * times
        total = np.concatenate([[0.0], np.cumsum(each[order])])
        larger: Floats = (total[-1] - (total[high] + total[low]) / 2) / n
        return larger

    return ((ranks(x) if times is None else counted_ranks(x, times)) - (n + 1) / 2) / n, above


def ranks(values: ArrayLike) -> Floats:
    """Ranks from 1 along the last axis, ties sharing their mean rank; shape as given."""
    v = np.asarray(values, dtype=float)
    if v.ndim == 1 and not np.isnan(v).any():  # a frame takes longer than the ranks of so few
        order = np.sort(v)
        return np.asarray((order.searchsorted(v, "left") + order.searchsorted(v, "right") + 1) / 2)
    return pd.DataFrame(v.reshape(math.prod(v.shape[:-1]), v.shape[-1])).rank(axis=1).to_numpy().reshape(v.shape)


def spearman(x: ArrayLike, y: ArrayLike, times: Floats | None = None) -> Floats:
    """Pearson's correlation of mean ranks (exact with ties), along the last axis; NaN where either side is constant.
    `times` (n,): how often each pair is there."""
    if times is None:
        return pearson_of_ranks(ranks(x), ranks(y))
    middle = (times.sum() + 1) / 2
    a, b = (counted_ranks(np.asarray(side, dtype=float), times) - middle for side in (x, y))
    return over_root(times @ (a * b), (times @ a**2) * (times @ b**2))


def pearson_of_ranks(x: Floats, y: Floats) -> Floats:
    """Pearson's correlation along the last axis; NaN where either side is constant."""
    a, b = (side - side.mean(axis=-1, keepdims=True) for side in (x, y))
    return over_root((a * b).sum(axis=-1), (a**2).sum(axis=-1) * (b**2).sum(axis=-1))


def over_root(numerator: Floats, squared: Floats) -> Floats:
    """numerator / sqrt(squared), NaN where that is 0/0, kept within [-1, 1] against rounding."""
    return np.clip(ratio(numerator, np.sqrt(squared)), -1.0, 1.0)
