"""Sampling distributions: where an estimate would fall on repetition, each with its interval, p-value and outlook.

Every distribution keeps the contract of `recuse.schema.Distribution` and is dual: with one-sided p-value p against "the
true value is not above the limit", p <= (1 - level) / 2 exactly when the interval at that level lies above the limit
(below: likewise). Where nothing varies, a distribution has no interval: both ends are NaN, every p-value is 1, and
`undefined` says why. A difference that was never seen to vary is not thereby certain."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from recuse.schema import Distribution, RecuseError
from recuse.schema.arrays import Floats, cluster_times

Side = Literal["above", "below"]
NOTHING: tuple[float, float] = (math.nan, math.nan)
OVER_REPEATS = (
    "the variance is unknown: a single repeat says nothing about the next",
    "no repeat differs from another, so how far new ones would differ cannot be estimated",
)
FEWEST_PAIRS = 8  # on fewer pairs no interval of a rank correlation is worth its name
SEED = 20260301  # seed of every resampling whose caller gives none: the same ratings give the same numbers


class Dual:
    """What has an interval at every level, and so a p-value: no class has to know both."""

    __slots__ = ()

    @abstractmethod
    def interval(self, level: float) -> tuple[float, float]: ...

    def p_value(self, limit: float, side: Side) -> float:
        """The tail at which the interval just reaches the limit, found by search."""

        def clear(alpha: float) -> bool:
            low, high = self.interval(1 - 2 * alpha)
            return low > limit if side == "above" else high < limit

        small, large = 1e-15, 0.4999
        if not clear(large):
            low, high = self.interval(1 - 2 * large)
            away = high < limit or low > limit
            return 1 - self.p_value(limit, "below" if side == "above" else "above") if away else 1.0
        return 0.0 if clear(small) else bisected(clear, small, large, 1e-9, factors=True)[1]


def bisected(
    holds: Callable[[float], bool], few: float, enough: float, close: float, *, factors: bool = False
) -> tuple[float, float]:
    """Where it begins to hold, by bisection from `few`, where it does not, and `enough`, where it does: both ends, at
    most a share of `close` apart. `factors`: halves what the one is times the other, not the distance."""
    while enough - few > close * enough:
        middle = math.sqrt(few * enough) if factors else (few + enough) / 2
        few, enough = (few, middle) if holds(middle) else (middle, enough)
    return few, enough


class Sampled(Dual):
    """What a distribution without an interval has in common: none at any level, no p-value below 1, no outlook.
    Subclasses say why (`undefined`), and give the rest where it is empty: ends, and what more observations make of it.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def undefined(self) -> str: ...

    def _ends(self, alpha: float) -> tuple[float, float]:
        """Both ends of the interval, each missed with probability alpha."""
        raise NotImplementedError

    def _with(self, factor: float) -> Sampled:
        """The same, had it `factor` times the observations; itself where its width shrinks with their root."""
        return self

    def _half_width_at(self, factor: float) -> float | None:
        more = self._with(factor)
        low, high = more._ends(0.025)
        half = (high - low) / 2
        return None if math.isnan(half) else half / math.sqrt(factor) if more is self else half

    def interval(self, level: float) -> tuple[float, float]:
        alpha = tail(level)
        return NOTHING if self.undefined else self._ends(alpha)

    def half_width_at(self, factor: float) -> float | None:
        return None if self.undefined else self._half_width_at(factor)


@dataclass(frozen=True, slots=True)
class Student(Sampled):
    """A mean or a linear contrast of means: (value - truth) / se follows Student's t with `df` degrees of freedom."""

    value: float
    se: float
    df: float
    parts: tuple[tuple[float, float], ...] = field(default=(), kw_only=True)
    """Independent errors that `se` is made of, where there are several: variance and degrees of freedom of each."""
    why: tuple[str, str] = field(default=OVER_REPEATS, kw_only=True)
    """Why there is no interval, where the variance is not known and where it is 0."""

    @property
    def undefined(self) -> str:
        if math.isnan(self.se) or math.isnan(self.value) or (self.se > 0 and not self.df > 0):
            return self.why[0]
        return "" if self.se > 0 else self.why[1]

    def _ends(self, alpha: float) -> tuple[float, float]:
        half = float(special.stdtrit(self.df, 1 - alpha)) * self.se
        return self.value - half, self.value + half

    def p_value(self, limit: float, side: Side) -> float:
        if self.undefined:
            return 1.0
        t = (self.value - limit) / self.se
        return float(special.stdtr(self.df, -t if side == "above" else t))

    def _half_width_at(self, factor: float) -> float | None:
        return float(special.stdtrit(self.df * factor, 0.975)) * self.se / math.sqrt(factor)

    def minus(self, other: Student) -> Student:
        """The difference of two independent means; variances add, degrees of freedom after Welch-Satterthwaite."""
        se, df = welch_satterthwaite([self.se**2, other.se**2], [self.df, other.df])
        return Student(self.value - other.value, se, df, parts=((self.se**2, self.df), (other.se**2, other.df)))


