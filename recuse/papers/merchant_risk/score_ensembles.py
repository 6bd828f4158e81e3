"""Ensembles of judges: do several scores together lie closer to people, and order authors as the data do?

    mean           every judge the same
    calibrated     every judge's offset from people taken out first
    weighted       the same, each judge weighing 1 / its mean squared error after that
    best           the one judge that lies closest to people

Merchant-risk paper, sec. 7.3, which proposes calibration layers and ensembles and measures neither. Offsets, errors and
who is best are learnt on other texts than the one that is scored: each text is left out once, beyond `FEW` texts a
tenth of them at a time. A calibration that takes out an offset leaves a judge's own order as it was.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.ground_truth import rank_correlation
from recuse.metrics.human_alignment import Compared, compared
from recuse.metrics.measure import measure
from recuse.papers.merchant_risk.score_calibration import LEAST, folds
from recuse.ratings import Ratings, mean_of
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.statistics.clusters import clustered_mean
from recuse.statistics.rank_correlation import spearman

__all__ = ["ENSEMBLES", "ensemble_change"]

Weigh = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""From judges' scores (J, T) and people's (T,) to an offset to add and a weight per judge, each (J,)."""

METHOD = "mean over left-out texts, t; fits share texts, so the interval is a guide"
TINY = 1e-6
"""Squared points below which an error counts as this, so that no judge of a few texts takes all the weight."""


@measure(
    "ensemble_change", "distance of an ensemble from people, less that of a judge alone", signed=True, rank=256,
    bad="none",
    reading="Mean distance from people's mean on texts that the ensemble was not made from, less the mean of what its "
    "judges have alone.",
)  # fmt: skip
def ensemble_change(ratings: Ratings) -> Estimates:
    """Mean of |ensemble - people| less the judges' mean |score - people| over left-out texts, by ensemble and factor
    level; below 0: together they are closer.

    Detail: `alone` and `together`, the two mean distances; `closest_alone`, the judge that lies closest on all texts
    and its distance, which nobody knows beforehand; `order`, Spearman's rho of targets' means with people's;
    `data_order`, with how well each author's picks follow the data, where picks stand beside; `weights` with no text
    left out. Undefined with one judge, and below four texts that all judges and people scored.

    >>> import pandas as pd
    >>> rows = [(who, kind, i, k + more) for who, kind, more in (("a", "judge", 1.0), ("b", "judge", -1.0),
    ...         ("p", "person", 0.0)) for k, i in enumerate("ijkl")]
    >>> frame = pd.DataFrame(rows, columns=["rater", "kind", "item", "score"])
    >>> ensemble_change(Ratings.of(frame)).of(ensemble="mean").value
    -1.0
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    data = _data(ratings)
    for names, part in ratings.each():
        against = compared(part, ratings)
        for name, weigh in ENSEMBLES.items():
            estimates[(name, *names)] = _change(against, weigh, part, data)
    return Estimates(("ensemble", *ratings.within()), estimates)


def _change(against: Compared, weigh: Weigh, part: Ratings, data: Mapping[str, float]) -> Estimate:
    cells, metric = against.cells, "ensemble_change"
    there = np.isfinite(against.differences).all(axis=0)
    scores, people = cells.mean[:, there], against.people.mean[there]
    about: dict[str, Any] = {
        "unit": cells.scale.unit, "span": cells.scale.span, "over": "items", "method": METHOD,
        "n": int(there.sum()), "n_excluded": int((~there).sum()),
    }  # fmt: skip
    if len(scores) < 2 or len(people) < LEAST:
        why = f"it takes two judges and {LEAST} texts that all of them and people scored; {len(people)} are"
        return undefined(metric, why, **about)
    together = np.empty(len(people))
    for out in folds(len(people)):
        offsets, weights = weigh(scores[:, ~out], people[~out])
        combined: Floats = _shares(weights) @ (scores[:, out] + offsets[:, None])
        together[out] = np.clip(combined, *cells.scale.ends)
    alone = np.abs(scores - people)
    each = np.abs(together - people) - alone.mean(axis=0)
    distribution = clustered_mean(each, cells.clusters[there])
    nearest = int(alone.mean(axis=1).argmin())
    detail = {
        "alone": number(alone.mean()), "together": number(np.abs(together - people).mean()),
        "closest_alone": [cells.judges[nearest], number(alone[nearest].mean())],
        **_orders(cells.targets[there], cells.target_names, together, people, part, data),
        "weights": dict(zip(cells.judges, map(number, _shares(weigh(scores, people)[1])), strict=True)),
    }  # fmt: skip
    return estimated(metric, distribution.value, distribution, detail=detail, **about)


def _shares(weights: Floats) -> Floats:
    shares: Floats = weights / weights.sum()
    return shares


def _orders(
    targets: NDArray[np.intp], names: tuple[str, ...], together: Floats, people: Floats, part: Ratings,
    data: Mapping[str, float],
) -> dict[str, float | None]:  # fmt: skip
    """How the ensemble orders the targets, against people and against the data."""
    places = np.unique(targets)
    mine, theirs = (np.array([v[targets == t].mean() for t in places]).round(9) for v in (together, people))
    wrote = {target: model for model, target in part.authors.items()}
    known = np.array([data.get(wrote.get(names[t], ""), math.nan) for t in places])
    used = np.isfinite(known)
    return {
        "order": number(_rho(mine, theirs)),
        **({"data_order": number(_rho(mine[used], known[used]))} if used.sum() > 2 else {}),
    }


def _rho(a: Floats, b: Floats) -> float:
    return float(spearman(a, b)) if len(a) > 2 and min(np.ptp(a), np.ptp(b)) > 1e-9 else math.nan


def _data(ratings: Ratings) -> dict[str, float]:
    """Model -> the rank correlation of its picks with the data, where picks and true values stand beside the scores."""
    picks = ratings.beside("picks")
    if picks is None or picks.reference is None:
        return {}
    each: dict[str, list[float]] = {}
    for (model, *_), estimate in rank_correlation(picks).items():
        each.setdefault(model, []).append(estimate.value)
    return {model: float(mean_of(np.array(values), axis=0)) for model, values in each.items()}


# --------------------------------------------------------------------------- ensembles


def _mean(scores: Floats, people: Floats) -> tuple[Floats, Floats]:
    return np.zeros(len(scores)), np.ones(len(scores))


def _calibrated(scores: Floats, people: Floats) -> tuple[Floats, Floats]:
    return (people - scores).mean(axis=1), np.ones(len(scores))


def _weighted(scores: Floats, people: Floats) -> tuple[Floats, Floats]:
    offsets = (people - scores).mean(axis=1)
    errors = ((scores + offsets[:, None] - people) ** 2).mean(axis=1)
    return offsets, 1 / np.maximum(errors, TINY)


def _best(scores: Floats, people: Floats) -> tuple[Floats, Floats]:
    distances = np.abs(scores - people).mean(axis=1)
    return np.zeros(len(scores)), (np.arange(len(scores)) == distances.argmin()).astype(float)


ENSEMBLES: Mapping[str, Weigh] = {"mean": _mean, "calibrated": _calibrated, "weighted": _weighted, "best": _best}
