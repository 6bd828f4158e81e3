"""Means, shares and slopes of observations that come in clusters: pairs, calls or texts that share something, a story
or a topic.

Observations of one cluster are not independent of each other, so the cluster is what a repetition would draw anew.
Every distribution here gets its width from the sums over clusters, on G - 1 degrees of freedom, G their number; with
one observation per cluster it is the textbook distribution for independent ones. Of cells of repeats: `contrast`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from recuse.schema.arrays import Floats, ascending_codes, cluster_times, distinct, number_of, number_of_clusters, taken
from recuse.statistics.distributions import Binomial, Sampled, Student, welch_satterthwaite

FEW = 4  # hits in fewer clusters than these do not show whether the observations of a cluster are alike
TOWARDS_ALL = 0.3  # how far a small variance is pulled towards the mean of all cells' variances
MORE_SKEW = 1.5  # ten repeats show a half to two thirds of the skewness of what they come from
SYMMETRIC = 0.2  # below this skewness Hall's interval is Student's but for noise
OVER_CLUSTERS = (
    "one cluster says nothing about the next",
    "no cluster differs from another, so how far new ones would differ cannot be estimated",
)
OVER_TEXTS = (
    "two texts that it did not write are needed to see how far such values lie apart",
    "no text differs from another, and the scale's step is unknown",
)
SHARE = "share, Clopper-Pearson interval at the effective sample size (Korn and Graubard)"


@dataclass(frozen=True, slots=True)
class OverClusters(Student):
    """Student's t for a mean over clusters; only the words differ where nothing varies."""

    why: tuple[str, str] = field(default=OVER_CLUSTERS, kw_only=True)


@dataclass(frozen=True, slots=True)
class Bounded(OverClusters):
    """Student's t for the mean of observations that cannot leave `ends`, nor can the interval. `value` is the centre of
    the interval; the mean itself lies a little further out."""

    ends: tuple[float, float] = (-math.inf, math.inf)
    p_value = Sampled.p_value  # not Student's

    def _ends(self, alpha: float) -> tuple[float, float]:
        low, high = OverClusters._ends(self, alpha)
        return max(low, self.ends[0]), min(high, self.ends[1])


def clustered_mean(
    values: ArrayLike, clusters: ArrayLike, *, step: float = 0.0, times: Floats | None = None
) -> OverClusters:
    """The mean of n values with the variance of a ratio estimator: e_g = sum over cluster g of (x - mean),

        se^2 = G / (G - 1) sum e_g^2 / n^2

    Both arrays have shape (n,). Equal to s^2 / n for one value per cluster. Cochran (1977), Sampling Techniques, ch. 6.

    Where values are whole steps and may agree without exception, `step` keeps that from counting as certainty: half a
    cluster of average size is added one step above the mean and half one step below, and G and n
    grow by it. Next to values that do vary, it hardly counts.

    `times` (n,): each value stands for so many, one in each of so many clusters."""
    x, groups = np.asarray(values, dtype=float), ascending_codes(clusters)
    if not len(x):
        return OverClusters(math.nan, math.nan, 0)
    n, count, alike = sizes_of(groups, times)
    mean = exact_sum(x, times) / n
    if count < 2:
        return OverClusters(mean, math.nan, 0)
    size = n / count if step else 0.0
    squares = exact_sum(np.bincount(groups, weights=x - mean) ** 2, alike) + (size * step) ** 2
    units = count + bool(step)
    se = math.sqrt(units / (units - 1) * squares) / (n + size)
    return OverClusters(mean, 0.0 if se < 1e-12 else se, count - 1)


def clustered_share(hits: ArrayLike, clusters: ArrayLike, times: Floats | None = None) -> Binomial:
    """Distribution of a share p of n yes/no observations: Clopper and Pearson's interval at the effective sample size

        n* = n / deff (t(n - 1) / t(G - 1))^2,   deff = se^2 / (p (1 - p) / (n - 1)),   n* <= n

    with `clustered_mean`'s se and t the 97.5 % quantiles. Korn and Graubard (1998), Survey Methodology 24, 193-201.
    Where hits, or misses, are found in fewer than `FEW` clusters, deff is not known, and every cluster counts as one
    observation: the cautious end. For one observation per cluster it is the exact interval. Coverage: `python
    tests/benchmarks/coverage.py shares`.

    `times` (n,): each observation stands for so many, one in each of so many clusters."""
    x, groups = np.asarray(hits, dtype=float), ascending_codes(clusters)
    if not len(x):
        return Binomial(0, 0)
    n, count, alike = sizes_of(groups, times)
    p = float(x.sum() if times is None else x @ times) / n
    size = float(min(n, count)) if count > 1 else 1.0
    if 1 < count < n:
        if min(number_of_clusters(groups[x == end], alike) for end in (0.0, 1.0)) >= FEW:
            se = clustered_mean(x, clusters, times=times).se
            size = min(float(n), p * (1 - p) / (n - 1) * n / se**2) if se > 0 else float(n)
        quantiles = special.stdtrit(np.array([n - 1, count - 1], dtype=float), 0.975)
        size = min(float(n), size * float(quantiles[0] / quantiles[1]) ** 2)
    return Binomial(p * size, size)


