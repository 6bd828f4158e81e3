"""Human alignment: how far judges score above or below people, and whether they order the texts as people do.

Merchant-risk paper, secs. 3.5 and 4.4: offset(i, j) = mean over the runs of judge i on target j, minus the mean of the
human experts on target j. `human` is a table of people's scores: columns target, mean, sd, experts, one row per target.

Texts are fixed, so intervals are over runs and take the human means as given. People err too: where it matters, the
detail adds the experts' own standard error sd / sqrt(experts), and a wider `combined` interval that holds if every
expert leans the same way on all targets (their errors perfectly correlated), which is the worst case.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recuse.metrics.cells import Cells, Floats, cells_of, conditions_of
from recuse.metrics.consensus import TOTAL, Own
from recuse.metrics.estimates import RUNS_ONLY, estimated, number, require_columns, undefined
from recuse.schema import Estimate, Estimates, RecuseError
from recuse.statistics import rank_correlation, resampling
from recuse.statistics.distributions import Student, welch_satterthwaite

if TYPE_CHECKING:
    import pandas as pd

ZERO = 1e-9
GIVEN = f"{RUNS_ONLY}; human means taken as given"
ORDER = "Spearman of target means, percentile bootstrap over runs within cells"


def offset_matrix(
    ratings: pd.DataFrame, human: pd.DataFrame, own: Own, *, condition: str, criterion: str = TOTAL
) -> Estimate:
    """Judge minus people for every judge and target (paper, Fig. 9): detail `values` with `low` and `high` over runs,
    `scores` and `human`; the value is the mean of all cells, `panel_offset`'s."""
    cells = _complete(ratings, criterion, condition)
    people = human_means(human, cells)

    def one(i: int, j: int) -> Floats:
        weights = cells.zeros()
        weights[i, j] = 1.0
        return weights

    low, high = cells.intervals(one)
    detail = cells.matrix(
        cells.mean - people, own, low=low - people, high=high - people, scores=cells.mean,
        human=[number(mean) for mean in people],
    )  # fmt: skip
    return cells.estimate("human_offset_matrix", _all(cells), less=float(people.mean()), note=GIVEN, detail=detail)


def offset(ratings: pd.DataFrame, human: pd.DataFrame, *, criterion: str = TOTAL) -> Estimates:
    """Mean over targets of judge minus people, by (judge, condition); detail `experts_se`, the `combined` interval."""

    def measure(cells: Cells, people: Floats, errors: Floats, i: int) -> Estimate:
        weights = cells.zeros()
        weights[i] = 1 / len(cells.targets)
        return _with_experts(
            cells.estimate("human_offset", weights, less=float(people.mean()), note=GIVEN), errors, human
        )

    return _by_judge(ratings, human, criterion, measure)


def panel_offset(ratings: pd.DataFrame, human: pd.DataFrame, *, condition: str, criterion: str = TOTAL) -> Estimate:
    """Mean over all judges and targets of judge minus people: +0.4636 attributed and +0.426 anonymized in the paper.

    Detail: how many of the pairs lie above 0 (`positive`, `pairs`, and in words `share_positive`), `experts_se` and the
    `combined` interval.
    """
    cells = _complete(ratings, criterion, condition)
    people = human_means(human, cells)
    positive, pairs = int((cells.mean - people > ZERO).sum()), int(cells.mean.size)
    detail = {"positive": positive, "pairs": pairs, "share_positive": f"{positive} of {pairs}"}
    estimate = cells.estimate("human_panel_offset", _all(cells), less=float(people.mean()), note=GIVEN, detail=detail)
    return _with_experts(estimate, _errors(human, cells), human)


def self_offset(ratings: pd.DataFrame, human: pd.DataFrame, own: Own, *, criterion: str = TOTAL) -> Estimates:
    """A judge's score of its own target minus people's, by (judge, condition), for judges that wrote one."""
    found: dict[tuple[str, ...], Estimate] = {}
    for condition in conditions_of(ratings):
        cells = _complete(ratings, criterion, condition)
        people, errors = human_means(human, cells), _errors(human, cells)
        for judge, target in own.items():
            i, j = cells.row(judge), cells.column(target)
            weights = cells.zeros()
            weights[i, j] = 1.0
            estimate = cells.estimate("human_self_offset", weights, less=float(people[j]), note=GIVEN)
            found[(judge, condition)] = _with_experts(estimate, errors[[j]], human)
    return Estimates(("judge", "condition"), found)


def order_agreement(
    ratings: pd.DataFrame, human: pd.DataFrame, *, criterion: str = TOTAL, seed: int = resampling.SEED, draws: int = 1999
) -> Estimates:
    """Spearman's rho of a judge's target means with people's, by (judge, condition); ties take mean ranks.

    Two questions, two answers. The interval is over runs (percentile bootstrap): would the order hold if the judge
    scored these texts again? Where every resample gives the same order it is a point, but where no run ever differed
    from another there is none. Orders are few, so it covers more than its level: 97.7 to 100 % of 600 simulated judges
    at 95 %. Detail `p_permutation` is over targets:
    how often would an unrelated order agree as well? With 5 targets it cannot fall below 2/120. Detail also gives
    Kendall's tau-b with its p. Undefined for a judge, or people, with the same mean on every target, and below three
    targets.
    """

    def measure(cells: Cells, people: Floats, errors: Floats, i: int) -> Estimate:
        rng = resampling.generator(seed, "human_order", cells.judges[i], cells.condition)
        return _order(cells, people, i, rng, seed, draws)

    return _by_judge(ratings, human, criterion, measure)


