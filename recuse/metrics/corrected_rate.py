"""What people would say of all texts, where they rated a few and the judge all: its mean, corrected by the labels.

A judge's pass rate is not people's: it lets some fails through and fails some passes. The correction assumes that the
texts that people rated are a random part of those that the judge rated; labels picked by difficulty or by the judge's
own answer correct nothing."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from recuse.metrics.agreement_estimates import unmet
from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure, per_judge
from recuse.ratings.answers import COMPARED, Answers, answers_of_people
from recuse.schema import Estimate
from recuse.schema.arrays import Floats, average, cluster_times, number_of_clusters, taken, total
from recuse.statistics.clusters import Bounded, clustered_share
from recuse.statistics.distributions import Binomial
from recuse.statistics.paired import fewest

POWERED = "prediction-powered mean, weight of the judge tuned; t over clusters"
FEWEST = 20


@measure(
    "prediction_powered_mean", "mean as people would rate", rank=360, counts=True,
    reading="People's mean over all texts, from the few that they rated and the judge's answers to all. As good as the "
    "labels alone at worst, and better the more the judge's answers follow people's.",
)  # fmt: skip
@per_judge(answers_of_people, *COMPARED)
def prediction_powered_mean(answers: Answers, judge: int, half_width: float = 0.05) -> Estimate:
    """People's mean over all texts that the judge rated (for pass and fail, the pass rate), by judge and factor level:

        theta = mean_L(y) - lambda (mean_L(f) - mean_U(f)),   lambda = cov_L(y, f) / ((1 + n / N) var(f))

    y: people's mean of a text, f: the judge's; L: the n texts that people rated; U: the N others. The weight lambda
    (PPI++, `powered_mean`) is 0 with every text labelled, and the labels then stand alone, as they do where the judge
    knows nothing. Of two options, the interval counts one label more of either.

    Detail: `lambda`, `labels` (n), `unlabelled` (N), `labels_alone` and `judge_alone` with their intervals, and
    `labels_needed` for an interval of +- `half_width` of the scale's range. Undefined below `FEWEST` labels.

    >>> estimates = prediction_powered_mean(rated(judge="ppf" * 60, ann="pff" * 20)).of(judge="judge")
    >>> round(estimates.value, 4), estimates.detail["judge_alone"], estimates.detail["labels"]
    (0.3333, 0.666666666667, 60)
    """
    if nothing := unmet("prediction_powered_mean", answers, "numbers", POWERED):
        return nothing
    y, f = answers.people_mean, answers.judge_means[judge]
    requested = answers.requested[judge]
    labelled, answered = requested & np.isfinite(y), requested & np.isfinite(f)
    free = answered & ~labelled
    n, spare = answers.number(labelled), answers.number(free)
    lost = answers.number(requested & ~answered)
    facts = answers.facts(labelled, n_excluded=lost, unit=answers.scale.unit, method=POWERED)
    if n < FEWEST:
        return undefined("prediction_powered_mean", f"people rated {n} texts; {FEWEST} are the fewest", **facts)
    raw = answers.mean(f, answered)
    guess = np.nan_to_num(f - raw)  # a text without the judge's answer keeps its label, uncorrected
    texts = np.concatenate([np.flatnonzero(labelled), np.flatnonzero(free)])
    clusters, times, (low, high) = answers.clusters[texts], taken(answers.times, texts), answers.scale.ends
    mean = partial(powered_mean, y[labelled], guess[labelled], guess[free], clusters=clusters, times=times)
    powered, alone = mean(ends=(low, high)), mean(ends=(low, high), tuned=False)
    sd, se = alone.sd, getattr(alone.distribution, "se", 0.0)
    effect = se * math.sqrt(n) / sd if sd > 0 and se > 0 else 1.0
    wanted = half_width * answers.scale.span
    least, most = map(number, alone.distribution.interval(0.95))
    detail = {
        "lambda": number(powered.weight), "labels": n, "unlabelled": spare, "judge_alone": number(raw),
        "half_width": wanted, "labels_alone": {"value": number(alone.value), "low": least, "high": most},
        "labels_needed": labels_needed(sd * effect, min(powered.correlation, 1.0), spare, wanted), **answers.held,
    }  # fmt: skip
    value, facts["span"] = min(max(powered.value, low), high), answers.scale.span
    return estimated("prediction_powered_mean", value, powered.distribution, detail=detail, **facts)


class PoweredMean(NamedTuple):
    """`value` and its `distribution`; `weight` of the guesses (lambda); `sd` of the labels and `correlation` of label
    and guess, which tell how many labels an interval of some width needs."""

    value: float
    weight: float
    sd: float
    correlation: float
    distribution: Bounded | Binomial


def powered_mean(
    labels: Floats, guesses: Floats, others: Floats, *, clusters: NDArray[np.intp] | None = None,
    times: Floats | None = None, ends: tuple[float, float] = (-math.inf, math.inf), tuned: bool = True,
) -> PoweredMean:  # fmt: skip
    """theta = mean(y) - lambda (mean_L(f) - mean_U(f)),   lambda = cov_L(y, f) / ((1 + n / N) var(f))

    `labels` y and `guesses` f (n,) of the labelled texts L, `others` f (N,) of the texts U without a label. lambda
    makes the variance smallest (Angelopoulos, Duchi and Zrnic 2023, PPI++, arXiv:2311.01453, sec. 6); it is 0 unless
    `tuned`, without others, and where guesses do not vary. The variance is from cluster sums e_g of y - lambda f over L
    and of lambda f over U, each about its mean and divided by n or N,

        se^2 = G / (G - 1 - [lambda != 0]) sum e_g^2,   G the clusters with labels

    with Student's t on G - 1 - [lambda != 0] degrees of freedom. On `ends` of 0 and 1, labels alone that are all 0 or 1
    have the exact interval of a share; else the interval counts two clusters of labels more, one of 0 and one of 1,
    each with the mean guess: few fails vary little, and where none was missed t says nothing of those to come (Agresti
    and Coull 1998, The American Statistician 52, 119-126). Means of several people, which vary less than single
    labels, make them count by as much less. `clusters` and `times` (n + N,), labelled texts first: what each belongs
    to, itself unless given, and how many it stands for.

    >>> one = powered_mean(np.array([0.0, 1, 1, 0]), np.array([0.0, 1, 1, 1]), np.array([1.0, 1, 0, 1, 0, 1, 1, 0]))
    >>> round(one.value, 4), round(one.weight, 4), one.distribution.df
    (0.4427, 0.4583, 2)
    """
    count = len(labels)
    of_labels, of_others = taken(times, np.s_[:count]), taken(times, np.s_[count:])
    n, free = (count, len(others)) if times is None else (float(times[:count].sum()), float(times[count:].sum()))
    y, every = average(labels, of_labels), np.concatenate([guesses, others])
    f, g = average(guesses, of_labels), average(others, of_others) if free else 0.0
    weight, spread = 0.0, _variance(every, times)
    if tuned and free and spread > 1e-12:
        weight = float(total((labels - y) * (guesses - f), of_labels)) / (n - 1) / ((1 + n / free) * spread)
    sd = math.sqrt(_variance(labels, of_labels))
    r = abs(weight) * (1 + n / free) * math.sqrt(spread * (1 - 1 / (n + free))) / sd if free and sd else 0.0
    if weight == 0.0 and ends == (0.0, 1.0) and ((labels == 0) | (labels == 1)).all():
        own = np.arange(count) if clusters is None else clusters[:count]
        return PoweredMean(y, weight, sd, r, clustered_share(labels, own, of_labels))
    alike = None if clusters is None else cluster_times(clusters, times)
    units = n if clusters is None else number_of_clusters(clusters[:count], alike)
    size, guessed = n / units, (n * f + free * g) / (n + free)
    more = size * min(1.0, sd**2 / (y * (1 - y))) if ends == (0.0, 1.0) and 0 < y < 1 and units > 1 else 0.0
    counted = n + 2 * more
    middle = (n * (y - weight * (f - guessed)) + more) / counted
    pulled = (labels - weight * (guesses - guessed) - middle) / counted
    if weight:
        pulled = np.concatenate([pulled, weight * (others - g) / free])
    if clusters is None:  # each text by itself, in half the time
        squares = float(total(pulled**2, taken(times, np.s_[: len(pulled)])))
    else:
        sums: Floats = np.bincount(clusters[: len(pulled)], pulled, 0 if alike is None else len(alike)).astype(float)
        squares = float(total(sums**2, alike))
    squares += more * size * ((1 - middle) ** 2 + middle**2) / counted**2
    df = int(units) - 1 - (weight != 0.0)
    se = math.sqrt(units / max(df, 1) * squares) if units > 1 else math.nan
    centre = middle + weight * (g - guessed)
    return PoweredMean(y + weight * (g - f), weight, sd, r, Bounded(centre, 0.0 if se < 1e-12 else se, df, ends))


def _variance(values: Floats, times: Floats | None) -> float:
    """Of values (n,) of which each is there so many `times`, over their number less 1."""
    number = len(values) if times is None else float(times.sum())
    return float(total((values - average(values, times)) ** 2, times)) / (number - 1) if number > 1 else math.nan


def labels_needed(sd: float, correlation: float, unlabelled: int, half_width: float, level: float = 0.95) -> int | None:
    """Smallest n at which the tuned interval is at most +- `half_width`, with N texts beside that only the judge rated:

        t(n - 2) sqrt(sd^2 / n (1 - r^2 N / (n + N))) <= half_width

    None where the spread is unknown (0 or NaN), or where a thousand million labels do not do.

    >>> labels_needed(0.5, 0.0, 0, 0.05)
    387
    """
    if not (sd > 0 and half_width > 0):
        return None

    def narrow(n: int) -> bool:
        spared = 1 - correlation**2 * unlabelled / (n + unlabelled)
        critical = float(special.stdtrit(max(n - 2, 1), (1 + level) / 2))
        return critical * sd * math.sqrt(spared / n) <= half_width

    return fewest(narrow, 2, 10**9)
