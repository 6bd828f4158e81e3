"""Score stability: how far a judge's score of one text moves when it is asked again.

Merchant-risk paper, sec. 3.1, appendix D (SDs divide by n - 1) and appendix E.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import THESE_TEXTS, estimated, number, undefined
from recuse.metrics.losses import losses
from recuse.metrics.measure import measure
from recuse.metrics.score_matrix import score_matrix
from recuse.ratings import Cells, Ratings
from recuse.schema import Estimate, Estimates
from recuse.statistics.power import observations_for_half_width
from recuse.statistics.spread_distributions import ChiSquareSD, FixedTexts, kurtosis_df

Floats = NDArray[np.float64]

CHI_SQUARE = "pooled within-text SD, chi-square interval with degrees of freedom by kurtosis and one slip allowed for"


@measure(
    "run_sd", "spread over repeats", above="is unsteady|are unsteady", rank=200,
    reading="How far a judge's score of one text moves when it is asked again: SD over repeats, pooled over texts.",
)  # fmt: skip
def run_sd(ratings: Ratings) -> Estimates:
    """Pooled within-text SD, by judge and factor level:

        sqrt(sum_u (R_u - 1) s2_u / sum_u (R_u - 1)),   df = sum_u (R_u - 1)

    over the judge's texts with two repeats or more. The chi-square interval gives up degrees of freedom where scores
    have heavy tails or texts differ in spread (`kurtosis_df`), and allows for one slip by a step more than was seen:
    a judge that never moved has SD 0 and an upper end above it (`ChiSquareSD`). What it covers is printed by
    `python tests/benchmarks/coverage.py spread`: with 5 texts and ten repeats 94 to 98 % at nominal 95 % for normal,
    whole, crowded and rarely slipping scores. Tails as heavy as Student's t with 3 degrees of freedom are beyond it (84
    %; the same holds for every other method tried): fifty scores do not show them.

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
    "repeat_reliability", "repeat reliability", ends=(-1, 1), below="is unsteady|are unsteady", rank=210,
    reading="How well a judge's scores tell the texts apart, beyond its own noise: an intraclass correlation.",
)  # fmt: skip
def repeat_reliability(ratings: Ratings, form: Literal["single", "mean"] = "single") -> Estimates:
    """Intraclass correlation of one-way random effects, texts x repeats, by judge and factor level:

        single: ICC(1,1) = (MSB - MSW) / (MSB + (k - 1) MSW)    how well one repeat tells the texts apart
        mean:   ICC(1,k) = (MSB - MSW) / MSB                    how well the mean of k repeats does

    MSB, MSW: mean squares between texts and between repeats of a text. k: repeats per text; where they differ,
    (N - sum R_u^2 / N) / (U - 1), and the interval is approximate. Detail carries both forms, k and the mean squares.
    Shrout and Fleiss (1979), Psychological Bulletin 86, 420-428. The single form is the one to gate: the mean of enough
    repeats is reliable whatever the judge.

    The interval is over repeats of these texts (`FixedTexts`). Over new texts there is none: a variance of five to a
    hundred texts has no interval that covers unless texts are normal (one bad text in ten: 33 to 96 % at nominal 95 %
    by F, jackknife or kurtosis-adjusted F).

    Undefined for a constant judge: with no variance of either kind, reliability is 0/0. A judge whose repeats never
    differ but whose texts do has ICC 1 and a lower end below it, from the slips that its repeats cannot rule out; one
    whose text means are all equal has no ICC(1,k).

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
    estimates = {
        (judge, *names): compute(part.cells(), i)
        for names, part in ratings.each()
        for i, judge in enumerate(part.cells().judges)
    }
    return Estimates(("judge", *ratings.within()), estimates)


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
    effective = _effective_df(cells, i, cells.step)
    distribution = ChiSquareSD(sd, effective, cells.step, int(cells.count[i][repeated].sum()), df)
    return estimated(
        "run_sd", sd, distribution, n=n, n_excluded=excluded, unit=cells.scale.unit, span=cells.scale.span,
        method=CHI_SQUARE, over="repeats", note=THESE_TEXTS, detail={
            "by_target": _by_target(cells, i), "df": df, "effective_df": number(effective), **_losses(cells, i),
        },
    )  # fmt: skip


def _losses(cells: Cells, i: int) -> dict[str, Any]:
    """A lost repeat may have been anywhere on the scale: between the SD of those that stayed, were it like them, and
    that with every lost one at the end that is farther from its text's mean."""
    if not cells.lost[i].any():
        return {}
    m, r, lost = np.nan_to_num(cells.mean[i], nan=cells.scale.ends[0]), cells.count[i], cells.lost[i]
    far = np.maximum(*(np.abs(m - end) for end in cells.scale.ends))
    total = r + lost
    with np.errstate(invalid="ignore", divide="ignore"):
        extra = np.where(lost > 0, np.where(total > 0, r * lost / np.maximum(total, 1), 0.0) * far**2, 0.0)
    squares = float(np.nansum(cells.moments.squares[i]))
    df = float(np.maximum(total - 1, 0).sum())
    highest = math.sqrt((squares + float(extra.sum())) / df) if df else math.nan
    lowest = math.sqrt(squares / df) if df else math.nan
    middle = float(np.median(cells.mean[i][r > 0])) if (r > 0).any() else 0.0
    upper = cells.mean[i] > middle
    sides = {
        name: (int(lost[side].sum()), int(total[side].sum()))
        for name, side in (("high texts", upper), ("low texts", ~upper))
    }
    return losses(sides, (lowest, highest))


