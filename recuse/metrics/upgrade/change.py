"""What every component of an upgrade has in common: candidate less incumbent, both values beside it, over texts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from recuse.metrics.estimates import estimated, number, undefined
from recuse.ratings.answers import Answers
from recuse.ratings.scale import Numeric
from recuse.schema import Distribution, Estimate
from recuse.schema.arrays import Floats, Mask, average, cluster_times, number_of_clusters, taken, total
from recuse.statistics.agreement.coefficient import Coefficient, Difference, ratio
from recuse.statistics.agreement.correlation import counted_ranks, pearson_of_sums
from recuse.statistics.clusters import OVER_CLUSTERS, Bounded, OverClusters, difference_of_means
from recuse.statistics.distributions import Binomial, Derived, InUnits, Student

METHOD = "mean of paired differences over texts, t, with one more cluster a step either way"
RANKED = "Spearman's rank correlation of single answers, jackknife over texts, t"
POWER = 0.8
NO_ANSWERS = "no text has a usable answer of both"
NOBODY = "no text that people rated has a usable answer of both"
FEW = 10  # clusters that differ from 0 below which their spread says little of the next


@dataclass(frozen=True, eq=False)
class Pair:
    """One criterion under one combination of factor levels. `answers` holds two judges: 0 the incumbent, 1 the
    candidate. `headline`: whether the criterion stands for the judgement as a whole. `thresholds`: scores at which
    something is decided."""

    names: tuple[str, ...]
    answers: Answers
    headline: bool
    thresholds: tuple[float, ...] = ()

    @property
    def unit_and_span(self) -> dict[str, Any]:
        """What answers are counted in, and how far two of them can lie apart, as an estimate says it."""
        return {"span": span_of(self.answers), "unit": "share" if self.answers.options else self.answers.scale.unit}

    def averaged(self) -> tuple[Floats, Floats, Floats]:
        """What is averaged over texts of incumbent, candidate and people, (U, C) each: their means, C = 1, or of
        options that have none the share of every one."""
        answers = self.answers
        if not answers.counts:
            return answers.judge_shares[0], answers.judge_shares[1], answers.people_shares
        old, new = answers.judge_means[:2]
        return old[:, None], new[:, None], answers.people_mean[:, None]

    def repeats(self, judge: int) -> NDArray[np.int64]:
        """How many usable answers the judge gave to each text, (U,)."""
        return np.asarray(np.isfinite(self.answers.judged[judge]).sum(axis=1))

    def codes(self, given: Floats) -> tuple[Floats, int] | None:
        """What answers decide, as codes of the same shape, NaN where there is none, and how many codes there are: their
        options, or how many of the thresholds a score reaches. None for numbers without a threshold."""
        if self.answers.options:
            return given, len(self.answers.options)
        if not self.thresholds:
            return None
        reached = (given[..., None] >= np.array(self.thresholds)).sum(axis=-1).astype(float)
        return np.where(np.isfinite(given), reached, np.nan), len(self.thresholds) + 1

    def mean_change(self, plus: Floats, minus: Floats | None = None, *, span: float) -> OverClusters | InUnits:
        """See `mean_change`, of these texts."""
        return mean_change(plus, minus, self.answers.clusters, self.answers.times, span=span)

    def change(
        self, metric: str, distribution: Any, values: tuple[float, float], used: NDArray[np.bool_], *, method: str =
        METHOD, note: str = "", **more: Any,
    ) -> Estimate:  # fmt: skip
        """The estimate of a change over the texts `used` (U,); `values` are the incumbent's and the candidate's own.
        Detail `smallest`: the change that so many texts, spread so, find with 80 % power at 5 %, one-sided."""
        answers, n_clusters = self.answers, self.answers.cluster_count(used)
        detail = {
            "incumbent": number(values[0]), "candidate": number(values[1]), "texts": answers.number(used),
            "smallest": number(smallest(distribution, n_clusters)), **more.pop("detail", {}),
        }  # fmt: skip
        value = more.pop("value", values[1] - values[0])
        lost = 0 if answers.lost is None else int(total(answers.lost[:2].sum(axis=0, dtype=float), answers.times))
        more |= answers.facts(used, method=method, note=note, n_clusters=n_clusters, n_excluded=lost, detail=detail)
        return estimated(metric, value, distribution, level=0.9, **more)

    def change_of_means(self, metric: str, old: Floats, new: Floats, none: str = "", **more: Any) -> Estimate:
        """The mean over texts of `new` less `old` (U,), over the texts that have both; of `none`, why there is none."""
        used = np.isfinite(new - old)
        if not used.any():
            return self.no_change(metric, none, unit=more["unit"], span=more["span"])
        distribution = self.mean_change(new - old, span=more["span"])
        values = self.answers.mean(old, used), self.answers.mean(new, used)
        return self.change(metric, distribution, values, used, value=distribution.value, **more)

    def no_change(self, metric: str, why: str, **more: Any) -> Estimate:
        """A change that could not be measured, and why."""
        return undefined(metric, why, method=METHOD, **self.answers.about, **more)


def smallest(distribution: Distribution, clusters: int) -> float:
    """The true change that is told from none with 80 % power, at 5 % one-sided: (t(.95) + t(.8)) se, G - 1 degrees of
    freedom; NaN where no sampling is known."""
    half = distribution.half_width_at(1.0)
    if half is None or clusters < 2:
        return math.nan
    far, wanted, power = special.stdtrit(clusters - 1, np.array([0.975, 0.95, POWER]))
    return float(half * (wanted + power) / far)


def step_of(answers: Answers) -> float:
    """The smallest step that an answer can move by: the scale's, 1 of options, else the smallest seen."""
    if answers.options:
        return 1.0
    if isinstance(answers.scale, Numeric) and answers.scale.step:
        return float(answers.scale.step)
    gaps = np.diff(np.unique(answers.judged[np.isfinite(answers.judged)]))
    gaps = gaps[gaps > 1e-9 * span_of(answers)]
    return float(gaps.min()) if len(gaps) else span_of(answers)


