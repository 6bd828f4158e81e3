"""Does a judge prefer its own work more where the lowest number is the best score? (thesis on bias in LLM
self-evaluation, sec. 3.2; `scale_framing` has what else may change when a scale is turned.)"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.estimates import PAIRED_MARGIN, estimated, number, paired_estimate, undefined
from recuse.metrics.measure import measure
from recuse.metrics.self_preference import contrast, missing_text, own_place, why_not_comparable
from recuse.papers.self_preference.over_texts import axes_of, true_scores
from recuse.papers.self_preference.published_tests import paired_test, self_received_given
from recuse.papers.self_preference.scale_framing import NO_TEXT, scored_twice
from recuse.ratings import RatingArray, Ratings
from recuse.ratings.array import array_of, arrays_by_level
from recuse.schema import Estimate, Estimates
from recuse.schema.arrays import Floats
from recuse.schema.factors import DIRECTION, LEVELS
from recuse.statistics.clusters import OverClusters
from recuse.statistics.paired import Paired

ASCENDING, REVERSED = LEVELS[DIRECTION]
AGAINST = ("received", "given", "controlled")
ONE_DIRECTION = "it was asked in one direction of the scale only"


@measure(
    "framing_change", "change of self-preference with the scale turned", signed=True, rank=340,
    above="prefers its own work more where low is best|prefer their own work more where low is best",
    below="prefers its own work less where low is best|prefer their own work less where low is best",
    reading="Self-preference where the lowest number is best less that where the highest is.",
)  # fmt: skip
def framing_change(ratings: Ratings, margin: float = PAIRED_MARGIN) -> Estimates:
    """Self-preference with the scale reversed minus that with it ascending, by judge and `against`; paired t over the
    items on which both are defined.

    `against` names the measure of `recuse.metrics.self_preference`: "received" (S - R), "given" (S - G) or "controlled"
    (D). Detail: the mean in each direction on those items (`ascending`, `reversed`). `margin` is a
    share of the scale's range. Undefined where the scale was not turned, and where nothing can be compared in both
    directions.

    >>> import pandas as pd
    >>> from recuse.ratings import Numeric
    >>> rows = [("x", "a", "ascending", 5.0), ("x", "b", "ascending", 3.0), ("y", "a", "ascending", 4.0),
    ...         ("x", "a", "reversed", 2.0), ("x", "b", "reversed", 3.0), ("y", "a", "reversed", 2.0)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "target", "direction", "score"]).assign(item="i")
    >>> ratings = Ratings.of(frame, scales=Numeric(1, 5), authors={"x": "a"})
    >>> framing_change(ratings).of(judge="x", against="received").value
    -1.0
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, part in ratings.each(DIRECTION):
        arrays = arrays_by_level(part, DIRECTION)
        for judge in ratings.own():
            for against, estimate in _changes(part, arrays, judge, margin).items():
                estimates[(judge, against, *names)] = estimate
    return Estimates(("judge", "against", *ratings.within(DIRECTION)), estimates)


def _changes(part: Ratings, arrays: Mapping[str, RatingArray], judge: str, margin: float) -> dict[str, Estimate]:
    """The change of each measure of self-preference, by its name."""
    if ASCENDING not in arrays or REVERSED not in arrays:
        return {against: _nothing(part, ONE_DIRECTION, against) for against in AGAINST}
    array = arrays[ASCENDING]
    place = own_place(array, part.authors, judge)
    if place is None:
        return {against: _nothing(part, missing_text(array, judge), against) for against in AGAINST}
    up, down = (_preference(arrays[level], *place, part.authors) for level in (ASCENDING, REVERSED))
    why = why_not_comparable(array) or "no item can be compared in both directions of the scale"
    estimates = {}
    for against in AGAINST:
        both = np.isfinite(up[against]) & np.isfinite(down[against])
        detail = {ASCENDING: _mean(up[against][both]), REVERSED: _mean(down[against][both]), "against": against}
        moved = down[against] - up[against]
        estimates[against] = paired_change("framing_change", part, array, moved, margin, why, detail)
    return estimates


def _preference(array: RatingArray, row: int, column: int, authors: Mapping[str, str]) -> dict[str, Floats]:
    s, r, g = self_received_given(array, row, column)
    on_own, elsewhere = contrast(array, row, column, authors)
    return dict(zip(AGAINST, (s - r, s - g, on_own - elsewhere), strict=True))


def _nothing(part: Ratings, why: str, against: str) -> Estimate:
    detail = {"against": against}
    return paired_estimate("framing_change", Paired.of([]), part, excluded=0, why=why, detail=detail)


def _mean(values: Floats) -> float | None:
    return number(float(values.mean())) if len(values) else None


