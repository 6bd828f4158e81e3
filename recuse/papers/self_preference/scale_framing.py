"""Does a judge score alike when the highest number is the best score and when the lowest is? Every text is scored
twice, under definitions that stay the same while their numbers are turned round (thesis on bias in LLM self-evaluation,
sec. 3.2). All scores stand on the ascending scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import combinations, islice, product
from typing import Any

import numpy as np

from recuse.metrics.estimates import PAIRED_MARGIN, add_losses, paired_estimate, undefined
from recuse.metrics.measure import Named, itself, measure, per_subject
from recuse.metrics.self_preference import NESTED, contrast, missing_text, own_place
from recuse.papers.self_preference import over_texts
from recuse.papers.self_preference.over_texts import Scored, bounded_estimate, clusters_of_texts, scored_under
from recuse.papers.self_preference.published_tests import paired_change, self_received_given
from recuse.ratings import Ratings, arrays_by_level, mean_of
from recuse.schema import Estimate
from recuse.schema.arrays import Floats
from recuse.schema.factors import DIRECTION, LEVELS, WORDING
from recuse.statistics.bounded import BOUNDED
from recuse.statistics.clusters import clustered_mean
from recuse.statistics.paired import Paired

ASCENDING, REVERSED = LEVELS[DIRECTION]
NO_TEXT = "no text was scored in both directions of the scale"
SHIFT = "mean of paired differences, cluster-robust t over clusters, half a cluster a step up and down added"
INSENSITIVE = f"share of same numbers minus share of mirrored numbers; {BOUNDED}"


@measure(
    "framing_shift", "shift with the scale turned", signed=True, rank=90, above="is kinder where low is best",
    below="is harsher where low is best",
    reading="Mean score where the lowest number is best less that where the highest is, both on the ascending scale.",
)  # fmt: skip
@per_subject("judge", itself, DIRECTION)
def framing_shift(part: Ratings) -> Iterator[Named]:
    """Mean of (reversed - ascending) on the ascending scale, by judge, over all texts scored in both directions; above
    0: the judge is milder when low numbers are good. n counts texts (item x target); the interval is over items, or
    what they share, and has a width even where every number is mirrored: half an item one step of the scale up and one
    down is added to the spread (`clusters.clustered_mean`). Detail: the mean score in each direction (`ascending`,
    `reversed`). Excluded are texts with one score unusable. Undefined where no text was scored in both directions.

    >>> rows = "i ascending 4; i reversed 1; k ascending 3; k reversed 3"
    >>> framing_shift(example("item direction score", rows, scales=Numeric(1, 5, step=1))).of(judge="j").value
    0.5
    """
    for one in scored_twice(part):
        up, down = map(one.under, LEVELS[DIRECTION])
        usable, scale = np.isfinite(down - up), part.scale
        scores = {ASCENDING: up[usable], REVERSED: down[usable]}
        gaps = np.diff(np.unique(np.concatenate(list(scores.values())).round(9)))
        step = getattr(scale, "step", 1.0) or float(min(gaps, default=0.0))  # the smallest seen where none is told
        detail = {name: over_texts.mean_or_none(side) for name, side in scores.items()} if usable.any() else {}
        yield one.judge, _with_losses(one, scale.span, bounded_estimate(
            "framing_shift", down - up, clusters_of_texts(one.array), (-scale.span, scale.span), NO_TEXT,
            requested=one.requested, distribution=partial(clustered_mean, step=step), over="clusters",
            clusters=part.clusters, unit=scale.unit, span=scale.span, method=SHIFT, detail=detail,
        ))  # fmt: skip


@measure(
    "direction_insensitivity", "blindness to which end is best", ends=(-1, 1), unit="index", signed=True, rank=80,
    above="does not notice which end of the scale is best",
    reading="Share of texts that keep their number when the scale is turned, less the share that get its mirror image.",
)  # fmt: skip
@per_subject("judge", itself, DIRECTION)
def direction_insensitivity(part: Ratings) -> Iterator[Named]:
    """Does the number follow the meaning of the scale? By judge, from -1 (it does) to +1 (it does not):

        share of texts with the same number in both directions - share with the mirrored one (low + high - number)

    over texts whose number on the ascending scale is not its middle, which is its own mirror image and is counted as
    `middle`. A noisy judge that reads the direction is well below 0; one that writes the same number whatever it means
    is above 0, a constant one exactly +1. One whose two numbers are unrelated is near 0 and is not told apart.

    Bounded mean over texts, interval over items or what they share. Detail: `same`, `mirrored`, `neither`, `middle`;
    `same_side`, the same with sides of the middle in place of numbers; and over all texts `same_share` beside
    `same_share_if_aware`, what it would be for a judge that mirrors every number. Undefined where no text was scored in
    both directions or all are in the middle, and on a scale without ends.

    >>> rows = "i ascending 4; i reversed 4; k ascending 5; k reversed 5"
    >>> direction_insensitivity(example("item direction score", rows, scales=Numeric(1, 5))).of(judge="j").value
    1.0
    """
    name, (low, high), middle = "direction_insensitivity", part.scale.ends, sum(part.scale.ends) / 2
    for one in scored_twice(part):
        up, down = map(one.under, LEVELS[DIRECTION])
        usable, bounded = np.isfinite(down - up), np.isfinite(high - low)
        off_centre = usable & (np.abs(up - middle) > 1e-9)
        same, mirrored = np.abs(up + down - 2 * middle) < 1e-9, np.abs(down - up) < 1e-9  # as they were written
        counted = {"same": same, "mirrored": mirrored, "neither": ~same & ~mirrored}
        detail = {
            **{name: int((which & off_centre).sum()) for name, which in counted.items()},
            "middle": int((usable & ~off_centre).sum()),
            "same_side": over_texts.mean_or_none((np.sign(up - middle) * np.sign(middle - down))[off_centre]),
            "same_share": over_texts.mean_or_none(same[usable].astype(float)),
            "same_share_if_aware": over_texts.mean_or_none((~off_centre)[usable].astype(float)),
        }  # fmt: skip
        why = "every score is the middle of the scale, which reads the same in both directions"
        if not bounded or not usable.any():
            why = NO_TEXT if bounded else "a scale without ends has no middle to mirror a number at"
            detail = {}
        index = np.where(off_centre & bounded, same.astype(float) - mirrored, np.nan)
        yield one.judge, _with_losses(one, 1.0, one.mean(
            name, index, why=why, span=1.0, unit="index", method=INSENSITIVE, detail=detail,
            n_excluded=int((one.requested & ~usable).sum()),
        ))  # fmt: skip


def scored_twice(part: Ratings) -> list[Scored]:
    """Every judge; with the scores of no direction where the scale was not turned."""
    return scored_under(part, DIRECTION) or scored_under(part)


def _with_losses(one: Scored, span: float, estimate: Estimate) -> Estimate:
    """In either direction, texts that were asked about in any may have no usable score; `span`: what none of the
    observations can leave on either side of 0."""
    requested = int(one.requested.sum())
    sides = {way: (int((one.requested & np.isnan(one.under(way))).sum()), requested) for way in LEVELS[DIRECTION]}
    return add_losses(estimate, sides, (-span, span), sum(lost for lost, _ in sides.values()))


# --------------------------------------------------------------------------- words and direction
# Every text is scored under two words for one thing (quality, badness) and in both directions of the scale, the legend
# of the numbers staying true; the thesis varies both at once (sec. 3.2 and appendix A). On the ascending scale, with
# x(w, d) a text's score,
#
#     wording      mean over d of x(badness, d) - x(quality, d)
#     direction    mean over w of x(w, reversed) - x(w, ascending)
#     interaction  [x(badness, reversed) - x(badness, ascending)] - [x(quality, reversed) - x(quality, ascending)]
#
# are shifts of the level. A judge that lets a word turn the scale round shows in no mean if its scores lie about the
# middle, so `wording_flip` looks at each number.

NOT_ALL = "no text was scored under both words and in both directions"


@measure(
    "wording_effect", "shift by wording and direction", signed=True, rank=91,
    above="is kinder when asked for badness, or where low is best",
    below="is harsher when asked for badness, or where low is best",
    reading="Change of the score on the ascending scale: with badness asked for instead of quality, with the lowest "
    "number best instead of the highest, and how much the second depends on the first.",
)  # fmt: skip
@per_subject(("judge", "effect"), itself, WORDING, DIRECTION)
def wording_effect(part: Ratings) -> Iterator[Named]:
    """The three effects above, by judge and effect, over texts scored in all four cells; interval over items or
    what they share. In units of the scale. Undefined where no text was scored in all four.

    >>> rows = "quality ascending 4; quality reversed 2; badness ascending 3; badness reversed 3"
    >>> effects = wording_effect(example("wording direction score", rows, scales=Numeric(1, 5)))
    >>> effects.of(judge="j", effect="wording").value
    -1.0
    """
    for one in scored_under(part, WORDING, DIRECTION):
        q, q_turned, b, b_turned = map(one.under, product(LEVELS[WORDING], LEVELS[DIRECTION]))
        effects = {
            "wording": (b + b_turned - q - q_turned) / 2,
            "direction": (q_turned + b_turned - q - b) / 2,
            "interaction": (b_turned - b) - (q_turned - q),
        }
        for effect, values in effects.items():
            span = part.scale.span * (2 if effect == "interaction" else 1)
            yield (one.judge, effect), one.mean("wording_effect", values, why=NOT_ALL, span=span)


@measure(
    "wording_flip", "lets the word turn the scale", unit="index", signed=True, rank=81,
    above="lets a word turn the scale round",
    reading="Share of texts whose number is mirrored when badness is asked for instead of quality on the same scale, "
    "less the share that keep it.",
)  # fmt: skip
@per_subject("judge", itself, WORDING, DIRECTION)
def wording_flip(part: Ratings) -> Iterator[Named]:
    """Does the number follow the word instead of the legend? By judge, from -1 (it does not) to 1 (it does):

        share of scores mirrored (low + high - number) under the other word - share that stay the same

    in the same direction of the scale, over texts and directions whose score under "quality" is not the middle, which
    is its own mirror image. A judge that writes a constant is at -1: `direction_insensitivity` is there to find it.
    Undefined where every score is the middle, where no text was scored under both words, and on a scale without ends.

    >>> rows = "i quality ascending 4; i badness ascending 2; k quality ascending 5; k badness ascending 1"
    >>> wording_flip(example("item wording direction score", rows, scales=Numeric(1, 5))).of(judge="j").value
    1.0
    """
    ends = sum(part.scale.ends)
    for one in scored_under(part, WORDING, DIRECTION):
        flips = []  # by direction: mirrored (1) or same (-1), neither 0, shape (items, targets)
        for way in LEVELS[DIRECTION]:
            quality, badness = (one.under((word, way)) for word in LEVELS[WORDING])
            mirrored, same = np.abs(ends - quality - badness) < 1e-9, np.abs(quality - badness) < 1e-9
            known = np.isfinite(quality + badness) & (np.abs(2 * quality - ends) > 1e-9)
            flips.append(np.where(known, mirrored.astype(float) - same, np.nan))
        why = NOT_ALL + ", or every one is the middle"
        yield one.judge, one.mean("wording_flip", mean_of(np.stack(flips), axis=0), why=why, span=1.0, unit="index")


# --------------------------------------------------------------------------- self-preference with the scale turned

AGAINST = ("received", "given", "controlled")
ONE_DIRECTION = "it was asked in one direction of the scale only"


@measure(
    "framing_change", "change of self-preference with the scale turned", signed=True, rank=340,
    above="prefers its own work more where low is best", below="prefers its own work less where low is best",
    reading="Self-preference where the lowest number is best less that where the highest is.",
)  # fmt: skip
@per_subject(("judge", "against"), lambda part, ratings: (part, ratings.own()), DIRECTION)
def framing_change(seen: tuple[Ratings, Mapping[str, str]]) -> Iterator[Named]:
    """Self-preference with the scale reversed minus that with it ascending, by judge and `against`; paired t over the
    items on which both are defined. `against` names the measure of `recuse.metrics.self_preference`: "received" (S -
    R), "given" (S - G) or "controlled" (D). Detail: the mean in each direction on those items (`ascending`,
    `reversed`). Undefined where the scale was not turned, and where nothing can be compared in both directions.

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
            nothing = partial(paired_estimate, "framing_change", Paired.of([]), part, excluded=0, why=why)
            yield from (((judge, name), nothing(detail={"against": name})) for name in AGAINST)
            continue
        preferences = []
        for array in both_ways:
            s, r, g = self_received_given(array, place)
            preferences.append((s - r, s - g, np.subtract(*contrast(array, *place, part.authors))))
        why = NESTED if both_ways[0].nested else "no item can be compared in both directions of the scale"
        for name, up, down in zip(AGAINST, *preferences, strict=True):
            means = (over_texts.mean_or_none(side[np.isfinite(up + down)]) for side in (up, down))
            detail = {**dict(zip(LEVELS[DIRECTION], means, strict=True)), "against": name}
            change = paired_change("framing_change", part, both_ways[0], down - up, why, detail, PAIRED_MARGIN)
            yield (judge, name), change