def span_of(answers: Answers) -> float:
    """How far two answers can lie apart: the scale's range, 1 of options; of a scale without ends, as far as seen."""
    if answers.options:
        return 1.0
    if np.isfinite(answers.scale.span):
        return float(answers.scale.span)
    given = answers.judged[np.isfinite(answers.judged)]
    return float(np.ptp(given)) if len(given) and np.ptp(given) > 0 else 1.0


def agreement_of_two(given: Floats, count: int) -> tuple[Floats, Floats, Floats]:
    """Of codes (2, U, R), per text the chance that one answer of the candidate equals one of the incumbent, and that
    two different answers of the incumbent, of the candidate, equal each other; NaN where there are too few. Each
    (U,)."""
    hits = np.stack([(given == code).sum(axis=-1) for code in range(count)], axis=-1).astype(float)
    n = hits.sum(axis=-1)
    own = ratio((hits * (hits - 1)).sum(axis=-1), n * (n - 1))
    return ratio((hits[0] * hits[1]).sum(axis=-1), n[0] * n[1]), own[0], own[1]


def graded(given: Floats, times: Floats | None) -> Floats:
    """Mid-ranks among all answers (..., U, R) that are given, from -1/2 to 1/2, of the same shape; NaN where there is
    none. `times` (U,): how many texts with these answers there are."""
    there = np.isfinite(given)
    graded = np.full(given.shape, np.nan)
    each = np.broadcast_to(np.ones((1, 1)) if times is None else times[:, None], given.shape)[there]
    if there.any():
        graded[there] = (counted_ranks(given[there], each) - 0.5) / each.sum() - 0.5
    return graded


def rank_sums(used: Mask, x: Floats, y: Floats, xx: Floats, yy: Floats, xy: Floats | None = None) -> Floats:
    """Of mean ranks and their mean squares (U,), per text 1, x, y, xx, yy, xy, (U, 6); 0 where it is not `used`. `xy`:
    mean products, where they are not those of the means."""
    columns = np.column_stack([np.ones(len(x)), x, y, xx, yy, x * y if xy is None else xy])
    return np.nan_to_num(np.where(used[:, None], columns, 0.0))