# --------------------------------------------------------------------------- juries of which half are inverted
# The open question of the thesis on bias in LLM self-evaluation, sec. 5.1: a leaning towards high numbers lifts a text
# on the ascending scale and sinks it on the reversed one, so it may cancel where half of the jury is asked either way.
# All judges were asked both ways; a jury takes one of the two from each, brought to the ascending scale:
#
#     ascending, reversed    all members the same way
#     part_inverted          half of them (rounded down) reversed, the mean over all choices of which
#
# Reliability is Cronbach's alpha of the members over texts, k / (k - 1) (1 - sum of their variances / variance of their
# sum): how much of the jury's spread between texts its members share. Where the texts' true scores are known, how far
# the jury's mean is from them stands beside it: members may also share an error.

JURIES = ("ascending", "reversed", "part_inverted", "change")
JACKKNIFE = "jackknife over clusters, Student's t"
MOST = 200
"""Choices of who is inverted that are averaged; of more, every so manieth."""


@measure(
    "jury_reliability", "reliability of a jury", unit="alpha", rank=352,
    reading="Cronbach's alpha over texts of a jury asked on one scale, and of one half of which is asked on the "
    "inverted scale; change: the second less the ascending first.",
)  # fmt: skip
def jury_reliability(ratings: Ratings) -> Estimates:
    """Alpha of all judges, by `jury`, "change" being part_inverted less ascending; texts that every judge scored both
    ways. Interval by the jackknife over items, or what they share. Undefined with fewer than two judges or three items,
    where the scale was asked one way only, and where a jury's sum does not vary.

    >>> import pandas as pd
    >>> ways = {"ascending": [1.0, 2, 5], "reversed": [5.0, 4, 1]}
    >>> rows = [(j, i, way, s) for j in "xy" for way, scores in ways.items() for i, s in zip("abc", scores)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "item", "direction", "score"])
    >>> from recuse.ratings import Numeric
    >>> estimates = jury_reliability(Ratings.of(frame, scales=Numeric(1, 5)))
    >>> [estimates.of(jury=name).value for name in JURIES]
    [1.0, 1.0, 1.0, 0.0]
    """
    return _juries("jury_reliability", ratings, "alpha", 2.0, lambda scores, true: alpha(scores))


@measure(
    "jury_error", "a jury's distance from what is true", rank=353,
    reading="Mean distance of the jury's mean from what a text deserves; change: part inverted less ascending.",
)  # fmt: skip
def jury_error(ratings: Ratings) -> Estimates:
    """Mean of |jury's mean - true score| over texts, by `jury`; as `jury_reliability`, and undefined where no true
    score is known.

    >>> import pandas as pd
    >>> ways = {"ascending": [2.0, 3, 5], "reversed": [5.0, 4, 1]}  # a point too much where high is best
    >>> rows = [(j, i, way, s) for j in "xy" for way, scores in ways.items() for i, s in zip("abc", scores)]
    >>> frame = pd.DataFrame(rows, columns=["judge", "item", "direction", "score"])
    >>> texts = pd.DataFrame({"item": list("abc"), "target": "", "true_rating": [1, 2, 5]})
    >>> from recuse.ratings import Numeric
    >>> estimates = jury_error(Ratings.of(frame, scales=Numeric(1, 5), texts=texts))
    >>> [round(estimates.of(jury=name).value, 2) for name in JURIES]
    [0.67, 0.0, 0.33, -0.33]
    """
    return _juries("jury_error", ratings, "points", math.nan, _error)


def alpha(scores: Floats) -> float:
    """Cronbach's alpha of scores (members, texts); NaN where their sum does not vary."""
    members = len(scores)
    total = float(scores.sum(axis=0).var(ddof=1)) if scores.shape[1] > 1 else 0.0
    if members < 2 or total < 1e-12:
        return math.nan
    return members / (members - 1) * (1 - float(scores.var(axis=1, ddof=1).sum()) / total)


def _error(scores: Floats, true: Floats) -> float:
    known = np.isfinite(true)
    return float(np.abs(scores.mean(axis=0) - true)[known].mean()) if known.any() else math.nan


def _juries(
    metric: str, ratings: Ratings, unit: str, span: float, statistic: Callable[[Floats, Floats], float]
) -> Estimates:
    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, part in ratings.each(DIRECTION):
        for jury, estimate in _measured(metric, part, unit, span, statistic).items():
            estimates[jury, *names] = estimate
    return Estimates(("jury", *ratings.within(DIRECTION)), estimates)