# --------------------------------------------------------------------------- juries of which half are inverted
# The open question of sec. 5.1: a leaning towards high numbers lifts a text on the ascending scale and sinks
# it on the reversed one, so it may cancel where half of the jury is asked either way. A jury takes one of the two from
# each judge, brought to the ascending scale:
#
#     ascending, reversed    all members the same way
#     part_inverted          half of them (rounded down) reversed, the mean over all choices of which
#
# Reliability is Cronbach's alpha of the members over texts, k / (k - 1) (1 - sum of their variances / variance of their
# sum): how much of the jury's spread between texts its members share. They may also share an error.

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
    """Mean of |jury's mean - true score| over texts, by `jury`; as `jury_reliability`, undefined without true scores.

    >>> rows = "x ascending 2/3/5; y ascending 2/3/5; x reversed 5/4/1; y reversed 5/4/1"  # a point up
    >>> texts = table("true_rating", "1/2/5").assign(target="")
    >>> scores = example("judge direction score", rows, scales=Numeric(1, 5), texts=texts)
    >>> round(jury_error(scores).of(jury="change").value, 2)
    -0.33
    """
    return _juries(part, "jury_error", "points", part.scale.span, lambda scores, true: mean_of(
        np.abs(scores.mean(axis=0) - true), axis=0
    ).item())  # fmt: skip