@dataclass(frozen=True, slots=True)
class Binomial(Sampled):
    """A share of independent yes/no trials: Clopper and Pearson's exact interval and the exact binomial tail.

    Trials need not share one probability: where they differ from cell to cell the interval errs on the wide side."""

    successes: float
    trials: float

    @property
    def undefined(self) -> str:
        return "" if self.trials > 0 else "nothing was counted"

    def _ends(self, alpha: float) -> tuple[float, float]:
        x, n = self.successes, self.trials
        low = float(special.betaincinv(x, n - x + 1, alpha)) if x > 0 else 0.0
        high = float(special.betaincinv(x + 1, n - x, 1 - alpha)) if x < n else 1.0
        return low, high

    def p_value(self, limit: float, side: Side) -> float:
        """The exact tail; of both sides together more than 1."""
        if self.undefined:
            return 1.0
        if side == "below":
            return Binomial(self.trials - self.successes, self.trials).p_value(1 - limit, "above")
        if limit < 0:
            return 0.0
        if limit >= 1 or self.successes == 0:
            return 1.0
        return float(special.betainc(self.successes, self.trials - self.successes + 1, limit))

    def _with(self, factor: float) -> Binomial:
        return Binomial(self.successes * factor, self.trials * factor)


@dataclass(frozen=True, slots=True)
class FisherZ(Sampled):
    """Spearman's rank correlation of n pairs: atanh(rho) is normal with variance (1 + rho^2 / 2) / (n - 3).

    Bonett and Wright (2000), Psychometrika 65, 23-28: unlike Fieller's 1.06 / (n - 3), it grows with rho. What it
    covers with and without ties: `python tests/benchmarks/coverage.py ranks`. Undefined at rho = -1 or 1, where the
    variance on this scale loses meaning, and below eight pairs."""

    rho: float
    n: float

    @property
    def undefined(self) -> str:
        if self.n < FEWEST_PAIRS:
            return f"an interval for a correlation needs {FEWEST_PAIRS} pairs; there are {self.n:g}"
        if abs(self.rho) < 1 - 1e-12:
            return ""
        return "the order agrees in every pair, and the interval has no finite width on Fisher's scale"

    def _ends(self, alpha: float) -> tuple[float, float]:
        se = math.sqrt((1 + self.rho**2 / 2) / (self.n - 3))
        z, half = math.atanh(self.rho), float(special.ndtri(1 - alpha)) * se
        return math.tanh(z - half), math.tanh(z + half)

    def _with(self, factor: float) -> FisherZ:
        return FisherZ(self.rho, self.n * factor)


@dataclass(frozen=True, slots=True, eq=False)
class Draws(Sampled):
    """Bootstrap draws of a statistic, and their percentile interval.

    The interval's ends are order statistics: with B draws, low is the k-th smallest, k = floor(alpha (B + 1)),
    alpha = (1 - level) / 2 (Efron and Tibshirani 1993, ch. 13). `lost` draws on which the statistic was undefined count
    against both ends. An end beyond the draws is NaN: take more of them."""

    value: float
    draws: Floats  # ascending, finite
    lost: int = 0
    discrete: bool = False

    @property
    def undefined(self) -> str:
        if not len(self.draws) or math.isnan(self.value):
            return "the statistic is undefined in every resample"
        if not self.discrete and self.draws[-1] - self.draws[0] <= 1e-12 * max(1.0, abs(self.value)):
            return "the value is the same in every resample, so no interval can be computed"
        return ""

    def _ends(self, alpha: float) -> tuple[float, float]:
        total = len(self.draws) + self.lost + 1
        place = math.floor(alpha * total + 1e-9) - self.lost
        return (float(self.draws[place - 1]), float(self.draws[-place])) if place >= 1 else NOTHING

    def p_value(self, limit: float, side: Side) -> float:
        """The share of draws on the other side, with those lost and one more."""
        if self.undefined:
            return 1.0
        contrary = self.draws <= limit if side == "above" else self.draws >= limit
        return min(1.0, (int(contrary.sum()) + self.lost + 1) / (len(self.draws) + self.lost + 1))


@dataclass(frozen=True, slots=True)
class Derived(Dual):
    """A distribution made of another: undefined where that one is, and the same where a subclass does not differ."""

    distribution: Distribution

    @property
    def undefined(self) -> str:
        return why_undefined(self.distribution)

    def interval(self, level: float) -> tuple[float, float]:
        return self.distribution.interval(level)

    def half_width_at(self, factor: float) -> float | None:
        return self.distribution.half_width_at(factor)


@dataclass(frozen=True, slots=True)
class InUnits(Derived):
    """The distribution of (x - origin) / unit of the other one's x; a unit below 0 turns it round. `value`: the
    estimate itself, where it is asked for."""

    origin: float
    unit: float
    value: float = math.nan

    def interval(self, level: float) -> tuple[float, float]:
        low, high = ((end - self.origin) / self.unit for end in self.distribution.interval(level))
        return (low, high) if self.unit > 0 else (high, low)

    def half_width_at(self, factor: float) -> float | None:
        half = self.distribution.half_width_at(factor)
        return None if half is None else half / abs(self.unit)


