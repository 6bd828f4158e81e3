"""Would the judge let through what people would? Decisions by a threshold, where more than one answer may be right.

A text is positive where at least a share tau endorses the property (`RatedOptions.positive`). People's endorsement is
known where they gave response sets. From forced choices alone it is not: those who chose another option might have
accepted the positive one as well, a share beta of them, and beta is not in the data (Guerdan et al. 2025, sec. 7). So
every number is given over a grid of tau and, without response sets, of beta.

A judge acts by what it says: by its response sets where it gave any, else by its choices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import estimated, number, table, undefined
from recuse.metrics.measure import measure
from recuse.ratings import Ratings
from recuse.ratings.rated_options import RatedOptions, each_rated
from recuse.schema import Distribution, Estimate, Estimates, RecuseError
from recuse.statistics.bounded import bounded_mean
from recuse.statistics.clusters import clustered_share
from recuse.statistics.indeterminacy import TAUS, decisions, prevalence
from recuse.statistics.indeterminacy.ratings_needed import item_spread

__all__ = [
    "BETAS", "bias_over_beta", "consistency_over_beta", "decision_consistency", "judge_vectors", "people_vectors",
    "prevalence_bias", "prevalence_shift",
]  # fmt: skip

Floats = NDArray[np.float64]
BETAS = (0.0, 0.1, 0.2, 0.3, 0.4)
FACE_VALUE = (0.0,)
TIE = 1e-6
CONSISTENT = "share of texts; the worst of the grid by its interval, Clopper-Pearson with design effect"
BIASED = "difference of shares; the worst of the grid by its interval, t with Agresti-Min weights"
GRID = "The worst of the thresholds .3, .5 and .7"


@measure(
    "decision_consistency", "decides as people do", unit="share", rank=330,
    below="decides otherwise than people|decide otherwise than people",
    reading=f"Share of texts on which thresholding the judge's answers decides as thresholding people's does. {GRID}.",
)  # fmt: skip
def decision_consistency(ratings: Ratings, taus: Sequence[float] = TAUS) -> Estimates:
    """C at the tau where its lower bound is lowest, by judge and factor level, people's forced choices at face value
    (beta = 0) where there are no response sets of theirs.

    Passing at the worst tau is passing at each, so no correction for several is needed. Detail: `taus`, `betas`,
    `values`, `low`, `high` (taus x betas), `worst`; `people_alike`: what deciding by as many people as rated would
    reach (`ItemSpread`). Texts that either side left without a valid answer do not count. Guerdan et al. (2025), sec.
    2.2.2.

    >>> from recuse.metrics.agreement_example import said
    >>> decision_consistency(said(judge="ppff", ann="pppf")).of(judge="judge").value
    0.75
    """
    return _by_judge("decision_consistency", ratings, taus, FACE_VALUE)


@measure(
    "consistency_over_beta", "decides as people do, however unsure they were", unit="share", rank=331, blocks=False,
    below="decides otherwise than people if some accept both|decide otherwise than people if some accept both",
    reading=f"The same where up to 4 in 10 of those who chose another option would have accepted this one too. {GRID}, "
    "and of beta from 0 to .4. With people's response sets, beta is not needed.",
)  # fmt: skip
def consistency_over_beta(ratings: Ratings, taus: Sequence[float] = TAUS, betas: Sequence[float] = BETAS) -> Estimates:
    """`decision_consistency` at the worst cell of tau x beta. `survives` in the detail is the largest beta of the grid
    up to which the value stays at least `decision_consistency`'s lower bound: how far the conclusion carries.

    >>> from recuse.metrics.agreement_example import said
    >>> estimates = consistency_over_beta(said(judge="ppff", ann="pppf", bob="ppff")).of(judge="judge")
    >>> estimates.value, estimates.detail["worst"], estimates.detail["survives"]
    (0.5, {'tau': 0.3, 'beta': 0.3}, 0.4)
    """
    return _by_judge("consistency_over_beta", ratings, taus, betas)


@measure(
    "prevalence_bias", "bias of the share found", unit="share", signed=True, rank=332,
    above="finds too much of it|find too much of it", below="misses too much of it|miss too much of it",
    reading=f"Share of texts that the judge finds positive less the share that people do. {GRID}.",
)  # fmt: skip
def prevalence_bias(ratings: Ratings, taus: Sequence[float] = TAUS) -> Estimates:
    """B at the tau where its interval reaches furthest from 0, by judge and factor level; below 0 underestimates. Of
    pairs whose options are who wins, the prevalence is the win rate. |B| <= 1 - C. Guerdan et al. (2025), sec.
    2.2.2.

    >>> from recuse.metrics.agreement_example import said
    >>> prevalence_bias(said(judge="ppff", ann="pppf")).of(judge="judge").value
    -0.25
    """
    return _by_judge("prevalence_bias", ratings, taus, FACE_VALUE)


@measure(
    "bias_over_beta", "bias of the share found, however unsure people were", unit="share", signed=True, rank=333,
    blocks=False, above="finds too much of it|find too much of it", below="misses too much of it|miss too much of it",
    reading=f"The same over beta. {GRID}, and of beta from 0 to .4.",
)  # fmt: skip
def bias_over_beta(ratings: Ratings, taus: Sequence[float] = TAUS, betas: Sequence[float] = BETAS) -> Estimates:
    """`prevalence_bias` at the worst cell of tau x beta.

    >>> from recuse.metrics.agreement_example import said
    >>> bias_over_beta(said(judge="ppff", ann="pppf")).of(judge="judge").value
    -0.5
    """
    return _by_judge("bias_over_beta", ratings, taus, betas)


@measure(
    "prevalence_shift", "how far people's share could move", unit="share", rank=334,
    reading="Share of texts that turn positive for people if 4 in 10 of those who chose another option would have "
    "accepted this one too.",
)  # fmt: skip
def prevalence_shift(ratings: Ratings, taus: Sequence[float] = TAUS, betas: Sequence[float] = BETAS) -> Estimates:
    """Prevalence by people at the largest beta less that at the smallest, by tau (figure 8). Detail: `betas`,
    `prevalence`. 0 where people's response sets are known. Prevalence rises with beta and falls with tau.

    >>> from recuse.metrics.agreement_example import said
    >>> estimates = prevalence_shift(said(judge="ppff", ann="pppf", bob="ppff")).of(threshold="0.7")
    >>> estimates.value, estimates.detail["prevalence"]
    (0.25, [0.5, 0.5, 0.5, 0.5, 0.75])
    """
    estimates = {}
    for names, rated in each_rated(ratings):
        for tau in taus:
            decided = decisions(people_vectors(rated, betas), rated.positive, float(tau))
            there = np.isfinite(decided[0])
            facts: dict[str, Any] = {"n": int(there.sum()), "method": CONSISTENT, "over": rated.over,
                                     "clusters": rated.clusters_called, "unit": "share"}  # fmt: skip
            if not there.any():
                estimates[f"{tau:g}", *names] = undefined(
                    "prevalence_shift", "no text has a valid answer by people", **facts
                )
                continue
            turned = (decided[-1] != decided[0])[there].astype(float)
            detail = {"betas": list(betas), "prevalence": [number(v) for v in prevalence(decided)], "tau": float(tau),
                      "option": rated.options[rated.positive]}  # fmt: skip
            distribution = clustered_share(turned, rated.clusters[there])
            estimates[f"{tau:g}", *names] = estimated(
                "prevalence_shift", float(turned.mean()), distribution, detail=detail, **facts
            )
    return Estimates(("threshold", *ratings.within()), estimates)


def people_vectors(rated: RatedOptions, betas: Sequence[float]) -> Floats:
    """People's endorsement by beta, (B, U, K): their response sets, whatever beta, or Omega_positive = O_positive +
    beta (1 - O_positive), with the other options as chosen. `RecuseError` for a beta outside [0, 1]."""
    if any(not 0 <= beta <= 1 for beta in betas) or not len(betas):
        raise RecuseError(f"beta is a probability, between 0 and 1; got {', '.join(map(str, betas)) or 'none'}")
    if rated.has_people_sets:
        return np.repeat(rated.people_endorsed[None], len(betas), axis=0)
    vectors = np.repeat(rated.people_choices[None], len(betas), axis=0)
    chosen = vectors[..., rated.positive]
    vectors[..., rated.positive] = chosen + np.asarray(betas)[:, None] * (1 - chosen)
    return vectors


def judge_vectors(rated: RatedOptions) -> Floats:
    """What judges act by, (J, U, K): their response sets where they gave any, else their choices."""
    sets = np.isfinite(rated.judge_endorsed).any(axis=(1, 2), keepdims=True)
    return np.where(sets, rated.judge_endorsed, rated.judge_choices)


@dataclass(frozen=True, slots=True)
class _Cell:
    value: float
    distribution: Distribution
    low: float
    high: float


def _by_judge(metric: str, ratings: Ratings, taus: Sequence[float], betas: Sequence[float]) -> Estimates:
    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, rated in each_rated(ratings):
        for place, judge in enumerate(rated.judges):
            estimates[judge, *names] = _worst(metric, rated, place, tuple(taus), tuple(betas))
    return Estimates(("judge", *ratings.within()), estimates)


def _worst(metric: str, rated: RatedOptions, judge: int, taus: tuple[float, ...], betas: tuple[float, ...]) -> Estimate:
    biased = "bias" in metric
    mine = judge_vectors(rated)[judge]
    people = people_vectors(rated, betas)
    there = np.isfinite(mine[:, rated.positive]) & np.isfinite(people[0, :, rated.positive])
    facts: dict[str, Any] = {
        "n": int(there.sum()), "n_excluded": int(rated.lost[judge]), "over": rated.over, "unit": "share",
        "clusters": rated.clusters_called, "method": BIASED if biased else CONSISTENT,
    }  # fmt: skip
    if not np.isfinite(mine).any():
        return undefined(metric, "the judge has no valid answer", **facts)
    if facts["n"] < 2:
        return undefined(metric, "judge and people have fewer than two texts in common", **facts)
    here = decisions(mine[there], rated.positive, taus)
    right = decisions(people[:, there], rated.positive, taus)
    clusters = rated.clusters[there]
    of = _bias if biased else _consistency
    grid = [[of(here[t], right[t, b], clusters) for b in range(len(betas))] for t in range(len(taus))]
    t, b = _place_of_worst(grid, "away" if biased else "low")
    cell = grid[t][b]
    detail: dict[str, Any] = {
        "taus": list(taus), "betas": list(betas), "sets": rated.has_people_sets,
        "option": rated.options[rated.positive], "worst": {"tau": taus[t], "beta": betas[b]},
        "value": table(np.array([[c.value for c in row] for row in grid])),
        "low": table(np.array([[c.low for c in row] for row in grid])),
        "high": table(np.array([[c.high for c in row] for row in grid])),
        **_people(rated, there, taus[t]),
    }  # fmt: skip
    if len(betas) > 1:
        detail["survives"] = _survives(grid, betas, biased)
    return estimated(metric, cell.value, cell.distribution, detail=detail, **facts)  # type: ignore[arg-type]


def _consistency(judge: Floats, people: Floats, clusters: NDArray[np.intp]) -> _Cell:
    hits = (judge == people).astype(float)
    distribution = clustered_share(hits, clusters)
    return _Cell(float(hits.mean()), distribution, *map(float, distribution.interval(0.95)))


def _bias(judge: Floats, people: Floats, clusters: NDArray[np.intp]) -> _Cell:
    difference = judge - people
    distribution = bounded_mean(difference, clusters, (-1.0, 1.0))
    return _Cell(float(difference.mean()), distribution, *map(float, distribution.interval(0.95)))


def _place_of_worst(grid: list[list[_Cell]], which: Literal["low", "away"]) -> tuple[int, int]:
    """The cell whose interval lies worst; of those that tie, the worst value; then the first."""
    score: Callable[[_Cell], float] = (
        (lambda c: -c.low - TIE * c.value) if which == "low" else (lambda c: max(-c.low, c.high) + TIE * abs(c.value))
    )
    values = np.array([[score(cell) for cell in row] for row in grid])
    t, b = np.unravel_index(int(np.nanargmax(values)), values.shape) if np.isfinite(values).any() else (0, 0)
    return int(t), int(b)


def _survives(grid: list[list[_Cell]], betas: tuple[float, ...], biased: bool) -> float:
    """The largest beta up to which every value stays inside its interval at the smallest beta, or on its better
    side."""
    kept = betas[0]
    for b, beta in enumerate(betas):
        for row in grid:
            inside = row[0].low - 1e-9 <= row[b].value and (not biased or row[b].value <= row[0].high + 1e-9)
            if not inside:
                return kept
        kept = beta
    return kept


def _people(rated: RatedOptions, there: NDArray[np.bool_], tau: float) -> dict[str, float | None]:
    """How often the median number of people who rated a text, and one of them, would decide as everybody does."""
    if rated.has_people_sets:
        positive, raters = rated.people_sets[there, rated.positive], rated.set_raters[there]
    else:
        positive, raters = rated.people_counts[there, rated.positive], rated.people_counts[there].sum(axis=1)
    spread = item_spread(positive, raters)
    if spread is None:
        return {"people_alike": None, "one_person": None}
    count = max(1, int(np.median(raters)))
    return {
        "people_alike": number(spread.expected_consistency(count, tau)),
        "one_person": number(spread.expected_consistency(1, tau)),
    }
