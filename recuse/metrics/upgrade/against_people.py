"""Whether an upgrade lies further from people than the judge in use: by level, order, decisions, and on some slice.

What people said is the measure, not what the judge in use said: a candidate that moves towards people, or mends errors
of the judge in use, differs from it and is no worse. Where nobody rated the texts, `scores` and `decisions` hold the
candidate against the judge in use, and nobody knows who is right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recuse.metrics.measure import describe
from recuse.metrics.upgrade.change import (
    NOBODY,
    Hidden,
    averaged,
    change,
    change_of_means,
    codes,
    graded,
    mean_change,
    no_change,
    rank_correlation,
    rank_sums,
    sides,
    span_of,
    with_a_swap,
)
from recuse.metrics.upgrade.pairing import Pair
from recuse.metrics.upgrade.people import worst_of_slices
from recuse.metrics.upgrade.scores import could_hide
from recuse.ratings.answers import WON, Answers, shares_of
from recuse.ratings.array import mean_of
from recuse.schema import Distribution, Estimate
from recuse.schema.arrays import Floats
from recuse.statistics.agreement.coefficient import Coefficient
from recuse.statistics.distributions import Sampled, Side, why_undefined
from recuse.statistics.multiplicity import Largest

METHOD = "difference of two distances from people over the same texts, t, both signs of either"

describe(
    "upgrade_human_offset", "further from the level of people", signed=True, rank=10, bad="above",
    above="scores further from your people",
    reading="How far the candidate's mean lies from people's on the same texts, whichever way, less the incumbent's.",
)  # fmt: skip
describe(
    "upgrade_human_order", "order of texts by people", signed=True, rank=12, bad="below",
    below="orders the texts less like your people",
    reading="Rank correlation of one answer of the candidate with one person's, less that of the incumbent.",
)  # fmt: skip
describe(
    "upgrade_human_decisions", "decisions unlike people", unit="share", signed=True, rank=14, bad="above",
    above="decides otherwise than your people more often",
    reading="Share of texts on which one answer of the candidate decides otherwise than one person, less that of the "
    "incumbent.",
)  # fmt: skip
describe(
    "upgrade_slice_offset", "further from people on its worst slice", signed=True, rank=22, bad="above",
    above="scores one slice further from your people",
    reading="How much further than the incumbent the candidate lies from people on a system, a topic, a language.",
)  # fmt: skip


def offset(pair: Pair) -> Estimate | None:
    """|mean of candidate - people| - |mean of incumbent - people|, over the texts that all of them answered.

    0.5 on 0 to 10: the incumbent lies 0.2 above people, the candidate 0.7 above or below them. Of more than two
    options, or options without an order, the share of answers for which it grows most. None for choices between two
    texts, whose names a and b mean nothing. Texts that one of the judges never answered widen it by what they hide."""
    answers = pair.answers
    if answers.options == WON:
        return None
    old, new, people = averaged(answers)
    used, span = np.isfinite(old[:, 0]) & np.isfinite(new[:, 0]) & np.isfinite(people[:, 0]), span_of(answers)
    if not used.any():
        return no_change("upgrade_human_offset", pair, NOBODY, span=span)
    parts = tuple(_further(*sides, used, answers, span) for sides in zip(old.T, new.T, people.T, strict=True))
    most = int(np.argmax([part.value for part in parts]))
    old, new, people = old[:, most], new[:, most], people[:, most]
    distribution: Distribution = Largest(parts, False)
    note, unit = "", "share"
    detail: dict[str, object] = {"option": answers.options[most]} if answers.options else {}
    if answers.counts:
        hidden = max(could_hide(answers, *(np.where(np.isfinite(people), given, np.nan) for given in (old, new))))
        distribution, unit = Hidden(parts[0], hidden, hidden) if hidden else parts[0], answers.scale.unit
        note = "wider by what texts could hide that one of the two never answered" if hidden else ""
        detail = {"people": answers.mean(people, used), "shift": answers.mean(new - old, used)}
    values = answers.mean(old - people, used), answers.mean(new - people, used)
    return change(
        "upgrade_human_offset", pair, distribution, values, used, span=span, unit=unit, value=parts[most].value,
        note=note, method=METHOD, detail=detail,
    )  # fmt: skip


def order_of_people(pair: Pair) -> Estimate | None:
    """Spearman's rank correlation of single answers, candidate with one person, less incumbent with one person:

        rho(new, person) - rho(old, person)

    Answers are graded by the share of the rater's kind that lies below (mid-ranks), and products of different answers
    to a text are averaged, so more repeats or people make neither correlation higher. Jackknife over texts or clusters.
    None for options without an order, for two options (decisions say it all), and where people gave every text the
    same: there is no order to follow."""
    answers = pair.answers
    if answers.options and (not answers.ordered or len(answers.options) == 2):
        return None
    people = graded(answers.rated, answers.times)
    by_both = np.isfinite(answers.judged[:2]).any(axis=2).all(axis=0)
    used: NDArray[np.bool_] = np.logical_and(by_both, np.isfinite(people).any(axis=(0, 2)))
    if answers.number(used) < 4:
        return no_change("upgrade_human_order", pair, "an order takes four texts that people and both judges answered")
    person = mean_of(mean_of(people, axis=2), axis=0)
    squares = mean_of(mean_of(people**2, axis=2), axis=0)
    if np.nanstd(person[used]) < 1e-9:
        return None
    judged = [graded(given, answers.times) for given in answers.judged[:2]]
    shares = np.hstack(
        [rank_sums(used, mean_of(own, axis=1), person, mean_of(own**2, axis=1), squares) for own in judged]
    )

    def gain(s: Floats) -> Floats:
        return rank_correlation(s[:, 6:]) - rank_correlation(s[:, :6])

    built = Coefficient(shares, gain, lambda s: "", times=answers.times)
    old, new = (float(rank_correlation(part[None])[0]) for part in np.split(built.sums, 2))
    distribution = with_a_swap(built.jackknife(answers.clusters), answers.cluster_count(used))
    return change(
        "upgrade_human_order", pair, distribution, (old, new), used,
        method="Spearman's rank correlation of single answers, jackknife over texts, t",
    )  # fmt: skip


def errors(pair: Pair) -> Estimate | None:
    """P(one answer of the candidate decides otherwise than one person) less the same of the incumbent, over texts.

    Options decide as they are, numbers by the side of the thresholds; None without a threshold."""
    given = codes(pair)
    if given is None:
        return None
    judged, count = given
    answers = pair.answers
    people = answers.rated if answers.options else sides(answers.rated, pair.thresholds)
    theirs = mean_of(shares_of(people, count), axis=0)
    wrong = [1 - (shares_of(judged[j], count) * theirs).sum(axis=1) for j in (0, 1)]
    if not np.isfinite(wrong[1] - wrong[0]).any():
        return no_change("upgrade_human_decisions", pair, NOBODY, unit="share", span=1.0)
    detail: dict[str, object] = {"thresholds": list(pair.thresholds)} if pair.thresholds else {}
    return change_of_means("upgrade_human_decisions", pair, *wrong, unit="share", span=1.0, detail=detail)


def worst_slice_offset(pair: Pair) -> Estimate | None:
    """The largest growth of the distance from people (`offset`) over slices, the levels of the texts' columns and of
    target with at least 12 texts. None where there is none to look at, and for options that have no mean."""
    answers = pair.answers
    if not answers.counts:
        return None
    (old, new), people = answers.judge_means[:2], answers.people_mean
    span = span_of(answers)
    return worst_of_slices(
        "upgrade_slice_offset", pair, np.isfinite(old) & np.isfinite(new) & np.isfinite(people),
        lambda inside: _further(old, new, people, inside, answers, span),
        lambda inside: (answers.mean(old - people, inside), answers.mean(new - people, inside)),
        both=False, span=span, unit=answers.scale.unit,
    )  # fmt: skip


# --------------------------------------------------------------------------- one distance less the other


def _further(
    old: Floats, new: Floats, people: Floats, used: NDArray[np.bool_], answers: Answers, span: float
) -> Further:
    """|mean of new - people| - |mean of old - people| over the texts `used`, paired."""
    a, b = (np.where(used, given - people, np.nan) for given in (new, old))
    return Further(*(mean_change(moved, None, answers.clusters, answers.times, span=wide) for moved, wide in
                     ((a, span), (a - b, span), (a + b, 2 * span))))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Further(Sampled):
    """|a| - |b| of two means over the same texts, from the distributions of a, a - b and a + b.

        |a| - |b| = max over s of min over t of s a - t b,    s, t = -1, 1

    That it lies below a limit takes both signs s below it, each for one of two t, or s a by itself, since |b| takes
    nothing away but what it is. One of three may do, so a - b has half of the level, a + b and a a quarter each
    (Bonferroni): a b that only looks far from 0 helps nobody. Of a judge asked again a - b decides, where the texts'
    own differences cancel. That it lies above takes one of two s with both t, each at half the level."""

    first: Distribution
    difference: Distribution
    sum: Distribution

    @property
    def value(self) -> float:
        """|a| - |b|."""
        moved, both = (float(getattr(d, "value", math.nan)) for d in (self.difference, self.sum))
        return abs(both + moved) / 2 - abs(both - moved) / 2

    @property
    def undefined(self) -> str:
        return why_undefined(self.first, self.difference, self.sum)

    def _interval(self, level: float) -> tuple[float, float]:
        pair = (self.difference, self.sum)
        half, quarter = (1 + level) / 2, (3 + level) / 4
        lows, highs = zip(*(d.interval(half) for d in pair), strict=True)
        low = max(min(lows), -max(highs))
        ends = (self.difference.interval(half), self.sum.interval(quarter), self.first.interval(quarter))
        least, most = zip(*ends, strict=True)
        high = max(min(most), -max(least))
        return min(low, high), high

    def _p_value(self, limit: float, side: Side) -> float:
        other: Side = "above" if side == "below" else "below"
        signs = [(limit, side), (-limit, other)]  # of a, and of -a
        pair = (self.difference, self.sum)
        if side == "above":
            return min(1.0, 2 * min(max(d.p_value(*at) for d in pair) for at in signs))
        shares = ((self.difference, 2), (self.sum, 4), (self.first, 4))
        each = (min(times * d.p_value(*at) for d, times in shares) for at in signs)
        return min(1.0, max(each))

    def _half_width_at(self, factor: float) -> float | None:
        moved, both = (float(getattr(d, "value", math.nan)) for d in (self.difference, self.sum))
        return (self.difference if abs(both) >= abs(moved) else self.sum).half_width_at(factor)