@dataclass(frozen=True, slots=True)
class Folded(Derived):
    """A value without its sign: how far a bias is from 0, whichever way it leans."""

    def interval(self, level: float) -> tuple[float, float]:
        low, high = self.distribution.interval(level)
        if math.isnan(low) or math.isnan(high):
            return NOTHING
        return max(0.0, low, -high), max(abs(low), abs(high))


@dataclass(frozen=True, slots=True)
class Largest(Sampled):
    """The largest of several true values: which one it is, is not known.

    That all lie below a limit takes every one below it, each at its own level (an intersection-union test: no
    correction). That some one lies above takes one above it after looking at all (Bonferroni). So the upper end of the
    interval is the largest of the upper ends, the lower end the largest of the corrected lower ends."""

    distributions: tuple[Distribution, ...]

    @property
    def undefined(self) -> str:
        return why_undefined(*self.distributions)

    def _ends(self, alpha: float) -> tuple[float, float]:
        low = max(size.interval(1 - 2 * alpha / len(self.distributions))[0] for size in self.distributions)
        high = max(size.interval(1 - 2 * alpha)[1] for size in self.distributions)
        return min(low, high), high

    def _half_width_at(self, factor: float) -> float | None:
        widths = [distribution.half_width_at(factor) for distribution in self.distributions]
        return None if any(width is None for width in widths) else max(width for width in widths if width is not None)


def why_undefined(*distributions: Distribution) -> str:
    """Why the first of these that has no interval has none; empty where all have one, or say nothing of it."""
    return next((why for one in distributions if (why := str(getattr(one, "undefined", "")))), "")


def joined(one: float, other: float, correlation: float) -> float:
    """How far the difference of two values may lie from it, where these lie so far from theirs (MOVER)."""
    return math.sqrt(max(0.0, one * one + other * other - 2 * correlation * one * other))


def tail(level: float) -> float:
    """(1 - level) / 2, the mass left out on each side."""
    if not 0 < level < 1:
        raise RecuseError(f"a confidence level lies between 0 and 1, for example 0.95; got {level!r}")
    return (1 - level) / 2


def welch_satterthwaite(variances: Iterable[float], dfs: Iterable[float]) -> tuple[float, float]:
    """Standard error and degrees of freedom of a sum of independent estimates:

        se = sqrt(sum v_i),  df = (sum v_i)^2 / sum(v_i^2 / df_i)

    Satterthwaite (1946), Biometrics Bulletin 2, 110-114; Welch (1947), Biometrika 34, 28-35. Terms of variance 0 carry
    no degrees of freedom; all zero gives (0, 0), an unknown variance (NaN) gives NaN."""
    terms = [(v, df) for v, df in zip(variances, dfs, strict=True) if v != 0]
    total = math.fsum(v for v, _ in terms)
    if not terms or math.isnan(total):
        return (math.nan, math.nan) if terms else (0.0, 0.0)
    return math.sqrt(total), total**2 / math.fsum(v**2 / df for v, df in terms)


def generator(seed: int, *names: str) -> np.random.Generator:
    """A generator for one named subject, independent of those of other names under the same seed."""
    return np.random.default_rng([seed, *"\x1f".join(names).encode()])


def by_content(clusters: ArrayLike, columns: ArrayLike) -> NDArray[np.intp]:
    """Clusters (n,) numbered in the order of what their observations hold, `columns` (K, n): what is drawn of them then
    depends on neither names nor the order of rows."""
    codes = np.unique(clusters, return_inverse=True)[1]
    held = np.nan_to_num(np.round(np.asarray(columns, dtype=float), 9), nan=-np.inf)
    order = np.lexsort(held)
    ranked, rank = held[:, order], np.zeros(len(codes), dtype=np.intp)
    rank[order[1:]] = np.cumsum((ranked[:, 1:] != ranked[:, :-1]).any(axis=0))
    least = np.full(int(codes.max(initial=-1)) + 1, len(codes))
    np.minimum.at(least, codes, rank)
    all_of_it = np.bincount(codes, weights=np.random.default_rng(0).integers(2**32, size=len(codes))[rank])
    return np.asarray(np.argsort(np.lexsort((all_of_it, least)))[codes], dtype=np.intp)


def cluster_counts(
    clusters: ArrayLike, rng: np.random.Generator, draws: int, times: Floats | None = None
) -> Floats:  # fmt: skip
    """How often each observation counts, (1 + draws, n): as it is in the first row, once or so many `times` (n,), then
    as clusters were drawn, of which an observation stands for so many."""
    codes = np.unique(clusters, return_inverse=True)[1]
    counted = cluster_times(codes, times)
    alike = np.ones(int(codes.max()) + 1) if counted is None else counted
    drawn = rng.multinomial(int(alike.sum()), alike / alike.sum(), size=draws)
    return np.vstack([alike, drawn])[:, codes].astype(float)


def percentile(value: float, values: Floats, *, discrete: bool = False) -> Draws:
    """The bootstrap distribution of a statistic: its value, and its values on resampled data, NaN where undefined."""
    finite = np.sort(values[np.isfinite(values)])
    return Draws(value, finite, lost=len(values) - len(finite), discrete=discrete)
