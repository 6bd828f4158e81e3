"""Contrasts of cell means, where a cell is ten or so repeats of one judge on one text.

Repeats are few, whole-numbered, crowded at an end of the scale, and often all equal. Plain Welch-Satterthwaite t falls
short for grades that are mostly 5 and sometimes 4, and far short where a judge slips one time in twenty; `contrast`
(`python tests/benchmarks/coverage.py contrasts`) mends what makes it fall short, in this order:

- A cell in which nothing varied is not certain. Its variance is that of the one slip by one step of the scale that n
  repeats cannot rule out: alone in a contrast, its 95 % interval ends where Clopper and Pearson's for 0 slips of n
  does.
- A variance that came out small by chance is pulled up by three tenths of the way to the mean of all cells' variances;
  one that came out large stays. A cell with one repeat takes that mean.
- Skewness moves the interval: it is the hull of Student's and of Hall's, who inverts a cubic of t.

    T = ((1 + g t / 3)^3 - 1) / g + g / 6,   g = 1.5 x the sample skewness of the contrast

Texts of one judge against its others, `own_against_others`, have the spread from text to text instead.

Coverage: `python tests/benchmarks/coverage.py contrasts`. Hall (1992), Journal of the Royal Statistical Society B 54,
221-228; Satterthwaite (1946), Biometrics Bulletin 2, 110-114.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from recuse.schema.arrays import Floats
from recuse.statistics.distributions import Sampled, Student, welch_satterthwaite

TOWARDS_ALL = 0.3
"""How far a small variance is pulled towards the mean of all cells' variances."""
MORE_SKEW = 1.5
"""Ten repeats show a half to two thirds of the skewness of what they come from."""
SYMMETRIC = 0.2
"""Below this skewness Hall's interval is Student's but for noise."""


@dataclass(frozen=True, slots=True)
class Contrast(Student):
    """Student's t, widened on the side to which `skew` (of the estimate) points where it is more than `symmetric`."""

    skew: float = 0.0
    symmetric: float = SYMMETRIC
    p_value = Sampled.p_value  # not Student's

    def _ends(self, alpha: float) -> tuple[float, float]:
        low, high = Student._ends(self, alpha)
        if abs(self.skew) <= self.symmetric:
            return low, high
        t = float(special.stdtrit(self.df, 1 - alpha))
        cubic = (1 + self.skew * (side * t - self.skew / 6) for side in (1, -1))
        ends = [self.value - self.se * (3 / self.skew * (float(np.cbrt(of)) - 1)) for of in cubic]  # Hall's, inverted
        return min(low, ends[0]), max(high, ends[1])

    _half_width_at = Sampled._half_width_at

    def _with(self, factor: float) -> Contrast:
        root = math.sqrt(factor)
        return replace(self, se=self.se / root, df=self.df * factor, skew=self.skew / root)

    def minus(self, other: Student) -> Contrast:
        """The difference of two independent contrasts: variances and third moments add."""
        plain = Student.minus(self, other)
        skew = other.skew if isinstance(other, Contrast) else 0.0
        third = self.skew * self.se**3 - skew * other.se**3
        return Contrast(plain.value, plain.se, plain.df, third / plain.se**3 if plain.se > 0 else 0.0)


def contrast(
    weights: Floats, means: Floats, variances: Floats, counts: NDArray[Any],
    *, thirds: Floats | None = None, step: float = 0.0,
) -> Contrast:  # fmt: skip
    """sum w m over independent cells, each the mean of `counts` observations with sample variance `variances`.

    `thirds` are the sums of cubes about the cells' means (no skewness without them), `step` is the scale's. All arrays
    share one shape. Cells of weight 0 do not matter and may be NaN. Undefined where no cell has two observations, and
    where nothing varies on a scale without a step.
    """
    used = np.flatnonzero(weights)
    w, m, v, n = (np.asarray(a, dtype=float).ravel()[used] for a in (weights, means, variances, counts))
    value, repeated = math.fsum((w * m).tolist()), n > 1
    if not repeated.any():
        return Contrast(value, math.nan, math.nan)
    quiet = repeated & (v <= 0)
    v[quiet] = [slip_variance(step, k) for k in n[quiet]]
    pooled, df = float(v[repeated].mean()), float((n - 1)[repeated].sum())
    v = np.where(repeated, np.maximum(v, v + TOWARDS_ALL * (pooled - v)), pooled)
    se, df = welch_satterthwaite((w**2 * v / n).tolist(), np.where(repeated, n - 1, df).tolist())
    if thirds is None or not se > 0:
        return Contrast(value, se, df)
    # unbiased third moments of the cells, of three observations or more
    third = np.where(n > 2, np.ravel(thirds)[used] * n / np.maximum((n - 1) * (n - 2), 1), 0.0)
    return Contrast(value, se, df, MORE_SKEW * math.fsum((w**3 * third / n**2).tolist()) / float(se**3))


def slip_variance(step: float, n: float) -> float:
    """Variance of an observation in a cell of `n` equal ones: with it, t(0.975, n - 1) s / sqrt(n) is
    step (1 - 0.025^(1/n)), the share of slips by one step that n observations without any cannot rule out."""
    if n < 2:
        return math.nan
    return float(n * (step * (1 - 0.025 ** (1 / n)) / float(special.stdtrit(n - 1, 0.975))) ** 2)


@dataclass(frozen=True, slots=True)
class OverTexts(Student):
    """Student's t whose spread is that of values from text to text."""

    UNKNOWN: ClassVar[str] = "two texts that it did not write are needed to see how far such values lie apart"
    CONSTANT: ClassVar[str] = "no text differs from another, and the scale's step is unknown"


def own_against_others(own: ArrayLike, others: ArrayLike, *, step: float = 0.0) -> OverTexts:
    """Distribution of mean(own) - mean(others), shapes (a,) and (b,), with the spread of the others:

        (mean of own - mean of others) / (s sqrt(1 / a + 1 / b))  follows Student's t with b - 1 degrees of freedom

    for b others with SD s, all drawn from one normal distribution where nothing is special about the own. A judge has
    often written one text of a panel: how far its deviation on another would lie off cannot be seen from one. With
    a = 1 it asks whether the own value lies in the prediction interval of the others. Noise of repeats is part of s.

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
