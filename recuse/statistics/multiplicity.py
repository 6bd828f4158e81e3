"""Many tests at once: adjusted p-values, and the interval levels a family of gates decides at.

A gate decides on intervals, so its family is corrected by widening them. `decision_levels` says how far; `holm` adjusts
plain p-values, for measures that report tests.

Sources: Holm (1979), Scandinavian Journal of Statistics 6, 65-70. Directional decisions in step-down procedures:
Shaffer (1980), Annals of Statistics 8, 1342-1347."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recuse.schema import RecuseError


def holm(p: ArrayLike) -> NDArray[np.float64]:
    """Holm's adjusted p-values: p~(k) = max over j <= k of min(1, (m - j + 1) p(j)), in the order given.

    `p` has shape (m,). Rejecting where p~ <= alpha keeps the chance of any false rejection at most alpha, whatever the
    dependence. NaN marks a test that could not be made: it stays NaN and does not count towards m."""
    given = np.asarray(p, dtype=np.float64)
    if given.ndim != 1:
        raise RecuseError(f"p-values are a flat list of m numbers; they arrived with shape {given.shape}")
    if np.any((given < 0) | (given > 1)):
        wrong = ", ".join(f"{x:g} at position {i}" for i, x in enumerate(given) if x < 0 or x > 1)
        raise RecuseError(f"a p-value lies between 0 and 1 (NaN where no test was possible); found {wrong}")
    places = np.flatnonzero(~np.isnan(given))
    places = places[np.argsort(given[places], kind="stable")]
    result = np.full_like(given, np.nan)
    result[places] = np.minimum(np.maximum.accumulate(given[places] * np.arange(len(places), 0, -1)), 1.0)
    return result


def decision_levels(decides: Sequence[Callable[[float], bool]], level: float) -> list[float]:
    """The level each member's interval must have so that the family's decisions hold together at `level`, by Holm.

    `decides[i](x)` tells whether member i's interval at level x settles its question, that is, lies wholly inside the
    limit or wholly outside it. With alpha = 1 - level, all m members are asked at 1 - alpha / m. Those it settles keep
    that level; the r others are asked again at 1 - alpha / r, until a round settles none. The last round's level is
    that of the undecided. This decides exactly the members that Holm's procedure on the decisive p-values would
    (p <= alpha / r is the same as "the interval at 1 - alpha / r settles it", and the thresholds only grow), but needs
    no p-value and no order, and the interval shown never contradicts the decision.

    The probability of any false decision in the family is at most 1 - level where the members are independent (Shaffer
    1980; a decision names a direction, which Holm's own proof leaves out) and, as far as is known, where they are not.
    """
    if not 0 < level < 1:
        raise RecuseError(f"a confidence level lies between 0 and 1, for example 0.95; it is {level!r}")
    levels, undecided = [level] * len(decides), list(range(len(decides)))
    while undecided:
        shared = round(1 - (1 - level) / len(undecided), 12)  # one way gives back `level` itself
        for i in undecided:
            levels[i] = shared
        remaining = [i for i in undecided if not decides[i](shared)]
        if len(remaining) == len(undecided):
            break
        undecided = remaining
    return levels
