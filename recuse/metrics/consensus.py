"""Consensus deviation: how far a judge's score lies from the mean of all other judges on the same text.

    Bias(i, j) = s_ij - 1/(n-1) sum_{k != i} s_kj,    s_ij = mean over the runs of judge i on target j

Merchant-risk paper, secs. 4.1-4.3 and appendix F. The judge itself is left out of its reference, so its own score moves
its bias one for one; including it would shrink every bias by (n - 1) / n. Columns add up to zero: the measure is
relative, and a panel that is lenient as a whole shows nothing here.

Texts are fixed, one per target, so every interval is over runs: how far would new runs of the same judges on the same
texts move the number? Var Bias(i, j) = s2_ij / R_ij + sum_k s2_kj / R_kj / (n - 1)^2, with Welch-Satterthwaite
degrees of freedom. `own` maps a judge to the target it wrote; judges without one are peers only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from recuse.metrics.cells import WELCH, Cells, Floats, cells_of, conditions_of
from recuse.metrics.estimates import RUNS_ONLY, estimated, number, table, undefined
from recuse.schema import Estimate, Estimates
from recuse.statistics import distributions, resampling

if TYPE_CHECKING:
    import pandas as pd

TOTAL = "total"
CRITERIA_MEAN = "criteria_mean"
Own = Mapping[str, str]

ONE_JUDGE = "no consensus: one judge"
ZERO = 1e-9
"""Biases closer to 0 than this (points) have no direction; smaller ones are rounding."""


def with_criteria_mean(ratings: pd.DataFrame, criteria: Iterable[str], name: str = CRITERIA_MEAN) -> pd.DataFrame:
    """The table with one more row per run: criterion `name`, the mean of that run's scores on `criteria`.

    A run with all of them usable gets the mean; any other gets a row that carries its first failure and no score, so
    that it is counted as excluded and never averaged from what is left of it.
    """
    import pandas as pd

    wanted = list(criteria)
    keys = [column for column in ratings.columns if column not in ("criterion", "score", "response", "status")]
    rows = ratings[ratings["criterion"].isin(wanted)]
    failure = rows["status"].where(rows["status"] != "ok")
    runs = rows.assign(failure=failure).groupby(keys, sort=False, dropna=False)
    added = runs.agg(score=("score", "mean"), failure=("failure", "first"), size=("criterion", "size")).reset_index()
    complete = added["failure"].isna() & (added["size"] == len(wanted))
    added["status"] = added["failure"].where(added["failure"].notna(), "unparsed").where(~complete, "ok")
    # rounded far below any scale's step: the same five scores in another order must give the same mean
    added["score"] = added["score"].round(12).where(complete)
    added = added.assign(criterion=name, response=None)[list(ratings.columns)]
    return pd.concat([ratings, added], ignore_index=True) if len(added) else ratings


# --------------------------------------------------------------------------- matrices


def score_matrix(ratings: pd.DataFrame, own: Own, *, condition: str, criterion: str = TOTAL) -> Estimate:
    """Mean score of every judge on every target (paper, Fig. 6), as detail `values` with `sd` and `runs`.

    The value is the mean of all cells. Cells without a usable run are empty and leave the value undefined."""
    cells = cells_of(ratings, criterion, condition)
    detail = cells.matrix(cells.mean, own, sd=cells.sd, runs=cells.runs.astype(float))
    if not cells.runs.all():
        return undefined(
            "score_matrix",
            "a judge x target cell has no usable run",
            n=int(cells.runs.sum()),
            method=WELCH,
            detail=detail,
        )
    return cells.estimate("score_matrix", cells.zeros() + 1 / cells.runs.size, detail=detail)


def consensus_deviation(ratings: pd.DataFrame, own: Own, *, condition: str, criterion: str = TOTAL) -> Estimate:
    """Bias(i, j) for every judge and target (paper, Fig. 8); the value is the mean of |Bias| over all cells.

    Detail, beside the matrix `values` with `low` and `high` per cell: `scores`, `sds`, `consensus` (the self-excluded
    mean each cell is compared with), `zero_sum` (largest |column sum|, 0 by construction), and `naive`: the deviation
    from a consensus that includes the judge, and its measured `shrinkage` = (n - 1) / n. The value itself has no
    interval: absolute values of noise are never 0. Undefined with one judge; `RecuseError` where the grid has holes.
    """
    cells = cells_of(ratings, criterion, condition)
    if len(cells.judges) < 2:
        return undefined("consensus_deviation", ONE_JUDGE, n=int(cells.runs.sum()), method=WELCH)
    cells.require_complete("a consensus")
    bias, naive = _deviation(cells), cells.mean - cells.mean.mean(axis=0)
    low, high = cells.intervals(_against_peers(cells))
    detail = cells.matrix(
        bias, own, low=low, high=high, scores=cells.mean, sds=cells.sd, consensus=cells.mean - bias,
        zero_sum=number(np.abs(bias.sum(axis=0)).max()),
        naive={
            "values": table(naive), "shrinkage": _shrinkage(naive, bias), "expected": number(1 - 1 / len(cells.judges)),
        },
    )  # fmt: skip
    return Estimate(
        metric="consensus_deviation", value=float(np.abs(bias).mean()), unit="points",
        over="runs", n=int(cells.runs.sum()), n_excluded=int(cells.excluded.sum()),
        method="mean of |self-excluded deviation| over cells",
        note=f"{RUNS_ONLY}; intervals are per cell", detail=detail,
    )  # fmt: skip


def pair_bias(ratings: pd.DataFrame, *, criterion: str = TOTAL) -> Estimates:
    """Bias(i, j) as estimates by (judge, target, condition): the cells of `consensus_deviation`, one by one."""
    return _family(
        ratings, criterion, "pair_bias", ("judge", "target"),
        subjects=lambda cells: [(judge, target) for judge in cells.judges for target in cells.targets],
        weights=lambda cells, pair: _against_peers(cells)(cells.row(pair[0]), cells.column(pair[1])),
    )  # fmt: skip


# --------------------------------------------------------------------------- a judge and its own work


def self_bias(ratings: pd.DataFrame, own: Own, *, criterion: str = TOTAL) -> Estimates:
    """Bias(i, own(i)) for every judge that wrote a target, by (judge, condition); paper, sec. 4.3.1.

    n counts the runs it rests on: the judge's own and those of its peers on that target. Undefined with one judge;
    `RecuseError` where the judge x target grid has holes or an author is not in the ratings.
    """
    return _family(
        ratings,
        criterion,
        "self_bias",
        ("judge",),
        _authors(own),
        lambda cells, names: _self_weights(cells, names[0], own),
    )


def leniency(ratings: pd.DataFrame, own: Own, *, criterion: str = TOTAL) -> Estimates:
    """Mean of Bias(i, j) over the targets j that judge i did not write, by (judge, condition).

    Covers all judges; undefined for an author with no other target. Relative like every consensus deviation: a peer
    that inflates its own target by d lowers the others' leniency by d / (n - 1) / (number of their targets).
    """
    return _family(
        ratings, criterion, "leniency", ("judge",),
        subjects=lambda cells: [(judge,) for judge in cells.judges],
        weights=lambda cells, names: _leniency_weights(cells, names[0], own),
    )  # fmt: skip


def self_preference(ratings: pd.DataFrame, own: Own, *, criterion: str = TOTAL) -> Estimates:
    """self_bias - leniency, by (judge, condition): what a judge adds on its own text beyond its general level.

    A lenient judge has a positive self-bias without preferring itself; here its level cancels, and so does the quality
    of the texts, since each is compared with the peers' view of the same text.
    """

    def weights(cells: Cells, names: tuple[str, ...]) -> Floats | str:
        others = _leniency_weights(cells, names[0], own)
        return others if isinstance(others, str) else _self_weights(cells, names[0], own) - others

    return _family(ratings, criterion, "self_preference", ("judge",), _authors(own), weights)


# --------------------------------------------------------------------------- what the name changes


def name_effect(
    ratings: pd.DataFrame, own: Own, *, criterion: str = TOTAL, shown: str = "attributed", hidden: str = "anonymized"
) -> Estimates:
    """A - B by (judge,), A and B the self-bias with names shown and hidden (paper, sec. 4.3.2).

    Detail: `attributed` A and `anonymized` B; `attenuation_pct` = 100 (1 - |B| / |A|), unrounded, None where A is 0;
    `direction_kept`, whether A and B have the same sign, None where either is 0. The conditions' runs are independent,
    so variances add. Undefined where a condition was not asked.
    """
    pairs = _self_bias_pairs(ratings, own, criterion, (shown, hidden))
    return Estimates(("judge",), {(judge,): _name_effect(a, b) for judge, (a, b) in pairs.items()})


def attenuation_mean(
    ratings: pd.DataFrame, own: Own, *, criterion: str = TOTAL, shown: str = "attributed", hidden: str = "anonymized",
    seed: int = resampling.SEED, draws: int = 9999,
) -> Estimate:  # fmt: skip
    """Mean over judges of the unrounded attenuation_pct of `name_effect`: 26.5 for the paper, which prints 25.8.

    A ratio has no simple law, so the interval is a percentile bootstrap over runs, redrawn within every cell. Judges
    without a direction (A = 0) have no ratio and are left out; one near 0 makes the interval very wide. For biases
    like the paper's it covers 94 % at nominal 95 %, missing almost always on the low side. Detail: `judges` with their
    own percentages, and `left_out`.
    """
    method = "mean of 100 (1 - |B| / |A|), percentile bootstrap over runs within cells"
    pairs = _self_bias_pairs(ratings, own, criterion, (shown, hidden))
    kept = {j: pair for j, pair in pairs.items() if all(e.defined for e in pair) and abs(pair[0].value) > ZERO}
    if not kept:
        return undefined("attenuation", "no judge with a self-bias to attenuate", method=method)
    each = {judge: _attenuation(a.value, b.value) for judge, (a, b) in kept.items()}
    a, b = (_redrawn_self_bias(ratings, own, criterion, c, list(kept), seed, draws) for c in (shown, hidden))
    with np.errstate(divide="ignore", invalid="ignore"):
        redrawn = np.mean(100 * (1 - np.abs(b) / np.abs(a)), axis=1)
    law = resampling.percentile(math.fsum(each.values()) / len(each), redrawn)
    return estimated(
        "attenuation", law.value, law, unit="%", method=method, seed=seed, note=RUNS_ONLY,
        n=sum(e.n for pair in kept.values() for e in pair),
        n_excluded=sum(e.n_excluded for pair in kept.values() for e in pair),
        detail={
            "judges": {judge: number(value) for judge, value in each.items()},
            "left_out": [judge for judge in pairs if judge not in kept],
        },
    )  # fmt: skip


# --------------------------------------------------------------------------- weights


def _deviation(cells: Cells) -> Floats:
    weights = _against_peers(cells)
    values = [
        [cells.contrast(weights(i, j)).value for j in range(len(cells.targets))] for i in range(len(cells.judges))
    ]
    return np.array(values, dtype=float)


def _against_peers(cells: Cells) -> Callable[[int, int], Floats]:
    """Weights of Bias(i, j): 1 on the judge's own cell, -1 / (n - 1) on each peer's."""

    def weights(i: int, j: int) -> Floats:
        w = cells.zeros()
        w[:, j] = -1 / (len(cells.judges) - 1)
        w[i, j] = 1.0
        return w

    return weights


def _self_weights(cells: Cells, judge: str, own: Own) -> Floats:
    return _against_peers(cells)(cells.row(judge), cells.column(own[judge]))


def _leniency_weights(cells: Cells, judge: str, own: Own) -> Floats | str:
    others = [j for j, target in enumerate(cells.targets) if target != own.get(judge)]
    if not others:
        return "no target that is not its own"
    i, weights = cells.row(judge), _against_peers(cells)
    mean: Floats = np.mean([weights(i, j) for j in others], axis=0)
    return mean


# --------------------------------------------------------------------------- families


def _family(
    ratings: pd.DataFrame,
    criterion: str,
    metric: str,
    by: tuple[str, ...],
    subjects: Callable[[Cells], Iterable[tuple[str, ...]]],
    weights: Callable[[Cells, tuple[str, ...]], Floats | str],
) -> Estimates:
    """One contrast per subject and condition; a text instead of weights says why there is none."""
    found: dict[tuple[str, ...], Estimate] = {}
    for condition in conditions_of(ratings):
        cells = cells_of(ratings, criterion, condition)
        alone = len(cells.judges) < 2
        if not alone:
            cells.require_complete("a consensus")
        for names in subjects(cells):
            chosen = ONE_JUDGE if alone else weights(cells, names)
            found[(*names, condition)] = (
                undefined(metric, chosen, n=int(cells.runs.sum()), method=WELCH)
                if isinstance(chosen, str)
                else cells.estimate(metric, chosen)
            )
    return Estimates((*by, "condition"), found)


def _authors(own: Own) -> Callable[[Cells], Iterable[tuple[str]]]:
    """The judges that wrote a target; `RecuseError` where one, or its target, is not in the ratings."""

    def subjects(cells: Cells) -> Iterable[tuple[str]]:
        for judge, target in own.items():
            cells.row(judge), cells.column(target)
        return [(judge,) for judge in own]

    return subjects


def _self_bias_pairs(
    ratings: pd.DataFrame, own: Own, criterion: str, conditions: tuple[str, str]
) -> dict[str, tuple[Estimate, Estimate]]:
    missing = [c for c in conditions if c not in conditions_of(ratings)]
    if missing:
        nothing = undefined("self_bias", f"nothing was asked under condition {' and '.join(missing)}", method=WELCH)
        return dict.fromkeys(own, (nothing, nothing))
    found = self_bias(ratings[ratings["condition"].isin(conditions)], own, criterion=criterion)
    a, b = conditions
    return {judge: (found.of(judge=judge, condition=a), found.of(judge=judge, condition=b)) for judge in own}


def _name_effect(a: Estimate, b: Estimate) -> Estimate:
    if not (a.defined and b.defined):
        worse = a if not a.defined else b
        return undefined("name_effect", worse.note.removeprefix("undefined: "), n=a.n + b.n, method=WELCH)
    assert isinstance(a.distribution, distributions.Student)
    assert isinstance(b.distribution, distributions.Student)
    directed = abs(a.value) > ZERO and abs(b.value) > ZERO
    detail = {
        "attributed": number(a.value),
        "anonymized": number(b.value),
        "attenuation_pct": number(_attenuation(a.value, b.value)) if abs(a.value) > ZERO else None,
        "direction_kept": (a.value > 0) == (b.value > 0) if directed else None,
    }
    law = a.distribution.minus(b.distribution)
    return estimated(
        "name_effect", law.value, law, n=a.n + b.n, n_excluded=a.n_excluded + b.n_excluded, unit="points",
        method=WELCH, note=RUNS_ONLY, detail=detail,
    )  # fmt: skip


def _attenuation(a: float, b: float) -> float:
    return 100 * (1 - abs(b) / abs(a))


def _redrawn_self_bias(
    ratings: pd.DataFrame, own: Own, criterion: str, condition: str, judges: list[str], seed: int, draws: int
) -> Floats:
    """Self-biases of `judges` on resampled runs; shape (draws, judges)."""
    cells = cells_of(ratings, criterion, condition)
    flat = [cell for row in cells.scores for cell in row]
    means = resampling.resampled_means(flat, resampling.generator(seed, "attenuation", condition), draws)
    weights = np.column_stack([_self_weights(cells, judge, own).ravel() for judge in judges])
    redrawn: Floats = means @ weights
    return redrawn


def _shrinkage(naive: Floats, bias: Floats) -> float | None:
    """Least-squares factor between the two matrices; None where every bias is 0."""
    scale = float((bias**2).sum())
    return number(float((naive * bias).sum()) / scale) if scale > ZERO else None
