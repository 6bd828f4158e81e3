"""Which means and standard deviations can n scores on a grid have? GRIM and GRIMMER in the exact form.

Scores are minimum, minimum + step, ..., maximum. In units of the step they are whole numbers, so their sum S and sum of
squares Q are too, and a reported mean and SD must come from some pair (S, Q) that n of them can reach:

    mean = S / n,    SD = sqrt((Q - S^2 / n) / (n - ddof))

The pairs are enumerated once per (n, range) by dynamic programming. A reported number stands for every number within
half a unit of its last decimal, both ends included, since rounding conventions differ at the ends.

GRIM asks it of a mean (Brown and Heathers 2017, Social Psychological and Personality Science 8, 363-369), GRIMMER of an
SD with its mean (Anaya 2016, PeerJ Preprints 4:e2400v1).
"""

from __future__ import annotations

import math
from functools import lru_cache

from recuse.schema import RecuseError

__all__ = ["EPSILON", "half_unit", "mean_attainable", "sd_attainable"]

EPSILON = 1e-9
"""Slack for binary rounding, far below half a unit of any printed decimal."""


def half_unit(decimals: int) -> float:
    """Half a unit of the last printed decimal: 0.05 for 8.7, 0.005 for 8.72."""
    return 0.5 * 10.0**-decimals


def mean_attainable(mean: float, n: int, step: float = 1.0, decimals: int = 1) -> bool:
    """GRIM: is some multiple of step / n within half a unit of `mean`? With n = 10 whole scores, any tenth is."""
    _check(n, step)
    sums = _sums(mean, n, step, decimals)
    return len(sums) > 0


def sd_attainable(
    mean: float,
    sd: float,
    n: int,
    minimum: float,
    maximum: float,
    step: float = 1.0,
    decimals: int = 2,
    ddof: int = 1,
    mean_decimals: int = 1,
) -> bool:
    """Can n scores on the grid have both this mean and this SD? `decimals` are those the SD was printed with.

    ddof = 1 is the sample SD, 0 the population SD. The grid must hold whole steps from minimum to maximum.
    """
    _check(n, step)
    if n <= ddof:
        raise RecuseError(f"an SD with n - {ddof} needs more than {ddof} score(s); got n = {n}")
    first, last = minimum / step, maximum / step
    if abs(last - first - round(last - first)) > EPSILON or last < first:
        raise RecuseError(f"{minimum:g} to {maximum:g} is not a whole number of steps of {step:g}")
    width, tolerance = round(last - first), half_unit(decimals) + EPSILON
    reachable = _square_sums(n, width)
    for s in _sums(mean - minimum, n, step, mean_decimals):
        if not 0 <= s <= n * width:
            continue
        # bounds of Q from those of the SD, in steps; Q itself must be one of the reachable whole numbers
        low, high = (((max(end, 0.0) / step) ** 2) * (n - ddof) + s * s / n for end in (sd - tolerance, sd + tolerance))
        first_q, last_q = math.ceil(low - EPSILON), math.floor(high + EPSILON)
        if last_q >= first_q and reachable[s] >> first_q & ((1 << (last_q - first_q + 1)) - 1):
            return True
    return False


def _sums(mean: float, n: int, step: float, decimals: int) -> range:
    """Whole S with |S step / n - mean| within half a unit."""
    low, high = ((mean + side * (half_unit(decimals) + EPSILON)) * n / step for side in (-1, 1))
    return range(math.ceil(low), math.floor(high) + 1)


@lru_cache(maxsize=64)
def _square_sums(n: int, width: int) -> tuple[int, ...]:
    """For each sum S of n whole numbers from 0 to width, its reachable sums of squares as set bits of an integer."""
    level = [1] + [0] * (n * width)
    for used in range(n):
        following = [0] * (n * width + 1)
        for s, squares in enumerate(level[: used * width + 1]):
            if squares:
                for score in range(width + 1):
                    following[s + score] |= squares << score * score
        level = following
    return tuple(level)


def _check(n: int, step: float) -> None:
    if n < 1 or not step > 0:
        raise RecuseError(
            f"attainable statistics need at least one score and a step above 0; got n = {n}, step = {step:g}"
        )
