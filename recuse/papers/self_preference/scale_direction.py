"""Does a judge prefer its own work more where the lowest number is the best score? (thesis on bias in LLM
self-evaluation, sec. 3.2; `scale_framing` has what else may change when a scale is turned.)"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, islice
from typing import Any

import numpy as np

from recuse.metrics.estimates import PAIRED_MARGIN, paired_estimate, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.metrics.self_preference import contrast, missing_text, own_place, why_not_comparable
from recuse.papers.self_preference import over_texts
from recuse.papers.self_preference.published_tests import paired_change, self_received_given
from recuse.papers.self_preference.scale_framing import NO_TEXT, scored_twice
from recuse.ratings import Ratings
from recuse.ratings.array import arrays_by_level
from recuse.schema.arrays import Floats
from recuse.schema.factors import DIRECTION, LEVELS
from recuse.statistics.paired import Paired

ASCENDING, REVERSED = LEVELS[DIRECTION]
AGAINST = ("received", "given", "controlled")
ONE_DIRECTION = "it was asked in one direction of the scale only"


@measure(
    "framing_change", "change of self-preference with the scale turned", signed=True, rank=340,
    above="prefers its own work more where low is best", below="prefers its own work less where low is best",
    reading="Self-preference where the lowest number is best less that where the highest is.",
)  # fmt: skip
@per_subject(("judge", "against"), lambda part, ratings: (part, ratings.own()), DIRECTION)
def framing_change(seen: tuple[Ratings, Mapping[str, str]], margin: float = PAIRED_MARGIN) -> Iterator[Named]:
    """Self-preference with the scale reversed minus that with it ascending, by judge and `against`; paired t over the
    items on which both are defined. `against` names the measure of `recuse.metrics.self_preference`: "received" (S -
    R), "given" (S - G) or "controlled" (D). Detail: the mean in each direction on those items (`ascending`,
    `reversed`). `margin` is a share of the scale's range. Undefined where the scale was not turned, and where nothing
    can be compared in both directions.

    >>> rows = "x a ascending 5; x b ascending 3; y a ascending 4; x a reversed 2; x b reversed 3; y a reversed 2"
    >>> scores = example("judge target direction score", rows, scales=Numeric(1, 5), authors={"x": "a"})
    >>> framing_change(scores).of(judge="x", against="received").value
    -1.0
    """
    part, own = seen
    arrays = arrays_by_level(part, DIRECTION)
    both_ways = [arrays[way] for way in LEVELS[DIRECTION] if way in arrays]
    for judge in own:
        place = own_place(both_ways[0], part.authors, judge) if len(both_ways) == 2 else None
        if place is None:
            why = missing_text(both_ways[0], judge) if len(both_ways) == 2 else ONE_DIRECTION
            for name in AGAINST:
                yield (
                    (judge, name),
                    paired_estimate(
                        "framing_change", Paired.of([]), part, excluded=0, why=why, detail={"against": name}
                    ),
                )
            continue
        preferences = []
        for array in both_ways:
            s, r, g = self_received_given(array, *place)
            preferences.append((s - r, s - g, np.subtract(*contrast(array, *place, part.authors))))
        why = why_not_comparable(both_ways[0]) or "no item can be compared in both directions of the scale"
        for name, up, down in zip(AGAINST, *preferences, strict=True):
            means = (over_texts.mean_or_none(side[np.isfinite(up + down)]) for side in (up, down))
            detail = {**dict(zip(LEVELS[DIRECTION], means, strict=True)), "against": name}
            yield (judge, name), paired_change("framing_change", part, both_ways[0], down - up, why, detail, margin)


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
MOST = 200  # choices of who is inverted that are averaged; of more, every so manieth


@measure(
    "jury_reliability", "reliability of a jury", unit="alpha", rank=352,
    reading="Cronbach's alpha over texts of a jury asked on one scale, and of one half of which is asked on the "
    "inverted scale; change: the second less the ascending first.",
)  # fmt: skip
@per_subject("jury", itself, DIRECTION)
def jury_reliability(part: Ratings) -> Iterator[Named]:
    """Alpha of all judges, by `jury`, "change" being part_inverted less ascending; texts that every judge scored both
    ways. Interval by the jackknife over items, or what they share. Undefined with fewer than two judges or three items,
    where the scale was asked one way only, and where a jury's sum does not vary.

    >>> rows = "x ascending 1/2/5; y ascending 1/2/5; x reversed 5/4/1; y reversed 5/4/1"
    >>> jury_reliability(example("judge direction score", rows, scales=Numeric(1, 5))).of(jury="part_inverted").value
    1.0
    """
    return _juries(part, "jury_reliability", "alpha", 2.0, lambda scores, true: alpha(scores))


@measure(
    "jury_error", "a jury's distance from what is true", rank=353,
    reading="Mean distance of the jury's mean from what a text deserves; change: part inverted less ascending.",
)  # fmt: skip
@per_subject("jury", itself, DIRECTION)
def jury_error(part: Ratings) -> Iterator[Named]:
    """Mean of |jury's mean - true score| over texts, by `jury`; as `jury_reliability`, and undefined where no true
    score is known.

    >>> rows = "x ascending 2/3/5; y ascending 2/3/5; x reversed 5/4/1; y reversed 5/4/1"  # a point up
    >>> texts = table("true_rating", "1/2/5").assign(target="")
    >>> scores = example("judge direction score", rows, scales=Numeric(1, 5), texts=texts)
    >>> round(jury_error(scores).of(jury="change").value, 2)
    -0.33
    """
    return _juries(part, "jury_error", "points", part.scale.span, _error)


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
    part: Ratings, metric: str, unit: str, span: float, statistic: Callable[[Floats, Floats], float]
) -> Iterator[Named]:
    about = dict[str, Any](over="clusters", clusters=part.clusters, unit=unit, method=over_texts.JACKKNIFE, span=span)
    if set(part.levels(DIRECTION)) < set(LEVELS[DIRECTION]):
        why = "the scale was asked one way only"
        yield from ((jury, undefined(metric, why, **about)) for jury in JURIES)
        return
    arrays = arrays_by_level(part, DIRECTION)
    first = arrays[ASCENDING]
    both = np.stack([arrays[way].means for way in LEVELS[DIRECTION]])  # (ways, judges, items, targets)
    whole = np.isfinite(both).all(axis=(0, 1))
    scores, groups = both[:, :, whole], over_texts.clusters_of_texts(first)[whole]  # (ways, judges, texts), (texts,)
    true = over_texts.true_scores(part, first)[whole]
    about |= {"n": int(whole.sum()), "n_excluded": int((first.requested.any(axis=0) & ~whole).sum())}
    clusters = np.unique(groups)
    if len(clusters) < 3 or both.shape[1] < 2:
        why = "it takes two judges, and three items that all of them scored both ways"
        yield from ((jury, undefined(metric, why, **about)) for jury in JURIES)
        return
    values = _all(scores, true, statistic)
    without = [_all(scores[..., groups != one], true[groups != one], statistic) for one in clusters]
    for jury, value, left_out in zip(JURIES, values, np.array(without).T, strict=True):
        if np.isfinite([value, *left_out]).all():
            yield jury, over_texts.jackknifed(metric, value, left_out, **about)
        else:
            why = "no true score is known" if metric == "jury_error" else "the jury's sum does not vary"
            yield jury, undefined(metric, why, **about)


def _all(scores: Floats, true: Floats, statistic: Callable[[Floats, Floats], float]) -> tuple[float, ...]:
    """The statistic of every jury, in their order; of those with half of their members inverted, or of so many of them
    at equal distances, the mean."""
    up, down = statistic(scores[0], true), statistic(scores[1], true)
    members = np.arange(scores.shape[1])
    chosen = list(combinations(members, len(members) // 2))
    mixed = float(np.mean([
        statistic(np.where(np.isin(members, turned)[:, None], scores[1], scores[0]), true)
        for turned in islice(chosen, 0, None, -(-len(chosen) // MOST))
    ]))  # fmt: skip
    return up, down, mixed, mixed - up


@per_subject(("judge", "target"), itself, DIRECTION)
def shift_by_target(part: Ratings, margin: float = PAIRED_MARGIN) -> Iterator[Named]:
    """`shift` of every target's texts, by judge and target: a paired t-test over items. `margin` as a share of the
    scale's range; undefined where no text of the target was scored in both directions."""
    for twice in scored_twice(part):
        for target, change in zip(twice.array.targets, twice.change.T, strict=True):
            estimate = paired_change("framing_shift", part, twice.array, change, NO_TEXT, {}, margin)
            yield (twice.judge, target), estimate
