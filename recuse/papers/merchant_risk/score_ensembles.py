"""Calibrated scores and ensembles: does a map from judges' scores to people's bring them closer on texts that it was
not fitted on? (Merchant-risk paper, sec. 7.3.)

    offset      score + mean of (people - judge)
    linear      least squares of people's mean on the score
    isotonic    the closest never-falling map (least squares), straight lines between its points

Each text (cluster) is left out once, and the map fitted to the others; beyond `FEW` of them a tenth at a time, by lot.
Calibrated scores stay on the scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.human_alignment import Compared, compared
from recuse.metrics.measure import Named, measure, per_subject
from recuse.papers.merchant_risk.picks import never_falling, rank_correlation
from recuse.papers.rank_tests import spearman
from recuse.ratings import Cells, Ratings, mean_of
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats, Mask
from recuse.schema.plain_values import grouped
from recuse.statistics.clusters import clustered_mean
from recuse.statistics.distributions import SEED, by_content, generator

Fit = Callable[[Floats, Floats], Callable[[Floats], Floats]]

FEW, FOLDS = 50, 10
LEAST = 4
METHOD = "mean over left-out texts, t; fits share texts, so the interval is a guide"


@measure(
    "calibration_change", "distance from people after calibration, less before", signed=True, rank=255, bad="none",
    reading="Mean distance from people's mean on texts that the calibration was not fitted on, less the same without.",
)  # fmt: skip
@per_subject(("judge", "calibration"), compared)
def calibration_change(against: Compared) -> Iterator[Named]:
    """Mean of |calibrated - people| less |score - people| over left-out texts, by judge, calibration and factor level;
    below 0: calibration helps. Detail: `before` and `after`, the two mean distances. Undefined with fewer than four
    texts that people rated too.

    >>> scores = example("rater kind score", "a judge 2/3/4/5; p person 1/2/3/4")
    >>> calibration_change(scores).of(judge="a", calibration="offset").value
    -1.0
    """
    metric, cells, scale = "calibration_change", against.cells, against.cells.scale
    low, high = getattr(scale, "ends", (-math.inf, math.inf))
    about: dict[str, Any] = {"unit": getattr(scale, "unit", ""), **_over(cells)}
    for judge, each, there in zip(against.judges, cells.mean, np.isfinite(against.differences), strict=True):
        score, people, clusters = each[there], against.people.mean[there], cells.clusters[there]
        count, order = len(np.unique(clusters)), by_content(clusters, [score, people])
        for name, fit in CALIBRATIONS.items():
            if count < LEAST:
                needs = "a calibration is fitted to three texts or more and tried on another"
                yield (judge, name), undefined(metric, f"{needs}; people rated {count} of these", **about)
                continue
            calibrated = _left_out(order, lambda out: fit(score[~out], people[~out])(score[out]))  # noqa: B023
            before, after = np.abs(score - people), np.abs(np.clip(calibrated, low, high) - people)
            distribution = clustered_mean(after - before, clusters)
            detail = {"before": number(before.mean()), "after": number(after.mean())}
            facts = {**about, "n": len(score), "detail": detail, "span": high - low}
            yield (judge, name), estimated(metric, distribution.value, distribution, **facts)


@measure(
    "calibration_helps", "judges that a calibration brings closer", unit="share", rank=257, bad="none",
    reading="Share of judges, each under each way of asking, that lie closer to people once calibrated on other texts.",
)  # fmt: skip
def calibration_helps(ratings: Ratings) -> Estimates:
    """Share of judges (under each combination of factor levels) whose calibrated scores lie closer to people on
    left-out texts, by calibration. Detail: `helped` and `tried`, the two counts, and `not_helped`, who. No interval: a
    judge under two conditions is counted twice. Undefined where no calibration could be tried.

    >>> scores = example("rater kind score", "a judge 2/3/4/5; p person 1/2/3/4")
    >>> calibration_helps(scores).of(calibration="offset").value
    1.0
    """
    about: dict[str, Any] = {"unit": "share", "over": "items", "method": "share of judge x condition"}

    def helps(name: str) -> Estimate:
        tried = {key: e.value for key, e in calibration_change(ratings).items() if key[1] == name and e.defined}
        if not tried:
            return undefined("calibration_helps", "no calibration could be tried", **about)
        not_helped = [[key[0], *key[2:]] for key, value in tried.items() if value >= 0]
        n, helped = len(tried), len(tried) - len(not_helped)
        detail = {"helped": helped, "tried": n, "not_helped": not_helped}
        note = "no interval: a judge counts once per condition"
        return Estimate(metric="calibration_helps", value=helped / n, n=n, detail=detail, note=note, **about)

    return Estimates(("calibration",), {(name,): helps(name) for name in CALIBRATIONS})


def _over(cells: Cells) -> dict[str, Any]:
    over = "clusters" if cells.over == "clusters" else "items"
    return {"over": over, "clusters": cells.clusters_called, "seed": SEED, "method": METHOD}


def _left_out(order: NDArray[np.intp], predicted: Callable[[Mask], Floats]) -> Floats:
    """What is `predicted` of each text when it is left out; `order` numbers the clusters they are in."""
    count = int(order.max()) + 1
    fold = order if count <= FEW else generator(SEED, "left out").permutation(count)[order] % FOLDS
    predictions = np.empty(len(order))
    for k in range(fold.max() + 1):
        predictions[fold == k] = predicted(fold == k)
    return predictions


def _linear(score: Floats, people: Floats) -> Callable[[Floats], Floats]:
    """A judge that gives one score to all is mapped to people's mean."""
    centred = score - score.mean()
    spread = float(centred @ centred)
    slope = float(centred @ people) / spread if spread > 1e-12 else 0.0
    return lambda new: people.mean() + slope * (new - score.mean())


