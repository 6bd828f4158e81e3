"""Score stability: how far a judge's score of one text moves when it is asked again.

Merchant-risk paper, sec. 3.1, appendix D (SDs divide by n - 1) and appendix E.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import THESE_TEXTS, estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.metrics.score_matrix import score_matrix
from recuse.ratings import Cells, Ratings
from recuse.schema import Estimate, Estimates
from recuse.statistics.power import observations_for_half_width
from recuse.statistics.spread_distributions import ChiSquareSD, FRatio

Floats = NDArray[np.float64]

CHI_SQUARE = "pooled within-text SD, chi-square interval, degrees of freedom adjusted for kurtosis"


@measure(
    "run_sd", "spread over repeats", above="is unsteady|are unsteady", rank=200,
    reading="How far a judge's score of one text moves when it is asked again: SD over repeats, pooled over texts.",
)  # fmt: skip
def run_sd(ratings: Ratings) -> Estimates:
    """Pooled within-text SD, by judge and factor level:

        sqrt(sum_u (R_u - 1) s2_u / sum_u (R_u - 1)),   df = sum_u (R_u - 1)

    over the judge's texts with two repeats or more. The chi-square interval gives up degrees of freedom where scores
    have heavy tails or texts differ in spread (`effective_df`). With 5 texts and ten repeats it covers 93 to 98 % at
    nominal 95 % for normal, whole and five-score-mean repeats, and 86 to 87 % where one repeat in twenty is an outlier
    and such repeats make most of the spread; with scores taken as normal that would be 55 to 64 %.

    A judge that never moved has SD 0 and no interval: ten equal repeats do not show that the eleventh is equal.
    Undefined where no text has two repeats.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"judge": "a", "item": "i", "target": "t", "repeat": [0, 1], "score": [1.0, 3.0]})
    >>> round(run_sd(Ratings.of(frame)).of(judge="a").value, 3)
    1.414
    """
    return _by_judge(ratings, _run_sd)


def cell_table(ratings: Ratings) -> Estimates:
    """Mean and SD of every judge on every target, by factor level and criterion: the tables of appendix E. Each
    estimate is a `score_matrix`, of every criterion of the table that can be averaged."""
    every = tuple(name for name in ratings.criteria if ratings.scales[name].counts)
    return score_matrix(ratings.with_criterion(*every))


@measure(
    "repeat_reliability", "repeat reliability", below="is unsteady|are unsteady", rank=210,
    reading="How well a judge's scores tell the texts apart, beyond its own noise: an intraclass correlation.",
)  # fmt: skip
def repeat_reliability(ratings: Ratings, form: Literal["single", "mean"] = "single") -> Estimates:
    """Intraclass correlation of one-way random effects, texts x repeats, by judge and factor level:

        single: ICC(1,1) = (MSB - MSW) / (MSB + (k - 1) MSW)    how well one repeat tells the texts apart
        mean:   ICC(1,k) = (MSB - MSW) / MSB                    how well the mean of k repeats does

    MSB, MSW: mean squares between texts and between repeats of a text. k: repeats per text; where they differ,
    (N - sum R_u^2 / N) / (U - 1), and the F interval is approximate. Detail carries both forms, k and the mean squares.
    Shrout and Fleiss (1979), Psychological Bulletin 86, 420-428. The texts count as a sample, so n is their number.

    Undefined for a constant judge: with no variance of either kind, reliability is 0/0. A judge whose repeats never
    differ but whose texts do has ICC 1 and no interval; one whose text means are all equal has no ICC(1,k).

    >>> import pandas as pd
    >>> rows = [("i", 0, 1), ("i", 1, 2), ("j", 0, 4), ("j", 1, 5)]
    >>> frame = pd.DataFrame(rows, columns=["item", "repeat", "score"]).assign(judge="a")
    >>> round(repeat_reliability(Ratings.of(frame)).of(judge="a").value, 4)
    0.8947
    """
    return _by_judge(ratings, lambda cells, i: _reliability(cells, i, form))


@measure(
    "runs_needed",
    "repeats needed",
    unit="repeats",
    reading="Repeats per text that would give its mean to the wanted precision.",
)
def runs_needed(ratings: Ratings, half_width: float, level: float = 0.95) -> Estimates:
    """Repeats per text that bring the interval of one text's mean to +- `half_width`, by judge and factor level.

    Student's t with the judge's pooled SD; low and high are the repeats needed at the ends of that SD's interval.
    Undefined for a judge that never moved: its spread is unknown, not 0.

    >>> import pandas as pd
    >>> rows = [("i", 0, 1), ("i", 1, 2), ("j", 0, 4), ("j", 1, 5)]
    >>> frame = pd.DataFrame(rows, columns=["item", "repeat", "score"]).assign(judge="a")
    >>> runs_needed(Ratings.of(frame), half_width=1.0).of(judge="a").value
    5.0
    """
    spread = run_sd(ratings)
    return Estimates(spread.by, {subject: _needed(sd, half_width, level) for subject, sd in spread.items()})


def _by_judge(ratings: Ratings, compute: Callable[[Cells, int], Estimate]) -> Estimates:
    found = {
        (judge, *names): compute(part.cells(), i)
        for names, part in ratings.each()
        for i, judge in enumerate(part.cells().judges)
    }
    return Estimates(("judge", *ratings.within()), found)


def _run_sd(cells: Cells, i: int) -> Estimate:
    repeated = cells.count[i] >= 2
    df = int((cells.count[i][repeated] - 1).sum())
    n, excluded = int(cells.count[i].sum()), int(cells.lost[i].sum())
    if df == 0:
        return undefined(
            "run_sd", "no text has two usable repeats", method=CHI_SQUARE, over="repeats", n=n, n_excluded=excluded
        )
    weights = (cells.count[i][repeated] - 1) / df
    sd = math.sqrt(math.fsum((weights * cells.variance[i][repeated]).tolist()))
    effective = effective_df([scores for scores in cells.scores[i] if len(scores) >= 2])
    return estimated(
        "run_sd", sd, ChiSquareSD(sd, effective), n=n, n_excluded=excluded, unit=cells.scale.unit,
        span=cells.scale.span, method=CHI_SQUARE, over="repeats", note=THESE_TEXTS, detail={
            "by_target": _by_target(cells, i),
            "df": df, "effective_df": number(effective),
        },
    )  # fmt: skip


def _by_target(cells: Cells, i: int) -> dict[str, float | None]:
    """Pooled SD of the judge on each target."""
    squares, df = np.nan_to_num(cells.moments.squares[i]), np.maximum(cells.count[i] - 1, 0)
    found = {}
    for k, target in enumerate(cells.target_names):
        here = cells.targets == k
        found[target] = number(math.sqrt(squares[here].sum() / df[here].sum())) if df[here].sum() else None
    return found


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
    n, excluded = len(groups), int(cells.lost[i].sum())
    if n < 2 or sizes.sum() <= n:
        why = "reliability needs two texts, and a text with two usable repeats"
        return undefined("repeat_reliability", why, n=n, n_excluded=excluded, over="items", method=method)
    everything = np.concatenate(groups)
    if everything.max() - everything.min() < 1e-12:
        why = (
            f"constant: all {len(everything)} repeats gave {everything[0]:g}, so there is nothing to be reliable about"
        )
        return undefined("repeat_reliability", why, n=n, n_excluded=excluded, over="items", method=method)
    within, between = _mean_squares(cells, i, sizes)
    if form == "mean" and between == 0:
        why = "all texts have the same mean, and ICC(1,k) divides by the variance between them"
        return undefined("repeat_reliability", why, n=n, n_excluded=excluded, over="items", method=method)
    k = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (n - 1)
    f = between / within if within > 0 else math.inf
    forms = {name: FRatio(f, n - 1, float(sizes.sum()) - n, float(k), name) for name in ("single", "mean")}
    distribution = forms[form]
    uneven = (
        ""
        if len(set(sizes.tolist())) == 1
        else "texts have different numbers of repeats, so the interval is approximate"
    )
    return estimated(
        "repeat_reliability", distribution.icc(f), distribution, n=n, n_excluded=excluded, over="items", method=method,
        note=uneven,
        detail={
            "icc_single": number(forms["single"].icc(f)), "icc_mean": number(forms["mean"].icc(f)) if f > 0 else None,
            "repeats_per_text": number(k), "ms_between": number(between), "ms_within": number(within),
        },
    )  # fmt: skip


def _mean_squares(cells: Cells, i: int, sizes: np.ndarray) -> tuple[float, float]:
    """MSW and MSB over the judge's texts that have repeats."""
    asked = cells.count[i] > 0
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
            else "no repeat differs from another, so the spread is unknown"
        )
        return undefined(
            "runs_needed", why, n=sd.n, n_excluded=sd.n_excluded, unit="repeats", over="repeats", method=method
        )
    at = sd.at(level)
    ends = [observations_for_half_width(end, half_width, level=level) for end in (at.low, at.high)]
    low, high = (math.nan if end is None else float(end) for end in ends)
    return Estimate(
        metric="runs_needed", value=float(wanted), low=low, high=high, level=level, unit="repeats", over="repeats",
        n=sd.n,
        n_excluded=sd.n_excluded, method=method, note=THESE_TEXTS,
        detail={"sd": number(sd.value), "half_width": half_width},
    )  # fmt: skip
