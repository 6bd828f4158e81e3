"""Gini's mean difference: how far two answers to one text lie apart, on average over all pairs of answers.

It is to a standard deviation what a mean absolute deviation is, keeps nearly all of its precision (98 % where scores
are normal), depends on no fourth moment, and so has an interval that holds where tails are heavy: of fifty scores from
Student's t with 3 degrees of freedom half look normal, and no interval of an SD that covers 93.5 % of them is narrower
than 1.3 times the usual one where scores *are* normal (`python tests/benchmarks/heavy_tails.py`). For text t with R
answers, d_ab = |x_a - x_b|, the mean difference G_t of its pairs is a U-statistic of variance

    c1 E[d_ab d_ac] + c2 E[d_ab^2] - (c1 + c2) E[d]^2,   c1 = 4 (R - 2) / (R (R - 1)),   c2 = 2 / (R (R - 1))

(Hoeffding 1948, Annals of Mathematical Statistics 19, 293-325; Nair 1936, Biometrika 28, 428-436), each expectation
estimated without bias. Texts with fewer than four answers tell E[d]^2 only together: how their mean differences vary
from text to text counts as error there."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from recuse.metrics.estimates import THESE_TEXTS, estimated, losses, undefined
from recuse.metrics.measure import measure, per_judge
from recuse.papers.merchant_risk.fixed_texts import by_size
from recuse.ratings import Cells
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.statistics.distributions import Sampled

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
        t = float(special.stdtrit(self.df, 1 - alpha))
        bend, slip, most = self._upper_end
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

    @property
    def _upper_end(self) -> tuple[float, float, float]:
        """How far skewness bends it, the slip it allows for, and the most it can be: what few answers show may lie
        beyond what many could."""
        slip = 2 * self.step / self.n if self.n else 0.0
        return SKEW * max(0.0, self.skew) / 6, slip, max(self.value, self.reach)


def mean_difference(texts: Sequence[Floats], step: float = 0.0, span: float = math.inf) -> MeanDifference:
    """Of the answers to each text, shape (R_t,), two or more of some: sum_t (R_t - 1) G_t / sum_t (R_t - 1). `step` and
    `span` are those of the scale."""
    sizes = np.array([len(scores) for scores in texts], dtype=int)
    df, n = int((sizes[sizes > 1] - 1).sum()), int(sizes[sizes > 1].sum())
    if not df:
        return MeanDifference(math.nan, math.nan, 0)
    every = [_Texts.of(scores, df) for _, scores in by_size(texts) if scores.shape[1] > 1]
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
        d = np.abs(x[:, :, None] - x[:, None, :])
        rows, squares, pairs = d.sum(axis=2), (d * d).sum(axis=(1, 2)), r * (r - 1)
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


SINGLE = "no text has two usable repeats"


@measure(
    "repeat_difference", "difference between repeats", above="is unsteady", rank=200,
    reading="How far two of a judge's answers to one text lie apart, on average over all pairs of answers.",
)  # fmt: skip
@per_judge(lambda part, ratings: part.cells())
def repeat_difference(cells: Cells, i: int) -> Estimate:
    """Gini's mean difference of a judge's answers to one text, by judge and factor level:

        sum_u (R_u - 1) G_u / sum_u (R_u - 1),   G_u = mean of |x_a - x_b| over all pairs of the text's R_u answers

    over the judge's texts with two repeats or more; 1.13 SDs where scores are normal. The interval (`MeanDifference`)
    is over repeats of these texts, 93.5 to 97 % at nominal 95 % for normal, whole, crowded, skewed, rarely slipping and
    heavy-tailed scores (`python tests/benchmarks/coverage.py spread`). A judge that never moved has 0 and an upper end
    above it. Undefined where no text has two repeats.

    >>> round(repeat_difference(example("repeat score", "0 1; 1 3; 2 1")).of(judge="j").value, 3)
    1.333
    """
    distribution = mean_difference(cells.scores[i], cells.step, cells.scale.span)
    about: dict[str, Any] = {
        "n": int(cells.count[i].sum()), "n_excluded": int(cells.lost[i].sum()), "over": "repeats",
        "method": "mean difference of repeats, t on its logarithm, corrected for skewness, one slip allowed for",
    }  # fmt: skip
    if math.isnan(distribution.value):
        return undefined("repeat_difference", SINGLE, **about)
    return estimated(
        "repeat_difference", distribution.value, distribution, unit=cells.scale.unit, span=cells.scale.span,
        note=THESE_TEXTS, detail=_losses(cells, i), **about,
    )  # fmt: skip


def _losses(cells: Cells, i: int) -> dict[str, Any]:
    """A lost repeat may have been anywhere on the scale: at the text's median, or at the end of the scale that is
    farther from the text's mean; of several lost ones half may have been at either end."""
    if not cells.lost[i].any():
        return {}
    r, lost = cells.count[i], cells.lost[i]
    apart, least, most = (np.zeros(len(r)) for _ in range(3))
    for u, scores in by_size(cells.scores[i]):
        if scores.size:
            apart[u] = np.abs(scores[:, :, None] - scores[:, None, :]).sum(axis=(1, 2)) / 2
            least[u] = np.abs(scores - np.median(scores, axis=1, keepdims=True)).sum(axis=1)
            most[u] = np.max([np.abs(scores - end).sum(axis=1) for end in cells.scale.ends], axis=0)
    total = r + lost
    used = total > 1
    df = float((total[used] - 1).sum())
    lowest, highest = (
        float((2 * all_apart[used] / total[used]).sum() / df) if df else math.nan
        for all_apart in (apart + lost * least, apart + lost * most + lost**2 // 4 * cells.scale.span)
    )
    middle = float(np.median(cells.mean[i][r > 0])) if (r > 0).any() else 0.0
    upper = cells.mean[i] > middle
    sides = {
        name: (int(lost[side].sum()), int(total[side].sum()))
        for name, side in (("high texts", upper), ("low texts", ~upper))
    }
    return losses(sides, (lowest, highest))
