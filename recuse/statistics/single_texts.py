"""One text against others: what is new on it must exceed how far such values lie apart from text to text.

A judge has often written one text of a panel. How far its deviation on that text would lie off on another of its texts
cannot be seen from one; how far its deviations on texts it did not write lie apart can, and is the yardstick:

    (mean of own - mean of others) / (s sqrt(1 / a + 1 / b))  follows Student's t with b - 1 degrees of freedom

for a own values and b others with SD s, all drawn from one normal distribution where nothing is special about the own.
With a = 1 it asks whether the own value lies in the prediction interval of the others. Noise of repeats is part of s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from recuse.statistics.contrasts import slip_variance
from recuse.statistics.distributions import Student

__all__ = ["OverTexts", "own_against_others", "pooled_spread"]


@dataclass(frozen=True, slots=True)
class OverTexts(Student):
    """Student's t whose spread is that of values from text to text."""

    @property
    def undefined(self) -> str:
        if math.isnan(self.se) or not self.df > 0:
            return "two texts that it did not write are needed to see how far such values lie apart"
        return "" if self.se > 0 else "no text differs from another, and the scale's step is unknown"


def own_against_others(own: ArrayLike, others: ArrayLike, *, step: float = 0.0) -> OverTexts:
    """Distribution of mean(own) - mean(others), shapes (a,) and (b,), with the spread of the others.

    Others that are all equal take the spread of the slip by one `step` that b equal values cannot rule out. Without an
    interval below two others. Zero a or b gives NaN.
    """
    a, b = (np.asarray(side, dtype=float) for side in (own, others))
    if not len(a) or not len(b):
        return OverTexts(math.nan, math.nan, 0)
    value = math.fsum(a.tolist()) / len(a) - math.fsum(b.tolist()) / len(b)
    if len(b) < 2:
        return OverTexts(value, math.nan, 0)
    variance = float(b.var(ddof=1))
    variance = variance if variance > 1e-20 else slip_variance(step, len(b))
    return OverTexts(value, math.sqrt(variance * (1 / len(a) + 1 / len(b))), len(b) - 1)


def pooled_spread(spreads: Sequence[tuple[float, int]], judges: int) -> tuple[float, float]:
    """SD and degrees of freedom of the spreads (SD, degrees of freedom) of several judges of one panel taken together.

        s^2 = sum df_i s_i^2 / sum df_i,    df = (J - 1) / J sum df_i

    since the deviations of J judges on a text add up to zero. Right only where judges do not differ in their spread:
    the interval of a judge that is steadier than the others becomes too wide, that of an unsteady one too narrow.
    """
    total = math.fsum(df for _, df in spreads)
    if not total > 0 or judges < 2:
        return math.nan, 0.0
    variance = math.fsum(df * sd * sd for sd, df in spreads) / total
    return math.sqrt(variance), total * (judges - 1) / judges
