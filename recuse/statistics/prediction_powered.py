"""The mean of labels that are few, helped by a judge's guesses at all texts: prediction-powered inference."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recuse.schema.arrays import Floats, average, cluster_times, taken, total
from recuse.statistics.clusters import Bounded, clustered_share, number_of_clusters
from recuse.statistics.distributions import Binomial

__all__ = ["PoweredMean", "powered_mean"]


@dataclass(frozen=True, slots=True)
class PoweredMean:
    """`value` and its `distribution`; `weight` of the guesses (lambda); `sd` of the labels and `correlation` of label
    and guess, which tell how many labels an interval of some width needs."""

    value: float
    weight: float
    sd: float
    correlation: float
    distribution: Bounded | Binomial


def powered_mean(
    labels: Floats, guesses: Floats, others: Floats, *, clusters: NDArray[np.intp] | None = None,
    times: Floats | None = None, ends: tuple[float, float] = (-math.inf, math.inf), tuned: bool = True,
) -> PoweredMean:  # fmt: skip
    """theta = mean(y) - lambda (mean_L(f) - mean_U(f)),   lambda = cov_L(y, f) / ((1 + n / N) var(f))

    `labels` y and `guesses` f (n,) of the labelled texts L, `others` f (N,) of the texts U without a label. lambda
    makes the variance smallest (Angelopoulos, Duchi and Zrnic 2023, PPI++, arXiv:2311.01453, sec. 6); it is 0 unless
    `tuned`, without others, and where guesses do not vary. The variance is from cluster sums e_g of y - lambda f over L
    and of lambda f over U, each about its mean and divided by n or N,

        se^2 = G / (G - 1 - [lambda != 0]) sum e_g^2,   G the clusters with labels

    with Student's t on G - 1 - [lambda != 0] degrees of freedom. Labels alone that are all 0 or 1, on `ends` of 0 and
    1, have the exact interval of a share. `clusters` and `times` (n + N,), labelled texts first: what each belongs to,
    itself unless given, and how many it stands for.

    >>> one = powered_mean(np.array([0.0, 1, 1, 0]), np.array([0.0, 1, 1, 1]), np.array([1.0, 1, 0, 1, 0, 1, 1, 0]))
    >>> round(one.value, 4), round(one.weight, 4), one.distribution.df
    (0.4427, 0.4583, 2)
    """
    count = len(labels)
    of_labels, of_others = taken(times, np.s_[:count]), taken(times, np.s_[count:])
    n, free = (count, len(others)) if times is None else (float(times[:count].sum()), float(times[count:].sum()))
    y, every = average(labels, of_labels), np.concatenate([guesses, others])
    f, g = average(guesses, of_labels), average(others, of_others) if free else 0.0
    about, spread = labels - y, _variance(every, times)
    weight = 0.0
    if tuned and free and spread > 1e-12:
        weight = float(total(about * (guesses - f), of_labels)) / (n - 1) / ((1 + n / free) * spread)
    sd = math.sqrt(_variance(labels, of_labels))
    r = abs(weight) * (1 + n / free) * math.sqrt(spread * (1 - 1 / (n + free))) / sd if free and sd else 0.0
    if weight == 0.0 and ends == (0.0, 1.0) and ((labels == 0) | (labels == 1)).all():
        own = np.arange(count) if clusters is None else clusters[:count]
        return PoweredMean(y, weight, sd, r, clustered_share(labels, own, of_labels))
    value, pulled = y + weight * (g - f) if free else y, (about - weight * (guesses - f)) / n
    if weight:
        pulled = np.concatenate([pulled, weight * (others - g) / free])
    if clusters is None:
        units, squares = n, float(total(pulled**2, taken(times, np.s_[: len(pulled)])))
    else:
        alike = cluster_times(clusters, times)
        units = number_of_clusters(clusters[:count], alike)
        size = None if alike is None else len(alike)
        sums: Floats = np.asarray(np.bincount(clusters[: len(pulled)], pulled, size or 0), dtype=float)
        squares = float(total(sums**2, alike))
    df = int(units) - 1 - (weight != 0.0)
    se = math.sqrt(units / max(df, 1) * squares) if units > 1 else math.nan
    return PoweredMean(value, weight, sd, r, Bounded(value, 0.0 if se < 1e-12 else se, df, ends))


def _variance(values: Floats, times: Floats | None) -> float:
    """Of values (n,) of which each is there so many `times`, over their number less 1."""
    number = len(values) if times is None else float(times.sum())
    return float(total((values - average(values, times)) ** 2, times)) / (number - 1) if number > 1 else math.nan
