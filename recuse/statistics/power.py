"""How much is enough: observations for a wanted precision, the smallest effect a sample can show.

Plans for means of normal observations, by Student's t and its noncentral form (Cohen 1988, ch. 2); effects are in
standard deviations (of the paired differences, where items are compared in pairs).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy import special

from recuse.schema import RecuseError

MOST = 10**9
"""Beyond this many observations a plan is no plan."""


def observations_for_half_width(sd: float, half_width: float, *, level: float = 0.95) -> int | None:
    """Smallest n with t((1 + level) / 2, n - 1) sd / sqrt(n) <= half_width: items, or runs of one cell.

    At least 2, since one observation has no interval. None where `sd` is 0 or unknown: a spread that was never seen
    cannot be planned with. Raises `RecuseError` for a half-width that is not above 0.
    """
    if not half_width > 0:
        raise RecuseError(f"a wanted half-width is a number above 0, in the unit of the scores; got {half_width!r}")
    if not sd > 0:
        return None
    probability = (1 + level) / 2
    return _smallest(lambda n: float(special.stdtrit(n - 1, probability)) * sd / math.sqrt(n) <= half_width)


def power_of(effect: float, n: int, *, alpha: float = 0.05) -> float:
    """Probability that a two-sided one-sample or paired t-test of n observations finds an effect of `effect` SDs.

        P(|T| > t(1 - alpha / 2, n - 1)),  T ~ noncentral t with noncentrality effect sqrt(n)

    NaN below two observations.
    """
    if n < 2:
        return math.nan
    critical = float(special.stdtrit(n - 1, 1 - alpha / 2))
    shift = abs(effect) * math.sqrt(n)
    far = float(special.nctdtr(n - 1, shift, -critical))  # scipy gives NaN where this side is too small to compute
    return 1 - float(special.nctdtr(n - 1, shift, critical)) + (0.0 if math.isnan(far) else far)


def smallest_effect(n: int, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """Smallest standardized effect that n observations find with probability `power`; 0.28 at n = 100, 80 %, 5 %.

    An effect below it that was not found says little. NaN below two observations.
    """
    if n < 2:
        return math.nan
    low, high = 0.0, 1.0
    while power_of(high, n, alpha=alpha) < power:
        high *= 2
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if power_of(middle, n, alpha=alpha) >= power else (middle, high)
    return high


def _smallest(holds: Callable[[int], bool]) -> int | None:
    """Smallest integer from 2 on at which a condition, once true for good, is true; None beyond MOST."""
    high = 2
    while not holds(high):
        if high > MOST:
            return None
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