def _measured(
    metric: str, part: Ratings, unit: str, span: float, statistic: Callable[[Floats, Floats], float]
) -> dict[str, Estimate]:
    about: dict[str, Any] = {
        "over": "clusters", "clusters": part.clusters, "unit": unit, "method": JACKKNIFE,
        "span": part.scale.span if math.isnan(span) else span,
    }  # fmt: skip
    ways = LEVELS[DIRECTION]
    if set(part.levels(DIRECTION)) < set(ways):
        return {jury: undefined(metric, "the scale was asked one way only", **about) for jury in JURIES}
    axes = axes_of(part)
    arrays = [array_of(part.where(**{DIRECTION: way}), axes) for way in ways]
    first: RatingArray = arrays[0]
    both = np.stack([array.means for array in arrays])  # (ways, judges, items, targets)
    whole = np.isfinite(both).all(axis=(0, 1))
    scores = both[:, :, whole]  # (ways, judges, texts)
    codes = np.unique(np.array(first.clusters), return_inverse=True)[1]
    groups = np.broadcast_to(codes[:, None], whole.shape)[whole]
    known = true_scores(part, first)
    true = np.full(int(whole.sum()), np.nan) if known is None else known[whole]
    about |= {"n": int(whole.sum()), "n_excluded": int((first.requested.any(axis=0) & ~whole).sum())}
    clusters = np.unique(groups)
    if len(clusters) < 3 or both.shape[1] < 2:
        why = "it takes two judges, and three items that all of them scored both ways"
        return {jury: undefined(metric, why, **about) for jury in JURIES}
    value = _all(scores, true, statistic)
    left_out = [_all(scores[..., groups != one], true[groups != one], statistic) for one in clusters]
    estimates = {}
    for at, jury in enumerate(JURIES):
        draws = np.array([one[at] for one in left_out])
        if not np.isfinite(value[at]) or not np.isfinite(draws).all():
            why = "no true score is known" if metric == "jury_error" else "the jury's sum does not vary"
            estimates[jury] = undefined(metric, why, **about)
            continue
        g = len(clusters)
        se = math.sqrt((g - 1) / g * float(((draws - draws.mean()) ** 2).sum()))
        distribution = OverClusters(float(value[at]), 0.0 if se < 1e-12 else se, g - 1)
        estimates[jury] = estimated(metric, float(value[at]), distribution, n_clusters=g, **about)
    return estimates


def _all(scores: Floats, true: Floats, statistic: Callable[[Floats, Floats], float]) -> tuple[float, ...]:
    """The statistic of every jury, in their order."""
    up, down = statistic(scores[0], true), statistic(scores[1], true)
    mixed = float(np.mean([statistic(jury, true) for jury in _half_inverted(scores)]))
    return up, down, mixed, mixed - up


def _half_inverted(scores: Floats) -> Iterator[Floats]:
    """Every jury with half of its members inverted, or so many of them at equal distances."""
    members = scores.shape[1]
    chosen = list(combinations(range(members), members // 2))
    step = -(-len(chosen) // MOST)
    for turned in chosen[::step]:
        jury = scores[0].copy()
        jury[list(turned)] = scores[1][list(turned)]
        yield jury


def shift_by_target(ratings: Ratings, margin: float = PAIRED_MARGIN) -> Estimates:
    """`shift` of every target's texts, by judge and target: a paired t-test over items. `margin` as a share of the
    scale's range; undefined where no text of the target was scored in both directions.

    >>> import pandas as pd
    >>> from recuse.ratings import Numeric
    >>> frame = pd.DataFrame({"judge": "x", "item": ["i", "i", "j", "j"], "direction": ["ascending", "reversed"] * 2,
    ...                       "target": "a", "score": [4.0, 1.0, 3.0, 3.0]})
    >>> shift_by_target(Ratings.of(frame, scales=Numeric(1, 5))).of(judge="x", target="a").value
    0.5
    """
    estimates: dict[tuple[str, ...], Estimate] = {}
    for names, twice in scored_twice(ratings):
        for t, target in enumerate(twice.array.targets):
            change = twice.change[:, t]
            estimate = paired_change("framing_shift", twice.part, twice.array, change, margin, NO_TEXT)
            estimates[(twice.judge, target, *names)] = estimate
    return Estimates(("judge", "target", *ratings.within(DIRECTION)), estimates)


def paired_change(
    metric: str, part: Ratings, array: RatingArray, differences: NDArray[np.float64], margin: float, why: str,
    detail: Mapping[str, Any] | None = None,
) -> Estimate:  # fmt: skip
    """`paired_test` of `differences` (items,) as an estimate; `margin`, a share of the scale's range, is the difference
    whose chance of being found it tells, and `detail` joins what the test tells of itself. Undefined, with `why`, where
    no item has a difference."""
    test = paired_test(differences, array)
    full = {**test.detail(margin * part.scale.span), **(detail or {})}
    return paired_estimate(metric, test, part, excluded=len(differences) - test.n, why=why, detail=full)
