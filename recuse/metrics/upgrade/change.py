"""What every component of an upgrade has in common: candidate less incumbent, both values beside it, over texts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.upgrade.pairing import Pair
from recuse.ratings.answers import Answers
from recuse.ratings.array import mean_of
from recuse.ratings.scale import Numeric
from recuse.schema import Distribution, Estimate
from recuse.schema.arrays import Floats
from recuse.statistics.distributions import Student
from recuse.statistics.rank_correlation import ranks

METHOD = "mean of paired differences over texts, t, with one more cluster a step either way"
POWER = 0.8


def change(
    metric: str, pair: Pair, distribution: Any, values: tuple[float, float], used: NDArray[np.bool_], *, method: str =
    METHOD, note: str = "", **more: Any,
) -> Estimate:  # fmt: skip
    """The estimate of a change over the texts `used` (U,); `values` are the incumbent's and the candidate's own. Detail
    `smallest`: the change that so many texts find with 80 % power at 5 %, one-sided, given the spread seen."""
    answers, n_clusters = pair.answers, pair.answers.cluster_count(used)
    detail = {
        "incumbent": number(values[0]), "candidate": number(values[1]), "texts": int(used.sum()),
        "smallest": number(smallest(distribution, n_clusters)), **more.pop("detail", {}),
    }  # fmt: skip
    value = more.pop("value", None)
    return estimated(
        metric, values[1] - values[0] if value is None else value, distribution, n=int(used.sum()), over=answers.over,
        clusters=answers.clusters_called, n_clusters=n_clusters, method=method, note=note,
        n_excluded=0 if answers.lost is None else int(answers.lost[:2].sum()), level=0.9, detail=detail, **more,
    )  # fmt: skip


def no_change(metric: str, pair: Pair, why: str, **more: Any) -> Estimate:
    """A change that could not be measured, and why."""
    answers = pair.answers
    return undefined(metric, why, method=METHOD, over=answers.over, clusters=answers.clusters_called, **more)


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


def repeats(answers: Answers, judge: int) -> NDArray[np.int64]:
    """How many usable answers the judge gave to each text, (U,)."""
    counts: NDArray[np.int64] = np.isfinite(answers.judged[judge]).sum(axis=1)
    return counts


def codes(pair: Pair) -> tuple[Floats, int] | None:
    """What both judges decide, as codes (2, U, R), and how many there are: their options, or the side of the thresholds
    that a score lies on. None for numbers without a threshold."""
    answers = pair.answers
    if answers.options:
        return answers.judged[:2], len(answers.options)
    if not pair.thresholds:
        return None
    return sides(answers.judged[:2], pair.thresholds), len(pair.thresholds) + 1


def sides(given: Floats, thresholds: tuple[float, ...]) -> Floats:
    """How many of the thresholds each number reaches, of the same shape; NaN where there is none."""
    reached = (given[..., None] >= np.array(thresholds)).sum(axis=-1).astype(float)
    return np.where(np.isfinite(given), reached, np.nan)


def agreement_of_two(given: Floats, count: int) -> tuple[Floats, Floats, Floats]:
    """Of codes (2, U, R), per text the chance that one answer of the candidate equals one of the incumbent, and that
    two different answers of the incumbent, of the candidate, equal each other; NaN where there are too few. Each
    (U,)."""
    hits = np.stack([(given == code).sum(axis=-1) for code in range(count)], axis=-1).astype(float)
    n = hits.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        across = (hits[0] * hits[1]).sum(axis=-1) / (n[0] * n[1])
        own = ((hits * (hits - 1)).sum(axis=-1)) / (n * (n - 1))
    return across, own[0], own[1]


def mean_gap(given: Floats) -> Floats:
    """Mean distance of two different answers of a judge to one text, (U,) of (U, R); NaN below two. The sum over pairs
    of sorted answers is sum_k (2 k - n - 1) x_k."""
    there = np.isfinite(given)
    n = there.sum(axis=1)
    ordered = np.sort(np.where(there, given, np.inf), axis=1)
    place = 2.0 * np.arange(1, given.shape[1] + 1)[None, :] - n[:, None] - 1
    total = np.where(np.isfinite(ordered), place * np.where(np.isfinite(ordered), ordered, 0.0), 0.0).sum(axis=1)
    gap: Floats = np.full(len(n), np.nan)
    np.divide(2 * total, n * (n - 1), out=gap, where=n > 1)
    return gap


def means(answers: Answers) -> tuple[Floats, Floats]:
    """The incumbent's and the candidate's mean of each text, (U,)."""
    means_of_both = mean_of(answers.judged[:2], axis=2)
    return means_of_both[0], means_of_both[1]


def graded(given: Floats) -> Floats:
    """Mid-ranks among all answers that are given, from -1/2 to 1/2, of the same shape; NaN where there is none."""
    there = np.isfinite(given)
    graded = np.full(given.shape, np.nan)
    if there.any():
        graded[there] = (ranks(given[there]) - 0.5) / there.sum() - 0.5
    return graded


def with_a_swap(distribution: object, count: int) -> Student:
    """One text more that changes places with its neighbour: no difference among few is not certainty."""
    assert isinstance(distribution, Student)
    return Student(
        distribution.value, math.hypot(distribution.se, 1 / count**1.5) if count > 1 else math.nan, count - 1
    )