def rank_change(metric: str, pair: Pair, used: Mask, new: Floats, old: Floats | None) -> Estimate:
    """Spearman's correlation of single answers by sums (U, 6) of `rank_sums`, `new` less `old`; without `old` that of
    `new` alone. Jackknife over texts or clusters."""
    shares = new if old is None else np.hstack([new, old])

    def gain(s: Floats) -> Floats:
        return rank_correlation(s) if old is None else rank_correlation(s) - rank_correlation(s[:, 6:])

    built, clusters = Coefficient(shares, gain, lambda s: "", times=pair.answers.times), pair.answers.clusters
    count, spread = pair.answers.cluster_count(used), built.jackknife(clusters)
    assert isinstance(spread, Student)
    # one text more that changes places with its neighbour: no difference among few is not certainty
    se = math.hypot(spread.se, 1 / count**1.5) if count > 1 else math.nan
    across = float(rank_correlation(built.sums[None])[0])
    if old is None:
        bounded = Bounded(spread.value, se, count - 1, (-1.0, 1.0))
        return pair.change(metric, bounded, (math.nan, across), used, value=across, method=RANKED)
    own = float(rank_correlation(built.sums[None, 6:])[0])
    difference = Student(spread.value, se, count - 1, why=OVER_CLUSTERS)
    return pair.change(metric, difference, (own, across), used, value=across - own, method=RANKED)


def rank_correlation(s: Floats) -> Floats:
    """Of sums (B, 6) of `rank_sums`, (B,): Spearman's of single answers; 0 where a side gives every text the same."""
    return np.nan_to_num(pearson_of_sums(s[:, :6]))


# --------------------------------------------------------------------------- sampling distributions of changes


def mean_change(
    plus: Floats, minus: Floats | None, clusters: NDArray[np.intp], times: Floats | None, *, span: float
) -> OverClusters | InUnits:
    """Distribution of the mean of `plus` less the mean of `minus` (U,), each over the texts where it is known (not
    NaN), paired as it comes; `times` (U,): how many texts each is. Values, and the difference, lie within -span and
    span.

        e_g = sum over cluster g of (x - mean) / n, less the same of `minus`;    se^2 = G / (G - 1) sum e_g^2

    on G - 1 degrees of freedom, G the number of clusters. Where fewer than 10 clusters, and not half of them, differ
    from 0 this says little of the next one: what was never seen to change may still do so. Then it is span (p_up -
    p_down), the shares of texts that move all the way (one that moves half the way counts half), each with its exact
    interval (Clopper and Pearson), every cluster one observation, joined as two shares of one sample (Zou and Donner
    2008). Where all differ alike, one text more that does not differ is what could happen next: se = |mean| / G."""
    sides = [plus] if minus is None else [plus, minus]
    values, clusters = np.concatenate(sides), np.tile(clusters, len(sides))
    times = None if times is None else np.tile(times, len(sides))
    there, first = np.isfinite(values), np.arange(len(values)) < len(plus)
    less = None if minus is None else there & ~first
    seen = difference_of_means(values, there & first, less, clusters, times=times)
    if math.isnan(seen.se):
        return seen
    count, differs = int(seen.df) + 1, there & (np.abs(np.nan_to_num(values)) > 1e-12 * span)
    if number_of_clusters(clusters[differs], cluster_times(clusters, times)) < min(FEW, count / 2):
        used = np.any([np.isfinite(side) for side in sides], axis=0)
        moved = np.nan_to_num(plus) - (0 if minus is None else np.nan_to_num(minus))
        each = taken(times, np.flatnonzero(used))
        ways = (np.clip(sign * moved[used] / span, 0.0, 1.0) for sign in (1.0, -1.0))
        up, down = (Binomial(average(way, each) * count, count) for way in ways)
        p, q = up.successes / count, down.successes / count
        together = -math.sqrt(p * q / ((1 - p) * (1 - q))) if p < 1 and q < 1 else 0.0
        return InUnits(Difference((p, q), up, down, together, count - 1), 0.0, 1 / span, seen.value)
    return seen if seen.se > 1e-12 * span else OverClusters(seen.value, abs(seen.value) / count, count - 1)


@dataclass(frozen=True, slots=True)
class Hidden(Derived):
    """A distribution of what was seen, wider by what was left out could hide: the true value lies up to `down` below
    and up to `up` above what the seen part alone would say."""

    down: float
    up: float

    def interval(self, level: float) -> tuple[float, float]:
        low, high = self.distribution.interval(level)
        return low - self.down, high + self.up

    def half_width_at(self, factor: float) -> float | None:
        half = self.distribution.half_width_at(factor)
        return None if half is None else half + max(self.down, self.up)