def slopes(
    y: Floats, x: ArrayLike, clusters: ArrayLike, controls: ArrayLike | None = None, *, levels: bool | ArrayLike = True
) -> list[OverClusters]:
    """Least-squares slope of each column of y (n, m) on x, given `controls` (n, k); no intercept, but a level of its
    own for every cluster.

    y, x and controls are centred within each cluster (fixed effects; `levels` may name smaller groups within clusters
    to have them, and `levels=False` leaves that out, for a line through the origin); y and x are then freed of the
    controls (Frisch, Waugh and Lovell). The variance is the jackknife's,

        se^2 = (G - 1) / G sum_g (slope without cluster g - slope)^2

    on G - 1 degrees of freedom (CV3 of MacKinnon, Nielsen and Webb 2023, Journal of Applied Econometrics 38, 671-694).
    With a dozen small clusters its intervals hold the slope nearly as often as they say, also where the spread of x
    varies much between clusters, where those of the usual sandwich fall well short. Undefined where x does not vary
    within any cluster once the controls are known; without an interval where only within one."""
    groups = ascending_codes(clusters)
    given = np.zeros((len(groups), 0)) if controls is None else np.asarray(controls, dtype=float)
    count, number, width = distinct(groups), y.shape[1], 1 + given.shape[1]
    if count < 2:
        return [OverClusters(math.nan, math.nan, 0)] * number
    columns = np.column_stack([np.asarray(x, dtype=float), given, y])
    if levels is not False:  # each column less its mean in the group
        levelled = groups if levels is True else ascending_codes(levels)
        sizes = np.bincount(levelled)
        columns -= np.column_stack([np.bincount(levelled, weights=each) / sizes for each in columns.T])[levelled]
    columns = np.asfortranarray(columns)
    moments = np.zeros((count, width, width + number))  # by group, of x and z with each other and with the outcomes
    for p in range(width):
        for q in range(p, width + number):
            moments[:, p, q] = np.bincount(groups, weights=columns[:, p] * columns[:, q], minlength=count)
            if q < width:
                moments[:, q, p] = moments[:, p, q]
    total = moments.sum(axis=0)
    without_each = _slopes_from(np.concatenate([total[None], total - moments]), total[0, 0])
    rank = int(np.linalg.matrix_rank(total[1:, 1 : len(total)], hermitian=True)) if given.size else 0
    if len(groups) - rank - 1 < 1 or np.isnan(without_each[0]).all():
        return [OverClusters(math.nan, math.nan, 0)] * number
    ses = [math.sqrt((count - 1) / count * exact_sum((column[1:] - column[0]) ** 2)) for column in without_each.T]
    values = without_each[0].tolist()
    return [OverClusters(v, 0.0 if se < 1e-12 else se, count - 1) for v, se in zip(values, ses, strict=True)]


def _slopes_from(moments: Floats, scale: float) -> Floats:
    """Slopes on x given z from sums of products (stacks, 1 + k, 1 + k + m); NaN where x is nothing beyond z."""
    k = moments.shape[1] - 1
    xx, xy = moments[:, 0, 0], moments[:, 0, 1 + k :]
    if k:
        sides = np.concatenate([moments[:, 1:, :1], moments[:, 1:, 1 + k :]], axis=2)
        freed = moments[:, None, 0, 1 : 1 + k] @ _solved(moments[:, 1:, 1 : 1 + k], sides)
        xx, xy = xx - freed[:, 0, 0], xy - freed[:, 0, 1:]
    there = xx > 1e-10 * max(scale, 1e-300)
    return np.asarray(np.divide(xy, xx[:, None], out=np.full(xy.shape, np.nan), where=there[:, None]))


