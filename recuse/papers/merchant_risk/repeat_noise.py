"""Gini's mean difference: how far two answers to one text lie apart, on average over all pairs of answers.

It keeps nearly all of a standard deviation's precision (98 % where scores are normal), depends on no fourth moment, and
so has an interval that holds where tails are heavy, which no interval of an SD does without being 1.3 times as wide as
usual (`python tests/benchmarks/heavy_tails.py`). For text t with R answers, d_ab = |x_a - x_b|, the mean difference G_t
of its pairs is a U-statistic of variance

    c1 E[d_ab d_ac] + c2 E[d_ab^2] - (c1 + c2) E[d]^2,   c1 = 4 (R - 2) / (R (R - 1)),   c2 = 2 / (R (R - 1))

(Hoeffding 1948, Annals of Mathematical Statistics 19, 293-325; Nair 1936, Biometrika 28, 428-436), each expectation
estimated without bias. Texts with fewer than four answers tell E[d]^2 only together: how their mean differences vary
from text to text counts as error there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from recuse.schema.arrays import Floats
from recuse.statistics.distributions import Sampled

HALVINGS = 40  # twelve digits; `scipy.special.ncfdtrinc` finds none above 10,000, and smaller ones to two or three
STRAIGHT, SECANTS = 10, 6  # halvings after which secants are tried, and how many
SEEN = 4.5  # times the excess kurtosis seen counts: a few dozen repeats show a part of a heavy tail

SKEW = 0.85  # how much of Johnson's correction for skewness is applied, on the scale of logarithms
NORMAL = 0.511  # squared relative standard error of the mean difference of normal scores, times degrees of freedom
LEAST = 0.5  # of what normal scores have: no smaller squared error is believed
ENOUGH = 4  # answers to one text that tell the error of its mean difference by themselves
FARTHEST = 50.0  # in logarithms: beyond any scale


@dataclass(frozen=True, slots=True)
class MeanDifference(Sampled):
    """log(value) is Student's t with `df` degrees of freedom and standard error `error`, its upper end moved out by a
    part of Johnson's correction for `skew`, the estimate's own skewness (1978, Journal of the American Statistical
    Association 73, 536-544):

        value exp(-t error)   to   value exp((t + SKEW skew (1 + 2 t^2) / 6) error) + 2 step / n

    The last term is one slip by a `step` of the scale more than the `n` answers show. Where none of them differed,
    the share p of slips is at most 1 - tail^(1 / n) (Clopper and Pearson), the mean difference 2 p (1 - p) step. Two
    independent answers on a scale lie no further apart, on average, than half its range: `reach`."""

    value: float
    error: float
    df: float
    skew: float = 0.0
    step: float = 0.0
    n: int = 0
    reach: float = math.inf

    @property
    def undefined(self) -> str:
        if not self.df > 0 or math.isnan(self.value):
            return "no text has two usable repeats"
        known = self.value > 0 or (self.step > 0 and self.n > 1)
        return "" if known else "no repeat differs from another, so nothing bounds the true spread"

    def _ends(self, alpha: float) -> tuple[float, float]:
        if self.value == 0:
            slips = min(0.5, 1 - alpha ** (1 / self.n))
            return 0.0, 2 * self.step * slips * (1 - slips)
        t, bend = float(special.stdtrit(self.df, 1 - alpha)), SKEW * max(0.0, self.skew) / 6
        # what few answers show may lie beyond what many could
        slip, most = 2 * self.step / self.n if self.n else 0.0, max(self.value, self.reach)
        out = min(FARTHEST, (t + bend * (1 + 2 * t * t)) * self.error)
        return self.value * math.exp(-min(FARTHEST, t * self.error)), min(self.value * math.exp(out) + slip, most)

    def _half_width_at(self, factor: float) -> float | None:
        root, n = math.sqrt(factor), round(self.n * factor)
        more = replace(self, error=self.error / root, df=self.df * factor, skew=self.skew / root, n=n)
        low, high = more.interval(0.95)
        return (high - low) / 2

    def moved(self, value: float) -> MeanDifference:
        """The same answers of a judge whose mean difference is `value`."""
        return replace(self, value=value)


def mean_difference(
    texts: Sequence[Floats] | Repeats, step: float = 0.0, span: float = math.inf
) -> MeanDifference:  # fmt: skip
    """Of the answers to each text, shape (R_t,), two or more of some: sum_t (R_t - 1) G_t / sum_t (R_t - 1). `step` and
    `span` are those of the scale."""
    sizes = (repeats := Repeats.of(texts)).sizes
    df, n = int((sizes[sizes > 1] - 1).sum()), int(sizes[sizes > 1].sum())
    if not df:
        return MeanDifference(math.nan, math.nan, 0)
    every = [_Texts.of(scores, df) for _, scores in repeats.by_size() if scores.shape[1] > 1]
    parts = [part for part in every if part.repeats >= ENOUGH]
    if few := [part for part in every if part.repeats < ENOUGH]:  # their error is how they vary from text to text
        weight, mean, squares, factor = (
            np.concatenate([getattr(part, name) for part in few]) for name in ("weight", "mean", "squares", "factor")
        )
        centre = float((weight * mean).sum() / weight.sum())
        sums = weight.sum(keepdims=True), np.array([centre]), squares.sum(keepdims=True), factor.sum(keepdims=True)
        parts.append(_Texts(ENOUGH, *sums, float((weight**3 * (mean - centre) ** 3).sum())))
    value = math.fsum(float((part.weight * part.mean).sum()) for part in parts)
    if value < 1e-12:
        return MeanDifference(0.0, math.sqrt(NORMAL / df), df, 0.0, step, n)
    variance = max(math.fsum(part.variance for part in parts) / value**2, LEAST * NORMAL / df)
    third = math.fsum(part.third for part in parts) / value**3
    return MeanDifference(value, math.sqrt(variance), df, third / variance**1.5, step, n, span / 2)


@dataclass(frozen=True, slots=True)
class _Texts:
    """Texts with equally many answers, each of which stands for itself, or one that stands for all with few; every
    array has shape (T,). `squares` is c1 E[d_ab d_ac] + c2 E[d_ab^2] and `factor` c1 + c2, both times weight^2; `third`
    the third central moment of the weighted sum of means."""

    repeats: int
    weight: Floats
    mean: Floats
    squares: Floats
    factor: Floats
    third: float

    @classmethod
    def of(cls, x: Floats, df: int) -> _Texts:
        r = x.shape[1]
        d = x[:, :, None] - x[:, None, :]
        np.abs(d, out=d)
        rows, squares, pairs = d.sum(axis=2), np.multiply(d, d, out=d).sum(axis=(1, 2)), r * (r - 1)
        mean, weight = rows.sum(axis=1) / pairs, np.full(len(x), (r - 1) / df)
        with_two = (rows * rows).sum(axis=1) - squares  # sum of d_ab d_ac, b and c different
        parts = (rows / (r - 1) - mean[:, None]) ** 3
        third = 8 * weight[0] ** 3 * float(parts.sum()) / (r - 2) ** 3 if r > 2 else 0.0
        four, factor = weight**2 * (4 * with_two + 2 * squares) / pairs**2, weight**2 * (4 * r - 6) / pairs
        return cls(r, weight, mean, four, factor, third)

    @property
    def variance(self) -> float:
        """V = squares - factor m^2 with m^2 = mean^2 - V / weight^2, summed; 0 where nothing tells it."""
        left = 1 - self.factor / self.weight**2
        known = left > 1e-9
        return float(((self.squares - self.factor * self.mean**2)[known] / left[known]).sum())


# --------------------------------------------------------------------------- the reliability of these texts
# The intraclass correlation of these texts: how well repeats tell them apart, with an interval over repeats alone.


@dataclass(frozen=True, slots=True)
class Noise:
    """What makes the repeats of texts differ from normal ones of one variance. `df`: degrees of freedom of their pooled
    variance. `unequal`: mean of the squared variances over the square of their mean, 1 where texts are equally noisy.
    `afar`: mean variance of the texts weighted by how far they lie from the mean of all, over that of all."""

    df: float
    unequal: float = 1.0
    afar: float = 1.0


def noise_of(texts: Sequence[Floats] | Repeats) -> Noise:
    """Of the repeats of each text, shape (R_t,), two or more of each. With d the n deviations from the means of T
    texts, R = n / T and u = `unequal`, whose estimate is corrected for variances of so few normal repeats:

        gamma = (n + 1) sum d^4 / (sum d^2)^2 / u,    df = 2 n / (u (gamma - (R - 3) / (R - 1)))

    gamma is their kurtosis within texts; the squared relative standard error of a variance of R values is (gamma - (R -
    3) / (R - 1)) / R, which gives n - T where they are normal. The excess of gamma over 3 counts `SEEN` times; df is
    never above n - T: short tails are not rewarded."""
    values, sizes = given = Repeats.of(texts)
    means, variances = np.empty((2, len(sizes)))
    for places, table in given.by_size():
        means[places], variances[places] = table.mean(axis=1), table.var(axis=1, ddof=1)
    n, cells, repeats = float(sizes.sum()), len(sizes), float(sizes.mean())
    if variances.mean() < 1e-20:
        return Noise(n - cells)
    few = (repeats - 1) / (repeats + 1)
    unequal = max(1.0, cells * few * float((variances**2).sum() / variances.sum() ** 2))
    away = (means - means.mean()) ** 2
    afar = float((away * variances).sum() / away.sum() / variances.mean()) if away.sum() > 1e-20 else 1.0
    deviations = values - np.repeat(means, sizes)
    gamma = (n + 1) * float((deviations**4).sum()) / float((deviations**2).sum()) ** 2 / unequal
    gamma += (SEEN - 1) * max(0.0, gamma - 3)
    df = 2 * n / (unequal * (gamma - (repeats - 3) / (repeats - 1)))
    return Noise(min(n - cells, df), unequal, afar)


class Repeats(NamedTuple):
    """The answers to texts, those to one after those to another, and how many each text has, (T,)."""

    values: Floats
    sizes: NDArray[np.intp]

    @classmethod
    def of(cls, texts: Sequence[Floats] | Repeats) -> Repeats:
        """The same of the answers to each text, shape (R_t,)."""
        if isinstance(texts, Repeats):
            return texts
        return cls(np.concatenate([*texts, np.zeros(0)]), np.array([len(x) for x in texts], dtype=np.intp))

    def from_size(self, least: int) -> Repeats:
        """Those of the texts that have so many answers or more."""
        kept = self.sizes >= least
        return self if kept.all() else Repeats(self.values[np.repeat(kept, self.sizes)], self.sizes[kept])

    def by_size(self) -> list[tuple[NDArray[np.intp], Floats]]:
        """Of each number of answers R that texts have, which T of them have it, and these answers, (T, R)."""
        every = ((size, np.flatnonzero(self.sizes == size)) for size in np.unique(self.sizes).tolist())
        starts = np.cumsum(self.sizes) - self.sizes
        return [(places, self.values[starts[places, None] + np.arange(size)]) for size, places in every]


@dataclass(frozen=True, slots=True)
class FixedTexts(Sampled):
    """The reliability of one repeat in telling *these* texts apart: B / (B + W), B the variance of the texts' true
    means (divisor T - 1), W the mean variance of repeats of a text.

    Texts are not a sample here, so that nothing is assumed about how they are distributed: F = k s^2(means) / W follows
    the noncentral F with noncentrality df k B / W (Steiger and Fouladi 1997, in What If There Were No Significance
    Tests?). Of s^2(means) the noise has the variance 2 (u + 2 w k B / W) / (T - 1), u being the noise's `unequal` and w
    its `afar`; so df = (T - 1) (1 + 2 k B / W) / (u + 2 w k B / W), T - 1 where texts are equally noisy and never above
    it (Satterthwaite). F's second df are those of the noise. Where no repeat differed (f infinite), W is at most step^2
    p (1 - p), p = 1 - tail^(1 / n) being the share of slips by one `step` that `n` repeats without one cannot rule out
    (Clopper and Pearson); `between` = s^2(means)."""

    f: float
    texts: int
    noise: Noise
    k: float
    between: float = 0.0
    step: float = 0.0
    n: int = 0

    @property
    def undefined(self) -> str:
        if math.isnan(self.f) or not (self.texts > 1 and self.noise.df > 0):
            return "needs two targets and a cell with two runs"
        if self.f == math.inf and not (self.step > 0 and self.n > 1):
            return "the runs of a target never differ, and the scale's step is unknown"
        return ""

    def _ends(self, alpha: float) -> tuple[float, float]:
        if self.f == math.inf:
            slips = min(0.5, 1 - alpha ** (1 / self.n))
            theta = max(0.0, self.between / (self.step**2 * slips * (1 - slips)) - 1 / self.k)
            return theta / (1 + theta), 1.0
        low, high = self._ratio(1 - alpha), self._ratio(alpha)
        return low / (1 + low), high / (1 + high)

    def _half_width_at(self, factor: float) -> float | None:
        """Unknown: what helps depends on whether the texts or the repeats are few."""
        return None

    def _ratio(self, probability: float) -> float:
        """B / W at which F lies at this probability of its distribution; 0 where none is that small."""
        if self._cdf(0.0) <= probability:
            return 0.0
        low, high = 0.0, self.f / self.k
        while self._cdf(high) > probability:
            low, high = high, 2 * high
        left, right = low, high  # as far as it is known on which side the place lies
        for turn in range(HALVINGS):
            if turn == STRAIGHT:  # over so short a stretch the curve is nearly a line
                left, right = self._closer(low, high, probability)
            middle = (low + high) / 2
            further = middle <= left or (middle < right and self._cdf(middle) > probability)
            low, high = (middle, high) if further else (low, middle)
            left, right = max(left, low), min(right, high)
        return (low + high) / 2

    def _closer(self, left: float, right: float, probability: float) -> tuple[float, float]:
        """Two places nearer to each other with `_ratio` still between them, by the Illinois method."""
        above, below = (self._cdf(end) - probability for end in (left, right))
        side = 0
        for _ in range(SECANTS):
            guess = right - below * (right - left) / (below - above) if below < above else math.nan
            if not left < guess < right:
                break
            if (excess := self._cdf(guess) - probability) > 0:
                left, above, below, side = guess, excess, below / 2 if side > 0 else below, 1
            else:
                right, below, above, side = guess, excess, above / 2 if side < 0 else above, -1
        return left, right

    def _cdf(self, theta: float) -> float:
        """How likely F is at most as large as seen, B / W being `theta`."""
        wide, noise = 2 * self.k * theta, self.noise
        df = max(1.0, min(1.0, (1 + wide) / (noise.unequal + wide * noise.afar)) * (self.texts - 1))
        if theta == 0:
            return float(special.fdtr(df, noise.df, self.f))
        return float(special.ncfdtr(df, noise.df, theta * df * self.k, self.f))
