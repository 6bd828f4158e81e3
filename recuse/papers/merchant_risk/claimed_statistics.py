"""Claimed statistics: can the means and SDs that a judge states for repeats it made in its head be right? Ratings of
kind "claimed_statistics" have criteria "<name>.mean" and "<name>.sd"; the headline's name is the final, which claims to
be the mean of the others. Merchant-risk paper, appendix C. `reported_statistics` knows decimals, and whether any scores
could have a mean and an SD."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import number, undefined
from recuse.metrics.measure import measure
from recuse.papers.merchant_risk import reported_statistics as reported
from recuse.ratings import Numeric, Ratings
from recuse.schema import Estimate, Estimates, RatingsError
from recuse.schema.arrays import Floats
from recuse.schema.pandas_when_used import pd

MEAN, SD = ".mean", ".sd"


@measure(
    "self_reported_final", "final scores that do not follow", rank=330, unit="share",
    above="reports finals that do not add up",
    reading="Share of claimed finals that are not the mean of the claimed means, beyond rounding.",
)  # fmt: skip
def self_reported_final(ratings: Ratings) -> Estimates:
    """By judge and factor level; Clopper-Pearson over calls. A claimed final within half a unit of its last decimal of
    the mean of the claimed means is "exact", within another half unit of the means' (rounded before they were averaged)
    "within_rounding", else "inconsistent", which counts. Detail: `checked`, `follow`, `wrong`, `offenders`, all
    `verdicts`. Undefined where no reply has all of them.

    >>> claimed = example("criterion score", "x.mean 8; y.mean 9; final.mean 9.2", headline=["final.mean"])
    >>> self_reported_final(claimed).of(judge="j").value
    1.0
    """
    wanted = [*(f"{name}{MEAN}" for name in _claimed(ratings)), ratings.criterion]
    return reported.what_does_not_follow(
        "self_reported_final", ratings, wanted, _finals, "no reply has all means and a final",
        "share of finals beyond the rounding of final and means, Clopper-Pearson",
    )  # fmt: skip


@measure(
    "self_reported_mean", "impossible means", rank=320, unit="share", above="reports means no scores have",
    reading="Share of claimed means that no scores on the scale's steps can have.",
)  # fmt: skip
def self_reported_mean(ratings: Ratings, repeats: int = 10, step: float | None = None) -> Estimates:
    """Share of claimed means that no `repeats` scores have (GRIM; Brown and Heathers 2017), by judge and factor level;
    of ten whole scores every tenth passes. Scores lie on the claimed mean's scale, in units of `step`: the scale's own,
    or 1. No interval: means of one reply hang together. Detail: `checked`, `follow`, `wrong`, `offenders` (target,
    criterion, what was reported). Undefined where nothing usable was reported.

    >>> claimed = example("criterion score", "x.mean 8.25; f.mean 8.25", scales=Numeric(0, 10), headline=["f.mean"])
    >>> self_reported_mean(claimed).of(judge="j").value
    1.0
    """
    return _on_grid(ratings, (MEAN,), repeats, step, ddof=1)


@measure(
    "self_reported_sd", "impossible standard deviations", rank=340, unit="share",
    above="reports spreads no scores have",
    reading="Share of claimed SDs that no scores with the claimed mean can have.",
)  # fmt: skip
def self_reported_sd(ratings: Ratings, repeats: int = 10, step: float | None = None, ddof: int = 1) -> Estimates:
    """Share of claimed SDs that no `repeats` scores with the stated mean have (GRIMMER), by judge and factor level;
    ddof = 1 is the sample SD, 0 the population SD. Grid, detail and undefined case as for `self_reported_mean`. SDs of
    the final are not tested: it is a mean of several, on a finer grid.

    >>> claimed = example("criterion score", "x.mean 9; x.sd .2; f.mean 9", scales=Numeric(0, 10), headline=["f.mean"])
    >>> self_reported_sd(claimed).of(judge="j").value
    1.0
    """
    return _on_grid(ratings, (MEAN, SD), repeats, step, ddof)


def _claimed(ratings: Ratings) -> list[str]:
    """The names that claim a mean, without the final."""
    if not ratings.criterion.endswith(MEAN):
        raise RatingsError(
            f"the headline of claimed statistics is a claimed mean, <name>{MEAN}; got {ratings.criterion}"
        )
    names = [name.removesuffix(MEAN) for name in ratings.criteria if name.endswith(MEAN) and name != ratings.criterion]
    if not names:
        raise RatingsError(f"no claimed means (<name>{MEAN}) beside {ratings.criterion}")
    return names


def _finals(final: Floats, means: Floats, targets: NDArray[np.object_]) -> dict[str, Any]:
    computed = means.mean(axis=1)
    strict = reported.half_unit(reported.printed_decimals(final)) + reported.EPSILON
    rounding = reported.half_unit(reported.printed_decimals(means.ravel())).reshape(means.shape).mean(axis=1)
    off = np.abs(final - computed)
    verdict = np.where(off <= strict, "exact", np.where(off <= strict + rounding, "within_rounding", "inconsistent"))
    rows = zip(targets, final.tolist(), computed, verdict.tolist(), strict=True)
    verdicts = [
        {
            "target": target, "final": stated, "mean_of_criteria": number(mean), "difference": number(stated - mean),
            "verdict": word,
        }
        for target, stated, mean, word in rows
    ]  # fmt: skip
    bad = [entry for entry in verdicts if entry["verdict"] == "inconsistent"]
    return {"checked": len(final), "follow": len(final) - len(bad), "wrong": len(bad), "offenders": bad,
            "verdicts": verdicts}  # fmt: skip


class Grid(NamedTuple):
    """The repeats a judge claims, and the grid its scores lie on."""

    repeats: int
    ends: tuple[float, float]
    step: float
    ddof: int


def _on_grid(ratings: Ratings, parts: tuple[str, ...], repeats: int, step: float | None, ddof: int) -> Estimates:
    grids = {}
    for name in _claimed(ratings):
        scale = ratings.scales[f"{name}{MEAN}"]
        if not isinstance(scale, Numeric):
            raise RatingsError(f"claimed means are numbers; {name}{MEAN} has {scale}")
        grids[name] = Grid(repeats, scale.ends, step or scale.step or 1.0, ddof)
    names, wanted = list(grids), [f"{name}{part}" for name in grids for part in parts]
    of_these = f"that no {repeats} scores in steps of {grids[names[0]].step:g}"
    metric, method = "self_reported_mean", f"share of means {of_these} have (GRIM)"
    if SD in parts:
        divisor = "n - 1" if ddof else "n"
        metric, method = "self_reported_sd", f"share of SDs {of_these} with the stated mean have (divisor {divisor})"

    def attained(replies: pd.DataFrame) -> Estimate:
        claims = replies[wanted].to_numpy(dtype=float).reshape(len(replies), len(names), len(parts))
        known = np.isfinite(claims).all(axis=2)  # (replies, names)
        n = int(known.sum())
        about = dict[str, Any](n=n, n_excluded=known.size - n, over="calls", unit="share", span=1.0, method=method)
        if not n:
            return undefined(metric, f"no usable {parts[-1][1:]} was reported", **about)
        printed = np.stack([reported.printed_decimals(column) for column in claims[known].T], axis=1)
        rows = zip(np.argwhere(known), claims[known].tolist(), printed.tolist(), strict=True)
        what, targets = [part[1:] for part in parts], replies["target"].astype(str).tolist()
        offenders = [
            {"target": targets[row], "criterion": names[k], **dict(zip(what, values, strict=True))}
            for (row, k), values, digits in rows
            if not _attainable(tuple(values), tuple(digits), grids[names[k]])
        ]
        detail = {"checked": n, "follow": n - len(offenders), "wrong": len(offenders), "offenders": offenders}
        note = "no interval: statistics of one reply hang together"
        return Estimate(metric=metric, value=len(offenders) / n, note=note, detail=detail, **about)

    return reported.of_replies(ratings, wanted, attained)


@cache
def _attainable(values: tuple[float, ...], decimals: tuple[int, ...], grid: Grid) -> bool:
    mean, repeats, (low, high), step = values[0], grid.repeats, grid.ends, grid.step
    if not low - reported.EPSILON <= mean <= high + reported.EPSILON:
        return False
    if len(values) == 1:
        return reported.mean_attainable(mean, repeats, step, decimals[0])
    more = {"decimals": decimals[1], "ddof": grid.ddof, "mean_decimals": decimals[0]}
    return reported.sd_attainable(mean, values[1], repeats, low, high, step, **more)