def closest_judge(
    ratings: pd.DataFrame, human: pd.DataFrame, *, condition: str, criterion: str = TOTAL,
    seed: int = resampling.SEED, draws: int = 1999,
) -> Estimate:  # fmt: skip
    """Which judge lies closest to people: smallest mean over targets of |judge - people|; the value is that distance.

    Detail: `judge`, and `ranking` from closest to farthest with `distance` and `first`, the share of resampled panels
    (runs redrawn within cells) in which that judge is closest. Ties go to the first in the panel.
    """
    cells = _complete(ratings, criterion, condition)
    people = human_means(human, cells)
    distance = np.abs(cells.mean - people).mean(axis=1)
    flat = [scores for row in cells.scores for scores in row]
    redrawn = resampling.resampled_means(flat, resampling.generator(seed, "closest_judge", condition), draws)
    spread = np.abs(redrawn.reshape(draws, *cells.mean.shape) - people).mean(axis=2)
    first = np.bincount(spread.argmin(axis=1), minlength=len(cells.judges)) / draws
    order = np.argsort(distance.round(12), kind="stable")
    best = int(order[0])
    return estimated(
        "closest_judge", float(distance[best]), resampling.percentile(float(distance[best]), spread[:, best]),
        n=int(cells.runs[best].sum()), n_excluded=int(cells.excluded[best].sum()), unit="points", seed=seed, note=GIVEN,
        method="mean |judge - people| over targets, percentile bootstrap over runs within cells",
        detail={
            "judge": cells.judges[best],
            "ranking": [
                {"judge": cells.judges[i], "distance": number(distance[i]), "first": number(first[i])} for i in order
            ],
        },
    )  # fmt: skip


# --------------------------------------------------------------------------- how


def _order(cells: Cells, people: Floats, i: int, rng: np.random.Generator, seed: int, draws: int) -> Estimate:
    n, excluded, judge = int(cells.runs[i].sum()), int(cells.excluded[i].sum()), cells.mean[i].round(12)
    more: dict[str, Any] = {"n": n, "n_excluded": excluded, "method": ORDER}
    if len(judge) < 3:
        return undefined("human_order", f"an order needs three targets; there are {len(judge)}", **more)
    for who, means in ((cells.judges[i], judge), ("people", people)):
        if means.max() - means.min() < ZERO:
            return undefined("human_order", f"{who} gave every target {means[0]:g}, so there is no order", **more)
    rho, tau = (float(measure(judge, people)) for measure in (rank_correlation.spearman, rank_correlation.kendall))
    by_rho, by_tau = rank_correlation.spearman_test(judge, people), rank_correlation.kendall_test(judge, people)
    redrawn = resampling.resampled_means(list(cells.scores[i]), rng, draws).round(12)
    varies = bool(np.nansum(cells.variance[i]) > 0)
    law = resampling.percentile(rho, rank_correlation.spearman(redrawn, people), discrete=varies)
    detail = {
        "p_permutation": number(by_rho.p), "p_method": by_rho.method, "kendall": number(tau),
        "kendall_p_permutation": number(by_tau.p), "targets": len(judge),
    }  # fmt: skip
    return estimated("human_order", rho, law, note=RUNS_ONLY, seed=seed, detail=detail, **more)


def _with_experts(estimate: Estimate, errors: Floats, human: pd.DataFrame) -> Estimate:
    """The estimate with the experts' error in its detail: perfectly correlated errors average to their mean."""
    law, se = estimate.distribution, float(errors.mean())
    assert isinstance(law, Student)
    both, df = welch_satterthwaite([law.se**2, se**2], [law.df, float(human["experts"].min()) - 1])
    low, high = Student(law.value, both, df).interval(estimate.level)
    more = {"experts_se": number(se), "combined": [number(low), number(high)]}
    return replace(estimate, detail={**estimate.detail, **more})


def _by_judge(
    ratings: pd.DataFrame,
    human: pd.DataFrame,
    criterion: str,
    measure: Callable[[Cells, Floats, Floats, int], Estimate],
) -> Estimates:
    found: dict[tuple[str, ...], Estimate] = {}
    for condition in conditions_of(ratings):
        cells = _complete(ratings, criterion, condition)
        people, errors = human_means(human, cells), _errors(human, cells)
        for i, judge in enumerate(cells.judges):
            found[(judge, condition)] = measure(cells, people, errors, i)
    return Estimates(("judge", "condition"), found)


def _complete(ratings: pd.DataFrame, criterion: str, condition: str) -> Cells:
    cells = cells_of(ratings, criterion, condition)
    cells.require_complete("a comparison with people")
    return cells


def _all(cells: Cells) -> Floats:
    return cells.zeros() + 1 / cells.mean.size


def human_means(human: pd.DataFrame, cells: Cells) -> Floats:
    """People's mean per target, in the cells' order."""
    return np.array([_row(human, target)["mean"] for target in cells.targets], dtype=float)


def _errors(human: pd.DataFrame, cells: Cells) -> Floats:
    rows = [_row(human, target) for target in cells.targets]
    return np.array([float(row["sd"]) / math.sqrt(float(row["experts"])) for row in rows], dtype=float)


def _row(human: pd.DataFrame, target: str) -> Mapping[str, Any]:
    require_columns(human, "target", "mean", "sd", "experts", what="table of human scores")
    rows = human[human["target"] == target]
    if len(rows) != 1:
        raise RecuseError(
            f"the table of human scores needs one row for target {target}; it has {len(rows)} "
            f"(targets: {', '.join(map(str, human['target']))})"
        )
    return dict(rows.iloc[0])
