"""Would the judge let through what people would? Decisions by a threshold, where more than one answer may be right.

A text is positive where at least a share tau endorses the property (`RatedOptions.positive`), by response sets where a
side gave any. People's forced choices alone do not tell: who chose another option might have accepted the positive one
as well, a share beta of them, which is not in the data (Guerdan et al. 2025, sec. 7). tau is one half unless given, and
a text on which exactly half endorses then counts half, since two or four people would else find more than any of them.
Other thresholds and betas are in the detail: the worst of a grid lies beyond limits by chance."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from recuse.metrics.estimates import estimated, number, table, undefined
from recuse.metrics.measure import measure
from recuse.papers.indeterminacy.definitions import CLOSE, TAUS, decisions, item_spread, prevalence
from recuse.papers.indeterminacy.rated_options import RatedOptions, each_rated
from recuse.ratings import Ratings
from recuse.schema import Distribution, Estimate, Estimates, RecuseError
from recuse.schema.arrays import Floats, Mask, median_of, taken
from recuse.statistics.bounded import bounded_mean
from recuse.statistics.clusters import clustered_share
from recuse.statistics.distributions import Binomial

TAU = 0.5
BETAS = (0.0, 0.1, 0.2, 0.3, 0.4)
FACE_VALUE = (0.0,)
CONSISTENT = "share of texts, Clopper-Pearson with design effect"
BIASED = "difference of shares, t with Agresti-Min weights"


@measure(
    "decision_consistency", "decides as people do", unit="share", rank=330, counts=True,
    below="decides otherwise than people",
    reading="Share of texts on which thresholding the judge's answers decides as thresholding people's does, at one "
    "half unless a panel says otherwise.",
)  # fmt: skip
def decision_consistency(ratings: Ratings, tau: float = TAU) -> Estimates:
    """C = 1 - mean over texts of |y_judge - y_people|, by judge and factor level: y 1 where at least `tau` endorse the
    property, 0 where fewer do, 1/2 where tau is one half and just so many do. People's forced choices are taken at face
    value (beta = 0) where they gave no response sets. Texts that either side left without a valid answer do not count.
    Guerdan et al. (2025), sec. 2.2.2. Detail: `tau`, `beta` and `option`, the property; `taus`, `betas`, `value`,
    `low`, `high` (taus x betas); `people_alike`: what deciding by as many people as rated would reach (`ItemSpread`).

    >>> decision_consistency(rated(judge="ppff", ann="pppf")).of(judge="judge").value
    0.75
    """
    return _by_judge("decision_consistency", ratings, tau, FACE_VALUE)


@measure(
    "consistency_over_beta", "decides as people do, however unsure they were", unit="share", rank=331, counts=True,
    below="decides otherwise than people if some accept both",
    reading="The same where 4 in 10 of those who chose another option would have accepted this one too. With people's "
    "response sets, beta is not needed.",
)  # fmt: skip
def consistency_over_beta(ratings: Ratings, tau: float = TAU, betas: Sequence[float] = BETAS) -> Estimates:
    """`decision_consistency` at the largest of `betas`, so at a cell fixed beforehand. Detail: `range`, the smallest
    and the largest value over beta, and `survives`, the largest beta up to which the value stays at least
    `decision_consistency`'s lower bound: how far the conclusion carries.

    >>> consistency_over_beta(rated(judge="ppff", ann="pppf", bob="ppff")).of(judge="judge").detail["range"]
    [0.75, 0.875]
    """
    return _by_judge("consistency_over_beta", ratings, tau, betas)


@measure(
    "prevalence_bias", "bias of the share found", unit="share", signed=True, rank=332, counts=True,
    above="finds too much of it", below="misses too much of it",
    reading="Share of texts that the judge finds positive less the share that people do, at a threshold of one half "
    "unless a panel says otherwise.",
)  # fmt: skip
def prevalence_bias(ratings: Ratings, tau: float = TAU) -> Estimates:
    """B = mean over texts of y_judge - y_people (`decision_consistency`), by judge and factor level; below 0
    underestimates. Of pairs whose options are who wins, the prevalence is the win rate. |B| <= 1 - C. Guerdan et al.
    (2025), sec. 2.2.2.

    >>> prevalence_bias(rated(judge="ppff", ann="pppf")).of(judge="judge").value
    -0.25
    """
    return _by_judge("prevalence_bias", ratings, tau, FACE_VALUE)


@measure(
    "bias_over_beta", "bias of the share found, however unsure people were", unit="share", signed=True, rank=333,
    counts=True, above="finds too much of it", below="misses too much of it",
    reading="The same where 4 in 10 of those who chose another option would have accepted this one too.",
)  # fmt: skip
def bias_over_beta(ratings: Ratings, tau: float = TAU, betas: Sequence[float] = BETAS) -> Estimates:
    """`prevalence_bias` at the largest of `betas`, the least there can be: people's share rises with beta. Detail as
    `consistency_over_beta`.

    >>> bias_over_beta(rated(judge="ppff", ann="pppf", bob="ppff")).of(judge="judge").detail["range"]
    [-0.25, -0.125]
    """
    return _by_judge("bias_over_beta", ratings, tau, betas)


@measure(
    "prevalence_shift", "how far people's share could move", unit="share", rank=334, counts=True,
    reading="Share of texts that turn positive for people if 4 in 10 of those who chose another option would have "
    "accepted this one too.",
)  # fmt: skip
def prevalence_shift(ratings: Ratings, taus: Sequence[float] = TAUS, betas: Sequence[float] = BETAS) -> Estimates:
    """Prevalence by people at the largest beta less that at the smallest, by tau (figure 8). Detail: `betas`,
    `prevalence`. 0 where people's response sets are known. Prevalence rises with beta and falls with tau.

    >>> prevalence_shift(rated(judge="ppff", ann="pppf", bob="ppff")).of(threshold="0.7").detail["prevalence"]
    [0.5, 0.5, 0.5, 0.5, 0.75]
    """
    metric, estimates = "prevalence_shift", {}
    for (names, rated), tau in product(each_rated(ratings), taus):
        decided = decisions(people_vectors(rated, betas), rated.positive, float(tau))
        there, subject = np.isfinite(decided[0]), (f"{tau:g}", *names)
        facts = {"n": int(rated.times[there].sum()), "method": CONSISTENT, **rated.facts}
        if not there.any():
            estimates[subject] = undefined(metric, "no text has a valid answer by people", **facts)
            continue
        shares, option = list(map(number, prevalence(decided, rated.times))), rated.options[rated.positive]
        detail = {"betas": list(betas), "prevalence": shares, "tau": float(tau), "option": option}
        turned = _share_of(rated, there, (decided[-1] != decided[0])[there].astype(float))
        estimates[subject] = estimated(metric, *turned, detail=detail, **facts)
    return Estimates(("threshold", *ratings.within()), estimates)


def people_vectors(rated: RatedOptions, betas: Sequence[float]) -> Floats:
    """People's endorsement by beta, (B, U, K): their response sets, or Omega_positive = O_positive + beta (1 -
    O_positive - O_beyond), with the other options as chosen (Table 2). `RecuseError` for a beta outside [0, 1]."""
    if any(not 0 <= beta <= 1 for beta in betas) or not len(betas):
        raise RecuseError(f"beta is a probability, between 0 and 1; got {', '.join(map(str, betas)) or 'none'}")
    if rated.has_people_sets:
        return np.repeat(rated.people_endorsed[None], len(betas), axis=0)
    vectors = np.repeat(rated.people_choices[None], len(betas), axis=0)
    chosen = vectors[..., rated.positive]
    otherwise = 1 - chosen - vectors[..., rated.beyond].sum(axis=-1)
    vectors[..., rated.positive] = chosen + np.asarray(betas)[:, None] * otherwise
    return vectors


def _by_judge(metric: str, ratings: Ratings, tau: float, betas: Sequence[float]) -> Estimates:
    return Estimates(("judge", *ratings.within()), {
        (judge, *names): _at_threshold(metric, rated, place, float(tau), tuple(betas))
        for names, rated in each_rated(ratings)
        for place, judge in enumerate(rated.judges)
    })  # fmt: skip


def _at_threshold(metric: str, rated: RatedOptions, judge: int, tau: float, betas: tuple[float, ...]) -> Estimate:
    biased = "bias" in metric
    own = rated.judges_act_by[judge]
    people = people_vectors(rated, betas)
    there = np.isfinite(own[:, rated.positive]) & np.isfinite(people[0, :, rated.positive])
    facts = {
        "n": int(rated.times[there].sum()), "n_excluded": int(rated.lost[judge]),
        "method": BIASED if biased else CONSISTENT, **rated.facts,
    }  # fmt: skip
    if not np.isfinite(own).any():
        return undefined(metric, "the judge has no valid answer", **facts)
    if facts["n"] < 2:
        return undefined(metric, "judge and people have fewer than two texts in common", **facts)

    def compare(threshold: float, b: int) -> tuple[float, Distribution]:
        judged, right = (_decided(side[there], rated.positive, threshold) for side in (own, people[b]))
        if not biased:
            return _share_of(rated, there, 1 - np.abs(judged - right))
        compared, times = judged - right, taken(rated.stands_for, there)
        distribution = bounded_mean(compared, rated.clusters[there], (-1.0, 1.0), times=times)
        return float(np.average(compared, weights=times)), distribution

    taus = tuple(sorted({*TAUS, tau}))
    grid = [[compare(threshold, b) for b in range(len(betas))] for threshold in taus]
    place = taus.index(tau)
    value, distribution = grid[place][-1]
    values = np.array([[value for value, _ in cells] for cells in grid])
    ends = np.array([[distribution.interval(0.95) for _, distribution in cells] for cells in grid])
    # How often the median number of people who rated a text, and one of them, would decide as everybody does
    (positive, raters), times = (side[there] for side in rated.people_positive), rated.times[there]
    spread, usual = item_spread(positive, raters, times), max(1, int(median_of(raters, times)))
    detail: dict[str, Any] = {
        "tau": tau, "beta": betas[-1], "option": rated.options[rated.positive], "sets": rated.has_people_sets,
        "taus": list(taus), "betas": list(betas), "value": table(values), "low": table(ends[..., 0]),
        "high": table(ends[..., 1]),
        **{name: None if spread is None else number(spread.expected_consistency(count, tau))
           for name, count in (("people_alike", usual), ("one_person", 1))},
    }  # fmt: skip
    if len(betas) > 1:
        over, (low, high) = values[place], ends[place, 0]
        detail["range"] = [number(over.min()), number(over.max())]
        # The largest beta up to which every value stays inside the interval at the smallest beta, or on its better side
        inside = (over >= low - 1e-9) & ((over <= high + 1e-9) | (not biased))
        detail["survives"] = betas[len(betas) - 1 if inside.all() else max(int(np.argmin(inside)) - 1, 0)]
    return estimated(metric, value, distribution, detail=detail, **facts)  # type: ignore[arg-type]


def _share_of(rated: RatedOptions, there: Mask, hits: Floats) -> tuple[float, Binomial]:
    times = taken(rated.stands_for, there)
    return float(np.average(hits, weights=times)), clustered_share(hits, rated.clusters[there], times)


def _decided(vectors: Floats, option: int, tau: float) -> Floats:
    """1 where at least tau endorse the option, else 0; at one half, 1/2 where just so many do."""
    reached = decisions(vectors, option, tau)
    if tau != TAU:
        return reached
    return np.where(np.isclose(vectors[..., option], tau, rtol=0, atol=CLOSE), 0.5, reached)