def _by_target(cells: Cells, i: int) -> dict[str, float | None]:
    """Pooled SD of the judge on each target."""
    squares, df = np.nan_to_num(cells.moments.squares[i]), np.maximum(cells.count[i] - 1, 0)
    estimates = {}
    for k, target in enumerate(cells.target_names):
        here = cells.targets == k
        estimates[target] = number(math.sqrt(squares[here].sum() / df[here].sum())) if df[here].sum() else None
    return estimates


def _effective_df(cells: Cells, i: int, step: float = 0.0) -> float:
    """`kurtosis_df` over the judge's texts with two repeats or more."""
    groups = [scores for scores in cells.scores[i] if len(scores) >= 2]
    deviations = np.concatenate([scores - scores.mean() for scores in groups])
    squares, fourths = float((deviations**2).sum()), float((deviations**4).sum())
    return kurtosis_df(squares, fourths, len(deviations), len(groups), step)


def _reliability(cells: Cells, i: int, form: Literal["single", "mean"]) -> Estimate:
    method = f"one-way ICC(1,{'1' if form == 'single' else 'k'}), noncentral F interval, texts fixed"
    groups = [scores for scores in cells.scores[i] if len(scores)]
    sizes = np.array([len(scores) for scores in groups], dtype=float)
    n, excluded = len(groups), int(cells.lost[i].sum())
    about: dict[str, Any] = {
        "n": int(sizes.sum()), "n_excluded": excluded, "over": "repeats", "method": method
    }  # fmt: skip
    if n < 2 or sizes.sum() <= n:
        why = "reliability needs two texts, and a text with two usable repeats"
        return undefined("repeat_reliability", why, **about)
    everything = np.concatenate(groups)
    if everything.max() - everything.min() < 1e-12:
        why = (
            f"constant: all {len(everything)} repeats gave {everything[0]:g}, so there is nothing to be reliable about"
        )
        return undefined("repeat_reliability", why, **about)
    within, between = _mean_squares(cells, i, sizes)
    if form == "mean" and between == 0:
        why = "all texts have the same mean, and ICC(1,k) divides by the variance between them"
        return undefined("repeat_reliability", why, **about)
    k = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (n - 1)
    f = between / within if within > 0 else math.inf
    noise = cells.variance[i][cells.count[i] > 1]
    unequal = float((noise**2).sum()) * (k - 1) / (k + 1)
    df_between = min(n - 1.0, max(1.0, (n - 1) / n * float(noise.sum()) ** 2 / unequal)) if unequal > 0 else n - 1.0
    distribution = FixedTexts(
        f, df_between, _effective_df(cells, i), float(k), form,
        between=between / float(k), step=cells.step, n=int(sizes.sum()),
    )  # fmt: skip
    single, mean = ((f - 1) / (f + k - 1), 1 - 1 / f if f > 0 else -math.inf) if f < math.inf else (1.0, 1.0)
    uneven = (
        ""
        if len(set(sizes.tolist())) == 1
        else "texts have different numbers of repeats, so the interval is approximate"
    )
    return estimated(
        "repeat_reliability", float(single if form == "single" else mean), distribution, n=int(sizes.sum()),
        n_excluded=excluded, over="repeats", method=method, note="; ".join(part for part in (THESE_TEXTS, uneven) if
        part), detail={
            "icc_single": number(single), "icc_mean": number(mean) if f > 0 else None, "texts": n,
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
