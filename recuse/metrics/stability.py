"""Score stability: how far a judge's score of one fixed text moves from run to run.

Merchant-risk paper, sec. 3.1, appendix D (SDs divide by n - 1) and appendix E.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from recuse.metrics.cells import Cells, Floats, cells_of, conditions_of
from recuse.metrics.consensus import TOTAL, Own, score_matrix
from recuse.metrics.estimates import RUNS_ONLY, estimated, number, undefined
from recuse.schema import Estimate, Estimates
from recuse.statistics.distributions import ChiSquareSD, FRatio
from recuse.statistics.power import observations_for_half_width

if TYPE_CHECKING:
    import pandas as pd

Subject = tuple[str, str]
BY = ("judge", "condition")

CHI_SQUARE = "pooled within-cell SD, chi-square interval, degrees of freedom adjusted for kurtosis"


def run_sd(ratings: pd.DataFrame, *, criterion: str = TOTAL) -> Estimates:
    """Pooled within-cell SD in points, by (judge, condition):

        sqrt(sum_j (R_j - 1) s2_j / sum_j (R_j - 1)),   df = sum_j (R_j - 1)

    over the judge's cells with two runs or more. The chi-square interval gives up degrees of freedom where scores have
    heavy tails or cells differ in spread (`effective_df`). With 5 targets and ten runs it covers 93 to 98 % at nominal
    95 % for normal, whole and five-score-mean runs, and 86 to 87 % where one run in twenty is an outlier and such runs
    make most of the spread; with scores taken as normal that would be 55 to 64 %.

    A judge that never moved has SD 0 and no interval: ten equal runs do not show that the eleventh is equal.
    Undefined where no cell has two runs.
    """
    return Estimates(BY, {subject: _run_sd(cells, i) for subject, cells, i in _judges(ratings, criterion)})


def cell_table(ratings: pd.DataFrame, own: Own) -> Estimates:
    """Mean and SD of every judge on every target, by (criterion, condition): the tables of appendix E. Each estimate is
    a `consensus.score_matrix`; a criterion that was never asked under a condition is left out."""
    found: dict[tuple[str, ...], Estimate] = {}
    for criterion, condition in ratings[["criterion", "condition"]].drop_duplicates().itertuples(index=False):
        found[(criterion, condition)] = score_matrix(ratings, own, condition=condition, criterion=criterion)
    return Estimates(("criterion", "condition"), found)


def repeat_reliability(
    ratings: pd.DataFrame, *, criterion: str = TOTAL, form: Literal["single", "mean"] = "single"
) -> Estimates:
    """Intraclass correlation of one-way random effects, targets x runs, by (judge, condition):

        single: ICC(1,1) = (MSB - MSW) / (MSB + (k - 1) MSW)    how well one run tells the targets apart
        mean:   ICC(1,k) = (MSB - MSW) / MSB                    how well the mean of k runs does

    MSB, MSW: mean squares between targets and between runs of a target. k: runs per target; where they differ,
    (N - sum R_j^2 / N) / (T - 1), and the F interval is approximate. Detail carries both forms, k and the mean squares.
    Shrout and Fleiss (1979), Psychological Bulletin 86, 420-428. The targets count as a sample of texts, so n is their
    number.

    Undefined for a constant judge: with no variance of either kind, reliability is 0/0. A judge whose runs never differ
    but whose targets do has ICC 1 and no interval; one whose target means are all equal has no ICC(1,k).
    """
    return Estimates(BY, {subject: _reliability(cells, i, form) for subject, cells, i in _judges(ratings, criterion)})


def runs_needed(ratings: pd.DataFrame, half_width: float, *, criterion: str = TOTAL, level: float = 0.95) -> Estimates:
    """Runs per target that bring the interval of one cell's mean to +- `half_width` points, by (judge, condition).

    Student's t with the judge's pooled SD; low and high are the runs needed at the ends of that SD's interval.
    Undefined for a judge that never moved: its spread is unknown, not 0.
    """
    spread = run_sd(ratings, criterion=criterion)
    return Estimates(BY, {subject: _needed(sd, half_width, level) for subject, sd in spread.items()})


def _judges(ratings: pd.DataFrame, criterion: str) -> Iterator[tuple[Subject, Cells, int]]:
    for condition in conditions_of(ratings):
        cells = cells_of(ratings, criterion, condition)
        yield from (((judge, condition), cells, i) for i, judge in enumerate(cells.judges))


def _run_sd(cells: Cells, i: int) -> Estimate:
    repeated = cells.runs[i] >= 2
    df = int((cells.runs[i][repeated] - 1).sum())
    n, excluded = int(cells.runs[i].sum()), int(cells.excluded[i].sum())
    if df == 0:
        return undefined("run_sd", "no target has two usable runs", n=n, n_excluded=excluded, method=CHI_SQUARE)
    weights = (cells.runs[i][repeated] - 1) / df
    sd = math.sqrt(math.fsum((weights * cells.variance[i][repeated]).tolist()))
    effective = effective_df([scores for scores in cells.scores[i] if len(scores) >= 2])
    return estimated(
        "run_sd", sd, ChiSquareSD(sd, effective), n=n, n_excluded=excluded, unit="points", method=CHI_SQUARE,
        note=RUNS_ONLY, detail={
            "by_target": {target: number(value) for target, value in zip(cells.targets, cells.sd[i], strict=True)},
            "df": df, "effective_df": number(effective),
        },
    )  # fmt: skip


def effective_df(cells: Sequence[Floats]) -> float:
    """Degrees of freedom of a pooled variance: min(df, 2 df / (gamma - (R - 3) / R)), df = N - J.

    gamma = N sum d^4 / (sum d^2)^2 is the kurtosis of deviations from the cell means, R = N / J the mean cell size. The
    variance of log s^2 is (gamma - (R - 3) / R) / df after Bonett (2006), Computational Statistics & Data Analysis 50,
    775-782; normal scores have about 2 / df. Never above df: short tails are not rewarded.
    """
    deviations = np.concatenate([scores - scores.mean() for scores in cells])
    n, df = len(deviations), len(deviations) - len(cells)
    squares = float((deviations**2).sum())
    if squares < 1e-20:
        return float(df)
    gamma, size = n * float((deviations**4).sum()) / squares**2, n / len(cells)
    return min(float(df), 2 * df / (gamma - (size - 3) / size))


def _reliability(cells: Cells, i: int, form: Literal["single", "mean"]) -> Estimate:
    method = f"one-way random effects ICC(1,{'1' if form == 'single' else 'k'}), F interval"
    groups = [scores for scores in cells.scores[i] if len(scores)]
    sizes = np.array([len(scores) for scores in groups], dtype=float)
    n, excluded = len(groups), int(cells.excluded[i].sum())
    if n < 2 or sizes.sum() <= n:
        why = "reliability needs two targets, and a target with two usable runs"
        return undefined("repeat_reliability", why, n=n, n_excluded=excluded, over="items", method=method)
    everything = np.concatenate(groups)
    if everything.max() - everything.min() < 1e-12:
        why = f"constant: all {len(everything)} runs gave {everything[0]:g}, so there is nothing to be reliable about"
        return undefined("repeat_reliability", why, n=n, n_excluded=excluded, over="items", method=method)
    within, between = _mean_squares(cells, i, sizes)
    if form == "mean" and between == 0:
        why = "all targets have the same mean, and ICC(1,k) divides by the variance between them"
        return undefined("repeat_reliability", why, n=n, n_excluded=excluded, over="items", method=method)
    k = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (n - 1)
    f = between / within if within > 0 else math.inf
    forms = {name: FRatio(f, n - 1, float(sizes.sum()) - n, float(k), name) for name in ("single", "mean")}
    law = forms[form]
    uneven = (
        ""
        if len(set(sizes.tolist())) == 1
        else "targets have different numbers of runs, so the interval is approximate"
    )
    return estimated(
        "repeat_reliability", law.icc(f), law, n=n, n_excluded=excluded, over="items", method=method, note=uneven,
        detail={
            "icc_single": number(forms["single"].icc(f)), "icc_mean": number(forms["mean"].icc(f)) if f > 0 else None,
            "runs_per_target": number(k), "ms_between": number(between), "ms_within": number(within),
        },
    )  # fmt: skip


def _mean_squares(cells: Cells, i: int, sizes: np.ndarray) -> tuple[float, float]:
    """MSW and MSB over the judge's targets that have runs."""
    asked = cells.runs[i] > 0
    means, variances = cells.mean[i][asked], np.nan_to_num(cells.variance[i][asked])
    total = math.fsum(sizes.tolist())
    within = math.fsum(((sizes - 1) * variances).tolist()) / (total - len(sizes))
    grand = math.fsum((sizes * means).tolist()) / total
    return within, math.fsum((sizes * (means - grand) ** 2).tolist()) / (len(sizes) - 1)


def _needed(sd: Estimate, half_width: float, level: float) -> Estimate:
    method = f"smallest R with t(R - 1) sd / sqrt(R) <= {half_width:g}"
    wanted = observations_for_half_width(sd.value, half_width, level=level) if sd.defined else None
    if wanted is None:
        why = (
            sd.note.removeprefix("undefined: ")
            if not sd.defined
            else "no run differs from another, so the spread is unknown"
        )
        return undefined("runs_needed", why, n=sd.n, n_excluded=sd.n_excluded, unit="runs", method=method)
    at = sd.at(level)
    ends = [observations_for_half_width(end, half_width, level=level) for end in (at.low, at.high)]
    low, high = (math.nan if end is None else float(end) for end in ends)
    return Estimate(
        metric="runs_needed", value=float(wanted), low=low, high=high, level=level, unit="runs", over="runs", n=sd.n,
        n_excluded=sd.n_excluded, method=method, note=RUNS_ONLY,
        detail={"sd": number(sd.value), "half_width": half_width},
    )  # fmt: skip
