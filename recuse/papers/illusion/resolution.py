"""Agreement of judges with each other at three resolutions: which target is better, which text, and by how much.

Averaging over many texts drowns what each judge sees in one of them, and the differences between systems do the rest.
Who ranks systems needs the first kind of agreement; who uses a judge's score of a single text (a filter, a reward) the
second, and who compares it with a fixed threshold the third. "Beyond the illusion of consensus" (paper 002, sec. 2.1
and 3.2) finds 0.99, 0.72 and 0.67, in mixed units; here all come from the same pairs of judges, items and criterion:

    model level    Spearman's rho over targets of the judges' means
    sample level   Pearson's r over items, target by target, averaged
    absolute       ICC(2,1) over items, target by target, averaged: one generous judge lowers it

Agreement of judges is no evidence that they are right: they may look at the same surface."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import special

from recuse.metrics.estimates import estimated, matrix, number, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.papers.illusion import judge_pairs
from recuse.papers.illusion.judge_pairs import Level, coefficient_of, common_items, shares_of_judge
from recuse.ratings import Ratings
from recuse.ratings.array import judges_array
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.coefficient import Coefficient
from recuse.statistics.agreement.coefficient_intervals import NoInterval
from recuse.statistics.agreement.icc import icc, mean_squares
from recuse.statistics.distributions import FisherZ

JACKKNIFE = "mean over pairs of judges and targets; jackknife over items, t"
OF_TARGETS = "mean over pairs of judges; Bonett and Wright's interval of one Spearman correlation over targets"
AVERAGED = (1, 2, 5, 10, 20, 50, 100)  # texts per target for which the correlation of two judges' averages is told


@measure(
    "model_agreement", "agreement on which target is better", ends=(-1, 1), bad="below", rank=610,
    below="ranks targets otherwise than its peers",
    reading="Spearman's rho over targets of two judges' mean scores, averaged over the other judges: 1 is the same "
    "order. It says nothing about single texts.",
)  # fmt: skip
@per_subject("judge", itself)
def model_agreement(part: Ratings) -> Iterator[Named]:
    """Mean over the other judges of Spearman's rho over targets of the two mean scores, by judge and factor level; each
    target by the items that both judged. The interval is over targets (other systems like these), for one pair of
    judges; the mean of several pairs varies less. (Noise of resampled items pulls every rho down: such an interval may
    miss the truth nearly always.) Undefined below three targets, or without another judge.

    >>> rows = "x a 1/1/1; x b 3/3/3; x c 2/2/2; y a 2/2/2; y b 4/4/4; y c 3/3/3"
    >>> model_agreement(example("judge target score", rows)).of(judge="x").value
    1.0
    """
    return _by_judge(part, "model_agreement", judge_pairs.model_agreement, OF_TARGETS)


@measure(
    "sample_agreement", "agreement on single texts", ends=(-1, 1), bad="below", rank=600,
    below="rates single texts otherwise than its peers",
    reading="Pearson's r of two judges over the texts of one target, averaged over targets and the other judges: 1 "
    "means that they put single texts in the same order, 0 that one tells nothing about the other.",
)  # fmt: skip
@per_subject("judge", itself)
def sample_agreement(part: Ratings) -> Iterator[Named]:
    """Mean over targets and the other judges of Pearson's r over a target's items, by judge and factor level (paper
    002, sec. 2.1; its two forms are `agreement_of_means` and `pooled_agreement`). Detail: a matrix of judges, the mean
    per target, and the mean by Fisher's z. Undefined with fewer than five common items per target, or where a judge
    gives every text of a target the same; such targets are left out and counted.

    >>> round(sample_agreement(example("judge score", "x 0/1/2/3/4; y 1/2/3/4/5")).of(judge="x").value, 4)
    1.0
    """
    return _by_judge(part, "sample_agreement", judge_pairs.sample_agreement, JACKKNIFE)


@measure(
    "absolute_agreement", "same score for a single text", ends=(-1, 1), bad="below", rank=605,
    below="gives single texts other scores than its peers",
    reading="Intraclass correlation ICC(2,1) of two judges over the texts of one target, averaged over targets and the "
    "other judges. Below agreement on single texts where one judge is more generous or spreads its scores wider.",
)  # fmt: skip
@per_subject("judge", itself)
def absolute_agreement(part: Ratings) -> Iterator[Named]:
    """Mean over targets and the other judges of ICC(2,1) of the two judges over a target's items, by judge and factor
    level (Shrout and Fleiss 1979; paper 002, sec. 2.1). Detail and undefined cases as `sample_agreement`.

    >>> round(absolute_agreement(example("judge score", "x 0/1/2/3/4; y 1/2/3/4/5")).of(judge="x").value, 4)
    0.8333
    """
    return _by_judge(part, "absolute_agreement", judge_pairs.absolute_agreement, JACKKNIFE)


@measure(
    "panel_agreement", "the panel's agreement on single texts", ends=(-1, 1), bad="below", rank=595,
    below="does not give single texts the same scores",
    reading="Intraclass correlation ICC(2,1) of two of these judges over the texts of one target, averaged over "
    "targets and pairs. A panel whose scores are used text by text is to be validated text by text: that it ranks "
    "systems well says nothing about it.",
)  # fmt: skip
@per_subject((), itself)
def panel_agreement(part: Ratings) -> Estimate:
    """Mean over all pairs of judges and all targets of ICC(2,1) over a target's items, by factor level: what
    `absolute_agreement` says of one judge, of the panel, for the gate. Undefined as that.

    >>> round(panel_agreement(example("judge score", "x 0/1/2/3/4; y 1/2/3/4/5")).of().value, 4)
    0.8333
    """
    array = judges_array(part)
    shares = judge_pairs.all_pairs(array.means)
    coefficient = coefficient_of(shares, judge_pairs.absolute_agreement)
    return judge_pairs.estimate_of(
        "panel_agreement", coefficient, array, part.clusters, lambda value: {"judges": len(array.raters)},
        n=common_items(shares), n_excluded=judge_pairs.lost_texts(array), method=JACKKNIFE,
    )  # fmt: skip


@measure(
    "resolution_gap", "agreement lost between systems and single texts", signed=True, rank=615,
    reading="Agreement on which target is better less agreement on single texts. What averaging hides: a leaderboard "
    "may be sound while the scores of single texts are not.",
)  # fmt: skip
@per_subject((), itself)
def resolution_gap(part: Ratings) -> Estimate:
    """Mean rho over targets less mean r over texts, over all pairs of judges, by factor level (paper 002, sec. 3.2).
    Detail: `model`, `sample` and `absolute`; `ranking_noise` = model - sample and `offset` = sample - absolute;
    `panel_icc`, ICC(2,1) of all judges at once, averaged over targets; `pairs_differ`, whether some pairs of judges
    agree better; `averaged`: the correlation to expect between averages of m texts per target (`agreement_of_averages`;
    the paper's noise that averaging absorbs). Undefined below three targets or five common items per target.

    >>> x, y = "x a 0/1/2/1/1; x b 3/4/5/4/4; x c 6/7/8/7/7", "y a 1/1/0/1/2; y b 4/4/3/4/5; y c 7/7/6/7/8"
    >>> round(resolution_gap(example("judge target score", f"{x}; {y}")).of().value, 6)
    1.5
    """
    array = judges_array(part)
    shares = judge_pairs.all_pairs(array.means)
    levels = judge_pairs.model_agreement, judge_pairs.sample_agreement, judge_pairs.absolute_agreement
    model, sample, absolute = (coefficient_of(shares, level) for level in levels)
    units = judge_pairs.units_of(array, part.clusters)
    facts: dict[str, Any] = {"n": common_items(shares), "method": "mean over pairs of judges and targets", **units}
    if why := model.undefined or sample.undefined:
        return undefined("resolution_gap", why, **facts)
    averages = judge_pairs.agreement_of_averages(shares.sum(axis=0), AVERAGED)
    offset = Coefficient(sample.shares, lambda sums: sample.of(sums) - absolute.of(sums), lambda sums: "")
    # ICC(2,1) of all judges over the items that all rated, averaged over targets
    squares = mean_squares(np.moveaxis(array.means, 0, -1).swapaxes(0, 1))
    values = np.where(squares.n >= judge_pairs.FEWEST_ITEMS, icc(squares), np.nan)
    detail = {
        "model": number(model.value), "sample": number(sample.value), "absolute": number(absolute.value),
        "ranking_noise": number(model.value - sample.value), "offset": number(sample.value - absolute.value),
        "offset_interval": [number(end) for end in offset.jackknife(array.groups).interval(0.95)],
        "panel_icc": number(float(judge_pairs.mean_known(values[None])[0])),
        "averaged": [[m, number(r)] for m, r in zip(AVERAGED, averages, strict=True)],
        "pairs_differ": _pairs_differ(shares), "judges": len(array.raters), "targets": len(array.targets),
    }  # fmt: skip
    why = "items and targets both vary here, and no interval that was tried holds its level"
    return estimated("resolution_gap", model.value - sample.value, NoInterval(why), detail=detail, **facts)


def _by_judge(part: Ratings, metric: str, level: Level, method: str) -> Iterator[Named]:
    array = judges_array(part)
    count = len(array.raters)
    values = [level(shares_of_judge(array, place).sum(axis=0)) for place in range(count)] if count > 1 else []
    pairs = np.full((count, count), np.nan)
    for place, of in enumerate(values):  # averaged over targets
        pairs[place, np.arange(count) != place] = of if of.ndim == 1 else judge_pairs.mean_known(of[:, None])
    for place, judge in enumerate(array.raters):
        shares = shares_of_judge(array, place)
        coefficient = coefficient_of(shares, level)
        facts: dict[str, Any] = {
            "n": common_items(shares), "n_excluded": judge_pairs.lost_texts(array, place), "method": method,
            "detail": matrix(array.raters, array.raters, pairs, {}),
        }  # fmt: skip
        if values and values[place].ndim == 2:  # of each target, not of their order
            of, known = values[place], np.isfinite(values[place])
            each = judge_pairs.mean_known(np.moveaxis(of, 0, -1)[:, None])
            fisher = np.tanh(judge_pairs.mean_known(np.arctanh(np.clip(of, -1 + 1e-12, 1 - 1e-12))[None])[0])
            facts["detail"] |= {
                "by_target": {t: number(v) for t, v in zip(array.targets, each, strict=True)},
                "cells": int(known.sum()), "undefined_cells": int((~known).sum()), "fisher": number(float(fisher)),
            }  # fmt: skip
        if level is not judge_pairs.model_agreement:
            yield judge, judge_pairs.estimate_of(metric, coefficient, array, part.clusters, **facts)
            continue
        targets = int((shares[..., 0] > 0).any(axis=(0, 1)).sum())
        facts |= {"over": "clusters", "clusters": "targets", "n_clusters": targets}
        if coefficient.undefined:
            yield judge, undefined(metric, coefficient.undefined, **facts)
        else:
            yield judge, estimated(metric, coefficient.value, FisherZ(coefficient.value, targets), **facts)


def _pairs_differ(shares: Floats) -> dict[str, float | None]:
    """Whether some pairs of judges agree better than others: F of a one-way analysis of variance with repeated measures
    over targets, which all pairs share (the paper takes them as independent), and its p. None where nothing varies."""
    cells = judge_pairs.sample_agreement(shares.sum(axis=0)).T
    targets, pairs = np.isfinite(cells).all(axis=1).sum(), cells.shape[1]
    df, rest = max(pairs - 1, 0), max((targets - 1) * (pairs - 1), 0)
    squares = mean_squares(cells) if df and rest else None
    f = float(squares.raters / squares.rest) if squares and squares.rest > 0 else math.nan
    return {"f": number(f), "df": df, "df_rest": int(rest), "p": number(float(special.fdtrc(df, rest, f)))}
