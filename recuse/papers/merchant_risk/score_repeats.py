"""Spread over repeats, reliability and means of every judge and target: merchant-risk paper, sec. 3.1 and the tables of
appendices D (SDs divide by n - 1) and E. Intervals (Nair 1936, Hoeffding 1948) are in `repeat_noise`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from recuse.metrics.estimates import THESE_TEXTS, estimated, losses, matrix, undefined
from recuse.metrics.measure import itself, measure, per_judge, per_subject
from recuse.papers.merchant_risk.repeat_noise import FixedTexts, Repeats, mean_difference, noise_of
from recuse.ratings import Cells, Ratings
from recuse.schema import Estimate, Estimates, RecuseError, number
from recuse.statistics.clusters import contrast
from recuse.statistics.paired import fewest

SINGLE = "no text has two usable repeats"


@measure(
    "repeat_difference", "difference between repeats", above="is unsteady", rank=200,
    reading="How far two of a judge's answers to one text lie apart, on average over all pairs of answers.",
)  # fmt: skip
@per_judge(lambda part, ratings: part.cells())
def repeat_difference(cells: Cells, i: int) -> Estimate:
    """Gini's mean difference of a judge's answers to one text, by judge and factor level:

        sum_u (R_u - 1) G_u / sum_u (R_u - 1),   G_u = mean of |x_a - x_b| over all pairs of the text's R_u answers

    over the judge's texts with two repeats or more; 1.13 SDs where scores are normal. The interval (`MeanDifference`)
    is over repeats of these texts, 93.5 to 97 % at nominal 95 % for normal, whole, crowded, skewed, rarely slipping and
    heavy-tailed scores (`python tests/benchmarks/coverage.py spread`). A judge that never moved has 0 and an upper end
    above it. Undefined where no text has two repeats.

    >>> round(repeat_difference(example("repeat score", "0 1; 1 3; 2 1")).of(judge="j").value, 3)
    1.333
    """
    distribution = mean_difference(Repeats(*cells.repeats(i)), cells.step, cells.scale.span)
    about: dict[str, Any] = {
        "n": int(cells.count[i].sum()), "n_excluded": int(cells.lost[i].sum()), "over": "repeats",
        "method": "mean difference of repeats, t on its logarithm, corrected for skewness, one slip allowed for",
    }  # fmt: skip
    if math.isnan(distribution.value):
        return undefined("repeat_difference", SINGLE, **about)
    return estimated(
        "repeat_difference", distribution.value, distribution, unit=cells.scale.unit, span=cells.scale.span,
        note=THESE_TEXTS, detail=_losses(cells, i), **about,
    )  # fmt: skip


def _losses(cells: Cells, i: int) -> dict[str, Any]:
    """A lost repeat may have been anywhere on the scale: at the text's median, or at the end of the scale that is
    farther from the text's mean; of several lost ones half may have been at either end."""
    if not cells.lost[i].any():
        return {}
    r, lost = cells.count[i], cells.lost[i]
    apart, least, most = (np.zeros(len(r)) for _ in range(3))
    for u, scores in Repeats(*cells.repeats(i)).by_size():
        if scores.size:
            apart[u] = np.abs(scores[:, :, None] - scores[:, None, :]).sum(axis=(1, 2)) / 2
            u, scores = u[lost[u] > 0], scores[lost[u] > 0]
            least[u] = np.abs(scores - np.median(scores, axis=1, keepdims=True)).sum(axis=1)
            most[u] = np.max([np.abs(scores - end).sum(axis=1) for end in cells.scale.ends], axis=0)
    total = r + lost
    used = total > 1
    df = float((total[used] - 1).sum())
    lowest, highest = (
        float((2 * all_apart[used] / total[used]).sum() / df) if df else math.nan
        for all_apart in (apart + lost * least, apart + lost * most + lost**2 // 4 * cells.scale.span)
    )
    middle = float(np.median(cells.mean[i][r > 0])) if (r > 0).any() else 0.0
    upper = cells.mean[i] > middle
    sides = {
        name: (int(lost[side].sum()), int(total[side].sum()))
        for name, side in (("high texts", upper), ("low texts", ~upper))
    }
    return losses(sides, (lowest, highest))


@measure(
    "run_sd", "spread over repeats", rank=205,
    reading="How far a judge's score of one text moves when it is asked again: SD over repeats, pooled over texts.",
)  # fmt: skip
@per_judge(lambda part, ratings: part.cells())
def run_sd(cells: Cells, i: int) -> Estimate:
    """Pooled within-text SD, by judge and factor level:

        sqrt(sum_u (R_u - 1) s2_u / sum_u (R_u - 1)),   df = sum_u (R_u - 1)

    over the judge's texts with two repeats or more. Without an interval (`repeat_noise`): `repeat_difference` is the
    measure to gate. Undefined where no text has two repeats.

    >>> round(run_sd(example("repeat score", "0 1; 1 3")).of(judge="j").value, 3)
    1.414
    """
    count = cells.count[i]
    df = np.maximum(count - 1, 0)
    about = dict[str, Any](
        n=int(count.sum()), n_excluded=int(cells.lost[i].sum()), over="repeats", method="pooled within-text SD"
    )
    if not df.any():
        return undefined("run_sd", SINGLE, **about)
    weights = df[count > 1] / df.sum()
    squares, by_target = np.nan_to_num(cells.squares[i]), {}
    for k, target in enumerate(cells.target_names):
        here = cells.targets == k
        by_target[target] = number(math.sqrt(squares[here].sum() / df[here].sum())) if df[here].any() else None
    return Estimate(
        metric="run_sd", value=math.sqrt(math.fsum((weights * cells.variance[i][count > 1]).tolist())),
        unit=cells.scale.unit, span=cells.scale.span, detail={"by_target": by_target, "df": int(df.sum())},
        note="no interval of an SD holds where scores have heavy tails: repeat_difference has one", **about,
    )  # fmt: skip


def cell_table(ratings: Ratings) -> Estimates:
    """Mean and SD of every judge on every target, by factor level and criterion: the tables of appendix E. Each
    estimate is a `score_matrix`, of every criterion of the table that can be averaged."""
    every = tuple(name for name in ratings.criteria if ratings.scales[name].counts)
    return score_matrix(ratings.with_criterion(*every))


@measure(
    "repeat_reliability", "repeat reliability", ends=(-1, 1), below="is unsteady", rank=210,
    reading="How well a judge's scores tell the texts apart, beyond its own noise: an intraclass correlation.",
)  # fmt: skip
@per_judge(lambda part, ratings: part.cells())
def repeat_reliability(cells: Cells, i: int) -> Estimate:
    """How well one repeat tells the texts apart: intraclass correlation of one-way random effects, texts x repeats, by
    judge and factor level (Shrout and Fleiss 1979, Psychological Bulletin 86, 420-428):

        ICC(1,1) = (MSB - MSW) / (MSB + (k - 1) MSW)

    MSB, MSW: mean squares between texts and between repeats of a text. k: repeats per text; where they differ, (N - sum
    R_u^2 / N) / (U - 1), and the interval is approximate; below two it lets the value fall under -1, which is told as
    -1. The interval is over repeats of these texts (`FixedTexts`); over new ones none covers unless texts are normal.
    Detail: k, the mean squares, and `icc_mean`, ICC(1,k) = (MSB - MSW) / MSB of the mean of k repeats, which is
    reliable whatever the judge where they are enough. Undefined for a constant judge (0/0). A judge whose repeats never
    differ but whose texts do has ICC 1 and a lower end below it, from the slips that its repeats cannot rule out.

    >>> round(repeat_reliability(example("item repeat score", "i 0 1; i 1 2; k 0 4; k 1 5")).of(judge="j").value, 4)
    0.8947
    """
    everything, sizes = given = Repeats(*cells.repeats(i)).from_size(1)
    n = len(sizes)
    about: dict[str, Any] = {
        "n": int(sizes.sum()), "n_excluded": int(cells.lost[i].sum()), "over": "repeats",
        "method": "one-way ICC(1,1), noncentral F interval, texts fixed",
    }  # fmt: skip
    if n < 2 or sizes.sum() <= n:
        why = "reliability needs two texts, and a text with two usable repeats"
        return undefined("repeat_reliability", why, **about)
    if np.ptp(everything) < 1e-12:
        why = f"constant: all {len(everything)} repeats gave {everything[0]:g}"
        return undefined("repeat_reliability", f"{why}, so there is nothing to be reliable about", **about)
    rated, total = cells.count[i] > 0, float(sizes.sum())
    means, squares = cells.mean[i][rated], np.nan_to_num(cells.squares[i][rated])
    within = math.fsum(squares.tolist()) / (total - n)
    grand = math.fsum((sizes * means).tolist()) / total
    between = math.fsum((sizes * (means - grand) ** 2).tolist()) / (n - 1)
    k = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (n - 1)
    f = between / within if within > 0 else math.inf
    noise = noise_of(given.from_size(2))
    distribution = FixedTexts(f, n, noise, float(k), between=between / float(k), step=cells.step, n=int(sizes.sum()))
    single, mean = (max((f - 1) / (f + k - 1), -1.0), 1 - 1 / f if f > 0 else math.nan) if f < math.inf else (1.0, 1.0)
    uneven = bool(np.ptp(sizes) > 0)
    detail = {
        "icc_single": number(single), "icc_mean": number(mean), "texts": n,
        "repeats_per_text": number(k), "ms_between": number(between), "ms_within": number(within),
    }  # fmt: skip
    note = THESE_TEXTS + ("; texts have different numbers of repeats, so the interval is approximate" if uneven else "")
    return estimated("repeat_reliability", float(single), distribution, note=note, detail=detail, **about)


@measure(
    "runs_needed", "repeats needed", unit="repeats",
    reading="Repeats per text that would give its mean to the wanted precision.",
)  # fmt: skip
def runs_needed(ratings: Ratings, half_width: float | None = None, level: float = 0.95) -> Estimates:
    """Repeats per text that bring the interval of one text's mean to +- `half_width`, by judge and factor level;
    without it to a hundredth of the scale of each criterion. Student's t with the judge's pooled SD, which has no
    interval, so that neither have they. Undefined for a judge that never moved: its spread is unknown, not 0.

    >>> runs_needed(example("item repeat score", "i 0 1; i 1 2; k 0 4; k 1 5"), half_width=1.0).of(judge="j").value
    5.0
    """
    spread, needed = run_sd(ratings), {}
    for subject, sd in spread.items():
        half = half_width or (sd.span or 1.0) / 100
        about: dict[str, Any] = {
            "n": sd.n, "n_excluded": sd.n_excluded, "unit": "repeats", "over": "repeats",
            "method": f"smallest R with t(R - 1) sd / sqrt(R) <= {half:g}",
        }  # fmt: skip
        if wanted := observations_for_half_width(sd.value, half, level=level):
            detail = {"sd": number(sd.value), "half_width": half}
            needed[subject] = Estimate(
                metric="runs_needed", value=float(wanted), level=level, note=THESE_TEXTS, detail=detail, **about
            )
        else:
            why = "no repeat differs from another, so the spread is unknown" if sd.defined else SINGLE
            needed[subject] = undefined("runs_needed", why, **about)
    return Estimates(spread.by, needed)


@measure("score_matrix", "mean scores", counts=True, reading="Mean score of every judge on every target.")
@per_subject((), itself)
def score_matrix(part: Ratings) -> Estimate:
    """Mean score of every judge on every target (paper, Fig. 6), by factor level, as detail `values` with `n` usable
    scores per cell and, where every target has one text, `sd` over repeats. The value is the mean of all cells. Cells
    without a usable score are empty and leave the value undefined.

    >>> score_matrix(example("judge target score", "a t 1; b t 3")).of().value
    2.0
    """
    cells = part.cells()
    each_target = [cells.targets == t for t in range(len(cells.target_names))]
    counts = np.array([[cells.replies(row * texts) for texts in each_target] for row in cells.count], dtype=float)
    sd = {"sd": cells.by_target(np.sqrt(cells.variance))} if cells.fixed else {}
    means = cells.by_target(cells.mean)
    detail = matrix(cells.judges, cells.target_names, means, part.own(), criterion=cells.criterion, n=counts, **sd)
    about: dict[str, Any] = {
        "n": cells.replies(cells.count), "n_excluded": cells.replies(cells.lost), "unit": cells.scale.unit,
        "method": "mean of the judge x target means", "over": cells.over, "detail": detail,
    }  # fmt: skip
    if not counts.all():
        return undefined("score_matrix", "a judge has no usable score of some target", **about)
    if cells.fixed:
        weights = np.full(cells.mean.shape, 1 / cells.mean.size)
        distribution = contrast(weights, cells.mean, cells.variance, cells.count, thirds=cells.cubes, step=cells.step)
        return estimated("score_matrix", distribution.value, distribution, note=THESE_TEXTS, **about)
    return Estimate(metric="score_matrix", value=float(means.mean()), note="a mean of means, no interval", **about)


def observations_for_half_width(sd: float, half_width: float, *, level: float = 0.95) -> int | None:
    """Smallest n, 2 or more, with t((1 + level) / 2, n - 1) sd / sqrt(n) <= half_width: items, or runs of one cell.
    None where `sd` is 0 or unknown (a spread never seen cannot be planned with), and beyond 10^9. `RecuseError` for a
    half-width that is not above 0."""
    if not half_width > 0:
        raise RecuseError(f"a wanted half-width is a number above 0, in the unit of the scores; got {half_width!r}")
    if not sd > 0:
        return None
    t = (1 + level) / 2
    return fewest(lambda n: float(special.stdtrit(n - 1, t)) * sd / math.sqrt(n) <= half_width, 1, 10**9)