def _solved(matrices: Floats, sides: Floats) -> Floats:
    """Least-squares solutions of stacked symmetric systems, the shortest where there are many."""
    try:
        roots = np.linalg.cholesky(matrices).diagonal(axis1=1, axis2=2) ** 2
        if (roots.min(axis=1) > 1e-8 * roots.max(axis=1)).all():
            return np.asarray(np.linalg.solve(matrices, sides), dtype=float)
    except np.linalg.LinAlgError:
        pass
    return np.linalg.pinv(matrices) @ sides


def sizes_of(groups: NDArray[np.intp], times: Floats | None) -> tuple[int, int, Floats | None]:
    """How many observations, in `groups` (n,) that are numbered from 0 without a gap, there are, and how many clusters;
    and how many clusters each group stands for, (G,). `times` (n,): how many each observation stands for."""
    alike = cluster_times(groups, times)
    if times is None or alike is None:
        return len(groups), int(groups.max(initial=-1)) + 1, None
    return int(times.sum()), int(alike.sum()), alike


def exact_sum(values: NDArray[Any], times: Floats | None = None) -> float:
    """Sum of values (n,) of which each is there so many `times`, rounded once."""
    return math.fsum((values if times is None else values * times).tolist())


def difference_of_means(
    values: Floats, plus: NDArray[np.bool_], minus: NDArray[np.bool_] | None, clusters: NDArray[np.intp],
    *, step: float = 0.0, times: Floats | None = None,
) -> OverClusters:  # fmt: skip
    """Mean of `values` where `plus`, less their mean where `minus`; all arrays of shape (n,), `clusters` whole numbers.

        e_g = sum over cluster g of w (x - mean of its side),    w = 1 / n_plus, or -1 / n_minus
        se^2 = G / (G - 1) sum e_g^2

    on G - 1 degrees of freedom, G the number of clusters in use. Where every cluster has one value on either side it is
    the paired t, where it has one value on one side alone nearly the two-sample t: pairing is taken as it comes. Where
    nothing varies, G clusters take the spread of the slip by one `step` that they cannot rule out; none without a step.

    `times` (n,): each value stands for so many, one in each of so many clusters."""
    weights, residuals = np.zeros(len(values)), np.zeros(len(values))
    value = 0.0
    for side, sign in ((plus, 1.0), (minus, -1.0)):
        if side is None:
            continue
        if not side.any():
            return OverClusters(math.nan, math.nan, 0)
        n = number_of(side, times)
        mean = exact_sum(values[side], taken(times, side)) / n
        value += sign * mean
        weights[side] += sign / n
        residuals[side] = values[side] - mean
    used = weights != 0
    codes = ascending_codes(clusters[used])
    _, count, alike = sizes_of(codes, taken(times, used))
    if count < 2:
        return OverClusters(value, math.nan, 0)
    squares = exact_sum(np.bincount(codes, weights=(weights * residuals)[used]) ** 2, alike)
    se = math.sqrt(count / (count - 1) * squares)
    se = se if se >= 1e-12 else math.sqrt(slip_variance(step, count) / count)
    return OverClusters(value, se, count - 1)


def stratified_mean(
    values: Floats, strata: NDArray[np.intp], weights: Floats, clusters: NDArray[np.intp], *, step: float = 0.0
) -> OverClusters:
    """sum_h W_h mean_h of values (n,) in strata (n,), W_h the share of the weights (n,) that stratum h has; each weight
    is how many texts the value stands for, N together, which are a sample of texts themselves:

        e_g = sum over cluster g of w / N sqrt(n_h / (n_h - 1)) (x - mean_h)
        se^2 = sum_g e_g^2 + sum_h W_h (mean_h - mean)^2 n / (N G)

    which is sum W_h^2 s_h^2 / n_h + sum W_h (mean_h - mean)^2 / N where clusters are single (double sampling, Cochran
    1977, Sampling Techniques, sec. 12.2), on Satterthwaite's degrees of freedom (sec. 5.4). One slip by a `step` more
    than was seen, at the largest weight, counts. A stratum of one value takes the variance about the mean of all."""
    shares = weights / weights.sum()
    sizes = np.bincount(strata).astype(float)
    whole = np.bincount(strata, weights=shares)
    means = np.bincount(strata, weights=shares * values) / np.maximum(whole, 1e-300)
    value = float((shares * values).sum())
    single = sizes[strata] < 2
    residuals = np.where(single, values - value, values - means[strata])
    widened = shares * residuals * np.sqrt(np.where(single, 1.0, sizes[strata] / np.maximum(sizes[strata] - 1, 1)))
    codes = ascending_codes(clusters)
    if not len(codes) or int(codes.max()) < 1:
        return OverClusters(value, math.nan, 0)
    squares = exact_sum(np.bincount(codes, weights=widened) ** 2) + float(shares.max() * step) ** 2
    drawn = float(weights.sum()) * (int(codes.max()) + 1) / len(codes)  # clusters, as far as labelled ones tell
    squares += float(whole @ (means - value) ** 2) / drawn
    each = np.bincount(strata, weights=widened**2)
    free = float((each**2 / np.maximum(sizes - 1, 1)).sum())
    df = min(float(each.sum()) ** 2 / free if free > 0 else math.inf, float(codes.max()))
    return OverClusters(value, math.sqrt(squares), df)


