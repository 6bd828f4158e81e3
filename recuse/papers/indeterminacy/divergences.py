"""Distances between two distributions over options: per item, in nats unless another base is given.

`p` and `q` have shape (..., K) and broadcast; what is not a number stays so. A probability of 0 under q where p is not
0 makes Kullback-Leibler and cross-entropy infinite. Shares from a few ratings are 0 all the time, so both sides are
first mixed with the uniform distribution: (1 - smoothing) p + smoothing / K. `smoothing` = 0 is allowed where nothing
becomes infinite, and an error otherwise.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import xlogy

from recuse.schema import RecuseError
from recuse.schema.arrays import Floats

__all__ = [
    "SMOOTHING", "binary_cross_entropy", "cross_entropy", "jensen_shannon_distance", "jensen_shannon_divergence",
    "kl_divergence", "smoothed", "squared_error",
]  # fmt: skip

SMOOTHING = 0.02
"""Mixed in: with two options no probability is below .01, so the most that one item can count is ln 100 = 4.6 nats."""


def smoothed(p: Floats, smoothing: float = SMOOTHING) -> Floats:
    """(1 - smoothing) p + smoothing / K."""
    if not 0 <= smoothing < 1:
        raise RecuseError(f"smoothing is a share, at least 0 and below 1; got {smoothing:g}")
    mixed: Floats = (1 - smoothing) * p + smoothing / p.shape[-1]
    return mixed


def kl_divergence(p: Floats, q: Floats, *, smoothing: float = SMOOTHING, base: float = math.e) -> Floats:
    """KL(p || q) = sum p log(p / q): how far q is from p, (...). p leads: KL(h || j) in the paper's Appendix C, called
    KLD(h, j) in its Tables 3 and 4."""
    a = smoothed(p, smoothing)
    nats: Floats = cross_entropy(p, q, smoothing=smoothing, base=base) + xlogy(a, a).sum(axis=-1) / math.log(base)
    return nats


def cross_entropy(p: Floats, q: Floats, *, smoothing: float = SMOOTHING, base: float = math.e) -> Floats:
    """H(p) + KL(p || q) = - sum p log q, (...). With p people's it ranks judges as KL(p || q) does."""
    a, b = smoothed(p, smoothing), smoothed(q, smoothing)
    if smoothing == 0 and ((a > 0) & (b == 0)).any():
        raise RecuseError("an option has probability 0 on one side and not on the other: give smoothing above 0")
    entropy: Floats = -xlogy(a, b).sum(axis=-1) / math.log(base)
    return entropy


def jensen_shannon_divergence(p: Floats, q: Floats, *, base: float = math.e) -> Floats:
    """(KL(p || m) + KL(q || m)) / 2 with m = (p + q) / 2, (...): symmetric, at most log 2; never infinite, so it needs
    no smoothing. It is the square of the distance."""
    m = (p + q) / 2
    divergence = (xlogy(p, p) + xlogy(q, q)).sum(axis=-1) / 2 - xlogy(m, m).sum(axis=-1)
    bounded: Floats = np.maximum(divergence, 0.0) / math.log(base)
    return bounded


def jensen_shannon_distance(p: Floats, q: Floats, *, base: float = math.e) -> Floats:
    """Square root of the divergence: a metric. scipy's `jensenshannon` is this one."""
    distance: Floats = np.sqrt(jensen_shannon_divergence(p, q, base=base))
    return distance


def binary_cross_entropy(
    judge: Floats, people: Floats, *, smoothing: float = SMOOTHING, base: float = math.e
) -> Floats:
    """- sum_k [b log a + (1 - b) log(1 - a)] with a = (1 - smoothing) judge + smoothing / 2, (...): a sum over options,
    as the squared error is one."""
    a = (1 - smoothing) * judge + smoothing / 2
    if smoothing == 0 and (((people > 0) & (a <= 0)) | ((people < 1) & (a >= 1))).any():
        raise RecuseError("an option is certain for the judge and not for people: give smoothing above 0")
    entropy: Floats = -(xlogy(people, a) + xlogy(1 - people, 1 - a)).sum(axis=-1) / math.log(base)
    return entropy


def squared_error(judge: Floats, people: Floats) -> Floats:
    """|| judge - people ||^2, (...): a sum over options (Appendix D.1), so two different modes are 2 apart."""
    error: Floats = ((judge - people) ** 2).sum(axis=-1)
    return error
