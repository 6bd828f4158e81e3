"""A coefficient of agreement as a function of sums over items, so that leaving an item out takes its share away.

Every coefficient here is a function f of a few sums over items: counts of options, of pairs of options, or of
products. An item's share of these sums is computed once, and leaving a cluster out subtracts its share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from recuse.schema import Distribution, RecuseError
from recuse.schema.arrays import Floats, ascending_codes, cluster_times, total
from recuse.statistics.clusters import Contrast, OverClusters, slip_variance
from recuse.statistics.distributions import NOTHING, Binomial, Derived, InUnits, Sampled, Student, joined, why_undefined

Form = Literal["chance", "correlation", "difference", "plain"]
EMPTY = "no item was rated by two raters"
SLIGHT = 1e-3  # skewness of a difference below which Hall's cubic is a straight line but for rounding


@dataclass(frozen=True, eq=False, repr=False)
class Coefficient:
    """`shares` (items, F): each item's share of the sums; `of` maps sums (B, F) to values (B,), NaN where undefined;
    `why` maps the sums (F,) to the reason in words, empty where the value is defined.

    `form` says how far the value can go, and so on which scale its interval is symmetric: "chance" (1 - observed over
    expected disagreement; at most 1), "correlation" (from -1 to 1), "difference" (of two coefficients over the same
    items), "plain". `worst`: the largest share of expected disagreement that one item can add, for the interval of a
    coefficient that is exactly 1; of a "difference", what one item's slip changes, times the number of items; `lean`:
    the share of its skewness that its interval follows. `exact`: the value, where the shares are classes of the
    ratings and give it only nearly. `times` (items,): how many items each stands for, one in each of so many clusters.
    """

    shares: Floats
    of: Callable[[Floats], Floats]
    why: Callable[[Floats], str]
    form: Form = "plain"
    worst: Callable[[Floats], float] = lambda sums: math.nan
    exact: float | None = None
    lean: float = 1.0
    times: Floats | None = None

    @cached_property
    def sums(self) -> Floats:
        """The shares summed over items, (F,)."""
        return total(self.shares, self.times)

    @cached_property
    def undefined(self) -> str:
        """Why there is no value; empty where there is one."""
        if reason := self.why(self.sums):
            return reason
        if not len(self.shares):
            return EMPTY
        return "" if math.isfinite(self._of_all) else "the coefficient is 0 / 0 on these ratings"

    @cached_property
    def value(self) -> float:
        """The coefficient on all items; NaN where it is undefined."""
        if self.undefined:
            return math.nan
        return self._of_all if self.exact is None else self.exact

    @cached_property
    def _of_all(self) -> float:
        return float(self.of(self.sums[None])[0])

    def jackknife(self, clusters: ArrayLike | None = None) -> Student | OnScale | InUnits:
        """Where the value would fall with other items (clusters): t on G - 1 degrees of freedom with the jackknife's

            se^2 = (G - 1) / G sum_g (value without g - their mean)^2

        on the scale of `form`: log(1 - value) for "chance", atanh for "correlation". A coefficient that is exactly 1
        gets the exact bound of `perfect_agreement`: no disagreement in G clusters does not mean none ever.

        A "difference" allows for one more slip than was seen, se^2 + (worst / G)^2, and is widened on the side to which
        the left-out values lean (Hall's cubic); where none differs, for as many slips as G clusters cannot rule out
        (`clusters.slip_variance`). Coverage: tests/metrics/agreement/test_human_ceiling_coverage.py."""
        groups, alike = self.shares, self.times
        if clusters is not None:
            codes = ascending_codes(clusters)
            if len(codes) != len(groups):
                raise RecuseError(f"clusters name the cluster of each of {len(groups)} items; got {len(codes)} names")
            groups, alike = np.zeros((int(codes.max(initial=-1)) + 1, groups.shape[1])), cluster_times(codes, alike)
            if len(groups) == len(codes):  # one item each: nothing to add up
                groups[codes] = self.shares
            else:
                np.add.at(groups, codes, self.shares)
        count = len(groups) if alike is None else int(alike.sum())
        if self.undefined or count < 2:
            return (OverClusters if self.form == "difference" else Student)(self.value, math.nan, 0)
        if self.form == "chance" and self.value > 1 - 1e-12:
            return perfect_agreement(count, self.worst(self.sums))
        distinct, times = _distinct(groups, alike)
        without = self.of(self.sums - distinct)
        known = np.isfinite(without)
        mean = (times * np.where(known, without, 0.0)).sum() / max(times[known].sum(), 1)
        moved = np.where(known, mean - without, 0.0)
        squares = float((times * moved**2).sum())
        se = math.sqrt((count - 1) / count * squares)
        se = 0.0 if se < 1e-12 else se
        if self.form == "plain":
            return Student(self.value, se, count - 1)
        if self.form != "difference":
            return OnScale(self.value, se, count - 1, self.form)
        slip = self.worst(self.sums)
        if se == 0.0:
            return OverClusters(self.value, math.sqrt(slip_variance(slip, count) / count), count - 1)
        skew = float((times * moved**3).sum()) / squares**1.5
        return Contrast(self.value, math.hypot(se, slip / count), count - 1, self.lean * skew, symmetric=SLIGHT)


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """numerator / denominator, NaN where the denominator is 0 but for rounding."""
    nothing = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), np.nan)
    return np.asarray(np.divide(numerator, denominator, out=nothing, where=np.abs(denominator) > 1e-13))


def _distinct(rows: Floats, alike: Floats | None) -> tuple[Floats, Floats]:
    """The different rows and how often each occurs (a row `alike` times), by an irrational sum of its entries."""
    key = np.zeros(len(rows))
    for k in range(rows.shape[1]):  # column by column: equal rows then give equal keys to the last bit
        key += rows[:, k] * math.sqrt(k + 2.0) * math.cos(k + 1.0)
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    return rows[first], np.bincount(place, weights=alike).astype(float)


# --------------------------------------------------------------------------- their distributions
# Of coefficients that end at 1, symmetric on another scale and exact where nobody disagreed, and of the difference of
# two over the same items.


@dataclass(frozen=True, slots=True)
class OnScale(Sampled):
    """Student's t for z(value): z = -log(1 - value) for "chance" coefficients, atanh for correlations; `se` is that of
    the value itself and is carried over by the slope of z (delta method). The interval never leaves the range."""

    value: float
    se: float
    df: float
    form: Literal["chance", "correlation"]

    @property
    def undefined(self) -> str:
        if math.isnan(self.se) or math.isnan(self.value) or not self.df > 0:
            return "one cluster says nothing about the next"
        if abs(self.value) >= 1 - 1e-12:
            return "agreement is complete, and the interval has no finite width on its scale"
        return "" if self.se > 0 else "no cluster differs from another, so there is no standard error"

    def _back(self, z: float) -> float:
        return -math.expm1(-z) if self.form == "chance" else math.tanh(z)

    @property
    def _on_z(self) -> Student:
        z, slope = math.atanh(self.value), 1 / (1 - self.value**2)
        if self.form == "chance":
            z, slope = -math.log1p(-self.value), 1 / (1 - self.value)
        return Student(z, self.se * slope, self.df)

    def _ends(self, alpha: float) -> tuple[float, float]:
        low, high = self._on_z._ends(alpha)
        return self._back(max(low, -700.0)), self._back(high)

    def _with(self, factor: float) -> OnScale:
        return replace(self, se=self.se / math.sqrt(factor), df=self.df * factor)


def perfect_agreement(clusters: int, worst: float) -> InUnits:
    """Distribution of a coefficient 1 - D_o / D_e of which D_o was 0 in all of `clusters`: exact bound (Clopper and
    Pearson) of the share of clusters that hold disagreement, of which one adds at most `worst` = largest disagreement /
    D_e to what is missing from 1."""
    return InUnits(Binomial(0, clusters), 1 / worst, -1 / worst)


@dataclass(frozen=True, slots=True)
class AtMost(Derived):
    """The upper half of an interval: `lowest`, the end of the range, stands for what cannot be told. It may show that a
    value lies below a limit, and never that it lies above one."""

    lowest: float

    def interval(self, level: float) -> tuple[float, float]:
        return NOTHING if self.undefined else (self.lowest, self.distribution.interval(level)[1])

    def half_width_at(self, factor: float) -> float | None:
        """None: how much more would show the low end is not known."""
        return None


@dataclass(frozen=True, slots=True)
class Known(Sampled):
    """A value that is the same in every sample, such as the kappa of a rater that always says the same."""

    value: float
    undefined: ClassVar[str] = ""

    def _ends(self, alpha: float) -> tuple[float, float]:
        return self.value, self.value

    def _half_width_at(self, factor: float) -> float | None:
        return 0.0


@dataclass(frozen=True, slots=True)
class Difference(Sampled):
    """first - second, by the method of variance estimates recovery: with (l1, u1) and (l2, u2) their intervals,

        low  = value - sqrt((v1 - l1)^2 - 2 r (v1 - l1)(u2 - v2) + (u2 - v2)^2)
        high = value + sqrt((u1 - v1)^2 - 2 r (u1 - v1)(v2 - l2) + (v2 - l2)^2)

    Zou and Donner (2008), Statistics in Medicine 27, 1693-1702. Intervals that lean to one side, as those of
    coefficients close to 1 do, keep leaning; `correlation` is that of the two estimates."""

    values: tuple[float, float]
    first: Distribution
    second: Distribution
    correlation: float
    df: float

    @property
    def value(self) -> float:
        """The first less the second."""
        return self.values[0] - self.values[1]

    @property
    def undefined(self) -> str:
        if why := why_undefined(self.first, self.second):
            return why
        low, high = self._ends(0.025)
        return "" if high > low else "no cluster differs from another, so there is no standard error"

    def _ends(self, alpha: float) -> tuple[float, float]:
        (v1, v2), ((l1, u1), (l2, u2)) = self.values, (of.interval(1 - 2 * alpha) for of in (self.first, self.second))
        down, up = joined(v1 - l1, u2 - v2, self.correlation), joined(u1 - v1, v2 - l2, self.correlation)
        return v1 - v2 - down, v1 - v2 + up

    def _with(self, factor: float) -> Difference:
        if isinstance(self.first, Binomial) and isinstance(self.second, Binomial):
            # Where little was seen to happen, exact intervals of shares shrink faster than with the root of the trials.
            return replace(self, first=self.first._with(factor), second=self.second._with(factor))
        return self