# --------------------------------------------------------------------------- contrasts of cells
# A cell is ten or so repeats of one judge on one text.
#
# Repeats are few, whole-numbered, crowded at an end of the scale, and often all equal. Plain Welch-Satterthwaite t
# falls short for grades that are mostly 5 and sometimes 4, and far short where a judge slips one time in twenty;
# `contrast` (`python tests/benchmarks/coverage.py contrasts`) mends what makes it fall short, in this order:
#
# - A cell in which nothing varied is not certain. Its variance is that of the one slip by one step of the scale that n
#   repeats cannot rule out: alone in a contrast, its 95 % interval ends where Clopper and Pearson's for 0 slips of n
#   does.
# - A variance that came out small by chance is pulled up by three tenths of the way to the mean of all cells'
#   variances; one that came out large stays. A cell with one repeat takes that mean.
# - Skewness moves the interval: it is the hull of Student's and of Hall's, who inverts a cubic of t.
#
#     T = ((1 + g t / 3)^3 - 1) / g + g / 6,   g = 1.5 x the sample skewness of the contrast
#
# Texts of one judge against its others, `own_against_others`, have the spread from text to text instead.
#
# Coverage: `python tests/benchmarks/coverage.py contrasts`. Hall (1992), Journal of the Royal Statistical Society B 54,
# 221-228; Satterthwaite (1946), Biometrics Bulletin 2, 110-114.


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
    where nothing varies on a scale without a step."""
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


def own_against_others(own: ArrayLike, others: ArrayLike, *, step: float = 0.0) -> Student:
    """Distribution of mean(own) - mean(others), shapes (a,) and (b,), with the spread of the others:

        (mean of own - mean of others) / (s sqrt(1 / a + 1 / b))  follows Student's t with b - 1 degrees of freedom

    for b others with SD s, all drawn from one normal distribution where nothing is special about the own. A judge has
    often written one text of a panel: how far its deviation on another would lie off cannot be seen from one. With
    a = 1 it asks whether the own value lies in the prediction interval of the others. Noise of repeats is part of s.

    Others that are all equal take the spread of the slip by one `step` that b equal values cannot rule out. Without an
    interval below two others. Zero a or b gives NaN."""
    a, b = (np.asarray(side, dtype=float) for side in (own, others))
    if not len(a) or not len(b):
        return Student(math.nan, math.nan, 0, why=OVER_TEXTS)
    value = math.fsum(a.tolist()) / len(a) - math.fsum(b.tolist()) / len(b)
    if len(b) < 2:
        return Student(value, math.nan, 0, why=OVER_TEXTS)
    variance = float(b.var(ddof=1))
    variance = variance if variance > 1e-20 else slip_variance(step, len(b))
    return Student(value, math.sqrt(variance * (1 / len(a) + 1 / len(b))), len(b) - 1, why=OVER_TEXTS)


def pooled_spread(spreads: Sequence[tuple[float, int]], judges: int) -> tuple[float, float]:
    """SD and degrees of freedom of the spreads (SD, degrees of freedom) of several judges of one panel taken together.

        s^2 = sum df_i s_i^2 / sum df_i,    df = (J - 1) / J sum df_i

    since the deviations of J judges on a text add up to zero. Right only where judges do not differ in their spread:
    the interval of a judge that is steadier than the others becomes too wide, that of an unsteady one too narrow."""
    total = math.fsum(df for _, df in spreads)
    if not total > 0 or judges < 2:
        return math.nan, 0.0
    return math.sqrt(math.fsum(df * sd * sd for sd, df in spreads) / total), total * (judges - 1) / judges
