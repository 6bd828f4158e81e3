"""Does the total that a judge states follow from its own scores of the parts, and can the means and SDs that it states
for repeats it made in its head be right (merchant-risk paper, appendix C)?

How precisely a number was printed decides how far it may be off, but ratings hold floats, where 8.70 and 8.7 are one.
So the decimals of a number are those of its shortest decimal form, or, if more, those that at least a quarter of the
judge's numbers of that kind need: a judge that writes 8.72 and 9 is held to have written 9.00.

Ratings of kind "claimed_statistics" have criteria "<name>.mean" and "<name>.sd"; the headline's name is the final,
which claims to be the mean of the others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from recuse.metrics.estimates import estimated, number, undefined
from recuse.metrics.measure import measure
from recuse.ratings import Numeric, Ratings
from recuse.ratings.array import AXES, among, recoded
from recuse.schema import Estimate, Estimates, RatingsError, RecuseError
from recuse.schema.arrays import Floats
from recuse.schema.pandas_when_used import pd
from recuse.statistics.distributions import Binomial


@measure(
    "reported_total", "totals that do not follow", rank=310, unit="share", above="reports totals that do not add up",
    reading="Share of replies whose total is not the mean of the scores beside it, beyond rounding.",
)  # fmt: skip
def reported_total(ratings: Ratings) -> Estimates:
    """Share of replies whose headline score is further from the mean of the same reply's `ratings.parts` than half a
    unit of its last decimal, by judge and factor level. Clopper-Pearson over calls, which errs on the wide side where
    targets differ in how often they go wrong. Replies with an unusable score are left out (n_excluded). Detail:
    `decimals` the judge prints; `offenders`, per target `replies`, `wrong`, and of the wrong ones the mean total
    (`final`), mean of the scores (`mean_of_criteria`), mean and largest difference. Undefined where no reply is
    complete. `RatingsError` without parts, for a part that nobody rated, and for several headline criteria.

    >>> scores = example("criterion score", "x 1; y 2; all 3", headline=["all"], parts=("x", "y"))
    >>> reported_total(scores).of(judge="j").value
    1.0
    """
    if not ratings.parts:
        raise RatingsError("these ratings name no parts that a total could follow from; give parts=(...)")
    return what_does_not_follow(
        "reported_total", ratings, [*ratings.parts, ratings.criterion], _slips, "no reply has all parts and a total",
        "share of replies with |total - mean of parts| > half a unit of the total's last decimal, Clopper-Pearson",
    )  # fmt: skip


def printed_decimals(values: ArrayLike) -> NDArray[np.int64]:
    """Decimals that each of these numbers of one kind was printed with, (n,): those of its shortest decimal form or, if
    more, those a quarter of them need."""
    distinct, places = np.unique(np.asarray(values, dtype=float), return_inverse=True)
    exponents = [Decimal(repr(value)).normalize().as_tuple().exponent for value in distinct.tolist()]
    own = np.array([max(0, -int(exponent)) for exponent in exponents], dtype=np.int64)[places]
    return np.maximum(own, np.sort(own)[::-1][(len(own) - 1) // 4]) if len(own) else own


def what_does_not_follow(
    metric: str, ratings: Ratings, wanted: list[str],
    checked: Callable[[Floats, Floats, NDArray[np.object_]], dict[str, Any]], nothing: str, method: str,
) -> Estimates:  # fmt: skip
    """Share of the replies with all criteria `wanted` in which the last does not follow from the others, by judge and
    factor level. `checked` makes the detail, `wrong` among it, of the last (n,), the others (n, k) and targets (n,);
    `nothing` says why there is none without such a reply."""

    def share(scores: Floats, targets: NDArray[np.object_]) -> Estimate:
        complete = np.isfinite(scores).all(axis=1)
        n = int(complete.sum())
        about = dict[str, Any](n=n, n_excluded=len(scores) - n, over="calls", unit="share", span=1.0, method=method)
        if not n:
            return undefined(metric, nothing, **about)
        detail = checked(scores[complete, -1], scores[complete, :-1], targets[complete])
        bad = detail["wrong"]
        return estimated(metric, bad / n, Binomial(bad, n), detail=detail, **about)

    return of_replies(ratings, wanted, share)


def of_replies(
    ratings: Ratings, criteria: Sequence[str], compute: Callable[[Floats, NDArray[np.object_]], Estimate]
) -> Estimates:
    """By judge and factor level, of its replies by item, target and repeat: the scores of these criteria, (n, k), NaN
    where one is not usable, and the target of each reply, (n,). Scores as they were given, not turned. `RatingsError`
    for a criterion that nobody rated."""
    estimates = {}
    for names, part in ratings.each():
        judged, (known, criterion) = np.flatnonzero(part.having("kind", "judge")), part.coded("criterion")
        there = recoded(known, criterion[judged])[0]
        if missing := [name for name in criteria if name not in there]:
            raise RatingsError(f"no ratings of {', '.join(missing)}; the table has criteria {', '.join(there)}")
        column = among(known, criterion, criteria)[judged]
        rows, column = judged[column >= 0], column[column >= 0]
        (raters, rater), (items, item), (targets, target) = (
            (sorted(known), among(known, places, sorted(known))[rows]) for known, places in map(part.coded, AXES)
        )
        repeat = part.table["repeat"].to_numpy(dtype=np.intp)[rows]
        shape = len(raters), len(items), len(targets), int(repeat.max(initial=0)) + 1
        call = np.ravel_multi_index((rater, item, target, repeat), shape)
        _, first, reply = np.unique(call, return_index=True, return_inverse=True)
        scores = np.full((len(first), len(criteria)), np.nan)
        usable = part.having("status", "ok")[rows]
        scores[reply[usable], column[usable]] = part.table["score"].to_numpy(dtype=float)[rows[usable]]
        named = np.array(targets, dtype=object)[target[first]]
        for judge in pd.unique(rater).tolist():
            own = rater[first] == judge
            estimates[raters[judge], *names] = compute(scores[own], named[own])
    return Estimates(("judge", *ratings.within()), estimates)


def _slips(totals: Floats, parts: Floats, targets: NDArray[np.object_]) -> dict[str, Any]:
    """Of the wrong replies of each target: mean totals reported and computed, and how far apart."""
    computed, decimals = parts.mean(axis=1), printed_decimals(totals)
    off = np.abs(totals - computed) > half_unit(decimals) + EPSILON
    offenders = []
    for target in dict.fromkeys(targets[off]):
        wrong = off & (targets == target)
        apart, count = (totals - computed)[wrong], int(wrong.sum())
        offenders.append({
            "target": target, "replies": int((targets == target).sum()), "wrong": count,
            "final": number(math.fsum(totals[wrong]) / count),
            "mean_of_criteria": number(math.fsum(computed[wrong]) / count),
            "mean_difference": number(math.fsum(apart) / count),
            "largest_difference": number(apart[np.abs(apart).argmax()]),
        })  # fmt: skip
    return {"wrong": int(off.sum()), "decimals": int(decimals.min()), "offenders": offenders}


# --------------------------------------------------------------------------- means and SDs that can be
# Scores are minimum, minimum + step, ..., maximum. In units of the step they are whole numbers, so their sum S and sum
# of squares Q are too, and a reported mean and SD must come from some pair (S, Q) that n of them can reach:
#
#     mean = S / n,    SD = sqrt((Q - S^2 / n) / (n - ddof))
#
# A reported number stands for every number within half a unit of its last decimal, both ends included, since rounding
# conventions differ at the ends. GRIM asks it of a mean (Brown and Heathers 2017, Social Psychological and Personality
# Science 8, 363-369), GRIMMER of an SD with its mean (Anaya 2016, PeerJ Preprints 4:e2400v1).

EPSILON = 1e-9  # slack for binary rounding, far below half a unit of any printed decimal


def half_unit(decimals: ArrayLike) -> Floats:
    """Half a unit of the last of so many printed decimals, or of each: 0.05 for 8.7, 0.005 for 8.72."""
    return np.asarray(0.5 * 10.0 ** -np.asarray(decimals, dtype=float))


@cache
def sd_attainable(
    mean: float, sd: float, n: int, minimum: float, maximum: float, step: float = 1.0, decimals: int = 2, ddof: int = 1,
    mean_decimals: int = 1,
) -> bool:  # fmt: skip
    """Can n scores on the grid, whole steps from minimum to maximum, have both this mean and this SD? `decimals` are
    those the SD was printed with. ddof = 1 is the sample SD, 0 the population SD."""
    sums = attainable_sums(mean - minimum, n, step, mean_decimals)
    if n <= ddof:
        raise RecuseError(f"an SD with n - {ddof} needs more than {ddof} score(s); got n = {n}")
    first, last = minimum / step, maximum / step
    if abs(last - first - round(last - first)) > EPSILON or last < first:
        raise RecuseError(f"{minimum:g} to {maximum:g} is not a whole number of steps of {step:g}")
    width, tolerance = round(last - first), float(half_unit(decimals)) + EPSILON
    reachable = _square_sums(n, width)
    for s in sums:
        if not 0 <= s <= n * width:
            continue
        # bounds of Q from those of the SD, in steps; Q itself must be one of the reachable whole numbers
        low, high = (((max(end, 0.0) / step) ** 2) * (n - ddof) + s * s / n for end in (sd - tolerance, sd + tolerance))
        first_q, last_q = math.ceil(low - EPSILON), math.floor(high + EPSILON)
        if last_q >= first_q and reachable[s] >> first_q & ((1 << (last_q - first_q + 1)) - 1):
            return True
    return False


def attainable_sums(mean: float, n: int, step: float = 1.0, decimals: int = 1) -> range:
    """Whole S with |S step / n - mean| within half a unit: without one, no n scores in steps of `step` have this mean
    (GRIM). With n = 10 whole scores, any tenth has."""
    if n < 1 or not step > 0:
        what = "attainable statistics need at least one score and a step above 0"
        raise RecuseError(f"{what}; got n = {n}, step = {step:g}")
    low, high = ((mean + side * (float(half_unit(decimals)) + EPSILON)) * n / step for side in (-1, 1))
    return range(math.ceil(low), math.floor(high) + 1)


@lru_cache(maxsize=64)
def _square_sums(n: int, width: int) -> tuple[int, ...]:
    """For each sum S of n whole numbers from 0 to width, its reachable sums of squares as set bits of an integer."""
    level = [1] + [0] * (n * width)
    for used in range(n):
        following = [0] * (n * width + 1)
        for s, squares in enumerate(level[: used * width + 1]):
            if squares:
                for score in range(width + 1):
                    following[s + score] |= squares << score * score
        level = following
    return tuple(level)


# --------------------------------------------------------------------------- claimed statistics


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
    return what_does_not_follow(
        "self_reported_final", ratings, wanted, _finals, "no reply has all means and a final",
        "share of finals beyond the rounding of final and means, Clopper-Pearson",
    )  # fmt: skip


@measure(
    "self_reported_mean", "impossible means", rank=320, unit="share", above="reports means no scores have",
    reading="Share of claimed means that no scores on the scale's steps can have.",
)  # fmt: skip
def self_reported_mean(ratings: Ratings) -> Estimates:
    """Share of claimed means that no ten scores have (GRIM; Brown and Heathers 2017), by judge and factor level; of ten
    whole scores every tenth passes. Scores lie on the claimed mean's scale, in its steps, or whole ones. No interval:
    means of one reply hang together. Detail: `checked`, `follow`, `wrong`, `offenders` (target, criterion, what was
    reported). Undefined where nothing usable was reported.

    >>> claimed = example("criterion score", "x.mean 8.25; f.mean 8.25", scales=Numeric(0, 10), headline=["f.mean"])
    >>> self_reported_mean(claimed).of(judge="j").value
    1.0
    """
    return _on_grid(ratings, (MEAN,), 1)


@measure(
    "self_reported_sd", "impossible standard deviations", rank=340, unit="share",
    above="reports spreads no scores have",
    reading="Share of claimed SDs that no scores with the claimed mean can have.",
)  # fmt: skip
def self_reported_sd(ratings: Ratings, ddof: int = 1) -> Estimates:
    """Share of claimed SDs that no ten scores with the stated mean have (GRIMMER), by judge and factor level; ddof = 1
    is the sample SD, 0 the population SD. Grid, detail and undefined case as for `self_reported_mean`. SDs of the final
    are not tested: it is a mean of several, on a finer grid.

    >>> claimed = example("criterion score", "x.mean 9; x.sd .2; f.mean 9", scales=Numeric(0, 10), headline=["f.mean"])
    >>> self_reported_sd(claimed).of(judge="j").value
    1.0
    """
    return _on_grid(ratings, (MEAN, SD), ddof)


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
    strict = half_unit(printed_decimals(final)) + EPSILON
    rounding = half_unit(printed_decimals(means.ravel())).reshape(means.shape).mean(axis=1)
    off = np.abs(final - computed)
    verdict = np.where(off <= strict, "exact", np.where(off <= strict + rounding, "within_rounding", "inconsistent"))
    verdicts = [
        {"target": target, "final": stated, "mean_of_criteria": number(mean), "difference": number(stated - mean),
         "verdict": word}
        for target, stated, mean, word in zip(targets, final.tolist(), computed, verdict.tolist(), strict=True)
    ]  # fmt: skip
    bad = [entry for entry in verdicts if entry["verdict"] == "inconsistent"]
    return {"checked": len(final), "follow": len(final) - len(bad), "wrong": len(bad), "offenders": bad,
            "verdicts": verdicts}  # fmt: skip


REPEATS = 10  # that a judge is asked to make in its head


def _on_grid(ratings: Ratings, parts: tuple[str, ...], ddof: int) -> Estimates:
    grids = {}
    for name in _claimed(ratings):
        scale = ratings.scales[f"{name}{MEAN}"]
        if not isinstance(scale, Numeric):
            raise RatingsError(f"claimed means are numbers; {name}{MEAN} has {scale}")
        grids[name] = *scale.ends, scale.step or 1.0
    names, wanted = list(grids), [f"{name}{part}" for name in grids for part in parts]
    of_these = f"that no {REPEATS} scores in steps of {grids[names[0]][2]:g}"
    metric, method = "self_reported_mean", f"share of means {of_these} have (GRIM)"
    if SD in parts:
        divisor = "n - 1" if ddof else "n"
        metric, method = "self_reported_sd", f"share of SDs {of_these} with the stated mean have (divisor {divisor})"

    def possible(values: list[float], digits: list[int], low: float, high: float, step: float) -> bool:
        if not low - EPSILON <= values[0] <= high + EPSILON:
            return False
        if SD in parts:
            return sd_attainable(*values, REPEATS, low, high, step, digits[1], ddof, digits[0])
        return len(attainable_sums(values[0], REPEATS, step, digits[0])) > 0

    def attained(scores: Floats, targets: NDArray[np.object_]) -> Estimate:
        claims = scores.reshape(-1, len(names), len(parts))
        known = np.isfinite(claims).all(axis=2)  # (replies, names)
        n = int(known.sum())
        about = dict[str, Any](n=n, n_excluded=known.size - n, over="calls", unit="share", span=1.0, method=method)
        if not n:
            return undefined(metric, f"no usable {parts[-1][1:]} was reported", **about)
        printed = np.stack([printed_decimals(column) for column in claims[known].T], axis=1)
        rows = zip(np.argwhere(known), claims[known].tolist(), printed.tolist(), strict=True)
        what = [part[1:] for part in parts]
        offenders = [
            {"target": targets[row], "criterion": names[k], **dict(zip(what, values, strict=True))}
            for (row, k), values, digits in rows
            if not possible(values, digits, *grids[names[k]])
        ]
        detail = {"checked": n, "follow": n - len(offenders), "wrong": len(offenders), "offenders": offenders}
        note = "no interval: statistics of one reply hang together"
        return Estimate(metric=metric, value=len(offenders) / n, note=note, detail=detail, **about)

    return of_replies(ratings, wanted, attained)