def alpha(scores: Floats) -> float:
    """Cronbach's alpha of scores (members, texts); NaN where their sum does not vary."""
    members = len(scores)
    total = float(scores.sum(axis=0).var(ddof=1)) if scores.shape[1] > 1 else 0.0
    if members < 2 or total < 1e-12:
        return np.nan
    return members / (members - 1) * (1 - float(scores.var(axis=1, ddof=1).sum()) / total)


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
    without = [_all(scores[..., groups != one], true[groups != one], statistic) for one in clusters]
    for jury, value, left_out in zip(JURIES, _all(scores, true, statistic), np.array(without).T, strict=True):
        if np.isfinite([value, *left_out]).all():
            yield jury, over_texts.jackknifed(metric, value, left_out, **about)
        else:
            why = "no true score is known" if metric == "jury_error" else "the jury's sum does not vary"
            yield jury, undefined(metric, why, **about)


def _all(scores: Floats, true: Floats, statistic: Callable[[Floats, Floats], float]) -> tuple[float, ...]:
    """The statistic of every jury, in order; of those with half of the members inverted, or evenly many, the mean."""
    up, down = statistic(scores[0], true), statistic(scores[1], true)
    members = np.arange(scores.shape[1])
    chosen = list(combinations(members, len(members) // 2))
    mixed = float(np.mean([
        statistic(scores[np.bincount(turned, minlength=len(members)), members], true)
        for turned in islice(chosen, 0, None, -(-len(chosen) // MOST))
    ]))  # fmt: skip
    return up, down, mixed, mixed - up


@per_subject(("judge", "target"), itself, DIRECTION)
def shift_by_target(part: Ratings) -> Iterator[Named]:
    """`framing_shift` of every target's texts, by judge and target: a paired t-test over items. Undefined where no text
    of the target was scored in both directions."""
    for one in scored_twice(part):
        up, down = map(one.under, LEVELS[DIRECTION])
        for target, change in zip(one.array.targets, (down - up).T, strict=True):
            estimate = paired_change("framing_shift", part, one.array, change, NO_TEXT, {}, PAIRED_MARGIN)
            yield (one.judge, target), estimate
