"""Calibrated scores: does a map from a judge's scores to people's bring it closer on texts it was not fitted on?

    offset      score + mean of (people - judge)
    linear      least squares of people's mean on the score
    isotonic    the closest never-falling map (least squares), straight lines between its points

Merchant-risk paper, sec. 7.3. Each text is left out once, and the map fitted to the others; beyond `FEW` texts, a tenth
of them at a time. Calibrated scores stay on the scale.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.human_alignment import compared
from recuse.metrics.measure import measure
from recuse.ratings import Ratings, Scale
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.statistics.clusters import clustered_mean
from recuse.statistics.rank_correlation import isotonic

__all__ = ["CALIBRATIONS", "LEAST", "calibration_change", "calibration_helps", "folds"]

Fit = Callable[[Floats, Floats], Callable[[Floats], Floats]]

FEW, FOLDS = 50, 10
LEAST = 4
METHOD = "mean over left-out texts, t; fits share texts, so the interval is a guide"


@measure(
    "calibration_change", "distance from people after calibration, less before", signed=True, rank=255, bad="none",
    reading="Mean distance from people's mean on texts that the calibration was not fitted on, less the same without.",
)  # fmt: skip
def calibration_change(ratings: Ratings) -> Estimates:
    """Mean of |calibrated - people| less |score - people| over left-out texts, by judge, calibration and factor level;
    below 0: calibration helps.

    Detail: `before` and `after`, the two mean distances. Undefined with fewer than four texts that people rated too.

    >>> import pandas as pd
    >>> texts = list("ijkl")
    >>> rows = [(who, kind, i, k + more) for who, kind, more in (("a", "judge", 2.0), ("p", "person", 1.0))
    ...         for k, i in enumerate(texts)]
    >>> frame = pd.DataFrame(rows, columns=["rater", "kind", "item", "score"])
    >>> calibration_change(Ratings.of(frame)).of(judge="a", calibration="offset").value
    -1.0
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, part in ratings.each():
        against = compared(part, ratings)
        for i, judge in enumerate(against.cells.judges):
            there = np.isfinite(against.differences[i])
            score, people = against.cells.mean[i, there], against.people.mean[there]
            for name, fit in CALIBRATIONS.items():
                estimates[(str(judge), name, *names)] = _change(score, people, fit, part.scale)
    return Estimates(("judge", "calibration", *ratings.within()), estimates)


@measure(
    "calibration_helps", "judges that a calibration brings closer", unit="share", rank=257, bad="none",
    reading="Share of judges, each under each way of asking, that lie closer to people once calibrated on other texts.",
)  # fmt: skip
def calibration_helps(ratings: Ratings) -> Estimates:
    """Share of judges (under each combination of factor levels) whose calibrated scores lie closer to people on
    left-out texts, by calibration: 9 of 10 for the offset in the merchant-risk paper's tables.

    Detail: `helped` and `asked`, the two counts, and `not_helped`, who. No interval: a judge under two conditions is
    counted twice. Undefined where no calibration could be tried.

    >>> import pandas as pd
    >>> rows = [(who, kind, i, k + more) for who, kind, more in (("a", "judge", 2.0), ("p", "person", 1.0))
    ...         for k, i in enumerate("ijkl")]
    >>> frame = pd.DataFrame(rows, columns=["rater", "kind", "item", "score"])
    >>> calibration_helps(Ratings.of(frame)).of(calibration="offset").value
    1.0
    """
    each = calibration_change(ratings)
    estimates: dict[tuple[str, ...], Estimate] = {}
    for name in CALIBRATIONS:
        tried = {key: estimate.value for key, estimate in each.items() if key[1] == name and estimate.defined}
        about: dict[str, Any] = {"unit": "share", "over": "items", "method": "share of judge x condition"}
        if not tried:
            estimates[(name,)] = undefined("calibration_helps", "no calibration could be tried", **about)
            continue
        helped = [key for key, value in tried.items() if value < 0]
        detail = {
            "helped": len(helped), "tried": len(tried),
            "not_helped": [[key[0], *key[2:]] for key in tried if key not in helped],
        }  # fmt: skip
        value = len(helped) / len(tried)
        estimates[(name,)] = Estimate(
            metric="calibration_helps", value=value, n=len(tried), detail=detail,
            note="no interval: a judge counts once per condition", **about,
        )  # fmt: skip
    return Estimates(("calibration",), estimates)


def _change(score: Floats, people: Floats, fit: Fit, scale: Scale) -> Estimate:
    metric = "calibration_change"
    about: dict[str, Any] = {"unit": getattr(scale, "unit", ""), "over": "items", "method": METHOD}
    if len(score) < LEAST:
        why = f"a calibration is fitted to three texts or more and tried on another; people rated {len(score)} of these"
        return undefined(metric, why, **about)
    after, before = np.empty(len(score)), np.abs(score - people)
    low, high = getattr(scale, "ends", (-math.inf, math.inf))
    for out in folds(len(score)):
        calibrated = fit(score[~out], people[~out])(score[out])
        after[out] = np.abs(np.clip(calibrated, low, high) - people[out])
    distribution = clustered_mean(after - before, np.arange(len(score)))
    detail: Mapping[str, Any] = {"before": number(before.mean()), "after": number(after.mean())}
    return estimated(metric, distribution.value, distribution, n=len(score), detail=detail, span=high - low, **about)


def folds(count: int) -> Iterator[NDArray[np.bool_]]:
    """What is left out, time by time."""
    fold = np.arange(count) if count <= FEW else np.arange(count) % FOLDS
    yield from (fold == k for k in range(fold.max() + 1))


def _offset(score: Floats, people: Floats) -> Callable[[Floats], Floats]:
    shift = float((people - score).mean())
    return lambda new: new + shift


def _linear(score: Floats, people: Floats) -> Callable[[Floats], Floats]:
    """A judge that gives one score to all is mapped to people's mean."""
    centred = score - score.mean()
    spread = float(centred @ centred)
    slope = float(centred @ people) / spread if spread > 1e-12 else 0.0
    return lambda new: people.mean() + slope * (new - score.mean())


def _isotonic(score: Floats, people: Floats) -> Callable[[Floats], Floats]:
    known, place = np.unique(score, return_inverse=True)
    counts = np.bincount(place)
    means = np.bincount(place, weights=people) / counts
    fitted = isotonic(means, counts)
    return lambda new: np.interp(new, known, fitted)


CALIBRATIONS: Mapping[str, Fit] = {"offset": _offset, "linear": _linear, "isotonic": _isotonic}