def _isotonic(score: Floats, people: Floats) -> Callable[[Floats], Floats]:
    known, place, counts = np.unique(score, return_inverse=True, return_counts=True)
    means = np.bincount(place, weights=people) / counts
    fitted = never_falling(means, counts.astype(float))
    return lambda new: np.interp(new, known, fitted)


CALIBRATIONS: Mapping[str, Fit] = {
    "offset": lambda score, people: lambda new: new + (people - score).mean(),
    "linear": _linear,
    "isotonic": _isotonic,
}


# --------------------------------------------------------------------------- ensembles of judges
#     mean           every judge the same
#     calibrated     every judge's offset from people taken out first
#     weighted       the same, each judge weighing 1 / its mean squared error after that
#     best           the one judge that lies closest to people, or the mean of those that lie equally close
#
# Offsets, errors and who is best are learnt on other texts than the one that is scored, left out as above.

Weigh = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""From judges' scores (J, T) and people's (T,) to an offset to add and a weight per judge, each (J,)."""

TINY = 1e-6  # squared points below which an error counts as this, so that no judge of a few texts takes all the weight


def _with_data(part: Ratings, ratings: Ratings) -> tuple[Ratings, Compared, dict[str, float]]:
    """With people, and with the rank correlation of each model's picks with the data, where picks and true values stand
    beside the scores."""
    picks = ratings.beside("picks")
    known = () if picks is None or picks.reference is None else rank_correlation(picks).items()
    each = grouped(known, lambda named: named[0][0])
    data = {model: float(mean_of(np.array([e.value for _, e in of]), axis=0)) for model, of in each.items()}
    return part, compared(part, ratings), data


@measure(
    "ensemble_change", "distance of an ensemble from people, less that of a judge alone", signed=True, rank=256,
    reading="Mean distance from people's mean on texts that the ensemble was not made from, less the mean of what its "
    "judges have alone.",
)  # fmt: skip
@per_subject("ensemble", _with_data)
def ensemble_change(seen: tuple[Ratings, Compared, Mapping[str, float]]) -> Iterator[Named]:
    """Mean of |ensemble - people| less the judges' mean |score - people| over left-out texts, by ensemble and factor
    level. Detail: `alone` and `together`, the two mean distances; `closest_alone`, the judge that lies closest, and its
    distance; `order`, Spearman's rho of targets' means with people's; `data_order`, with how well each author's picks
    follow the data, where picks stand beside; `weights` with no text left out. Undefined with one judge, and below four
    texts that all judges and people scored.

    >>> scores = example("rater kind score", "a judge 1/2/3/4; b judge -1/0/1/2; p person 0/1/2/3")
    >>> ensemble_change(scores).of(ensemble="mean").value
    -1.0
    """
    part, against, data = seen
    return ((name, _together(against, weigh, part, data)) for name, weigh in ENSEMBLES.items())


def _together(against: Compared, weigh: Weigh, part: Ratings, data: Mapping[str, float]) -> Estimate:
    cells, metric = against.cells, "ensemble_change"
    there = np.isfinite(against.differences).all(axis=0)
    scores, people = cells.mean[:, there], against.people.mean[there]
    about = dict[str, Any](
        unit=cells.scale.unit, span=cells.scale.span, **_over(cells), n=int(there.sum()), n_excluded=int((~there).sum())
    )
    count = len(np.unique(cells.clusters[there]))
    if len(scores) < 2 or count < LEAST:
        why = f"it takes two judges and {LEAST} texts that all of them and people scored; {count} are"
        return undefined(metric, why, **about)

    def combined(out: Mask) -> Floats:
        offsets, weights = weigh(scores[:, ~out], people[~out])
        return np.asarray(weights / weights.sum() @ (scores[:, out] + offsets[:, None]))

    alone = np.abs(scores - people)
    order = by_content(cells.clusters[there], [*scores[np.argsort(alone.mean(axis=1))], people])
    together = np.clip(_left_out(order, combined), *cells.scale.ends)
    weights, far = weigh(scores, people)[1], np.abs(together - people)
    distribution = clustered_mean(far - alone.mean(axis=0), cells.clusters[there])
    nearest, targets = int(alone.mean(axis=1).argmin()), cells.targets[there]
    # How the ensemble orders the targets, against people and against the data
    places = np.unique(targets)
    ensemble, theirs = (np.array([v[targets == t].mean() for t in places]).round(9) for v in (together, people))
    wrote = {target: model for model, target in part.authors.items()}
    known = np.array([data.get(wrote.get(cells.target_names[t], ""), math.nan) for t in places])
    used = np.isfinite(known)
    by_data = {"data_order": number(_rho(ensemble[used], known[used]))} if used.sum() > 2 else {}
    detail = {
        "alone": number(alone.mean()), "together": number(far.mean()),
        "closest_alone": [cells.judges[nearest], number(alone[nearest].mean())],
        "order": number(_rho(ensemble, theirs)), **by_data,
        "weights": dict(zip(cells.judges, map(number, weights / weights.sum()), strict=True)),
    }  # fmt: skip
    return estimated(metric, distribution.value, distribution, detail=detail, **about)


def _rho(a: Floats, b: Floats) -> float:
    return float(spearman(a, b)) if len(a) > 2 and min(np.ptp(a), np.ptp(b)) > 1e-9 else math.nan


def _weighted(scores: Floats, people: Floats) -> tuple[Floats, Floats]:
    offsets = (people - scores).mean(axis=1)
    errors = ((scores + offsets[:, None] - people) ** 2).mean(axis=1)
    return offsets, 1 / np.maximum(errors, TINY)


def _best(scores: Floats, people: Floats) -> tuple[Floats, Floats]:
    distances = np.abs(scores - people).mean(axis=1)
    return np.zeros(len(scores)), (distances < distances.min() + 1e-9).astype(float)


ENSEMBLES: Mapping[str, Weigh] = {
    "mean": lambda scores, people: (np.zeros(len(scores)), np.ones(len(scores))),
    "calibrated": lambda scores, people: ((people - scores).mean(axis=1), np.ones(len(scores))),
    "weighted": _weighted,
    "best": _best,
}
